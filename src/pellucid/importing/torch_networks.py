"""from_torch: a Sequential of PyTorch's, or arrays of its state_dict beside a Sequential of ours, as a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pellucid import nn
from pellucid.data.types import Array
from pellucid.importing.assembly import model_of, named, precision
from pellucid.importing.torch_layers import arrays_of, layer_of, plain
from pellucid.nn.layers.layer import Features, sample_shape
from pellucid.nn.surgery import Part
from pellucid.train import Model

Arrays = dict[str, Array]


def from_torch(
    network: Any,
    state_dict: Mapping[str, Any] | None = None,
    *,
    loss: Any = None,
    optimizer: Any = "adam",
    metrics: Sequence[Any] = (),
    features: int | tuple[int, ...] | None = None,
    dtype: Any = None,
) -> Model:
    """A network of PyTorch's as a `Model`, with its weights: it predicts the same, and can be trained on.

    The network is a `torch.nn.Sequential` (of Linear, BatchNorm1d, LayerNorm, RMSNorm, Dropout, AlphaDropout,
    Flatten, Identity, activations, and Sequentials of them), or an `nn.Sequential` of ours with the `state_dict`
    beside it: a mapping of arrays in the order of the layers, such as a safetensors file holds. Torch itself is only
    needed for the first.

    A Softmax, LogSoftmax or Sigmoid at the end is left to the loss, whose link it is: `Model.scores` gives what goes
    into it, `Model.predict` probabilities.

    Parameters
    ----------
    network : torch.nn.Module | Layer
        the layers
    state_dict : Mapping[str, Any] | None
        arrays or tensors by PyTorch's names ("0.weight"); None takes those of the network
    loss : str | Loss | function
        what it was, or will be, trained with; None is what the last layer speaks of: "cross_entropy" for Softmax,
        "bce" or "multilabel" for Sigmoid, else "squared_error"
    optimizer : str | Rule | Optimizer
        for further training
    metrics : Sequence[Any]
        as for `Model`
    features : int | tuple[int, ...] | None
        the shape of a sample, where the first layer with weights does not tell it (behind Flatten)
    dtype : dtype
        precision; None is that of the arrays

    Returns
    -------
    Model
        with these parameters

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> arrays = {"0.weight": np.ones((4, 3)), "0.bias": np.zeros(4), "2.weight": np.ones((1, 4)), "2.bias": np.ones(1)}
    >>> model = from_torch(nn.Sequential(nn.Dense(4), "relu", nn.Dense(1)), arrays)
    >>> model.predict(np.ones((1, 3)))
    array([[13.]])
    """
    arrays = None if state_dict is None else {name: plain(array) for name, array in state_dict.items()}
    if isinstance(network, nn.Layer):
        if arrays is None:
            raise ValueError("from_torch: a network of pellucid.nn needs the arrays: from_torch(network, state_dict)")
        layers, groups = _ours(network), _groups(arrays)
        shape = _shape(features, [group for _, group in groups])
        parts = _in_order(layers, groups, shape)
    else:
        modules = list(_leaves(network))
        own = {where: _own(module, where, arrays) for where, module in modules}
        _must_use_all(arrays, own)
        shape = _shape(features, list(own.values()))
        made = [(where, layer_of(module, where)) for where, module in modules]
        parts = [_part(name, layer, own[where], where) for name, where, layer in _with_names(made)]
    every = [array for part in parts for array in part.params.values()]
    return model_of(parts, shape, loss=loss, optimizer=optimizer, metrics=metrics, dtype=precision(every, dtype))


def _part(name: str, layer: nn.Layer, theirs: Mapping[str, Array], where: str) -> Part:
    return Part(name, layer, *arrays_of(layer, theirs, where))


def _shape(asked: int | tuple[int, ...] | None, groups: Sequence[Mapping[str, Array]]) -> Features:
    """The shape of a sample: what is asked for, else as many numbers as the first weight takes."""
    if asked is not None:
        return sample_shape(asked)
    weights = [group["weight"] for group in groups if "weight" in group and group["weight"].size > 1]
    if not weights:
        raise ValueError("from_torch: no layer tells how many features a row has: say features=...")
    return (int(weights[0].shape[-1]),)  # (out, in) of a Linear, (features,) of a norm


# a network of PyTorch's


def _leaves(module: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The layers of a Sequential in their order, with the names that its state_dict has for them."""
    if not hasattr(module, "named_children"):
        raise TypeError(
            f"from_torch takes a torch.nn.Sequential, or a pellucid.nn.Sequential with a state_dict, got "
            f"{type(module).__name__}"
        )
    if type(module).__name__ != "Sequential":
        if not where and any(True for _ in module.named_children()):
            raise TypeError(
                f"from_torch: {type(module).__name__} is a module of its own, whose forward() cannot be read: give a "
                "torch.nn.Sequential of its layers, or a pellucid.nn.Sequential with its state_dict"
            )
        yield where, module
        return
    for name, child in module.named_children():
        yield from _leaves(child, f"{where}.{name}" if where else name)


