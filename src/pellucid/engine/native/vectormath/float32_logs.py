"""Logarithms of a float32, branch-free, to be inlined into vector loops: see float32.py."""

import numpy as np

from pellucid.engine.native.vectormath.bits import (
    bits_float32,
    elementary,
    float32_bits,
    horner,
    int_add,
    int_and,
    int_subtract,
    shift_left,
    shift_right,
)
from pellucid.engine.native.vectormath.float32 import HALF, LN2_HI, LN2_LO, LOG2_E, ONE, ZERO, exp32, table

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


@elementary
def _log_tail(f: np.float32) -> np.float32:
    """log(1 + f) - f."""
    square = f * f
    return f * square * horner(f, LOG) - HALF * square


@elementary
def _log_parts(x: np.float32) -> tuple[np.float32, np.float32, np.float32]:
    """e, f and log(1 + f) - f, where x = 2^e (1 + f) and sqrt(1/2) <= 1 + f < sqrt(2)."""
    small = x < SMALLEST_NORMAL
    bits = int_add(float32_bits(x * SUBNORMAL_SCALE if small else x), ONE_BITS - ROOT_HALF_BITS)
    e = np.float32(int_subtract(shift_right(bits, 23), 127)) - (SUBNORMAL_EXPONENT if small else ZERO)
    f = bits_float32(int_add(int_and(bits, MANTISSA), ROOT_HALF_BITS)) - ONE
    return e, f, _log_tail(f)


@elementary
def _log_limits(y: np.float32, x: np.float32) -> np.float32:
    """A logarithm y of x, made right where x is not a positive number."""
    y = -INF if x == ZERO else y
    y = NAN if x < ZERO else y
    return y if x < INF else x


@elementary
def log32(x: np.float32) -> np.float32:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LN2_HI + (f + (tail + e * LN2_LO)), x)


@elementary
def log2_32(x: np.float32) -> np.float32:
    e, f, tail = _log_parts(x)
    return _log_limits(e + (f + (f * LOG2_E_LESS_1 + tail * LOG2_E)), x)


@elementary
def log10_32(x: np.float32) -> np.float32:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LOG10_2_HI + (f * LOG10_E + (tail * LOG10_E + e * LOG10_2_LO)), x)


@elementary
def _log1p_limited(x: np.float32) -> np.float32:
    """log(1 + x) = e ln(2) + log(1 + f) with f = 2^-e x + (2^-e - 1), which loses nothing of a small x."""
    bits = int_add(float32_bits(ONE + x), ONE_BITS - ROOT_HALF_BITS)
    biased = shift_right(bits, 23)
    scale = bits_float32(shift_left(int_subtract(TWICE_BIAS, biased), 23))
    large = bits_float32(int_add(int_and(bits, MANTISSA), ROOT_HALF_BITS)) - ONE
    f = large if x > LOG1P_LARGE else scale * x + (scale - ONE)
    e = np.float32(int_subtract(biased, 127))
    return e * LN2_HI + (f + (_log_tail(f) + e * LN2_LO))


@elementary
def log1p32(x: np.float32) -> np.float32:
    y = _log1p_limited(x)
    y = -INF if x == -ONE else y
    y = NAN if x < -ONE else y
    return y if x < INF else x


@elementary
def log_expit32(x: np.float32) -> np.float32:
    return (x if x < ZERO else ZERO) - _log1p_limited(exp32(-abs(x)))
