"""Exponentials and what is made of them, branch-free, to be inlined into vector loops: see the package's table."""

from pellucid.engine.native.code.vectormath.operations import Number, horner, select
from pellucid.engine.native.code.vectormath.precision import LOG2_E, Precision, elementary


def reduced(x: Number, p: Precision) -> tuple[Number, Number, Number]:
    """big + n, r and what r lost to rounding, where x = n ln(2) + r."""
    shifted = x * LOG2_E + p.big
    n = shifted - p.big
    high = x - n * p.ln2[0]
    r = high - n * p.ln2[1]
    return shifted, r, (high - r) - n * p.ln2[1]


def _limited(x: Number, least: float, most: float) -> Number:
    x = select(x > most, most, x)
    return select(x < least, least, x)


@elementary
def exp(x: Number, p: Precision) -> Number:
    shifted, r, lost = reduced(_limited(x, *p.exp_range), p)
    return p.scaled(1.0 + (r + (r * r * horner(r, p.exp) + lost)), shifted)


@elementary
def exp2(x: Number, p: Precision) -> Number:
    x = _limited(x, *p.exp2_range)
    shifted = x + p.big
    r = x - (shifted - p.big)
    return p.scaled(1.0 + r * horner(r, p.exp2), shifted)


@elementary
def expm1(x: Number, p: Precision) -> Number:
    """2 (2^(n-1) expm1(r) + (2^(n-1) - 1/2)): half of it, so that 2^n does not overflow first."""
    shifted, r, lost = reduced(_limited(x, p.expm1_least, p.exp_range[1]), p)
    s = p.two_to(shifted, -1)
    return 2.0 * (s * (r + (r * r * horner(r, p.expm1) + lost)) + (s - 0.5))


@elementary
def tanh(x: Number, p: Precision) -> Number:
    """A polynomial where tanh < 1/2, and 1 - 2 / (exp(2x) + 1) above."""
    a = abs(x)
    square = a * a
    small = a + a * (square * horner(square, p.tanh))
    shifted, r, lost = reduced(2.0 * select(a > p.tanh_most, p.tanh_most, a), p)
    e = (1.0 + (r + (r * r * horner(r, p.exp) + lost))) * p.two_to(shifted)
    large = 1.0 - 2.0 / (e + 1.0)
    return p.with_sign(select(a < 0.55, small, large), x)


def _hyperbolic(a: Number, p: Precision) -> tuple[Number, Number, Number, Number]:
    """2^(n-2) + 2^(-n-2), 2^(n-2) - 2^(-n-2), sinh(r), cosh(r) - 1, for a = n ln(2) + r >= 0."""
    shifted, r, lost = reduced(select(a > p.sinh_most, p.sinh_most, a), p)
    n = shifted - p.big
    up, down = p.two_to(shifted, -2), p.two_to(p.big - select(n > p.down_most, p.down_most, n), -2)
    square = r * r
    return up + down, up - down, r + (r * (square * horner(square, p.sinh)) + lost), square * horner(square, p.cosh)


@elementary
def sinh(x: Number, p: Precision) -> Number:
    plus, minus, s, c = _hyperbolic(abs(x), p)
    return p.with_sign(2.0 * (minus + (minus * c + plus * s)), x)


@elementary
def cosh(x: Number, p: Precision) -> Number:
    plus, minus, s, c = _hyperbolic(abs(x), p)
    return 2.0 * (plus + (plus * c + minus * s))


@elementary
def expit(x: Number, p: Precision) -> Number:
    e = exp(-abs(x))
    return select(x < 0.0, e, 1.0) / (1.0 + e)