def _own(module: Any, where: str, arrays: Arrays | None) -> Arrays:
    """The arrays of one layer, by the names it has for them."""
    if arrays is None:
        return {name: plain(array) for name, array in module.state_dict().items()}
    prefix = f"{where}." if where else ""
    return {name: array for name in module.state_dict() if (array := arrays.get(f"{prefix}{name}")) is not None}


def _must_use_all(arrays: Arrays | None, own: Mapping[str, Arrays]) -> None:
    used = {f"{where}.{name}" if where else name for where, group in own.items() for name in group}
    unused = sorted(set(arrays or ()) - used)
    if unused:
        raise ValueError(
            f"from_torch: the state_dict holds {unused[0]!r}, of which the network knows nothing: is it of another one?"
        )


def _with_names(made: list[tuple[str, nn.Layer | None]]) -> list[tuple[str, str, nn.Layer]]:
    """(our name, PyTorch's name, layer), without those that do nothing."""
    layers = [(where, layer) for where, layer in made if layer is not None]
    return [(name, where, layer) for name, (where, layer) in zip(named(layers), layers, strict=True)]


# a network of ours, and arrays


def _ours(network: nn.Layer, where: str = "") -> list[tuple[str, nn.Layer]]:
    """The layers of a Sequential in their order, nested ones opened."""
    if not isinstance(network, nn.Sequential):
        return [(where or "layer", network)]
    return [pair for name, child in network.children for pair in _ours(child, f"{where}.{name}" if where else name)]


def _groups(arrays: Arrays) -> list[tuple[str, Arrays]]:
    """Arrays by the layer in front of the last dot, in their order."""
    groups: dict[str, Arrays] = {}
    for name, array in arrays.items():
        layer, _, own = name.rpartition(".")
        groups.setdefault(layer, {})[own] = array
    return list(groups.items())


def _in_order(layers: list[tuple[str, nn.Layer]], groups: list[tuple[str, Arrays]], features: Features) -> list[Part]:
    """The first layer that has arrays takes the first group, and so on."""
    parts, waiting = [], list(groups)
    for name, layer in layers:
        theirs: Arrays = {}
        where = name
        if layer.parameters(features) or layer.state(features):
            if not waiting:
                raise ValueError(
                    f"from_torch: the state_dict has arrays of {len(groups)} layers "
                    f"({', '.join(one for one, _ in groups)}), and none is left for {name}, {layer}"
                )
            theirs_name, theirs = waiting.pop(0)
            where = f"{name} ({theirs_name!r} of the state_dict)"
        parts.append(_part(name, layer, theirs, where))
        features = layer.output(features)
    if waiting:
        raise ValueError(
            f"from_torch: the state_dict has arrays of {len(groups)} layers, the network {len(groups) - len(waiting)}: "
            f"none takes those of {waiting[0][0]!r}"
        )
    return parts
