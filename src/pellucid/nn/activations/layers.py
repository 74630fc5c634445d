"""Activations as layers: by name, with parameters fixed or learned, or several mixed in one layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.nn.activations.activation import Activation, activation
from pellucid.nn.initialisers.initializer import constant
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params


@dataclass(frozen=True)
class Activate(Layer):
    """An activation as a layer.   (n, ...) -> (n, ...)

    Parameters
    ----------
    activation : Activation
        the record
    shared : bool
        one number for all features in the place of one for each, where the activation learns some (PReLU's slope)
    """

    activation: Activation
    shared: bool = False

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        shape = () if self.shared else features
        return {name: Parameter(shape, constant(start)) for name, start in self.activation.learned.items()}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        return self.activation(ctx.tap(x, "input"), **{name: p[name] for name in self.activation.learned})

    def __repr__(self) -> str:
        return f"Activate({self.activation.label!r})"


@dataclass(frozen=True, init=False)
class Mixed(Layer):
    """Different activations for different features of one layer, in equal runs (the last takes the rest).

    Parameters
    ----------
    *which : str | Activation | function
        the activations, in order

    Examples
    --------
    >>> net = Mixed("relu", "tanh")
    >>> net.predict({}, np.array([[-1.0, 0.0]]))
    array([[0., 0.]])
    """

    activations: tuple[Activation, ...]

    def __init__(self, *which: Any) -> None:
        if not which:
            raise ValueError("Mixed needs at least one activation")
        object.__setattr__(self, "activations", tuple(activation(w) for w in which))

    def _parts(self, width: int) -> list[slice]:
        if width < len(self.activations):
            raise ShapeError(f"Mixed: {len(self.activations)} activations for {width} features: give at most one each")
        step = width // len(self.activations)
        starts = [i * step for i in range(len(self.activations))]
        return [slice(a, b) for a, b in zip(starts, [*starts[1:], width], strict=True)]

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {
            f"{i}.{name}": Parameter((part.stop - part.start,), constant(start))
            for i, (act, part) in enumerate(zip(self.activations, self._parts(features[-1]), strict=True))
            for name, start in act.learned.items()
        }

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        x = ctx.tap(x, "input")
        parts = zip(self.activations, self._parts(x.shape[-1]), strict=True)
        outputs = [
            act(x[..., part], **{name: p[f"{i}.{name}"] for name in act.learned}) for i, (act, part) in enumerate(parts)
        ]
        return np.concatenate(outputs, axis=-1)


def as_layer(part: Any) -> Layer:
    """A layer, or an activation by name, record or function as a layer."""
    if isinstance(part, Layer):
        return part
    if isinstance(part, type) or part in _MAKERS:
        raise TypeError(f"{part.__name__} was not called: write nn.{part.__name__}(...)")
    if isinstance(part, str) or callable(part):
        return Activate(activation(part))
    raise TypeError(f"a part of a network is a layer, the name of an activation or a function, got {part!r}")


# the usual ones by the names they have as layers elsewhere; any other is Activate(activation(name))


def _layer(name: str, shared: bool = False, **numbers: float) -> Activate:
    return Activate(activation(name).with_(**numbers), shared)


# fmt: off
def ReLU() -> Activate: return _layer("relu")
def LeakyReLU(alpha: float = 0.01) -> Activate: return _layer("leaky_relu", alpha=alpha)
def PReLU(alpha: float = 0.25, shared: bool = False) -> Activate: return _layer("prelu", shared, alpha=alpha)
def ELU(alpha: float = 1.0) -> Activate: return _layer("elu", alpha=alpha)
def SELU() -> Activate: return _layer("selu")
def CELU(alpha: float = 1.0) -> Activate: return _layer("celu", alpha=alpha)
def ReLU6() -> Activate: return _layer("relu6")
def SquaredReLU() -> Activate: return _layer("squared_relu")
def GELU(approximate: bool = False) -> Activate: return _layer("gelu_tanh" if approximate else "gelu")
def SiLU() -> Activate: return _layer("silu")
def Swish(beta: float = 1.0, shared: bool = False) -> Activate: return _layer("swish", shared, beta=beta)
def Mish() -> Activate: return _layer("mish")
def HardSwish() -> Activate: return _layer("hardswish")
def Softplus() -> Activate: return _layer("softplus")
def Sigmoid() -> Activate: return _layer("sigmoid")
def LogSigmoid() -> Activate: return _layer("log_sigmoid")
def HardSigmoid() -> Activate: return _layer("hard_sigmoid")
def Tanh() -> Activate: return _layer("tanh")
def HardTanh() -> Activate: return _layer("hard_tanh")
def Softsign() -> Activate: return _layer("softsign")
def Softmax() -> Activate: return _layer("softmax")
def LogSoftmax() -> Activate: return _layer("log_softmax")
# fmt: on

_MAKERS: tuple[Callable[..., Activate], ...] = (
    ReLU, LeakyReLU, PReLU, ELU, SELU, CELU, ReLU6, SquaredReLU, GELU, SiLU, Swish, Mish, HardSwish, Softplus, Sigmoid,
    LogSigmoid, HardSigmoid, Tanh, HardTanh, Softsign, Softmax, LogSoftmax,
)  # fmt: skip
_NUMBERS = {
    "alpha": "the number α of its formula; for PReLU, where it starts",
    "beta": "the number β of its formula: where it starts, as it is learned",
    "shared": "learn one number for all features, not one for each",
    "approximate": "the approximation by tanh, which is faster",
}
for _make in _MAKERS:
    _record = _make().activation
    _lines = [f"The activation {_record.name} as a layer: g(x) = {_record.formula}.   (n, ...) -> (n, ...)"]
    _arguments = inspect.signature(_make).parameters
    if _arguments:
        _lines += ["", "Parameters", "----------"]
    for _name, _one in _arguments.items():
        _lines += [f"{_name} : {_one.annotation}", f"    {_NUMBERS[_name]}"]
    _make.__doc__ = "\n".join(_lines)
