"""Functions that take a float64 apart, into exponent and fraction: logarithms and the cube root. Branch-free, to be
inlined into vector loops: see float64.py.
"""

import numpy as np

from pellucid.engine.native.vectormath.bits import (
    bits_float64,
    elementary,
    float64_bits,
    horner,
    int_add,
    int_and,
    int_or,
    int_subtract,
    shift_left,
    shift_right,
)
from pellucid.engine.native.vectormath.float64 import BIG, LN2_HI, LN2_LO, LOG2_E, _two_to, _with_sign, exp64

INF, NAN = np.inf, np.nan
LOG2_E_LESS_1, LOG10_E = 0.4426950408889634, 0.4342944819032518
LOG10_2_HI, LOG10_2_LO = 0.30102999566395283, 2.8363394551044964e-14
# log(1 + f) = 2s + s^3 P(s^2) with s = f / (2 + f), sqrt(1/2) <= 1 + f <= sqrt(2): 2e-18
LOG = (
    *(0.6666666666666735, 0.39999999999411023, 0.2857142874327937, 0.2222219847421232, 0.181835698328377),
    *(0.15313900875256883, 0.1479753118790345),
)
# cbrt(v), 0.35 <= v <= 2.83: 5e-3, a first guess
CBRT = (0.4820270641448807, 0.729020744408481, -0.24495663675076856, 0.03699931510160982)
MANTISSA, ONE_BITS, ROOT_HALF_BITS = 0xFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FE6A09E667F3BCD
TWO_52_BITS = 0x4330000000000000  # an integer below 2^52, put in the low bits of 2^52, is a float64


@elementary
def _log_tail(f: float) -> float:
    """log(1 + f) - f, in which 2s = f - f^2/2 + s f^2/2."""
    s, half_square = f / (2.0 + f), 0.5 * f * f
    square = s * s
    return s * (half_square + square * horner(square, LOG)) - half_square


@elementary
def _split(x: float) -> tuple[float, float]:
    """e and m, where x = 2^e m and sqrt(1/2) <= m < sqrt(2), for x > 0."""
    small = x < 2.0**-1022
    bits = int_add(float64_bits(x * 2.0**54 if small else x), ONE_BITS - ROOT_HALF_BITS)
    biased = bits_float64(int_or(shift_right(bits, 52), TWO_52_BITS))
    m = bits_float64(int_add(int_and(bits, MANTISSA), ROOT_HALF_BITS))
    return biased - (2.0**52 + 1023.0 + 54.0 if small else 2.0**52 + 1023.0), m


@elementary
def _log_parts(x: float) -> tuple[float, float, float]:
    """e, f and log(1 + f) - f, where x = 2^e (1 + f)."""
    e, m = _split(x)
    return e, m - 1.0, _log_tail(m - 1.0)


@elementary
def _log_limits(y: float, x: float) -> float:
    """A logarithm y of x, made right where x is not a positive number."""
    y = -INF if x == 0.0 else y
    y = NAN if x < 0.0 else y
    return y if x < INF else x


@elementary
def log64(x: float) -> float:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LN2_HI + (f + (tail + e * LN2_LO)), x)


@elementary
def log2_64(x: float) -> float:
    e, f, tail = _log_parts(x)
    return _log_limits(e + (f + (f * LOG2_E_LESS_1 + tail * LOG2_E)), x)


@elementary
def log10_64(x: float) -> float:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LOG10_2_HI + (f * LOG10_E + (tail * LOG10_E + e * LOG10_2_LO)), x)


@elementary
def _log1p_limited(x: float) -> float:
    """log(1 + x) = e ln(2) + log(1 + f) with f = 2^-e x + (2^-e - 1), which loses nothing of a small x."""
    bits = int_add(float64_bits(1.0 + x), ONE_BITS - ROOT_HALF_BITS)
    biased = shift_right(bits, 52)
    scale = bits_float64(shift_left(int_subtract(2046, biased), 52))
    large = bits_float64(int_add(int_and(bits, MANTISSA), ROOT_HALF_BITS)) - 1.0
    f = large if x > 2.0**53 else scale * x + (scale - 1.0)
    e = bits_float64(int_or(biased, TWO_52_BITS)) - (2.0**52 + 1023.0)
    return e * LN2_HI + (f + (_log_tail(f) + e * LN2_LO))


@elementary
def log1p64(x: float) -> float:
    y = _log1p_limited(x)
    y = -INF if x == -1.0 else y
    y = NAN if x < -1.0 else y
    return y if x < INF else x


@elementary
def log_expit64(x: float) -> float:
    return (x if x < 0.0 else 0.0) - _log1p_limited(exp64(-abs(x)))


@elementary
def cbrt64(x: float) -> float:
    """Two steps of Halley's method, y <- y (y^3 + 2v) / (2 y^3 + v), for x = 8^n v."""
    a = abs(x)
    e, m = _split(a)
    shifted = e * (1.0 / 3.0) + BIG
    v = m * _two_to(BIG + (e - 3.0 * (shifted - BIG)), 0)
    y = horner(v, CBRT)
    cube = y * y * y
    y = y * ((cube + 2.0 * v) / (2.0 * cube + v))
    cube = y * y * y
    y = y + y * ((v - cube) / (2.0 * cube + v))  # the same step, as a correction: it rounds less
    return _with_sign(y * _two_to(shifted, 0), x) if a > 0.0 and a < INF else x
