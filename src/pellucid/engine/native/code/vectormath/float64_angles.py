"""sin, cos, tan and arctan of a float64, branch-free, to be inlined into vector loops: see float64.py."""

import numpy as np

from pellucid.engine.native.code.vectormath.float64 import BIG, _with_sign
from pellucid.engine.native.code.vectormath.operations import Number, bits, elementary, floats, horner, select

INVERSE_PI, INVERSE_HALF_PI = 0.3183098861837907, 0.6366197723675814
# pi in parts, four of 23 bits: multiples of those up to 2^30 are exact
PI_1, PI_2, PI_3 = 3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14
PI_4, PI_5 = 6.564006326744847e-22, 7.590021545442451e-29
# sin(r) = r + r^3 P(r^2), |r| <= pi/2: 4e-22
SIN = (
    *(
        -0.16666666666666666,
        0.008333333333333333,
        -0.0001984126984126967,
        2.7557319223939933e-06,
        -2.5052108378455042e-08,
    ),
    *(1.6059043193494124e-10, -7.647127146918272e-13, 2.8102003829068938e-15, -7.98114819471468e-18),
)
# sin(r) = r + r^3 P(r^2): 3e-18, cos(r) = 1 + r^2 P(r^2): 3e-20, |r| <= pi/4
TAN_SIN = (
    *(-0.16666666666666632, 0.008333333333322377, -0.00019841269829775114, 2.755731367954161e-06),
    *(-2.5050756035359012e-08, 1.5896667912750648e-10),
)
TAN_COS = (
    *(-0.5, 0.041666666666666484, -0.0013888888888863786, 2.4801587284943948e-05, -2.7557313321698327e-07),
    *(2.087560634866269e-09, -1.1354404273707484e-11),
)
# arctan(t) = t + t^3 P(t^2), |t| <= tan(pi/8): 1e-18
ARCTAN = (
    *(-0.333333333333332, 0.19999999999953663, -0.14285714280204098, 0.1111111078381799, -0.09090897767197316),
    *(0.07692060364406193, -0.06663105492160422, 0.058478977049929035, -0.05039332428121752, 0.03806499956446043),
    -0.017907396153078733,
)
TAN_PI_8, TAN_3_PI_8 = 0.41421356237309503, 2.414213562373095
HALF_PI_HI, HALF_PI_LO = 1.5707963267948966, 6.123233995736766e-17
ANGLE_MAX, NAN = 2.0**30, np.nan


def _sine(x: Number, n: Number, sign: Number) -> Number:
    """sin(x - n pi), for |x - n pi| <= pi/2, with the sign bit flipped if sign is odd."""
    r = ((((x - n * PI_1) - n * PI_2) - n * PI_3) - n * PI_4) - n * PI_5
    r = floats(bits(r) ^ (sign << 63))
    square = r * r
    return r + r * (square * horner(square, SIN))


@elementary
def sin64(x: Number) -> Number:
    x = select(abs(x) > ANGLE_MAX, NAN, x)
    shifted = x * INVERSE_PI + BIG
    return _sine(x, shifted - BIG, bits(shifted))


@elementary
def cos64(x: Number) -> Number:
    """cos(x) = -sin(x - pi/2)."""
    x = select(abs(x) > ANGLE_MAX, NAN, x)
    shifted = x * INVERSE_PI - 0.5 + BIG
    return _sine(x, shifted - BIG + 0.5, bits(shifted) + 1)


@elementary
def tan64(x: Number) -> Number:
    x = select(abs(x) > ANGLE_MAX, NAN, x)
    shifted = x * INVERSE_HALF_PI + BIG
    n = 0.5 * (shifted - BIG)
    r = ((((x - n * PI_1) - n * PI_2) - n * PI_3) - n * PI_4) - n * PI_5
    square = r * r
    s, c = r + r * (square * horner(square, TAN_SIN)), 1.0 + square * horner(square, TAN_COS)
    odd = (bits(shifted) & 1) != 0
    return select(odd, -c, s) / select(odd, s, c)


@elementary
def arctan64(x: Number) -> Number:
    """arctan(a) = pi/4 + arctan((a - 1) / (a + 1)) for a middling a, and pi/2 + arctan(-1 / a) for a large one."""
    a = abs(x)
    middle, large = (a > TAN_PI_8, a > TAN_3_PI_8)
    above = select(large, -1.0, select(middle, a - 1.0, a))
    below = select(large, a, select(middle, a + 1.0, 1.0))
    offset = select(large, 1.0, select(middle, 0.5, 0.0))
    t = above / below
    square = t * t
    tail = t * (square * horner(square, ARCTAN)) + offset * HALF_PI_LO
    return _with_sign(offset * HALF_PI_HI + (t + tail), x)
