"""Networks rewritten without changing what they predict: linear parts collapsed, batch normalisation folded in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pellucid.markup import counted
from pellucid.nn.activations.activation import ACTIVATIONS
from pellucid.nn.activations.layers import Activate
from pellucid.nn.dimensions import outline
from pellucid.nn.layers.compose import Sequential
from pellucid.nn.layers.dense import Dense, effective_weight
from pellucid.nn.layers.layer import Layer, Params, within
from pellucid.nn.layers.normalization import BatchNorm


class Network(NamedTuple):
    """A network with its arrays.

    Parameters
    ----------
    net : Layer
        the network
    params : dict[str, Any]
        arrays by name
    state : dict[str, Any]
        statistics by name
    """

    net: Layer
    params: dict[str, Any]
    state: dict[str, Any]

    def __repr__(self) -> str:
        return f"Network({outline(self.net)}; params: {counted(self.params)}; state: {counted(self.state)})"


class Part(NamedTuple):
    """A layer of a chain, with its own arrays."""

    name: str
    layer: Layer
    params: dict[str, Any]
    state: dict[str, Any]


def collapse(net: Layer, params: Params, state: Params | None = None) -> Network:
    """Affine layers with nothing between them (or only the identity) become one: W = W1 W2, b = b1 W2 + b2.

    Without a nonlinearity a deep network is a linear map. Predictions are unchanged.

    Parameters
    ----------
    net : Layer
        a network
    params : Params
        arrays by name
    state : Params | None
        statistics by name

    Returns
    -------
    Network
        a smaller one

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> net = nn.Sequential(nn.Dense(5), "identity", nn.Dense(2))
    >>> small = nn.collapse(net, net.initialize(3).params)
    >>> [name for name, _ in small.net.children]
    ['dense1']
    """
    parts = [p for p in _parts(net, params, state or {}) if not _is_identity(p.layer)]
    merged: list[Part] = []
    for part in parts:
        if merged and isinstance(part.layer, Dense) and isinstance(merged[-1].layer, Dense):
            (W1, b1), (W2, b2) = _affine(merged[-1]), _affine(part)
            merged[-1] = _dense(merged[-1].name, W1 @ W2, b1 @ W2 + b2)
        else:
            merged.append(part)
    return joined(merged)


def fold_batchnorm(net: Layer, params: Params, state: Params) -> Network:
    """Batch normalisation at prediction is an affine map per unit; it goes into the Dense layer before or behind it.

    z' = a z + c with a = scale / sqrt(var + eps), c = shift - a mean. Predictions are unchanged. A BatchNorm with no
    Dense beside it stays.

    Parameters
    ----------
    net : Layer
        a network
    params : Params
        arrays by name
    state : Params
        statistics by name

    Returns
    -------
    Network
        without those layers

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> net = nn.mlp((4,), 1, norm="batch")
    >>> [name for name, _ in nn.fold_batchnorm(net, *net.initialize(3)).net.children]
    ['hidden1', 'hidden1.activation', 'output']
    """
    parts = list(_parts(net, params, state))
    folded: list[Part] = []
    pending: tuple[Any, Any] | None = None
    for i, part in enumerate(parts):
        if isinstance(part.layer, BatchNorm):
            a, c = _per_unit(part)
            if folded and isinstance(folded[-1].layer, Dense):
                W, b = _affine(folded[-1])
                folded[-1] = _dense(folded[-1].name, W * a, b * a + c)
                continue
            if i + 1 < len(parts) and isinstance(parts[i + 1].layer, Dense):
                pending = (a, c)
                continue
        elif pending is not None:
            (a, c), (W, b) = pending, _affine(part)
            part, pending = _dense(part.name, a[:, None] * W, b + c @ W), None
        folded.append(part)
    return joined(folded)


def _parts(net: Layer, params: Params, state: Params, prefix: str = "") -> list[Part]:
    """The layers one after the other, nested Sequentials opened."""
    if not isinstance(net, Sequential):
        return [Part(prefix or "layer", net, dict(params), dict(state))]
    parts: list[Part] = []
    own = [name for name, _ in net.parts]
    for name, layer in net.parts:
        # "hidden1" does not own the arrays of its neighbour "hidden1.norm"
        inner = tuple(f"{other[len(name) + 1 :]}." for other in own if other.startswith(f"{name}."))
        mine = [{k: v for k, v in within(tree, name).items() if not k.startswith(inner)} for tree in (params, state)]
        parts += _parts(layer, mine[0], mine[1], f"{prefix}.{name}" if prefix else name)
    return parts


def joined(parts: Iterable[Part]) -> Network:
    """The network of these layers, one after the other."""
    parts = list(parts)
    net = Sequential(*((part.name, part.layer) for part in parts))
    params = {f"{part.name}.{key}": value for part in parts for key, value in part.params.items()}
    state = {f"{part.name}.{key}": value for part in parts for key, value in part.state.items()}
    return Network(net, params, state)


def _is_identity(layer: Layer) -> bool:
    return isinstance(layer, Activate) and layer.activation is ACTIVATIONS["identity"]


def _affine(part: Part) -> tuple[Any, Any]:
    """Weight and bias of a Dense layer as it acts."""
    assert isinstance(part.layer, Dense)
    W = effective_weight(part.layer, part.params["weight"])
    return W, part.params.get("bias", np.zeros(W.shape[1], W.dtype))


def _dense(name: str, W: Any, b: Any) -> Part:
    return Part(name, Dense(int(W.shape[1])), {"weight": W, "bias": b}, {})


def _per_unit(part: Part) -> tuple[Any, Any]:
    """The factors and shifts of a BatchNorm at prediction, read off the layer itself: c = f(0), a = f(1) - f(0)."""
    zero = np.zeros((1, len(part.state["mean"])), part.state["mean"].dtype)
    c, one = (part.layer.predict(part.params, x, part.state)[0] for x in (zero, zero + 1))
    return one - c, c
