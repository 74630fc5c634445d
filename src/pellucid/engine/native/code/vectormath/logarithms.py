"""Functions that take a number apart, into exponent and fraction: logarithms and the cube root. Branch-free, to be
inlined into vector loops: see the package's table.
"""

import numpy as np

from pellucid.engine.native.code.vectormath.exponentials import exp
from pellucid.engine.native.code.vectormath.operations import Number, bits, floats, horner, select, shift_right
from pellucid.engine.native.code.vectormath.precision import DOUBLE, LOG2_E, SINGLE, Precision, elementary

INF, NAN = np.inf, np.nan
LOG2_E_LESS_1, LOG10_E = 0.4426950408889634, 0.4342944819032518
# cbrt(v), 0.35 <= v <= 2.83: 5e-3, a first guess
CBRT = (0.4820270641448807, 0.729020744408481, -0.24495663675076856, 0.03699931510160982)


def _log_tail(f: Number, p: Precision) -> Number:
    """log(1 + f) - f."""
    if p is SINGLE:
        square = f * f
        return f * square * horner(f, p.log) - 0.5 * square
    s, half_square = f / (2.0 + f), 0.5 * f * f  # 2s = f - f^2/2 + s f^2/2
    square = s * s
    return s * (half_square + square * horner(square, p.log)) - half_square


def _parts(x: Number, p: Precision) -> tuple[Number, Number]:
    """e + bias as a whole number, and m, where x = 2^e m and sqrt(1/2) <= m < sqrt(2), for a normal x > 0."""
    one, root_half = p.pattern(1.0), p.pattern(np.sqrt(0.5))
    pattern = bits(x) + (one - root_half)
    return shift_right(pattern, p.digits), floats((pattern & (2**p.digits - 1)) + root_half)


def _exponent(biased: Number, p: Precision) -> Number:
    """e: a whole number, put in the low bits of 2^digits, is a number."""
    return floats(biased | p.pattern(2.0**p.digits)) - (2.0**p.digits + p.bias)


def _split(x: Number, p: Precision) -> tuple[Number, Number]:
    """e and m, where x = 2^e m and sqrt(1/2) <= m < sqrt(2), for x > 0."""
    small, up = x < 2.0 ** (1 - p.bias), p.digits + 1
    biased, m = _parts(select(small, x * 2.0**up, x), p)
    e = _exponent(biased, p)
    return select(small, e - up, e), m


def _log_parts(x: Number, p: Precision) -> tuple[Number, Number, Number]:
    """e, f and log(1 + f) - f, where x = 2^e (1 + f)."""
    e, m = _split(x, p)
    return e, m - 1.0, _log_tail(m - 1.0, p)


def _log_limits(y: Number, x: Number, pole: float = 0.0) -> Number:
    """A logarithm y of x, made right where x is not beyond the pole, or infinite."""
    y = select(x == pole, -INF, y)
    y = select(x < pole, NAN, y)
    return select(x < INF, y, x)


@elementary
def log(x: Number, p: Precision) -> Number:
    e, f, tail = _log_parts(x, p)
    return _log_limits(e * p.ln2[0] + (f + (tail + e * p.ln2[1])), x)


@elementary
def log2(x: Number, p: Precision) -> Number:
    e, f, tail = _log_parts(x, p)
    return _log_limits(e + (f + (f * LOG2_E_LESS_1 + tail * LOG2_E)), x)


@elementary
def log10(x: Number, p: Precision) -> Number:
    e, f, tail = _log_parts(x, p)
    return _log_limits(e * p.log10_2[0] + (f * LOG10_E + (tail * LOG10_E + e * p.log10_2[1])), x)


def _log1p_limited(x: Number, p: Precision) -> Number:
    """log(1 + x) = e ln(2) + log(1 + f) with f = 2^-e x + (2^-e - 1), which loses nothing of a small x."""
    biased, m = _parts(1.0 + x, p)
    scale = floats((2 * p.bias - biased) << p.digits)
    f = select(x > 2.0 ** (p.digits + 1), m - 1.0, scale * x + (scale - 1.0))
    e = _exponent(biased, p)
    return e * p.ln2[0] + (f + (_log_tail(f, p) + e * p.ln2[1]))


@elementary
def log1p(x: Number, p: Precision) -> Number:
    return _log_limits(_log1p_limited(x, p), x, -1.0)


@elementary
def log_expit(x: Number, p: Precision) -> Number:
    return select(x < 0.0, x, 0.0) - _log1p_limited(exp(-abs(x)), p)


@elementary
def cbrt(x: Number, p: Precision) -> Number:
    """Two steps of Halley's method in float64, y <- y (y^3 + 2v) / (2 y^3 + v), for x = 8^n v."""
    a = abs(x.astype(np.float64))
    e, m = _split(a, DOUBLE)
    shifted = e * (1.0 / 3.0) + DOUBLE.big
    v = m * DOUBLE.two_to(DOUBLE.big + (e - 3.0 * (shifted - DOUBLE.big)))
    y = horner(v, CBRT)
    cube = y * y * y
    y = y * ((cube + 2.0 * v) / (2.0 * cube + v))
    cube = y * y * y
    y = y + y * ((v - cube) / (2.0 * cube + v))  # the same step, as a correction: it rounds less
    root = p.with_sign((y * DOUBLE.two_to(shifted)).astype(p.dtype), x)
    return select((a > 0.0) & (a < INF), root, x)
