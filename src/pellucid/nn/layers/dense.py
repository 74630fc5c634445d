"""Layers with weights: Dense, Maxout, the GLU family, Scale. Weights have shape (n_in, n_out); rows are samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import is_whole
from pellucid.nn.activations.activation import Activation, activation
from pellucid.nn.initialisers.initializer import constant, initializer
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, check_columns, check_features, rows_of


@dataclass(frozen=True)
class Dense(Layer):
    """x @ weight + bias.   (n, n_in) -> (n, units)

    The lectures write samples as columns: their W is the transpose of `weight`, (n_in, units).

    Parameters
    ----------
    units : int
        columns of the output
    init : str | number | array | Initializer
        how weights start; "auto" suits the activation that follows
    bias : str | number | array | Initializer
        how biases start; None is no bias
    scaling : str
        "standard", or "ntk": weights start as N(0, 1) and the product is divided by sqrt(n_in) (Jacot et al.,
        2018), so that one learning rate suits all widths
    """

    units: int
    init: Any = "auto"
    bias: Any = 0.0
    scaling: str = "standard"

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        known_scaling(self)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return _parameters(self, features, 1, activation)

    @property
    def takes_sparse(self) -> bool:
        return type(self) is Dense  # a class of the user's may do more with x than multiply it

    def output(self, features: Features) -> Features:
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        return affine(self, p, x, ctx)


@dataclass(frozen=True)
class Maxout(Layer):
    """The largest of k affine maps (Goodfellow et al., 2013).   (n, n_in) -> (n, units)

    The k weight matrices lie side by side in one (n_in, units * k) matrix.

    Parameters
    ----------
    units : int
        columns of the output
    pieces : int
        k, affine maps for each unit
    init : str | number | array | Initializer
        how weights start
    bias : str | number | array | Initializer
        how biases start; None is no bias
    scaling : str
        "standard" or "ntk", as for `Dense`
    """

    units: int
    pieces: int = 2
    init: Any = "auto"
    bias: Any = 0.0
    scaling: str = "standard"

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        positive(self, "pieces", self.pieces)
        known_scaling(self)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return _parameters(self, features, self.pieces, activation)

    @property
    def takes_sparse(self) -> bool:
        return type(self) is Maxout  # a class of the user's may do more with x than multiply it

    def output(self, features: Features) -> Features:
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        y = affine(self, p, x, ctx)
        return np.max(np.reshape(y, (x.shape[0], self.pieces, self.units)), axis=1)


@dataclass(frozen=True)
class GLU(Layer):
    """gate(x W + b) * (x V + c), Dauphin et al., 2017, Shazeer, 2020.   (n, n_in) -> (n, units)

    W and V lie side by side in one (n_in, 2 * units) matrix.

    Parameters
    ----------
    units : int
        columns of the output
    gate : str | Activation | function
        an activation: "sigmoid" is GLU proper, "relu" ReGLU, "gelu" GEGLU, "silu" SwiGLU, "swish" SwiGLU with a
        learned β for each unit
    init : str | number | array | Initializer
        how weights start
    bias : str | number | array | Initializer
        how biases start; None is no bias
    scaling : str
        "standard" or "ntk", as for `Dense`
    """

    units: int
    gate: Any = "sigmoid"
    init: Any = "auto"
    bias: Any = 0.0
    scaling: str = "standard"

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        known_scaling(self)
        activation(self.gate)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        gate = gate_of(self)
        learned = {f"gate.{k}": Parameter((self.units,), constant(start)) for k, start in gate.learned.items()}
        return _parameters(self, features, 2, activation) | learned

    @property
    def takes_sparse(self) -> bool:
        return type(self) is GLU  # a class of the user's may do more with x than multiply it

    def output(self, features: Features) -> Features:
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        y = affine(self, p, x, ctx)
        gate = gate_of(self)
        opened = gate(y[:, : self.units], **{k: p[f"gate.{k}"] for k in gate.learned})
        return opened * y[:, self.units :]


@dataclass(frozen=True)
class Scale(Layer):
    """Every feature times a learned number of its own.   (n, ...) -> (n, ...)

    Parameters
    ----------
    init : str | number | array | Initializer
        how the factors start
    """

    init: Any = 1.0

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {"scale": Parameter(features, initializer(self.init))}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        check_features(self, x, p["scale"].shape, ctx.path)
        return x * p["scale"]


def gate_of(layer: GLU) -> Activation:
    return activation(layer.gate)


Weighted = Dense | Maxout | GLU


def _parameters(layer: Weighted, features: Features, pieces: int, following: Activation | None) -> dict[str, Parameter]:
    """Weight and bias of `pieces` affine maps side by side; each piece has fans of its own."""
    n_in, units = rows_of(layer, features), layer.units
    gain = 1.0 if following is None else following.gain
    parameters = {"weight": Parameter((n_in, units * pieces), initializer(start_of(layer)), n_in, units, gain)}
    if layer.bias is not None:
        parameters["bias"] = Parameter((units * pieces,), initializer(layer.bias), n_in, units)
    return parameters


def start_of(layer: Any) -> Any:
    """The initialiser of weights: "auto" is N(0, 1) in NTK form."""
    auto = isinstance(layer.init, str) and layer.init == "auto"
    return "standard_normal" if layer.scaling == "ntk" and auto else layer.init


def affine(layer: Weighted, p: Params, x: Any, ctx: Context) -> Any:
    """x W + b, of all pieces side by side."""
    check_columns(layer, x, p["weight"].shape[0], ctx.path)
    y = x @ effective_weight(layer, p["weight"])
    return ctx.tap(y + p["bias"] if layer.bias is not None else y, "affine")


def effective_weight(layer: Any, weight: Any) -> Any:
    """The matrix that is multiplied by: in NTK form the stored one over sqrt(n_in).   (..., n_in, n_out)"""
    return weight * (1.0 / float(np.sqrt(weight.shape[-2]))) if layer.scaling == "ntk" else weight


def known_scaling(layer: Any) -> None:
    if layer.scaling not in ("standard", "ntk"):
        raise ValueError(f"{type(layer).__name__}: scaling is 'standard' or 'ntk', got {layer.scaling!r}")


def positive(layer: Layer, what: str, value: Any) -> None:
    if not is_whole(value):
        raise ValueError(f"{type(layer).__name__}: {what} is a whole number from 1, got {value!r}")
