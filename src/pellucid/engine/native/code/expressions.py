"""What each elementwise operation is in a kernel.

Operands arrive as numbers of compiled code, already of the right dtype.

Where compiled code differs from NumPy: sums are taken in another order, a quotient may be a product with the
reciprocal, what cancels on paper (x - x, x times a constant 0) may be 0 also for NaN and infinity, and sin, cos and tan
of numbers beyond 2**30 are NaN.
"""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.engine.native.code import scalar_functions
from pellucid.engine.native.code.llvm.lanes import BOOL, FLOAT64, Lanes
from pellucid.engine.native.code.llvm.loader import SCIPY
from pellucid.engine.native.code.vectormath import FUNCTIONS
from pellucid.engine.native.code.vectormath.exponentials import exp
from pellucid.engine.native.code.vectormath.logarithms import log, log1p
from pellucid.engine.native.code.vectormath.operations import bits, floats, select
from pellucid.graph.primitives.random import GAMMA, mix

if TYPE_CHECKING:
    from pellucid.engine.native.passes.values import Value

Formula = Callable[..., Lanes]

INFINITY = float("inf")


@dataclass(frozen=True)
class Expression:
    """The formula of an operation; which dtype its operands take; is it worth keeping rather than computing again?

    `asks` says that the formula is given the value that it computes, to see what is known of its operands; `placed`
    that its last operand is the place of the number in its array.
    """

    formula: Formula
    operands: str = "result"  # "result": the result's dtype, "common": theirs, "own": each its own, "bool", "choice"
    costly: bool = False
    whole: Formula | None = None  # for integers, where that differs
    logic: Formula | None = None  # for booleans
    asks: bool = False
    placed: bool = False


def _compiled(symbol: str) -> Expression:
    """Through a compiled function of the C library's or SciPy's, in double precision."""
    return Expression(lambda *xs: scalar_functions.compiled(symbol, *xs), costly=True)


def _in_double(f: Formula) -> Formula:
    """Computed in float64, whatever the dtype."""
    return lambda *xs: f(*(x.astype(FLOAT64) for x in xs)).astype(xs[0].dtype)


def _division(f: Formula) -> Expression:
    return Expression(_in_double(f), whole=f, costly=True)


EXPONENTS: dict[float, Formula] = {
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    1: lambda x: x,
    0: lambda x: x.code.constant(1, x.dtype),
    0.5: lambda x: x.code.of_processor("sqrt", x),
    -1: lambda x: 1 / x,
}
"""Powers that need no logarithm."""


def exponent(x: Value) -> float | None:
    """The exponent of a power, where it is one of those."""
    known = x.args[1].settings["value"] if x.args[1].op == "number" else None
    return known if x.dtype.kind == "f" and known in EXPONENTS else None


def _power(x: Value, a: Lanes, p: Lanes) -> Lanes:
    known = exponent(x)
    return scalar_functions.compiled("pow", a, p) if known is None else EXPONENTS[known](a)


def _extreme(better: Callable[[Lanes, Lanes], Lanes]) -> Formula:
    def formula(x: Value, a: Lanes, b: Lanes) -> Lanes:
        """NaN wins, as in NumPy; a number that stands in the program is none."""
        if a.dtype.kind != "f" or x.args[1].op == "number":
            return better(b, a).select(b, a)
        if x.args[0].op == "number":
            return better(a, b).select(a, b)
        return (better(b, a) | (b != b)).select(b, a)

    return formula


def _clip(x: Lanes, low: Lanes, high: Lanes) -> Lanes:
    raised = ((x < low) | (low != low)).select(low, x)
    return ((raised > high) | (high != high)).select(high, raised)


def _sign(x: Lanes) -> Lanes:
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


def _copysign(x: Lanes, sign: Lanes) -> Lanes:
    negative = bits(x).code.constant(-(2 ** (8 * x.dtype.itemsize - 1)), bits(x).dtype)
    return floats(bits(abs(x)) | (bits(sign) & negative))  # type: ignore[no-any-return]


