"""What each elementwise operation is in the source of a kernel.

Operands arrive as typed scalars, already of the right dtype. `{T}` is that dtype's constructor, `{F}` the suffix of
its functions (32 or 64).

Where compiled code differs from NumPy: sums are taken in another order, a quotient may be a product with the
reciprocal, what cancels on paper (x - x, x times a constant 0) is 0 also for NaN and infinity, and sin, cos and tan
of numbers beyond 2**30 are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.engine.native.values import Value
from pellucid.engine.native.vectormath import FLOAT32, FLOAT64


@dataclass(frozen=True)
class Expression:
    """Source of an operation; which dtype its operands take; is it worth keeping rather than computing again?"""

    text: str | Callable[..., str]
    operands: str = "result"  # "result": the result's dtype, "common": theirs, "own": each its own, "bool", "choice"
    costly: bool = False
    whole: str | None = None  # for integers, where that differs
    logic: str | None = None  # for booleans


NAMES = {
    "float32": "f32",
    "float64": "f64",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "u64",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "bool": "b1",
}
"""What a dtype is called in a kernel."""


def _libm(name: str, operands: int = 1) -> Expression:
    """Through the C library, in double precision."""
    inside = ", ".join(f"f64({{{i}}})" for i in range(operands))
    return Expression(f"{{T}}(libm_{name}({inside}))", costly=True)


def _special(name: str) -> Expression:
    """Through SciPy's compiled functions, by address, in double precision."""
    return Expression(f"{{T}}(call1(@{name}@, f64({{0}})))", costly=True)


def _vector(name: str) -> Expression:
    return Expression(f"{name}{{F}}({{0}})", costly=True)


def _power(x: str, p: str, T: str, values: Sequence[Value], dtype: np.dtype[Any]) -> str:
    exponent = values[1].settings["value"] if values[1].op == "number" else None
    if dtype.kind != "f":
        return f"{T}(whole_power({x}, {p}))"
    if exponent == 2:
        return f"({x} * {x})"
    if exponent == 3:
        return f"({x} * {x} * {x})"
    if exponent == 1:
        return x
    if exponent == 0:
        return f"{T}(1)"
    if exponent == 0.5:
        return f"root({x})"
    if exponent == -1:
        return f"({T}(1) / {x})"
    return f"{T}(libm_pow(f64({x}), f64({p})))"


def _extreme(sign: str) -> Callable[..., str]:
    def text(a: str, b: str, T: str, values: Sequence[Value], dtype: np.dtype[Any]) -> str:
        """NaN wins, as in NumPy."""
        if dtype.kind != "f" or values[1].op == "number":
            return f"({b} if {a} {sign} {b} else {a})"
        if values[0].op == "number":
            return f"({a} if {b} {sign} {a} else {b})"
        return f"({b} if ({a} {sign} {b}) | ({b} != {b}) else {a})"

    return text


def _infix(sign: str, logic: str | None = None) -> Expression:
    return Expression(f"({{0}} {sign} {{1}})", logic=logic)


def _comparison(sign: str) -> Expression:
    return Expression(f"({{0}} {sign} {{1}})", operands="common")


