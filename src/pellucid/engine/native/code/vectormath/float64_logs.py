"""Functions that take a float64 apart, into exponent and fraction: logarithms and the cube root. Branch-free, to be
inlined into vector loops: see float64.py.
"""

import numpy as np

from pellucid.engine.native.code.vectormath.float64 import BIG, LN2_HI, LN2_LO, LOG2_E, _two_to, _with_sign, exp64
from pellucid.engine.native.code.vectormath.operations import (
    Number,
    bits,
    elementary,
    floats,
    horner,
    select,
    shift_right,
)

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


def _log_tail(f: Number) -> Number:
    """log(1 + f) - f, in which 2s = f - f^2/2 + s f^2/2."""
    s, half_square = (f / (2.0 + f), 0.5 * f * f)
    square = s * s
    return s * (half_square + square * horner(square, LOG)) - half_square


def _split(x: Number) -> tuple[Number, Number]:
    """e and m, where x = 2^e m and sqrt(1/2) <= m < sqrt(2), for x > 0."""
    small = x < 2.0**-1022
    pattern = bits(select(small, x * 2.0**54, x)) + (ONE_BITS - ROOT_HALF_BITS)
    biased = floats(shift_right(pattern, 52) | TWO_52_BITS)
    m = floats((pattern & MANTISSA) + ROOT_HALF_BITS)
    return (biased - select(small, 2.0**52 + 1023.0 + 54.0, 2.0**52 + 1023.0), m)


def _log_parts(x: Number) -> tuple[Number, Number, Number]:
    """e, f and log(1 + f) - f, where x = 2^e (1 + f)."""
    e, m = _split(x)
    return e, m - 1.0, _log_tail(m - 1.0)


def _log_limits(y: Number, x: Number) -> Number:
    """A logarithm y of x, made right where x is not a positive number."""
    y = select(x == 0.0, -INF, y)
    y = select(x < 0.0, NAN, y)
    return select(x < INF, y, x)


@elementary
def log64(x: Number) -> Number:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LN2_HI + (f + (tail + e * LN2_LO)), x)


@elementary
def log2_64(x: Number) -> Number:
    e, f, tail = _log_parts(x)
    return _log_limits(e + (f + (f * LOG2_E_LESS_1 + tail * LOG2_E)), x)


@elementary
def log10_64(x: Number) -> Number:
    e, f, tail = _log_parts(x)
    return _log_limits(e * LOG10_2_HI + (f * LOG10_E + (tail * LOG10_E + e * LOG10_2_LO)), x)


def _log1p_limited(x: Number) -> Number:
    """log(1 + x) = e ln(2) + log(1 + f) with f = 2^-e x + (2^-e - 1), which loses nothing of a small x."""
    pattern = bits(1.0 + x) + (ONE_BITS - ROOT_HALF_BITS)
    biased = shift_right(pattern, 52)
    scale = floats((2046 - biased) << 52)
    large = floats((pattern & MANTISSA) + ROOT_HALF_BITS) - 1.0
    f = select(x > 2.0**53, large, scale * x + (scale - 1.0))
    e = floats(biased | TWO_52_BITS) - (2.0**52 + 1023.0)
    return e * LN2_HI + (f + (_log_tail(f) + e * LN2_LO))


@elementary
def log1p64(x: Number) -> Number:
    y = _log1p_limited(x)
    y = select(x == -1.0, -INF, y)
    y = select(x < -1.0, NAN, y)
    return select(x < INF, y, x)


@elementary
def log_expit64(x: Number) -> Number:
    return select(x < 0.0, x, 0.0) - _log1p_limited(exp64(-abs(x)))


@elementary
def cbrt64(x: Number) -> Number:
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
    return select((a > 0.0) & (a < INF), _with_sign(y * _two_to(shifted, 0), x), x)
