"""Elementary functions of a float32, branch-free, to be inlined into vector loops: see the package's table.

All arithmetic is in float32; a Python literal would make it float64, so every constant has a name. The comment of a
polynomial says what it approximates, where, and its largest relative error in the result (Remez exchange in mpmath,
before rounding to float32; half an ulp is 3e-8 to 6e-8).
"""

import numpy as np

from pellucid.engine.native.code.vectormath.operations import Number, bits, elementary, floats, horner, select


def table(*coefficients: float) -> tuple[np.float32, ...]:
    return tuple(np.float32(c) for c in coefficients)


ZERO, HALF, ONE, TWO = table(0.0, 0.5, 1.0, 2.0)
BIG = np.float32(1.5 * 2**23)  # BIG + x rounds x to an integer, and the low bits of the sum are that integer
LOG2_E = np.float32(1.4426950408889634)
LN2_HI, LN2_LO = table(0.693145751953125, 1.4286068203094173e-06)  # 16 bits: an exponent times HI is exact

# exp(r) = 1 + r + r^2 P(r), |r| <= ln(2)/2: 3e-9; expm1(r) = r + r^2 P(r): 1.3e-8; 2^r = 1 + r P(r), |r| <= 1/2: 2e-9
EXP = table(0.49999993369278917, 0.16666519525359022, 0.04166840152362466, 0.008368851237412728, 0.0013814312929515953)
EXPM1 = table(4.9999997e-01, 1.6666543e-01, 4.1667204e-02, 8.3666425e-03, 1.3882616e-03)
EXP2 = table(6.931472e-01, 2.4022648e-01, 5.550332e-02, 9.618438e-03, 1.3399007e-03, 1.5353352e-04)
# sinh(r) = r + r^3 P(r^2): 5e-12, cosh(r) = 1 + r^2 P(r^2): 5e-11, |r| <= ln(2)/2
SINH = table(1.6666667e-01, 8.333289e-03, 1.9905207e-04)
COSH = table(5.0e-01, 4.1666266e-02, 1.3946452e-03)
# tanh(x) = x + x^3 P(x^2), |x| <= 0.55: 1e-9
TANH = table(-3.333332e-01, 1.3332601e-01, -5.3853776e-02, 2.1077342e-02, -6.281783e-03)
# arctan(t) = t + t^3 P(t^2), |t| <= 1: 1.5e-8
ARCTAN = table(
    *(-3.3333167e-01, 1.9994135e-01, -1.4214185e-01, 1.0678825e-01),
    *(-7.5802915e-02, 4.3549698e-02, -1.6578557e-02, 2.9738701e-03),
)
# erf(x) = x + x P(x^2), |x| <= 1: 1.2e-9; erf(x) = 1 - P(x)^4, 1 <= x <= 4: 9e-9
ERF = table(1.2837917e-01, -3.7612626e-01, 1.12836e-01, -2.685444e-02, 5.1895273e-03, -8.020756e-04, 7.888792e-05)
ERFC_ROOT = table(
    *(1.0021787e00, -2.9359463e-01, -9.3287215e-02, -1.7564898e-02, 4.3883655e-02),
    *(-1.2787232e-02, 7.872921e-04, 1.7604373e-04, -2.2134236e-05),
)
EXP_MAX, EXP_MIN, EXPM1_MIN, EXP2_MAX, EXP2_MIN = table(89, -105, -18, 129, -151)
TANH_MAX, TANH_SMALL, SINH_MAX = table(10, 0.55, 89.5)
DOWN_MAX, ERF_MAX = table(60, 4)
SIGN = -0x80000000
HALF_PI_HI, HALF_PI_LO = table(1.5707963267948966, -4.3711390001862426e-08)


def _with_sign(magnitude: Number, x: Number) -> Number:
    """A magnitude >= 0 with the sign of x."""
    return floats(bits(magnitude) | (bits(x) & SIGN))


def _two_to(shifted: Number, add: int) -> Number:
    """2^(n + add), where shifted = BIG + n."""
    return floats((bits(shifted) + (127 + add)) << 23)


