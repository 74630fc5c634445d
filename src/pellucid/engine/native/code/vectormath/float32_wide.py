"""Functions of a float32 that go through float64, because they lose too many digits in float32: the reduction of an
angle, exp(-x^2) in the tail of the normal distribution. Half as fast as float32.py, and still branch-free.
"""

import numpy as np

from pellucid.engine.native.code.vectormath.operations import Number, bits, elementary, floats, horner, select

ZERO, INF, NAN, ANGLE_MAX = np.float32(0), np.float32(np.inf), np.float32(np.nan), np.float32(2.0**30)
BIG = 1.5 * 2.0**52  # BIG + x rounds x to an integer, and the low bits of the sum are that integer
# pi in parts of 23, 23 and 53 bits: multiples up to 2^30 of the first two are exact
PI_1, PI_2, PI_3 = 3.141592502593994, 1.5099578831723193e-07, 1.0780605716316238e-14
INVERSE_PI, INVERSE_HALF_PI = 0.3183098861837907, 0.6366197723675814
# sin(r) = r + r^3 P(r^2), |r| <= pi/2: 6e-9, evaluated in float32
SIN = tuple(np.float32(c) for c in (-1.666666e-01, 8.333066e-03, -1.9809543e-04, 2.6056375e-06))
# sin(r) = r + r^3 P(r^2): 4e-9, cos(r) = 1 + r^2 P(r^2): 5e-11, |r| <= pi/4
TAN_SIN = (-0.1666665490622567, 0.008332175719469367, -0.00019516962309336496)
TAN_COS = (-0.5, 4.1666623e-02, -1.388676e-03, 2.4390049e-05)
# exp(r) = 1 + r + r^2 P(r), |r| <= ln(2)/2: 3e-9
EXP = (0.49999993369278917, 0.16666519525359022, 0.04166840152362466, 0.008368851237412728, 0.0013814312929515953)
# exp(x^2) erfc(x) = P(q) / (x + 3) with q = (x - 3) / (x + 3), 0 <= x <= 10.2: 2e-9
ERFCX = (
    *(1.0740069077667924, -0.8833944864541836, 0.5902282985223719, -0.31046600834996063, 0.11952906820335103),
    *(-0.02683982696386433, -0.0012264300754087727, 0.0030803291375909713, -0.00048317758747039096),
    -0.00032533421742348887,
)
LOG2_E, LN2 = 1.4426950408889634, 0.6931471805599453
ERFC_MAX, ROOT_HALF = 10.1, 0.7071067811865476  # erfc(10.1) is 0 in float32
CBRT_SCALE, CBRT_UNSCALE, THIRD = np.float32(2.0**24), 2.0**-8, np.float32(1 / 3)
SMALLEST_NORMAL = np.float32(2.0**-126)
# bits of the root, about: a third of the bits, and two thirds of those of 1, less a little to spread the error (3.5 %)
SIGN = -0x80000000
CBRT_BITS = np.float32(709921077)


def _sine(x: Number, n: Number, sign: Number) -> Number:
    """sin(x - n pi), for |x - n pi| <= pi/2, with the sign bit flipped if sign is odd."""
    r = ((x - n * PI_1) - n * PI_2) - n * PI_3
    r32 = floats(bits(r) ^ (sign << 63)).astype(np.float32)
    square = r32 * r32
    return r32 + r32 * (square * horner(square, SIN))


@elementary
def sin32(x: Number) -> Number:
    wide = select(abs(x) > ANGLE_MAX, NAN, x).astype(np.float64)
    shifted = wide * INVERSE_PI + BIG
    return _sine(wide, shifted - BIG, bits(shifted))


@elementary
def cos32(x: Number) -> Number:
    """cos(x) = -sin(x - pi/2)."""
    wide = select(abs(x) > ANGLE_MAX, NAN, x).astype(np.float64)
    shifted = wide * INVERSE_PI - 0.5 + BIG
    return _sine(wide, shifted - BIG + 0.5, bits(shifted) + 1)


@elementary
def tan32(x: Number) -> Number:
    wide = select(abs(x) > ANGLE_MAX, NAN, x).astype(np.float64)
    shifted = wide * INVERSE_HALF_PI + BIG
    n = 0.5 * (shifted - BIG)
    r = ((wide - n * PI_1) - n * PI_2) - n * PI_3
    square = r * r
    s, c = r + r * square * horner(square, TAN_SIN), 1.0 + square * horner(square, TAN_COS)
    odd = (bits(shifted) & 1) != 0
    return (select(odd, -c, s) / select(odd, s, c)).astype(np.float32)


def _erfc(z: Number) -> Number:
    """erfc of a float64, good to 5e-9."""
    a = abs(z)
    a = select(a > ERFC_MAX, ERFC_MAX, a)
    power = -a * a
    shifted = power * LOG2_E + BIG
    r = power - (shifted - BIG) * LN2
    scale = floats((bits(shifted) + 1023) << 52)
    inverse = 1.0 / (a + 3.0)
    tail = (1.0 + (r + r * r * horner(r, EXP))) * scale * (horner((a - 3.0) * inverse, ERFCX) * inverse)
    return select(z < 0.0, 2.0 - tail, tail)


@elementary
def erfc32(x: Number) -> Number:
    return _erfc(x.astype(np.float64)).astype(np.float32)


@elementary
def ndtr32(x: Number) -> Number:
    return (0.5 * _erfc(-x.astype(np.float64) * ROOT_HALF)).astype(np.float32)


@elementary
def cbrt32(x: Number) -> Number:
    """Two steps of Halley's method, y <- y (y^3 + 2a) / (2 y^3 + a), from a third of the exponent."""
    small = abs(x) < SMALLEST_NORMAL
    scaled = abs(select(small, x * CBRT_SCALE, x))
    y = floats((bits(scaled).astype(np.float32) * THIRD + CBRT_BITS).astype(np.int32)).astype(np.float64)
    a = scaled.astype(np.float64)
    cube = y * y * y
    y = y * ((cube + 2.0 * a) / (2.0 * cube + a))
    cube = y * y * y
    y = y * ((cube + 2.0 * a) / (2.0 * cube + a)) * select(small, CBRT_UNSCALE, 1.0)
    root = floats(bits(y.astype(np.float32)) | (bits(x) & SIGN))
    return select((scaled > ZERO) & (scaled < INF), root, x)