ELEMENTWISE: dict[str, Expression] = {
    # arithmetic
    "add": _infix("+", "({0} | {1})"),
    "subtract": _infix("-"),
    "multiply": _infix("*", "({0} & {1})"),
    "divide": _infix("/"),
    "negative": Expression("(-{0})"),
    "positive": Expression("{0}"),
    "reciprocal": Expression("({T}(1) / {0})", whole="whole_divide({T}(1), {0})"),
    "square": Expression("({0} * {0})"),
    "sqrt": Expression("root({0})"),
    "power": Expression(_power, costly=True),
    "floor_divide": Expression("{T}(floor_divide(f64({0}), f64({1})))", whole="whole_divide({0}, {1})", costly=True),
    "remainder": Expression("{T}(remainder(f64({0}), f64({1})))", whole="whole_remainder({0}, {1})", costly=True),
    "fmod": Expression("{T}(libm_fmod(f64({0}), f64({1})))", whole="whole_fmod({0}, {1})", costly=True),
    "hypot": _libm("hypot", 2),
    # kinks and signs
    "absolute": Expression("magnitude({0})", whole="abs({0})"),
    "fabs": Expression("magnitude({0})"),
    "maximum": Expression(_extreme("<"), logic="({0} | {1})"),
    "minimum": Expression(_extreme(">"), logic="({0} & {1})"),
    "clip": Expression(lambda x, low, high, T, values, dtype: f"clipped({x}, {low}, {high})"),
    "sign": Expression(
        "({0} if {0} != {0} else ({T}({0} > {T}(0)) - {T}({0} < {T}(0))))",
        whole="{T}({T}({0} > {T}(0)) - {T}({0} < {T}(0)))",
    ),
    "copysign": Expression("with_sign({0}, {1})"),
    "heaviside": Expression("({0} if {0} != {0} else ({1} if {0} == {T}(0) else {T}({0} > {T}(0))))"),
    "floor": Expression("down({0})", whole="{0}"),
    "ceil": Expression("up({0})", whole="{0}"),
    "rint": Expression("nearest({0})", whole="{0}"),
    "trunc": Expression("towards_zero({0})", whole="{0}"),
    # questions
    "isnan": Expression("({0} != {0})", operands="own"),
    "isinf": Expression("(magnitude({0}) == {T}(INFINITY))", operands="own", whole="({0} != {0})"),
    "isfinite": Expression("(magnitude({0}) < {T}(INFINITY))", operands="own", whole="({0} == {0})"),
    "logical_not": Expression("(not {0})", operands="bool"),
    "invert": Expression("(~{0})", logic="(not {0})"),
    "greater": _comparison(">"),
    "greater_equal": _comparison(">="),
    "less": _comparison("<"),
    "less_equal": _comparison("<="),
    "equal": _comparison("=="),
    "not_equal": _comparison("!="),
    "logical_and": Expression("({0} & {1})", operands="bool"),
    "logical_or": Expression("({0} | {1})", operands="bool"),
    "logical_xor": Expression("({0} != {1})", operands="bool"),
    "bitwise_and": _infix("&", "({0} & {1})"),
    "bitwise_or": _infix("|", "({0} | {1})"),
    "bitwise_xor": _infix("^", "({0} != {1})"),
    # selection and conversion
    "where": Expression("({1} if {0} else {2})", operands="choice"),
    "astype": Expression("{0}"),
    "broadcast_to": Expression("{0}"),
    "stop_gradient": Expression("{0}"),
    # through the C library
    **{
        name: _libm(symbol, operands)
        for name, symbol, operands in (
            ("arcsin", "asin", 1),
            ("arccos", "acos", 1),
            ("arctan", "atan", 1),
            ("arctan2", "atan2", 2),
            ("arcsinh", "asinh", 1),
            ("arccosh", "acosh", 1),
            ("arctanh", "atanh", 1),
            ("cbrt", "cbrt", 1),
            ("tan", "tan", 1),
            ("sinh", "sinh", 1),
            ("cosh", "cosh", 1),
        )
    },
    # our own, which vectorise
    **{name: _vector(name) for name in (*FLOAT32, *FLOAT64)},
    "logaddexp": Expression("logaddexp{F}({0}, {1})", costly=True),
    # SciPy's
    "logit": Expression("log{F}({0} / ({T}(1) - {0}))", costly=True),
    "xlogy": Expression("({T}(0) if ({0} == {T}(0)) & ({1} == {1}) else {0} * log{F}({1}))", costly=True),
    "xlog1py": Expression("({T}(0) if ({0} == {T}(0)) & ({1} == {1}) else {0} * log1p{F}({1}))", costly=True),
    "entr": Expression("entropy{F}({0})", costly=True),
    "rel_entr": Expression("relative_entropy{F}({0}, {1})", costly=True),
    **{name: _special(name) for name in ("erfinv", "log_ndtr", "ndtri", "gammaln", "psi")},
    "zeta": Expression("{T}(hurwitz_zeta(f64({0}), f64({1})))", costly=True),
}
"""Every elementwise primitive by name."""


def source_of(x: Value, operands: Sequence[str]) -> str:
    """The expression of a value in terms of the variables of its operands."""
    entry = ELEMENTWISE[x.op]
    dtype = operand_dtype(x)
    T = NAMES[dtype.name]
    text: Any = entry.text
    if dtype.kind == "b" and entry.operands == "result" and entry.logic is not None:
        text = entry.logic
    elif dtype.kind in "iu" and entry.whole is not None:
        text = entry.whole
    if entry.operands == "choice":
        kinds = [np.dtype(bool), x.dtype, x.dtype]
    elif entry.operands == "own":
        kinds = [dtype]
    else:
        kinds = [dtype] * len(operands)
    cast = [_cast(o, a, kind) for o, a, kind in zip(operands, x.args, kinds, strict=True)]
    made = text(*cast, T, x.args, dtype) if callable(text) else text.format(*cast, T=T, F=dtype.itemsize * 8)
    result = np.dtype(bool) if entry.operands in ("common", "own", "bool") else dtype
    return made if result == x.dtype else f"{NAMES[x.dtype.name]}({made})"


def operand_dtype(x: Value) -> np.dtype[Any]:
    """In which dtype an operation computes."""
    entry = ELEMENTWISE[x.op]
    if entry.operands == "common":
        strong = [a.dtype if not a.weak else a.dtype.type(0).item() for a in x.args]
        common = np.result_type(*strong)
        assert isinstance(common, np.dtype)
        return common
    if entry.operands == "own":
        return x.args[0].dtype
    return np.dtype(bool) if entry.operands == "bool" else x.dtype


def _cast(text: str, x: Value, dtype: np.dtype[Any]) -> str:
    if x.dtype == dtype and not x.known:
        return text
    if dtype.kind == "b":
        return f"({text} != 0)"
    return f"{NAMES[dtype.name]}({text})"