def _heaviside(x: Lanes, middle: Lanes) -> Lanes:
    return (x != x).select(x, (x == 0).select(middle, (x > 0).astype(x.dtype)))


def _rounded(name: str) -> Expression:
    return Expression(lambda x: x.code.of_processor(name, x), whole=_itself)


def _logaddexp(a: Lanes, b: Lanes) -> Lanes:
    larger = (a < b) | (b != b)
    top, low = larger.select(b, a), larger.select(a, b)
    same = (a == b) & (abs(a) == INFINITY)
    return same.select(top, top + log1p(exp(low - top)))


def _entropy(x: Lanes) -> Lanes:
    inside = (x > 0).select(-x * log(x), (x == 0).select(x * 0.0, -INFINITY))
    return (x != x).select(x, inside)


def _relative_entropy(x: Lanes, y: Lanes) -> Lanes:
    ratio = x / y
    safe = (ratio > 0) & (ratio < INFINITY)  # else it is out of range
    near = log1p((x - y) / y)  # exactly 0 where x = y, which a ratio need not be
    far = safe.select(log(ratio), log(x) - log(y))
    logarithm = ((ratio > 0.5) & (ratio < 2)).select(near, far)
    inside = select((x == 0) & (y >= 0), 0.0, INFINITY)
    value = ((x > 0) & (y > 0)).select(x * logarithm, inside)
    return ((x != x) | (y != y)).select(x + y, value)


def _random_start(x: Value, key: Lanes, counter: Lanes) -> Lanes:
    """Where the numbers of a draw begin (SplitMix64, as in graph/primitives/random.py: the same on every executor)."""
    first: Lanes = mix(key.astype("uint64") + GAMMA)
    start: Lanes = mix(first ^ (counter.astype("uint64") * GAMMA + x.settings["stream"]))
    return start


def _uniform(x: Value, start: Lanes, place: Lanes) -> Lanes:
    """A random number in [0, 1) by its place."""
    drawn: Lanes = mix(start + (place.astype("uint64") + 1) * GAMMA)
    if x.dtype.itemsize == 8:
        return (drawn >> 11).astype("int64").astype("float64") * 2.0**-53
    return (drawn >> 40).astype("int32").astype("float32") * 2.0**-24


def _times_log(logarithm: Formula) -> Expression:
    """0 where the factor is 0, unless the other is NaN."""
    return Expression(lambda x, y: ((x == 0) & (y == y)).select(x * 0.0, x * logarithm(y)), costly=True)


def _itself(x: Lanes) -> Lanes:
    return x


