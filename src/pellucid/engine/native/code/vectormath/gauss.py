"""erf, erfc and ndtr, branch-free, to be inlined into vector loops: see the package's table.

In float32 they are shorter. exp(-x^2) in the tail loses too many digits there: erfc goes through float64; ndtr, which
GELU is made of, keeps what roundings lose, in two thirds of the time.
"""

import numpy as np

from pellucid.engine.native.code.vectormath.operations import Number, bits, floats, horner, select
from pellucid.engine.native.code.vectormath.precision import DOUBLE, LOG2_E, SINGLE, Precision, elementary

# erf(x) = x + x P(x^2), |x| <= 1: 1.2e-9, 7e-18
ERF = {
    SINGLE: (1.2837917e-01, -3.7612626e-01, 1.12836e-01, -2.685444e-02, 5.1895273e-03, -8.020756e-04, 7.888792e-05),
    DOUBLE: (
        *(0.12837916709551256, -0.3761263890318355, 0.11283791670945244, -0.02686617064327463, 0.005223977607409817),
        *(-0.0008548325989016169, 0.00012055295299428117, -1.4924744246121813e-05, 1.644751238731414e-06),
        *(-1.6209134376177018e-07, 1.3722792472181223e-08, -7.80083851099727e-10),
    ),
}
# erf(x) = 1 - P(x)^4, 1 <= x <= 4: 9e-9
ERFC_ROOT = (
    *(1.0021787e00, -2.9359463e-01, -9.3287215e-02, -1.7564898e-02, 4.3883655e-02),
    *(-1.2787232e-02, 7.872921e-04, 1.7604373e-04, -2.2134236e-05),
)
# exp(x^2) erfc(x) = P(q) / (x + a) with q = (x - a) / (x + a); a = 3, 0 <= x <= 10.2: 2e-9; a = 2, 0 <= x <= 28: 2e-17
ERFCX = {
    SINGLE: (
        *(1.0740069077667924, -0.8833944864541836, 0.5902282985223719, -0.31046600834996063, 0.11952906820335103),
        *(-0.02683982696386433, -0.0012264300754087727, 0.0030803291375909713, -0.00048317758747039096),
        -0.00032533421742348887,
    ),
    DOUBLE: (
        *(1.021582705242023, -0.6871606844138106, 0.27947209255604893, -0.036442231506869836),
        *(-0.021510661889130006, 0.006479185067332795, 0.0030906120506504742, -0.0008372960546624092),
        *(-0.0006630733992186004, 3.437135534982417e-05, 0.0001444699625876951, 3.4149392649739506e-05),
        *(-2.169244814851138e-05, -1.6122806878085382e-05, -1.13789167835258e-06, 3.648255431623626e-06),
        *(2.030024119869437e-06, -4.088620727221075e-09, -6.157763740069627e-07, -3.208217247393571e-07),
        *(4.457286544762219e-08, 1.1242229208535404e-07, 2.478770678138879e-08, -1.5026479773919074e-08),
        -6.017442911677586e-09,
    ),
}
# in float32. Φ(x) = 1/2 + x P(x^2), |x| <= 3/4: 3e-10. exp(x^2 / 2) Φ(-x) = (1 + P(1 / (x + 3/2) - 1/4)) / 2 (x + 3/2),
# 3/4 <= x <= 14.5: 9e-9
NDTR_MIDDLE = (3.989423e-01, -6.649028e-02, 9.972175e-03, -1.1807124e-03, 1.0236698e-04)
NDTR_TAIL = (
    *(1.3065065e-01, 1.3159835, -6.66721e-01, -1.9900038, 3.0223734),
    *(1.893715, -1.2278152e01, 1.3528238e01, 2.5349983e01, -7.4968475e01),
)
ROOT_HALF, LN2, BIG = 0.7071067811865476, 0.6931471805599453, DOUBLE.big
UPPER_HALF = -0x8000000  # clears 27 bits of 53, so that a square is exact
UPPER_HALF_SINGLE = -0x1000  # 12 bits of 24


def _least(a: Number, b: float) -> Number:
    return select(a > b, b, a)


def _tail(a: Number, factor: float, p: Precision) -> Number:
    """erfc(z) with z = a sqrt(factor), for a >= 0 in float64: exp(-z^2) times exp(z^2) erfc(z)."""
    z = a if factor == 1.0 else a * ROOT_HALF
    if p is SINGLE:
        power, rest = -z * z, None
    else:  # half of the digits at a time, so that a^2 loses none
        high = floats(bits(a) & UPPER_HALF)
        power, rest = -factor * (high * high), factor * ((a - high) * (a + high))
    shifted = power * LOG2_E + BIG
    n = shifted - BIG
    r = power - n * LN2 if rest is None else power - n * DOUBLE.ln2[0] - (n * DOUBLE.ln2[1] + rest)
    middle = 3.0 if p is SINGLE else 2.0
    inverse = 1.0 / (z + middle)
    y = (1.0 + (r + r * r * horner(r, p.exp))) * (horner((z - middle) * inverse, ERFCX[p]) * inverse)
    return y * DOUBLE.two_to(shifted) if p is SINGLE else DOUBLE.scaled(y, shifted)


@elementary
def erfc(x: Number, p: Precision) -> Number:
    x = x.astype(np.float64)
    tail = _tail(_least(abs(x), 10.1 if p is SINGLE else 28.0), 1.0, p)
    return select(x < 0.0, 2.0 - tail, tail).astype(p.dtype)


@elementary
def erf(x: Number, p: Precision) -> Number:
    a = _least(abs(x), 4.0 if p is SINGLE else 7.0)
    if p is SINGLE:
        root = horner(a, ERFC_ROOT)
        above = (root * root) * (root * root)
    else:
        above = _tail(a, 1.0, p)
    return p.with_sign(select(a < 1.0, a + a * horner(a * a, ERF[p]), 1.0 - above), x)


def _lower_tail(a: Number) -> Number:
    """Φ(-a) for a >= 0.75 in float32: (1 + e) (1 + v) / 2 (a + 1.5) times a power of two.

    Small numbers are added up first; what a^2 and the reciprocal lose to rounding is among them.
    """
    high = floats(bits(a) & UPPER_HALF_SINGLE)
    power, rest = (high * high) * -0.5, ((high - a) * (high + a)) * 0.5
    shifted = power * LOG2_E + SINGLE.big
    n = shifted - SINGLE.big
    left = power - n * SINGLE.ln2[0]
    correction = n * SINGLE.ln2[1] - rest
    r = left - correction
    total = a + 1.5
    inverse = 1.0 / total
    lost = (left - r) - correction + ((1.0 - total * inverse) + ((total - 1.5) - a) * inverse)
    e = r + (r * r * horner(r, SINGLE.exp) + lost)
    v = horner(inverse - 0.25, NDTR_TAIL)
    half = inverse * 0.5
    return SINGLE.scaled(half + half * (v * e + (v + e)), shifted)


@elementary
def ndtr(x: Number, p: Precision) -> Number:
    if p is SINGLE:
        tail = _lower_tail(_least(abs(x), 14.5))
        far = select(x > 0.0, 1.0 - tail, tail)
        return select(abs(x) < 0.75, 0.5 + x * horner(x * x, NDTR_MIDDLE), far)
    tail = 0.5 * _tail(_least(abs(x), 39.0), 0.5, p)
    return select(x > 0.0, 1.0 - tail, tail)
