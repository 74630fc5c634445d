"""Logarithms of a float32, branch-free, to be inlined into vector loops: see float32.py."""

import numpy as np

from pellucid.engine.native.code.vectormath.float32 import HALF, LN2_HI, LN2_LO, LOG2_E, ONE, ZERO, exp32, table
from pellucid.engine.native.code.vectormath.operations import (
    Number,
    bits,
    elementary,
    floats,
    horner,
    select,
    shift_right,
)

INF, NAN = table(np.inf, np.nan)
LOG2_E_LESS_1, LOG10_E = table(0.4426950408889634, 0.4342944819032518)
LOG10_2_HI, LOG10_2_LO = table(0.301025390625, 4.605038981195214e-06)
# log(1 + f) = f - f^2/2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2): 6e-9
LOG = table(
    *(3.333333e-01, -2.5000823e-01, 2.0001234e-01, -1.66233e-01),
    *(1.4201526e-01, -1.3160534e-01, 1.2763523e-01, -7.6360404e-02),
)
SMALLEST_NORMAL, SUBNORMAL_SCALE, SUBNORMAL_EXPONENT, LOG1P_LARGE = table(2.0**-126, 2.0**23, 23, 2.0**24)
TWICE_BIAS = np.int32(254)
MANTISSA, ONE_BITS, ROOT_HALF_BITS = 0x7FFFFF, 0x3F800000, 0x3F3504F3


def _log_tail(f: Number) -> Number:
    """log(1 + f) - f."""
    square = f * f
    return f * square * horner(f, LOG) - HALF * square


def _log_parts(x: Number) -> tuple[Number, Number, Number]:
    """e, f and log(1 + f) - f, where x = 2^e (1 + f) and sqrt(1/2) <= 1 + f < sqrt(2)."""
    small = x < SMALLEST_NORMAL
    pattern = bits(select(small, x * SUBNORMAL_SCALE, x)) + (ONE_BITS - ROOT_HALF_BITS)
    e = (shift_right(pattern, 23) - 127).astype(np.float32) - select(small, SUBNORMAL_EXPONENT, ZERO)
    f = floats((pattern & MANTISSA) + ROOT_HALF_BITS) - ONE
    return e, f, _log_tail(f)


def _log_limits(y: Number, x: Number) -> Number:
    """A logarithm y of x, made right where x is not a positive number."""
    y = select(x == ZERO, -INF, y)
    y = select(x < ZERO, NAN, y)
    return select(x < INF, y, x)


@elementary
def log32(x: Number) -> Number:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LN2_HI + (f + (tail + e * LN2_LO)), x)


@elementary
def log2_32(x: Number) -> Number:
    e, f, tail = _log_parts(x)
    return _log_limits(e + (f + (f * LOG2_E_LESS_1 + tail * LOG2_E)), x)


@elementary
def log10_32(x: Number) -> Number:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LOG10_2_HI + (f * LOG10_E + (tail * LOG10_E + e * LOG10_2_LO)), x)


def _log1p_limited(x: Number) -> Number:
    """log(1 + x) = e ln(2) + log(1 + f) with f = 2^-e x + (2^-e - 1), which loses nothing of a small x."""
    pattern = bits(ONE + x) + (ONE_BITS - ROOT_HALF_BITS)
    biased = shift_right(pattern, 23)
    scale = floats((TWICE_BIAS - biased) << 23)
    large = floats((pattern & MANTISSA) + ROOT_HALF_BITS) - ONE
    f = select(x > LOG1P_LARGE, large, scale * x + (scale - ONE))
    e = (biased - 127).astype(np.float32)
    return e * LN2_HI + (f + (_log_tail(f) + e * LN2_LO))


@elementary
def log1p32(x: Number) -> Number:
    y = _log1p_limited(x)
    y = select(x == -ONE, -INF, y)
    y = select(x < -ONE, NAN, y)
    return select(x < INF, y, x)


@elementary
def log_expit32(x: Number) -> Number:
    return select(x < ZERO, x, ZERO) - _log1p_limited(exp32(-abs(x)))
