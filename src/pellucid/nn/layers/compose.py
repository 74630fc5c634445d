"""Layers made of layers: Sequential, Residual, Concat; and what only changes shapes or dtypes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.dims import product
from pellucid.nn.activations.activation import Activation
from pellucid.nn.activations.layers import Activate, Mixed, as_layer
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import GLU, Dense, Maxout
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, call
from pellucid.nn.layers.members import Heads


@dataclass(frozen=True, init=False)
class Sequential(Layer):
    """One layer after the other.

    Without a name a part is called after its class: dense1, relu1, dense2. Dense layers whose `init` is "auto"
    start with the gain of the activation that follows.

    Parameters
    ----------
    *parts : Layer | str | function | pair
        layers, activations by name or function, or pairs (name, layer)

    Examples
    --------
    >>> from pellucid import nn
    >>> net = nn.Sequential(("hidden", nn.Dense(3)), "relu", nn.Dense(1))
    >>> list(net.initialize(2).params)
    ['hidden.weight', 'hidden.bias', 'dense1.weight', 'dense1.bias']
    """

    parts: tuple[tuple[str, Layer], ...]

    def __init__(self, *parts: Any) -> None:
        if not parts:
            raise ValueError("Sequential needs at least one layer")
        object.__setattr__(self, "parts", _named(parts))

    @property
    def takes_sparse(self) -> bool:
        return self.parts[0][1].takes_sparse

    @property
    def children(self) -> tuple[tuple[str, Layer], ...]:
        return self.parts

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        parameters: dict[str, Parameter] = {}
        for i, (name, layer) in enumerate(self.parts):
            following = _following(self.parts[i + 1 :], activation)
            _add(parameters, name, layer.parameters(features, following))
            features = layer.output(features)
        return parameters

    def state(self, features: Features) -> dict[str, Any]:
        statistics: dict[str, Any] = {}
        for name, layer in self.parts:
            _add(statistics, name, layer.state(features))
            features = layer.output(features)
        return statistics

    def output(self, features: Features) -> Features:
        for _, layer in self.parts:
            features = layer.output(features)
        return features

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        for name, layer in self.parts:
            x = call(layer, name, p, x, ctx)
        return x

    def __repr__(self) -> str:
        return f"Sequential({', '.join(f'({name!r}, {layer})' for name, layer in self.parts)})"


def _add(all_: dict[str, Any], name: str, more: dict[str, Any]) -> None:
    """Enter the arrays of a part under its name; no two may have the same."""
    for key, value in more.items():
        full = f"{name}.{key}"
        if full in all_:
            raise ValueError(f"two parts of the network own an array called {full!r}: give one of them another name")
        all_[full] = value


def _named(parts: tuple[Any, ...]) -> tuple[tuple[str, Layer], ...]:
    named: list[tuple[str, Layer]] = []
    counts: dict[str, int] = {}
    for part in parts:
        if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str):
            name, layer = part[0], as_layer(part[1])
        else:
            layer = as_layer(part)
            kind = layer.activation.name if isinstance(layer, Activate) else _snake(type(layer).__name__)
            counts[kind] = counts.get(kind, 0) + 1
            name = f"{kind}{counts[kind]}"
        if any(name == other for other, _ in named):
            raise ValueError(f"two layers are called {name!r}: names must differ")
        named.append((name, layer))
    return tuple(named)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _following(parts: tuple[tuple[str, Layer], ...], outer: Activation | None) -> Activation | None:
    """The first activation behind, before the next layer with weights."""
    for _, layer in parts:
        if isinstance(layer, Activate):
            return layer.activation
        if isinstance(layer, Mixed):
            return layer.activations[0]
        if isinstance(layer, Sequential):
            return _following(layer.parts, outer)
        if layer.children or isinstance(layer, Dense | Maxout | GLU | Heads):
            return None
    return outer


@dataclass(frozen=True)
class Residual(Layer):
    """x + layer(x) (He et al., 2016).   Input and output have the same shape.

    Parameters
    ----------
    layer : Layer
        input and output of the same shape
    """

    layer: Layer

    def __post_init__(self) -> None:
        object.__setattr__(self, "layer", as_layer(self.layer))

    @property
    def children(self) -> tuple[tuple[str, Layer], ...]:
        return (("layer", self.layer),)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        if self.layer.output(features) != features:
            raise ShapeError(
                f"Residual: the layer turns {features} into {self.layer.output(features)}, "
                "but both must be the same to be added: end it with Dense of that size"
            )
        return {f"layer.{key}": value for key, value in self.layer.parameters(features).items()}

    def state(self, features: Features) -> dict[str, Any]:
        return {f"layer.{key}": value for key, value in self.layer.state(features).items()}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        y = call(self.layer, "layer", p, x, ctx)
        if y.shape[1:] != x.shape[1:]:
            raise ShapeError(
                f"{ctx.path or 'Residual'}: {tuple(x.shape)} in, {tuple(y.shape)} out: they cannot be added"
            )
        return x + y


@dataclass(frozen=True, init=False)
class Concat(Layer):
    """Several layers on the same input, their outputs side by side.   (n, d) -> (n, d1 + d2 + ...)

    Parameters
    ----------
    *parts : Layer | str | function | pair
        as in `Sequential`
    """

    parts: tuple[tuple[str, Layer], ...]

    def __init__(self, *parts: Any) -> None:
        if not parts:
            raise ValueError("Concat needs at least one layer")
        object.__setattr__(self, "parts", _named(parts))

    @property
    def children(self) -> tuple[tuple[str, Layer], ...]:
        return self.parts

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {
            f"{name}.{key}": value
            for name, layer in self.parts
            for key, value in layer.parameters(features, activation).items()
        }

    def state(self, features: Features) -> dict[str, Any]:
        return {f"{name}.{key}": value for name, layer in self.parts for key, value in layer.state(features).items()}

    def output(self, features: Features) -> Features:
        outputs = [layer.output(features) for _, layer in self.parts]
        return (*outputs[0][:-1], sum(out[-1] for out in outputs))

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        return np.concatenate([call(layer, name, p, x, ctx) for name, layer in self.parts], axis=-1)


@dataclass(frozen=True)
class Flatten(Layer):
    """Each sample as one row.   (n, a, b, ...) -> (n, a·b·...)"""

    def output(self, features: Features) -> Features:
        return (int(np.prod(features)),)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        return np.reshape(x, (x.shape[0], product(x.shape[1:])))


@dataclass(frozen=True)
class Compute(Layer):
    """A layer at work in another precision: parameters and input are cast on the way in, the result on the way out.

    With float64 parameters and `dtype="float32"` this is mixed precision: fast products, exact updates.

    Parameters
    ----------
    layer : Layer
        that is at work in it
    dtype : dtype
        of the computation
    """

    layer: Layer
    dtype: Any = "float32"

    def __post_init__(self) -> None:
        if np.dtype(self.dtype).kind != "f":
            raise ValueError(f"Compute: dtype is 'float32' or 'float64', got {self.dtype!r}")

    @property
    def children(self) -> tuple[tuple[str, Layer], ...]:
        return (("layer", self.layer),)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {f"layer.{key}": value for key, value in self.layer.parameters(features, activation).items()}

    def state(self, features: Features) -> dict[str, Any]:
        return {f"layer.{key}": value for key, value in self.layer.state(features).items()}

    def output(self, features: Features) -> Features:
        return self.layer.output(features)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        cast = {key: value.astype(self.dtype) for key, value in p.items()}
        state = {key: value.astype(self.dtype) for key, value in ctx.state.items()}
        inside = replace(ctx, state=state, updates={})
        y = call(self.layer, "layer", cast, x.astype(self.dtype), inside)
        for key, value in inside.updates.items():
            ctx.updates[key] = value.astype(ctx.state[key].dtype)
        return y.astype(x.dtype) if x.dtype.kind == "f" else y
