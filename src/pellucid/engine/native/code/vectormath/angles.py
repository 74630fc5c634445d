"""sin, cos, tan and arctan, branch-free, to be inlined into vector loops: see the package's table. An angle is reduced
in float64: float32 would lose too many of its digits.
"""

import numpy as np

from pellucid.engine.native.code.vectormath.operations import Number, bits, floats, horner, select
from pellucid.engine.native.code.vectormath.precision import DOUBLE, SINGLE, Precision, elementary

INVERSE_PI, INVERSE_HALF_PI = 0.3183098861837907, 0.6366197723675814
TAN_PI_8, TAN_3_PI_8 = 0.41421356237309503, 2.414213562373095
HALF_PI, HALF_PI_LOW = 1.5707963267948966, {SINGLE: -4.3711390001862426e-08, DOUBLE: 6.123233995736766e-17}
ANGLE_MAX, BIG = 2.0**30, DOUBLE.big


def _angle(x: Number) -> Number:
    return select(abs(x) > ANGLE_MAX, np.nan, x).astype(np.float64)


def _less(x: Number, n: Number, p: Precision) -> Number:
    """x - n pi"""
    for part in p.pi:
        x = x - n * part
    return x


def _sine(x: Number, n: Number, sign: Number, p: Precision) -> Number:
    """sin(x - n pi), for |x - n pi| <= pi/2, with the sign bit flipped if sign is odd."""
    r = floats(bits(_less(x, n, p)) ^ (sign << 63)).astype(p.dtype)
    square = r * r
    return r + r * (square * horner(square, p.sin))


@elementary
def sin(x: Number, p: Precision) -> Number:
    x = _angle(x)
    shifted = x * INVERSE_PI + BIG
    return _sine(x, shifted - BIG, bits(shifted), p)


@elementary
def cos(x: Number, p: Precision) -> Number:
    """cos(x) = -sin(x - pi/2)."""
    x = _angle(x)
    shifted = x * INVERSE_PI - 0.5 + BIG
    return _sine(x, shifted - BIG + 0.5, bits(shifted) + 1, p)


@elementary
def tan(x: Number, p: Precision) -> Number:
    x = _angle(x)
    shifted = x * INVERSE_HALF_PI + BIG
    r = _less(x, 0.5 * (shifted - BIG), p)
    square = r * r
    s, c = r + r * (square * horner(square, p.tan_sin)), 1.0 + square * horner(square, p.tan_cos)
    odd = (bits(shifted) & 1) != 0
    return (select(odd, -c, s) / select(odd, s, c)).astype(p.dtype)


@elementary
def arctan(x: Number, p: Precision) -> Number:
    """arctan(a) = pi/2 + arctan(-1 / a) for a large a; in float64 also pi/4 + arctan((a - 1) / (a + 1)) for a middling
    one."""
    a = abs(x)
    large = a > (1.0 if p is SINGLE else TAN_3_PI_8)
    middle = a > (1.0 if p is SINGLE else TAN_PI_8)
    zero, half, one = (p.dtype.type(number) for number in (0.0, 0.5, 1.0))
    above = select(large, -1.0, select(middle, a - 1.0, a))
    below = select(large, a, select(middle, a + 1.0, one))
    offset = select(large, one, select(middle, half, zero))
    t = above / below
    square = t * t
    tail = t * (square * horner(square, p.arctan)) + offset * HALF_PI_LOW[p]
    return p.with_sign(offset * HALF_PI + (t + tail), x)
