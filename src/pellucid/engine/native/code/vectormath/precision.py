"""The two precisions: how numbers are laid out in bits, and the constants and polynomials that suit them.

The comment of a polynomial says what it approximates, where, and its largest relative error in the result, float32 and
float64 (Remez exchange in mpmath; half an ulp is 3e-8 to 6e-8, and 0.6e-16 to 1.1e-16).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.lanes import Lanes
from pellucid.engine.native.code.vectormath.operations import Number, bits, floats

LOG2_E = 1.4426950408889634
Table = tuple[float, ...]


@dataclass(frozen=True)
class Precision:
    """What a formula needs to know of float32 or float64."""

    dtype: np.dtype[Any]
    digits: int  # bits of a fraction
    bias: int  # of an exponent
    ln2: Table  # in two parts; an exponent times the first is exact
    log10_2: Table  # likewise
    pi: Table  # in parts; multiples up to 2^30 of all but the last are exact
    # where functions have reached their limits
    exp_range: Table
    exp2_range: Table
    expm1_least: float
    tanh_most: float
    sinh_most: float
    down_most: float  # n, for 2^-n beside 2^n
    # polynomials
    exp: Table
    expm1: Table
    exp2: Table
    sinh: Table
    cosh: Table
    tanh: Table
    log: Table
    sin: Table
    tan_sin: Table
    tan_cos: Table
    arctan: Table

    @property
    def big(self) -> float:
        """big + x rounds x to an integer, and the low bits of the sum are that integer."""
        return 1.5 * 2.0**self.digits

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return -1 << (8 * self.dtype.itemsize - 1)

    def pattern(self, x: float) -> int:
        """The bits of a number."""
        return int(bits(np.array(x, self.dtype)))

    def with_sign(self, magnitude: Number, x: Number) -> Number:
        """A magnitude >= 0 with the sign of x."""
        return floats(bits(magnitude) | (bits(x) & self.sign))

    def two_to(self, shifted: Number, add: int = 0) -> Number:
        """2^(n + add), where shifted = big + n."""
        return floats((bits(shifted) + (self.bias + add)) << self.digits)

    def scaled(self, y: Number, shifted: Number) -> Number:
        """y 2^n, where shifted = big + n: in two steps, so that subnormal results and overflow are right."""
        half = bits((shifted - self.big) * 0.5 + self.big)
        rest = bits(shifted) - half
        return y * floats((half + self.bias) << self.digits) * floats((rest + self.bias) << self.digits)


SINGLE = Precision(
    dtype=np.dtype(np.float32),
    digits=23,
    bias=127,
    ln2=(0.693145751953125, 1.4286068203094173e-06),
    log10_2=(0.301025390625, 4.605038981195214e-06),
    pi=(3.141592502593994, 1.5099578831723193e-07, 1.0780605716316238e-14),  # in float64
    exp_range=(-105, 89),
    exp2_range=(-151, 129),
    expm1_least=-18,
    tanh_most=10,
    sinh_most=89.5,
    down_most=60,
    # exp(r) = 1 + r + r^2 P(r), |r| <= ln(2)/2: 3e-9, 4e-18
    exp=(0.49999993369278917, 0.16666519525359022, 0.04166840152362466, 0.008368851237412728, 0.0013814312929515953),
    # expm1(r) = r + r^2 P(r), |r| <= ln(2)/2: 1.3e-8, 3e-19
    expm1=(4.9999997e-01, 1.6666543e-01, 4.1667204e-02, 8.3666425e-03, 1.3882616e-03),
    # 2^r = 1 + r P(r), |r| <= 1/2: 2e-9, 4e-20
    exp2=(6.931472e-01, 2.4022648e-01, 5.550332e-02, 9.618438e-03, 1.3399007e-03, 1.5353352e-04),
    # sinh(r) = r + r^3 P(r^2), |r| <= ln(2)/2: 5e-12, 4e-23
    sinh=(1.6666667e-01, 8.333289e-03, 1.9905207e-04),
    # cosh(r) = 1 + r^2 P(r^2), |r| <= ln(2)/2: 5e-11, 6e-22
    cosh=(5.0e-01, 4.1666266e-02, 1.3946452e-03),
    # tanh(x) = x + x^3 P(x^2), |x| <= 0.55: 1e-9, 6e-19
    tanh=(-3.333332e-01, 1.3332601e-01, -5.3853776e-02, 2.1077342e-02, -6.281783e-03),
    # log(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2): f - f^2/2 + f^3 P(f): 6e-9; 2s + s^3 P(s^2) with s = f / (2 + f): 2e-18
    log=(
        *(3.333333e-01, -2.5000823e-01, 2.0001234e-01, -1.66233e-01),
        *(1.4201526e-01, -1.3160534e-01, 1.2763523e-01, -7.6360404e-02),
    ),
    # sin(r) = r + r^3 P(r^2), |r| <= pi/2: 6e-9, 4e-22
    sin=(-1.666666e-01, 8.333066e-03, -1.9809543e-04, 2.6056375e-06),
    # sin(r) = r + r^3 P(r^2), |r| <= pi/4: 4e-9, 3e-18
    tan_sin=(-0.1666665490622567, 0.008332175719469367, -0.00019516962309336496),
    # cos(r) = 1 + r^2 P(r^2), |r| <= pi/4: 5e-11, 3e-20
    tan_cos=(-0.5, 4.1666623e-02, -1.388676e-03, 2.4390049e-05),
    # arctan(t) = t + t^3 P(t^2), |t| <= 1: 1.5e-8; |t| <= tan(pi/8): 1e-18
    arctan=(
        *(-3.3333167e-01, 1.9994135e-01, -1.4214185e-01, 1.0678825e-01),
        *(-7.5802915e-02, 4.3549698e-02, -1.6578557e-02, 2.9738701e-03),
    ),
)

DOUBLE = Precision(
    dtype=np.dtype(np.float64),
    digits=52,
    bias=1023,
    ln2=(0.6931471805598903, 5.497923018708371e-14),
    log10_2=(0.30102999566395283, 2.8363394551044964e-14),
    pi=(
        *(3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14),
        *(6.564006326744847e-22, 7.590021545442451e-29),
    ),
    exp_range=(-746, 710),
    exp2_range=(-1076, 1025),
    expm1_least=-38,
    tanh_most=20,
    sinh_most=710.5,
    down_most=500,
    exp=(
        *(0.5000000000000011, 0.16666666666666408, 0.041666666666528115, 0.008333333333497023, 0.0013888888944247385),
        *(0.00019841269502566178, 2.4801492389479936e-05, 2.755758855372892e-06, 2.763052321457351e-07),
        2.499982181747024e-08,
    ),
    expm1=(
        *(0.5, 0.16666666666666677, 0.041666666666666505, 0.008333333333321515, 0.0013888888888963589),
        *(0.0001984126988647708, 2.4801587170892252e-05, 2.755724380392794e-06, 2.755740340803399e-07),
        *(2.510919533470292e-08, 2.087528857081401e-09),
    ),
    exp2=(
        *(0.6931471805599453, 0.24022650695910072, 0.05550410866482169, 0.009618129107628328, 0.0013333558146392404),
        *(0.00015403530393642723, 1.525273385462106e-05, 1.3215486593799514e-06, 1.0178051805267136e-07),
        *(7.0549747083184115e-09, 4.456592627114903e-10, 2.562534315910662e-11),
    ),
    sinh=(
        *(0.16666666666666666, 0.008333333333333337, 0.00019841269841252958, 2.7557319265655488e-06),
        *(2.5052056398718085e-08, 1.6090941157291025e-10),
    ),
    cosh=(
        *(0.5, 0.04166666666666671, 0.0013888888888863558, 2.480158736410369e-05, 2.7557241230681004e-07),
        2.092460902199243e-09,
    ),
    tanh=(
        *(-0.333333333333333, 0.1333333333332681, -0.05396825396386536, 0.021869488388711833, -0.008863232646175435),
        *(0.0035920924637221144, -0.0014555455278995588, 0.0005884551183574696, -0.00023340767888595593),
        *(8.335263555008189e-05, -1.95163178034597e-05),
    ),
    log=(
        *(0.6666666666666735, 0.39999999999411023, 0.2857142874327937, 0.2222219847421232, 0.181835698328377),
        *(0.15313900875256883, 0.1479753118790345),
    ),
    sin=(
        *(-0.16666666666666666, 0.008333333333333333, -0.0001984126984126967, 2.7557319223939933e-06),
        *(-2.5052108378455042e-08, 1.6059043193494124e-10, -7.647127146918272e-13, 2.8102003829068938e-15),
        -7.98114819471468e-18,
    ),
    tan_sin=(
        *(-0.16666666666666632, 0.008333333333322377, -0.00019841269829775114, 2.755731367954161e-06),
        *(-2.5050756035359012e-08, 1.5896667912750648e-10),
    ),
    tan_cos=(
        *(-0.5, 0.041666666666666484, -0.0013888888888863786, 2.4801587284943948e-05, -2.7557313321698327e-07),
        *(2.087560634866269e-09, -1.1354404273707484e-11),
    ),
    arctan=(
        *(-0.333333333333332, 0.19999999999953663, -0.14285714280204098, 0.1111111078381799, -0.09090897767197316),
        *(0.07692060364406193, -0.06663105492160422, 0.058478977049929035, -0.05039332428121752, 0.03806499956446043),
        -0.017907396153078733,
    ),
)


FUNCTIONS: dict[str, Callable[[Number], Number]] = {}
"""The elementary functions by their names."""


def elementary(formula: Callable[[Number, Precision], Number]) -> Callable[[Number], Number]:
    """A function of a number, given its precision. Its arithmetic stands as it is written, whatever the loop around it
    allows."""

    @functools.wraps(formula)
    def exact(x: Number) -> Number:
        p = SINGLE if x.dtype.itemsize == SINGLE.dtype.itemsize else DOUBLE
        if not isinstance(x, Lanes):
            return formula(x, p)
        with x.code.exactly(), x.code.numbers_from_memory():
            return formula(x, p)

    FUNCTIONS[formula.__name__] = exact
    return exact
