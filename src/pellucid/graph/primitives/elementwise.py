"""Elementwise functions of NumPy: the value, and `d` times the slope for each argument.

Choices at kinks: abs'(0) = 0. Where maximum and minimum tie, two variables share the derivative equally; beside a
constant it is 0, so that ReLU written as np.maximum(x, 0) has ReLU'(0) = 0. clip has slope 0 at its bounds for the
same reason.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pellucid.graph.core.primitive import elementwise, fit, primitive
from pellucid.graph.core.spec import SCALARS, Spec, broadcast, promote
from pellucid.graph.core.tracer import Tracer

# arithmetic: Python's operators are the value, they are quicker than the ufuncs on NumPy's numbers

add = elementwise("add", operator.add, lambda d, y, a, b: d, lambda d, y, a, b: d, ufunc=np.add)
subtract = elementwise("subtract", operator.sub, lambda d, y, a, b: d, lambda d, y, a, b: -d, ufunc=np.subtract)
multiply = elementwise("multiply", operator.mul, lambda d, y, a, b: d * b, lambda d, y, a, b: d * a, ufunc=np.multiply)
divide = elementwise(
    "divide", operator.truediv, lambda d, y, a, b: d / b, lambda d, y, a, b: -d * y / b, ufunc=np.divide
)
negative = elementwise("negative", operator.neg, lambda d, y, x: -d, ufunc=np.negative)
positive = elementwise("positive", np.positive, lambda d, y, x: d)
reciprocal = elementwise("reciprocal", np.reciprocal, lambda d, y, x: -d * y * y)
square = elementwise("square", np.square, lambda d, y, x: d * (2 * x))
sqrt = elementwise("sqrt", np.sqrt, lambda d, y, x: d / (2 * y))
cbrt = elementwise("cbrt", np.cbrt, lambda d, y, x: d / (3 * y * y))


def _power_base(d: Any, y: Any, x: Any, p: Any) -> Any:
    if type(p) in SCALARS:
        return d * (p * x ** (p - 1)) if p != 0 else d * 0
    flat = np.equal(p, 0)  # p = 0: slope 0, also at x = 0
    if type(p) is Tracer:
        flat = flat & np.equal(x, 0)  # elsewhere the slope has a derivative in p
    return d * (p * x ** np.where(flat, 1, p - 1))


def _power_exponent(d: Any, y: Any, x: Any, p: Any) -> Any:
    if type(x) in SCALARS:  # its logarithm stays a Python number: float32 is kept
        return d * (y * (float(np.log(x)) if x else 0.0))
    return d * (y * np.log(np.where(np.equal(x, 0), 1, x)))  # x = 0: the slope is 0 for p > 0


power = elementwise("power", operator.pow, _power_base, _power_exponent, ufunc=np.power)
floor_divide = elementwise("floor_divide", np.floor_divide, None, None)
remainder = elementwise("remainder", np.remainder, lambda d, y, a, b: d, lambda d, y, a, b: -d * np.floor_divide(a, b))
fmod = elementwise("fmod", np.fmod, lambda d, y, a, b: d, lambda d, y, a, b: -d * np.trunc(a / b))
hypot = elementwise("hypot", np.hypot, lambda d, y, a, b: d * a / y, lambda d, y, a, b: d * b / y)

# exponentials and logarithms

_LN2 = float(np.log(2.0))
_LN10 = float(np.log(10.0))

exp = elementwise("exp", np.exp, lambda d, y, x: d * y)
exp2 = elementwise("exp2", np.exp2, lambda d, y, x: d * y * _LN2)
expm1 = elementwise("expm1", np.expm1, lambda d, y, x: d * (y + 1))
log = elementwise("log", np.log, lambda d, y, x: d / x)
log2 = elementwise("log2", np.log2, lambda d, y, x: d / (x * _LN2))
log10 = elementwise("log10", np.log10, lambda d, y, x: d / (x * _LN10))
log1p = elementwise("log1p", np.log1p, lambda d, y, x: d / (1 + x))
logaddexp = elementwise(
    "logaddexp",
    np.logaddexp,
    lambda d, y, a, b: d * np.exp(a - np.where(np.isinf(y), 0, y)),
    lambda d, y, a, b: d * np.exp(b - np.where(np.isinf(y), 0, y)),
)

# trigonometric and hyperbolic functions

sin = elementwise("sin", np.sin, lambda d, y, x: d * np.cos(x))
cos = elementwise("cos", np.cos, lambda d, y, x: -d * np.sin(x))
tan = elementwise("tan", np.tan, lambda d, y, x: d * (1 + y * y))
arcsin = elementwise("arcsin", np.arcsin, lambda d, y, x: d / np.sqrt(1 - x * x))
arccos = elementwise("arccos", np.arccos, lambda d, y, x: -d / np.sqrt(1 - x * x))
arctan = elementwise("arctan", np.arctan, lambda d, y, x: d / (1 + x * x))
arctan2 = elementwise(
    "arctan2",
    np.arctan2,
    lambda d, y, a, b: d * b / (a * a + b * b),
    lambda d, y, a, b: -d * a / (a * a + b * b),
)
sinh = elementwise("sinh", np.sinh, lambda d, y, x: d * np.cosh(x))
cosh = elementwise("cosh", np.cosh, lambda d, y, x: d * np.sinh(x))
tanh = elementwise("tanh", np.tanh, lambda d, y, x: d * (1 - y * y))
arcsinh = elementwise("arcsinh", np.arcsinh, lambda d, y, x: d / np.sqrt(x * x + 1))
arccosh = elementwise("arccosh", np.arccosh, lambda d, y, x: d / np.sqrt(x * x - 1))
arctanh = elementwise("arctanh", np.arctanh, lambda d, y, x: d / (1 - x * x))

# kinks

absolute = elementwise("absolute", np.absolute, lambda d, y, x: d * np.sign(x))
fabs = elementwise("fabs", np.fabs, lambda d, y, x: d * np.sign(x))


def _larger(d: Any, a: Any, b: Any, tie: float) -> Any:
    """The share of `d` for `a` in maximum(a, b)."""
    if tie == 0.0:
        return d * np.greater(a, b)
    return d * np.where(np.equal(a, b), tie, np.greater(a, b)).astype(d.dtype)


# `tie` is the share at a tie: ½ between two variables, 0 beside a constant (numpy_api tells which)
maximum = elementwise(
    "maximum",
    lambda a, b, *, tie=0.5: np.maximum(a, b),
    lambda d, y, a, b, *, tie=0.5: _larger(d, a, b, tie),
    lambda d, y, a, b, *, tie=0.5: _larger(d, b, a, tie),
)
minimum = elementwise(
    "minimum",
    lambda a, b, *, tie=0.5: np.minimum(a, b),
    lambda d, y, a, b, *, tie=0.5: _larger(d, b, a, tie),
    lambda d, y, a, b, *, tie=0.5: _larger(d, a, b, tie),
)
clip = elementwise(
    "clip",
    lambda x, low, high: np.clip(x, low, high),
    lambda d, y, x, low, high: d * (np.greater(x, low) & np.less(x, high)),
    lambda d, y, x, low, high: d * (np.less_equal(x, low) & np.less(low, high)),
    lambda d, y, x, low, high: d * (np.greater_equal(x, high) | np.greater_equal(low, high)),
)

# no slope at all: rounding, signs, comparisons, logic

_ROUNDING = (np.sign, np.floor, np.ceil, np.rint, np.trunc)
_TESTS = (np.isnan, np.isinf, np.isfinite, np.logical_not, np.invert)
_COMPARISONS = (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal)
_LOGIC = (np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor)
for _one in (*_ROUNDING, *_TESTS):
    elementwise(_one.__name__, _one, None)
for _two in (*_COMPARISONS, *_LOGIC):
    elementwise(_two.__name__, _two, None, None)
copysign = elementwise("copysign", np.copysign, lambda d, y, a, b: d * np.sign(a) * np.sign(y), None)
heaviside = elementwise("heaviside", np.heaviside, None, None)

# selection and conversion


def _where_shape(condition: Spec, a: Spec, b: Spec) -> Spec:
    return Spec(broadcast([condition.shape, a.shape, b.shape], "where"), promote([a, b]))


def _where_rule(pick: Any, position: int) -> Any:
    return lambda d, y, c, a, b: fit(pick(d, c), (a, b)[position])


where = primitive(
    "where",
    lambda condition, a, b: np.where(condition, a, b),
    shape=_where_shape,
    jvp=(None, lambda d, y, c, a, b: np.where(c, d, 0), lambda d, y, c, a, b: np.where(c, 0, d)),
    vjp=(
        None,
        _where_rule(lambda d, c: np.where(c, d, 0), 0),
        _where_rule(lambda d, c: np.where(c, 0, d), 1),
    ),
)


def _astype_vjp(d: Any, y: Any, x: Any, *, dtype: Any) -> Any:
    return d.astype(x.dtype) if x.dtype.kind == "f" and np.dtype(dtype).kind == "f" else None


astype = primitive(
    "astype",
    lambda x, *, dtype: np.asarray(x).astype(dtype)[()],
    shape=lambda x, *, dtype: Spec(x.shape, dtype),
    jvp=(lambda d, y, x, *, dtype: d.astype(dtype) if np.dtype(dtype).kind == "f" else None,),
    vjp=(_astype_vjp,),
)
