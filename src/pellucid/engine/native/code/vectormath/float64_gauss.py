"""erf, erfc and ndtr of a float64, branch-free, to be inlined into vector loops: see float64.py."""

from pellucid.engine.native.code.vectormath.float64 import BIG, EXP, LN2_HI, LN2_LO, LOG2_E, _scale, _with_sign
from pellucid.engine.native.code.vectormath.operations import Number, bits, elementary, floats, horner, select

# erf(x) = x + x P(x^2), |x| <= 1: 7e-18
ERF = (
    *(0.12837916709551256, -0.3761263890318355, 0.11283791670945244, -0.02686617064327463, 0.005223977607409817),
    *(-0.0008548325989016169, 0.00012055295299428117, -1.4924744246121813e-05, 1.644751238731414e-06),
    *(-1.6209134376177018e-07, 1.3722792472181223e-08, -7.80083851099727e-10),
)
# exp(x^2) erfc(x) = P(q) / (x + 2) with q = (x - 2) / (x + 2), 0 <= x <= 28: 2e-17
ERFCX = (
    *(1.021582705242023, -0.6871606844138106, 0.27947209255604893, -0.036442231506869836),
    *(-0.021510661889130006, 0.006479185067332795, 0.0030906120506504742, -0.0008372960546624092),
    *(-0.0006630733992186004, 3.437135534982417e-05, 0.0001444699625876951, 3.4149392649739506e-05),
    *(-2.169244814851138e-05, -1.6122806878085382e-05, -1.13789167835258e-06, 3.648255431623626e-06),
    *(2.030024119869437e-06, -4.088620727221075e-09, -6.157763740069627e-07, -3.208217247393571e-07),
    *(4.457286544762219e-08, 1.1242229208535404e-07, 2.478770678138879e-08, -1.5026479773919074e-08),
    -6.017442911677586e-09,
)
ROOT_HALF = 0.7071067811865476
UPPER_HALF = -0x8000000  # clears 27 bits of 53, so that a square is exact


def _gauss_tail(a: Number, z: Number, factor: Number) -> Number:
    """exp(-factor a^2) times exp(z^2) erfc(z), for a >= 0. Half of a's digits at a time, so that a^2 loses none."""
    high = floats(bits(a) & UPPER_HALF)
    power, rest = -factor * (high * high), factor * ((a - high) * (a + high))
    shifted = power * LOG2_E + BIG
    n = shifted - BIG
    r = power - n * LN2_HI - (n * LN2_LO + rest)
    inverse = 1.0 / (z + 2.0)
    p = (1.0 + (r + r * r * horner(r, EXP))) * (horner((z - 2.0) * inverse, ERFCX) * inverse)
    return _scale(p, shifted)


@elementary
def erfc64(x: Number) -> Number:
    a = abs(x)
    a = select(a > 28.0, 28.0, a)
    tail = _gauss_tail(a, a, 1.0)
    return select(x < 0.0, 2.0 - tail, tail)


@elementary
def erf64(x: Number) -> Number:
    a = abs(x)
    a = select(a > 7.0, 7.0, a)
    small, large = a + a * horner(a * a, ERF), 1.0 - _gauss_tail(a, a, 1.0)
    return _with_sign(select(a < 1.0, small, large), x)


@elementary
def ndtr64(x: Number) -> Number:
    a = abs(x)
    a = select(a > 39.0, 39.0, a)
    tail = 0.5 * _gauss_tail(a, a * ROOT_HALF, 0.5)
    return select(x > 0.0, 1.0 - tail, tail)