ELEMENTWISE: dict[str, Expression] = {
    # arithmetic
    "add": Expression(op.add, logic=op.or_),
    "subtract": Expression(op.sub),
    "multiply": Expression(op.mul, logic=op.and_),
    "divide": Expression(op.truediv),
    "negative": Expression(op.neg),
    "positive": Expression(_itself),
    "reciprocal": Expression(lambda a: 1 / a, whole=scalar_functions.reciprocal),
    "square": Expression(lambda a: a * a),
    "sqrt": Expression(lambda a: a.code.of_processor("sqrt", a)),
    "power": Expression(_power, costly=True, asks=True, whole=lambda x, a, p: scalar_functions.power(a, p)),
    "floor_divide": _division(scalar_functions.floor_divide),
    "remainder": _division(scalar_functions.remainder),
    "fmod": _division(scalar_functions.fmod),
    "hypot": _compiled("hypot"),
    # kinks and signs
    "absolute": Expression(abs),
    "fabs": Expression(abs),
    "maximum": Expression(_extreme(lambda b, a: a < b), asks=True, logic=lambda x, a, b: a | b),
    "minimum": Expression(_extreme(lambda b, a: a > b), asks=True, logic=lambda x, a, b: a & b),
    "clip": Expression(_clip),
    "sign": Expression(lambda x: (x != x).select(x, _sign(x)), whole=_sign),
    "copysign": Expression(_copysign),
    "heaviside": Expression(_heaviside),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "rint": _rounded("rint"),
    "trunc": _rounded("trunc"),
    # questions
    "isnan": Expression(lambda x: x != x, operands="own"),
    "isinf": Expression(lambda x: abs(x) == INFINITY, operands="own", whole=lambda x: x != x),
    "isfinite": Expression(lambda x: abs(x) < INFINITY, operands="own", whole=lambda x: x == x),
    "logical_not": Expression(op.invert, operands="bool"),
    "invert": Expression(op.invert),
    "greater": Expression(op.gt, operands="common"),
    "greater_equal": Expression(op.ge, operands="common"),
    "less": Expression(op.lt, operands="common"),
    "less_equal": Expression(op.le, operands="common"),
    "equal": Expression(op.eq, operands="common"),
    "not_equal": Expression(op.ne, operands="common"),
    "logical_and": Expression(op.and_, operands="bool"),
    "logical_or": Expression(op.or_, operands="bool"),
    "logical_xor": Expression(op.ne, operands="bool"),
    "bitwise_and": Expression(op.and_),
    "bitwise_or": Expression(op.or_),
    "bitwise_xor": Expression(op.xor),
    # selection and conversion
    "where": Expression(lambda condition, a, b: condition.select(a, b), operands="choice"),
    "astype": Expression(_itself),
    "broadcast_to": Expression(_itself),
    "stop_gradient": Expression(_itself),
    # through the C library
    "arcsin": _compiled("asin"),
    "arccos": _compiled("acos"),
    "arctan2": _compiled("atan2"),
    "arcsinh": _compiled("asinh"),
    "arccosh": _compiled("acosh"),
    "arctanh": _compiled("atanh"),
    # our own, for whole vectors
    **{name: Expression(function, costly=True) for name, function in FUNCTIONS.items()},
    "logaddexp": Expression(_in_double(_logaddexp), costly=True),
    # SciPy's
    "logit": Expression(lambda x: log(x / (1 - x)), costly=True),
    "xlogy": _times_log(log),
    "xlog1py": _times_log(log1p),
    "entr": Expression(_in_double(_entropy), costly=True),
    "rel_entr": Expression(_in_double(_relative_entropy), costly=True),
    **{name: _compiled(SCIPY + name) for name in ("erfinv", "log_ndtr", "ndtri", "gammaln", "psi")},
    "zeta": Expression(_in_double(scalar_functions.hurwitz_zeta), costly=True),
}
"""Every elementwise primitive by name."""


FORMULAS = ELEMENTWISE | {
    "iota": Expression(_itself, placed=True),
    "random_start": Expression(_random_start, operands="own", asks=True),
    "uniform": Expression(_uniform, operands="own", asks=True, costly=True, placed=True),
}
"""... and what the engine has beside them: the position along the last axis, random numbers."""


def is_costly(x: Value) -> bool:
    """Better kept than computed again?"""
    return x.op in FORMULAS and FORMULAS[x.op].costly


def written(x: Value, operands: Sequence[Lanes], place: Callable[[], Lanes]) -> Lanes:
    """A value, computed from its operands, and where it asks for it from its place."""
    entry, kinds = FORMULAS[x.op], _operand_dtypes(x, operands)
    dtype, formula = next(iter(kinds), x.dtype), entry.formula
    if dtype.kind == "b" and entry.operands == "result" and entry.logic is not None:
        formula = entry.logic
    elif dtype.kind in "iu" and entry.whole is not None:
        formula = entry.whole
    given = [operand.astype(kind) for operand, kind in zip(operands, kinds, strict=True)]
    if entry.placed:
        given.append(place())
    return formula(*([x] if entry.asks else []), *given).astype(x.dtype)


def _operand_dtypes(x: Value, operands: Sequence[Lanes]) -> list[np.dtype[Any]]:
    """In which dtypes an operation takes its operands."""
    match FORMULAS[x.op].operands:
        case "own":
            return [operand.dtype for operand in operands]
        case "choice":
            return [BOOL, x.dtype, x.dtype]
        case "common":
            dtype = np.result_type(*(a.dtype.type(0).item() if a.weak else a.dtype for a in x.args))
        case how:
            dtype = BOOL if how == "bool" else x.dtype
    return [dtype] * len(operands)
