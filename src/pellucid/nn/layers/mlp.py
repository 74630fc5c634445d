"""mlp: the usual network from sizes and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pellucid.amounts import is_whole
from pellucid.lookup import look_up
from pellucid.nn.activations.layers import as_layer
from pellucid.nn.layers.compose import Sequential
from pellucid.nn.layers.dense import GLU, Dense, Maxout
from pellucid.nn.layers.layer import Layer
from pellucid.nn.layers.members import Heads, Members
from pellucid.nn.layers.noise import Dropout
from pellucid.nn.layers.normalization import BatchNorm, LayerNorm, RMSNorm

NORMS: dict[str, type[Layer]] = {"batch": BatchNorm, "layer": LayerNorm, "rms": RMSNorm}
GATES = {"glu": "sigmoid", "reglu": "relu", "geglu": "gelu", "swiglu": "silu"}


def mlp(
    hidden: Sequence[int] = (100,),
    outputs: int = 1,
    *,
    activation: Any = "relu",
    norm: Any = None,
    norm_place: str = "before",
    dropout: Any = 0.0,
    input_dropout: float = 0.0,
    init: Any = "auto",
    output_init: Any = "auto",
    bias: Any = 0.0,
    output_bias: Any = "same",
    scaling: str = "standard",
    members: int = 1,
) -> Sequential:
    """Hidden layers of these sizes, and a linear output layer (losses take scores).

    Each hidden layer is: affine map, normalisation, activation, dropout. Parts are called hidden1, hidden1.norm,
    hidden1.activation, ..., output.

    Parameters
    ----------
    hidden : Sequence[int]
        units of each hidden layer
    outputs : int
        scores for each sample
    activation : str | function | list
        one, or one for each hidden layer; also "maxout", "glu", "reglu", "geglu" or "swiglu"
    norm : str | Layer
        "batch", "layer", "rms" or a layer; None for none
    norm_place : str
        "before" or "after" the activation
    dropout : float | list
        share of units left out, one or one for each hidden layer
    input_dropout : float
        share of inputs left out
    init : initialiser | list
        how weights start, one or one for each hidden layer; "auto" suits the activation
    output_init : initialiser
        how those of the output layer start
    bias : initialiser
        how biases start; None is no bias
    output_bias : initialiser
        those of the output layer; "same" is `bias`
    scaling : str
        "standard", or "ntk" for the neural-tangent parametrisation
    members : int
        so many networks in one, which share the hidden layers (`Members`, `Heads`); wrap the loss in `EachMember`

    Returns
    -------
    Sequential
        the network

    Examples
    --------
    >>> net = mlp((8, 4), 3, activation=["relu", "tanh"], norm="batch", dropout=0.5)
    >>> [name for name, _ in net.children][:5]
    ['hidden1', 'hidden1.norm', 'hidden1.activation', 'hidden1.dropout', 'hidden2']
    """
    if norm_place not in ("before", "after"):
        raise ValueError(f"mlp: norm_place is 'before' or 'after' the activation, got {norm_place!r}")
    if not isinstance(hidden, Iterable) or isinstance(hidden, str):
        remedy = f": write ({hidden},)" if is_whole(hidden) else ", such as (100, 50)"
        raise ValueError(f"mlp: hidden is a list of sizes, one for each hidden layer, got {hidden!r}{remedy}")
    sizes = list(hidden)
    per_layer = zip(
        sizes,
        _each("activation", activation, len(sizes)),
        _each("dropout", dropout, len(sizes)),
        _each("init", init, len(sizes)),
        strict=True,
    )
    parts: list[tuple[str, Any]] = [("input.members", Members(members))] if members != 1 else []
    if input_dropout:
        parts.append(("input.dropout", Dropout(input_dropout)))
    for i, (units, act, rate, start) in enumerate(per_layer, start=1):
        name = f"hidden{i}"
        affine, after = _affine(units, act, start, bias, scaling)
        normal = [(f"{name}.norm", _norm(norm))] if norm is not None else []
        active = [(f"{name}.activation", after)] if after is not None else []
        parts += [(name, affine), *(normal + active if norm_place == "before" else active + normal)]
        if rate:
            parts.append((f"{name}.dropout", Dropout(rate)))
    last = bias if isinstance(output_bias, str) and output_bias == "same" else output_bias
    settings: dict[str, Any] = {"init": output_init, "bias": last, "scaling": scaling}
    parts.append(("output", Dense(outputs, **settings) if members == 1 else Heads(outputs, members, **settings)))
    return Sequential(*parts)


def _affine(units: int, act: Any, init: Any, bias: Any, scaling: str) -> tuple[Layer, Layer | None]:
    """The layer with weights, and the activation behind it (none where it is built in)."""
    if act == "maxout":
        return Maxout(units, init=init, bias=bias, scaling=scaling), None
    if isinstance(act, str) and act in GATES:
        return GLU(units, GATES[act], init=init, bias=bias, scaling=scaling), None
    return Dense(units, init=init, bias=bias, scaling=scaling), as_layer(act)


def _norm(norm: Any) -> Layer:
    if not isinstance(norm, Layer | str):
        raise ValueError(f"mlp: norm is a name ({', '.join(NORMS)}) or a layer, for all hidden layers, got {norm!r}")
    return norm if isinstance(norm, Layer) else look_up("normalisation", norm, NORMS)()


def _each(what: str, value: Any, count: int) -> list[Any]:
    """One value for each hidden layer."""
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"mlp: {what} has {len(value)} entries for {count} hidden layers: give one for each, or one for all"
        )
    return list(value)