def _scale(y: Number, shifted: Number) -> Number:
    """y 2^n, where shifted = BIG + n: in two steps, so that subnormal results and overflow are right."""
    half = bits((shifted - BIG) * HALF + BIG)
    rest = bits(shifted) - half
    return y * floats((half + 127) << 23) * floats((rest + 127) << 23)


def _reduce(x: Number) -> tuple[Number, Number, Number]:
    """BIG + n, r and what r lost to rounding, where x = n ln(2) + r."""
    shifted = x * LOG2_E + BIG
    n = shifted - BIG
    high = x - n * LN2_HI
    r = high - n * LN2_LO
    return shifted, r, (high - r) - n * LN2_LO


@elementary
def exp32(x: Number) -> Number:
    x = select(x > EXP_MAX, EXP_MAX, x)
    x = select(x < EXP_MIN, EXP_MIN, x)
    shifted, r, lost = _reduce(x)
    return _scale(ONE + (r + (r * r * horner(r, EXP) + lost)), shifted)


@elementary
def exp2_32(x: Number) -> Number:
    x = select(x > EXP2_MAX, EXP2_MAX, x)
    x = select(x < EXP2_MIN, EXP2_MIN, x)
    shifted = x + BIG
    r = x - (shifted - BIG)
    return _scale(ONE + r * horner(r, EXP2), shifted)


@elementary
def expm1_32(x: Number) -> Number:
    """2 (2^(n-1) expm1(r) + (2^(n-1) - 1/2)): half of it, so that 2^n does not overflow first."""
    x = select(x > EXP_MAX, EXP_MAX, x)
    x = select(x < EXPM1_MIN, EXPM1_MIN, x)
    shifted, r, lost = _reduce(x)
    s = _two_to(shifted, -1)
    return TWO * (s * (r + (r * r * horner(r, EXPM1) + lost)) + (s - HALF))


@elementary
def tanh32(x: Number) -> Number:
    """A polynomial where tanh < 1/2, and 1 - 2 / (exp(2x) + 1) above."""
    a = abs(x)
    square = a * a
    small = a + a * (square * horner(square, TANH))
    shifted, r, lost = _reduce(TWO * select(a > TANH_MAX, TANH_MAX, a))
    e = (ONE + (r + (r * r * horner(r, EXP) + lost))) * _two_to(shifted, 0)
    large = ONE - TWO / (e + ONE)
    return _with_sign(select(a < TANH_SMALL, small, large), x)


def _hyperbolic(a: Number) -> tuple[Number, Number, Number, Number]:
    """2^(n-2) + 2^(-n-2), 2^(n-2) - 2^(-n-2), sinh(r), cosh(r) - 1, for a = n ln(2) + r >= 0."""
    shifted, r, lost = _reduce(select(a > SINH_MAX, SINH_MAX, a))
    n = shifted - BIG
    up, down = _two_to(shifted, -2), _two_to(BIG - select(n > DOWN_MAX, DOWN_MAX, n), -2)
    square = r * r
    return up + down, up - down, r + (r * (square * horner(square, SINH)) + lost), square * horner(square, COSH)


@elementary
def sinh32(x: Number) -> Number:
    plus, minus, s, c = _hyperbolic(abs(x))
    return _with_sign(TWO * (minus + (minus * c + plus * s)), x)


@elementary
def cosh32(x: Number) -> Number:
    plus, minus, s, c = _hyperbolic(abs(x))
    return TWO * (plus + (plus * c + minus * s))


@elementary
def expit32(x: Number) -> Number:
    e = exp32(-abs(x))
    return select(x < ZERO, e, ONE) / (ONE + e)


@elementary
def arctan32(x: Number) -> Number:
    a = abs(x)
    large = a > ONE
    t = select(large, -ONE, a) / select(large, a, ONE)
    square = t * t
    y = t + t * (square * horner(square, ARCTAN))
    return _with_sign(select(large, HALF_PI_HI + (HALF_PI_LO + y), y), x)


@elementary
def erf32(x: Number) -> Number:
    a = abs(x)
    a = select(a > ERF_MAX, ERF_MAX, a)
    root = horner(a, ERFC_ROOT)
    square = root * root
    return _with_sign(select(a < ONE, a + a * horner(a * a, ERF), ONE - square * square), x)
