"""Layers with weights: Dense, Maxout, the GLU family, Scale. Weights have shape (n_in, n_out); rows are samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.nn.activations import Activation, activation
from pellucid.nn.context import Context
from pellucid.nn.initializers import initializer
from pellucid.nn.layer import Features, Layer, Parameter, Params, check_columns, rows_of


@dataclass(frozen=True)
class Dense(Layer):
    """x @ weight + bias.   (n, n_in) -> (n, units)

    `init` and `bias` are initialisers by name, number or object (`bias=None`: no bias). With `scaling="ntk"` the
    weights start as N(0, 1) and the product is divided by sqrt(n_in) (Jacot et al., 2018), so that one learning rate
    suits all widths. The lectures write samples as columns: their W is the transpose of `weight`.
    """

    units: int
    init: Any = "auto"
    bias: Any = 0.0
    scaling: str = "standard"

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        if self.scaling not in ("standard", "ntk"):
            raise ValueError(f"Dense: scaling is 'standard' or 'ntk', got {self.scaling!r}")

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        n = rows_of(self, features)
        return _affine(n, self.units, 1, self._init(), self.bias, activation)

    def _init(self) -> Any:
        return "standard_normal" if self.scaling == "ntk" and self.init == "auto" else self.init

    def output(self, features: Features) -> Features:
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        weight = p["weight"]
        check_columns(self, x, weight.shape[0], ctx.path)
        y = x @ weight
        if self.scaling == "ntk":
            y = y * (1.0 / float(np.sqrt(weight.shape[0])))
        return ctx.tap(y + p["bias"] if self.bias is not None else y, "affine")


@dataclass(frozen=True)
class Maxout(Layer):
    """The largest of k affine maps (Goodfellow et al., 2013).   (n, n_in) -> (n, units)

    The k weight matrices lie side by side in one (n_in, units * k) matrix.
    """

    units: int
    pieces: int = 2
    init: Any = "auto"
    bias: Any = 0.0

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        positive(self, "pieces", self.pieces)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return _affine(rows_of(self, features), self.units, self.pieces, self.init, self.bias, activation)

    def output(self, features: Features) -> Features:
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        y = _pieces(self, p, x, ctx)
        return np.max(np.reshape(y, (x.shape[0], self.units, self.pieces)), axis=2)


@dataclass(frozen=True)
class GLU(Layer):
    """gate(x W + b) * (x V + c), Dauphin et al., 2017, Shazeer, 2020.   (n, n_in) -> (n, units)

    W and V lie side by side in one (n_in, 2 * units) matrix. The gate is an activation: "sigmoid" is GLU proper,
    "relu" ReGLU, "gelu" GEGLU, "silu" SwiGLU.
    """

    units: int
    gate: Any = "sigmoid"
    init: Any = "auto"
    bias: Any = 0.0

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        if activation(self.gate).learned:
            raise ValueError(
                f"GLU: the gate has no learned numbers of its own, got {self.gate!r}: take 'silu' for 'swish'"
            )

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return _affine(rows_of(self, features), self.units, 2, self.init, self.bias, activation)

    def output(self, features: Features) -> Features:
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        y = _pieces(self, p, x, ctx)
        return activation(self.gate)(y[:, : self.units]) * y[:, self.units :]


@dataclass(frozen=True)
class Scale(Layer):
    """Every feature times a learned number of its own.   (n, ...) -> (n, ...)"""

    init: Any = 1.0

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {"scale": Parameter(features, initializer(self.init))}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        return x * p["scale"]


def _affine(
    n_in: int, units: int, pieces: int, init: Any, bias: Any, following: Activation | None
) -> dict[str, Parameter]:
    """Weight and bias of `pieces` affine maps side by side; each piece has fans of its own."""
    gain = 1.0 if following is None else following.gain
    made = {"weight": Parameter((n_in, units * pieces), initializer(init), n_in, units, gain)}
    if bias is not None:
        made["bias"] = Parameter((units * pieces,), initializer(bias), n_in, units)
    return made


def _pieces(layer: Maxout | GLU, p: Params, x: Any, ctx: Context) -> Any:
    """The affine maps side by side."""
    check_columns(layer, x, p["weight"].shape[0], ctx.path)
    y = x @ p["weight"]
    return ctx.tap(y + p["bias"] if layer.bias is not None else y, "affine")


def positive(layer: Layer, what: str, value: Any) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{type(layer).__name__}: {what} is a whole number from 1, got {value!r}")
