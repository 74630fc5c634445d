"""Elementary functions of a float64, branch-free, to be inlined into vector loops: see the package's table.

The methods are those of float32.py with longer polynomials. The comment of a polynomial says what it approximates,
where, and its largest relative error in the result (Remez exchange in mpmath; half an ulp is 0.6e-16 to 1.1e-16).
"""

from pellucid.engine.native.code.vectormath.operations import Number, bits, elementary, floats, horner, select

BIG = 1.5 * 2.0**52  # BIG + x rounds x to an integer, and the low bits of the sum are that integer
LOG2_E = 1.4426950408889634
LN2_HI, LN2_LO = 0.6931471805598903, 5.497923018708371e-14  # 42 bits: an exponent times HI is exact

# exp(r) = 1 + r + r^2 P(r): 4e-18, expm1(r) = r + r^2 P(r): 3e-19, |r| <= ln(2)/2; 2^r = 1 + r P(r), |r| <= 1/2: 4e-20
EXP = (
    *(0.5000000000000011, 0.16666666666666408, 0.041666666666528115, 0.008333333333497023, 0.0013888888944247385),
    *(
        0.00019841269502566178,
        2.4801492389479936e-05,
        2.755758855372892e-06,
        2.763052321457351e-07,
        2.499982181747024e-08,
    ),
)
EXPM1 = (
    *(
        0.5,
        0.16666666666666677,
        0.041666666666666505,
        0.008333333333321515,
        0.0013888888888963589,
        0.0001984126988647708,
    ),
    *(
        2.4801587170892252e-05,
        2.755724380392794e-06,
        2.755740340803399e-07,
        2.510919533470292e-08,
        2.087528857081401e-09,
    ),
)
EXP2 = (
    *(0.6931471805599453, 0.24022650695910072, 0.05550410866482169, 0.009618129107628328, 0.0013333558146392404),
    *(0.00015403530393642723, 1.525273385462106e-05, 1.3215486593799514e-06, 1.0178051805267136e-07),
    *(7.0549747083184115e-09, 4.456592627114903e-10, 2.562534315910662e-11),
)
# sinh(r) = r + r^3 P(r^2): 4e-23, cosh(r) = 1 + r^2 P(r^2): 6e-22, |r| <= ln(2)/2
SINH = (
    *(0.16666666666666666, 0.008333333333333337, 0.00019841269841252958, 2.7557319265655488e-06),
    *(2.5052056398718085e-08, 1.6090941157291025e-10),
)
COSH = (
    *(0.5, 0.04166666666666671, 0.0013888888888863558, 2.480158736410369e-05, 2.7557241230681004e-07),
    2.092460902199243e-09,
)
# tanh(x) = x + x^3 P(x^2), |x| <= 0.55: 6e-19
TANH = (
    *(-0.333333333333333, 0.1333333333332681, -0.05396825396386536, 0.021869488388711833, -0.008863232646175435),
    *(0.0035920924637221144, -0.0014555455278995588, 0.0005884551183574696, -0.00023340767888595593),
    *(8.335263555008189e-05, -1.95163178034597e-05),
)
SIGN = -0x8000000000000000


def _with_sign(magnitude: Number, x: Number) -> Number:
    """A magnitude >= 0 with the sign of x."""
    return floats(bits(magnitude) | (bits(x) & SIGN))


def _two_to(shifted: Number, add: int) -> Number:
    """2^(n + add), where shifted = BIG + n."""
    return floats((bits(shifted) + (1023 + add)) << 52)


def _scale(y: Number, shifted: Number) -> Number:
    """y 2^n, where shifted = BIG + n: in two steps, so that subnormal results and overflow are right."""
    half = bits((shifted - BIG) * 0.5 + BIG)
    rest = bits(shifted) - half
    return y * floats((half + 1023) << 52) * floats((rest + 1023) << 52)


def _reduce(x: Number) -> tuple[Number, Number, Number]:
    """BIG + n, r and what r lost to rounding, where x = n ln(2) + r."""
    shifted = x * LOG2_E + BIG
    n = shifted - BIG
    high = x - n * LN2_HI
    r = high - n * LN2_LO
    return shifted, r, (high - r) - n * LN2_LO


@elementary
def exp64(x: Number) -> Number:
    x = select(x > 710.0, 710.0, x)
    x = select(x < -746.0, -746.0, x)
    shifted, r, lost = _reduce(x)
    return _scale(1.0 + (r + (r * r * horner(r, EXP) + lost)), shifted)


@elementary
def exp2_64(x: Number) -> Number:
    x = select(x > 1025.0, 1025.0, x)
    x = select(x < -1076.0, -1076.0, x)
    shifted = x + BIG
    r = x - (shifted - BIG)
    return _scale(1.0 + r * horner(r, EXP2), shifted)


@elementary
def expm1_64(x: Number) -> Number:
    """2 (2^(n-1) expm1(r) + (2^(n-1) - 1/2)): half of it, so that 2^n does not overflow first."""
    x = select(x > 710.0, 710.0, x)
    x = select(x < -38.0, -38.0, x)
    shifted, r, lost = _reduce(x)
    s = _two_to(shifted, -1)
    return 2.0 * (s * (r + (r * r * horner(r, EXPM1) + lost)) + (s - 0.5))


@elementary
def tanh64(x: Number) -> Number:
    """A polynomial where tanh < 1/2, and 1 - 2 / (exp(2x) + 1) above."""
    a = abs(x)
    square = a * a
    small = a + a * (square * horner(square, TANH))
    shifted, r, lost = _reduce(2.0 * select(a > 20.0, 20.0, a))
    e = (1.0 + (r + (r * r * horner(r, EXP) + lost))) * _two_to(shifted, 0)
    large = 1.0 - 2.0 / (e + 1.0)
    return _with_sign(select(a < 0.55, small, large), x)


def _hyperbolic(a: Number) -> tuple[Number, Number, Number, Number]:
    """2^(n-2) + 2^(-n-2), 2^(n-2) - 2^(-n-2), sinh(r), cosh(r) - 1, for a = n ln(2) + r >= 0."""
    shifted, r, lost = _reduce(select(a > 710.5, 710.5, a))
    n = shifted - BIG
    up, down = _two_to(shifted, -2), _two_to(BIG - select(n > 500.0, 500.0, n), -2)
    square = r * r
    return up + down, up - down, r + (r * (square * horner(square, SINH)) + lost), square * horner(square, COSH)


@elementary
def sinh64(x: Number) -> Number:
    plus, minus, s, c = _hyperbolic(abs(x))
    return _with_sign(2.0 * (minus + (minus * c + plus * s)), x)


@elementary
def cosh64(x: Number) -> Number:
    plus, minus, s, c = _hyperbolic(abs(x))
    return 2.0 * (plus + (plus * c + minus * s))


@elementary
def expit64(x: Number) -> Number:
    e = exp64(-abs(x))
    return select(x < 0.0, e, 1.0) / (1.0 + e)
