"""Every activation of the table, by all that its record says; then the lectures' numbers, and one's own."""

import inspect
import itertools
import pickle
import re
import sys
from math import inf
from pathlib import Path
from typing import Any

import matplotlib
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special
from scipy.integrate import quad

import pellucid as pel
from pellucid import nn
from pellucid.nn.activations import layers as activate
from pellucid.nn.activations.activation import Interval
from pellucid.nn.activations.functions import gain_of
from pellucid.nn.activations.table import activation_table, plot_activations

matplotlib.use("Agg")
from matplotlib import pyplot as plt

mp.mp.dps = 50
PAGE = Path(__file__).parents[2] / "docs" / "activations.md"


def sigma(x):
    return 1 / (1 + mp.exp(-x))


def mp_soboleva(x, a, b, c, d):
    return (mp.exp(a * x) - mp.exp(-b * x)) / (mp.exp(c * x) + mp.exp(-d * x))


def mp_elu(x, alpha):
    return x if x > 0 else alpha * mp.expm1(x)


def mp_gelu_tanh(x):
    cubic = mp.mpf("0.044715")
    return x * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + cubic * x**3))) / 2


def mp_selu(x):
    """From the definition: mean 0 and variance 1 for N(0, 1) are kept (Klambauer et al., appendix)."""
    alpha = -mp.sqrt(2 / mp.pi) / (mp.erfc(1 / mp.sqrt(2)) * mp.exp(mp.mpf(1) / 2) - 1)
    tail, tail2 = (mp.erfc(k / mp.sqrt(2)) * mp.exp(mp.mpf(k * k) / 2) / 2 for k in (1, 2))
    scale = 1 / mp.sqrt(mp.mpf(1) / 2 + alpha**2 * (tail2 - 2 * tail + mp.mpf(1) / 2))
    return scale * mp_elu(x, alpha)


REFERENCE = {
    "identity": lambda x: x,
    "step": lambda x, threshold: mp.mpf(x >= threshold),
    "straight_through_step": lambda x, threshold: mp.mpf(x >= threshold),
    "sigmoid": sigma,
    "tanh": mp.tanh,
    "soboleva": mp_soboleva,
    "softsign": lambda x: x / (1 + abs(x)),
    "hard_sigmoid": lambda x: min(max(x / 6 + mp.mpf(1) / 2, 0), 1),
    "hard_tanh": lambda x: min(max(x, -1), 1),
    "relu": lambda x: max(x, 0),
    "leaky_relu": lambda x, alpha: x if x > 0 else alpha * x,
    "prelu": lambda x, alpha: x if x > 0 else alpha * x,
    "elu": mp_elu,
    "selu": mp_selu,
    "celu": lambda x, alpha: max(x, 0) + min(0, alpha * mp.expm1(x / alpha)),
    "relu6": lambda x: min(max(x, 0), 6),
    "squared_relu": lambda x: max(x, 0) ** 2,
    "softplus": lambda x: mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x)),
    "log_sigmoid": lambda x: -mp.log1p(mp.exp(-x)) if x > 0 else x - mp.log1p(mp.exp(x)),
    "gelu": lambda x: x * mp.ncdf(x),
    "gelu_tanh": mp_gelu_tanh,
    "silu": lambda x: x * sigma(x),
    "swish": lambda x, beta: x * sigma(beta * x),
    "mish": lambda x: x * mp.tanh(mp.log1p(mp.exp(x))) if x < 0 else x * mp.tanh(x + mp.log1p(mp.exp(-x))),
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "sinc": mp.sinc,
}
ROWS = {"softmax", "log_softmax"}  # functions of a whole row have tests of their own

TABLE = [record for name, record in nn.ACTIVATIONS.items() if record.formula and name == record.name]
OTHER_NUMBERS = [
    nn.activation(name).with_(**numbers)
    for name, numbers in [
        ("step", {"threshold": 0.5}),
        ("leaky_relu", {"alpha": 0.1}),
        ("leaky_relu", {"alpha": 1.0}),
        ("leaky_relu", {"alpha": 0.0}),
        ("elu", {"alpha": 2.0}),
        ("celu", {"alpha": 0.5}),
        ("swish", {"beta": 0.5}),
        ("swish", {"beta": 3.0}),
        ("swish", {"beta": 0.0}),
        ("swish", {"beta": -1.0}),
        ("soboleva", {"a": 0.5, "b": 0.75, "c": 1.0, "d": 1.5}),
        ("soboleva", {"a": 1.0, "b": 0.5, "c": 1.0, "d": 0.5}),
        ("soboleva", {"a": 1.0, "b": 2.0, "c": 1.0, "d": 2.5}),
    ]
]
ELEMENTWISE = [record for record in TABLE if record.name not in ROWS] + OTHER_NUMBERS
each = pytest.mark.parametrize("record", ELEMENTWISE, ids=lambda record: record.label)
every = pytest.mark.parametrize("record", TABLE, ids=lambda record: record.name)

POINTS = np.array(
    [-30, -8, -2.51, -1.3, -0.6, -0.2501, -0.2499, -1e-3, -1e-8, 0, 1e-8, 1e-3, 0.2, 0.26, 0.9, 2.2, 5, 7.5, 33]
)
EXTREMES = np.array([-1e4, -1e2, 1e2, 1e4])


def slope(f, x, order=1):
    """The derivative of an elementwise function, by forward mode over forward mode."""
    if order == 0:
        return f(x)
    return pel.jvp(lambda x: slope(f, x, order - 1), (x,), (np.ones_like(x),))[1]


def exact(record):
    return lambda x: REFERENCE[record.name](mp.mpf(x), **record.parameters, **record.learned)


def test_every_record_has_a_reference():
    assert {record.name for record in TABLE} == set(REFERENCE) | ROWS


@each
def test_value(record):
    x = np.concatenate([POINTS, EXTREMES])
    assert_allclose(record(x), [float(exact(record)(v)) for v in x], rtol=1e-14, atol=1e-100)


@each
@pytest.mark.parametrize("order", [1, 2])
def test_derivative(record, order):
    x = np.array([v for v in POINTS if all(abs(v - kink) > 1e-4 for kink in record.kinks)])
    if record.name == "straight_through_step":
        expected = np.full(x.shape, 2.0 - order)
    else:
        with mp.workdps(80):
            expected = np.array([float(mp.diff(exact(record), v, order, h=mp.mpf(10) ** -20)) for v in x])
    assert_allclose(slope(record, x, order), expected, rtol=1e-11, atol=1e-13)


@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_and_dtype(record, dtype):
    """No overflow, no NaN, no warning, and float32 stays float32, in value, both derivatives and both modes."""
    x = np.concatenate([EXTREMES, POINTS, record.kinks]).astype(dtype)
    with np.errstate(all="raise", under="ignore"):
        results = [slope(record, x, order) for order in (0, 1, 2)]
        results.append(pel.grad(lambda x: np.sum(record(x)))(x))
    for result in results:
        assert result.dtype == dtype
        assert np.all(np.isfinite(result))
    assert_allclose(results[1], results[3], rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-15)
    assert_allclose(results[0], record(x.astype(np.float64)), rtol=3e-6 if dtype == np.float32 else 0, atol=1e-7)


@each
def test_nan_is_not_hidden(record):
    assert np.isnan(record(np.array([np.nan]))).all()


@each
def test_range(record):
    """Never outside; an end is approached, and attained just if it is written with a square bracket."""
    low, high, ends = record.range.low, record.range.high, record.range.ends
    x = np.concatenate([np.linspace(-60, 60, 24001), EXTREMES])
    y = record(x)
    assert y.min() >= low
    assert y.max() <= high
    if ends == "{}":
        assert set(y) == {low, high}
        return
    for end, best, closed in ((low, y.min(), ends[0] == "["), (high, y.max(), ends[1] == "]")):
        if abs(end) == inf:
            assert abs(best) >= 1e2
            continue
        assert_allclose(best, end, atol=2e-4)
        inside = [exact(record)(mp.mpf(v)) for v in np.linspace(-30, 30, 121)]
        if closed:
            around = x[np.argmin(abs(y - end))] + np.linspace(-0.01, 0.01, 20001)
            assert_allclose(record(around)[np.argmin(abs(record(around) - end))], end, atol=1e-11)
        else:  # open in mathematics, a limit; rounding may reach it far out
            assert abs(x[np.argmin(abs(y - end))]) > 10
            assert all(mp.mpf(low) < v if end == low else v < mp.mpf(high) for v in inside)


@each
def test_continuity(record):
    """Left and right derivatives agree up to order k at the kinks, and differ in order k + 1."""
    smooth = [point for point in (-3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 6.0) if point not in record.kinks]
    places = [(point, 3, None) for point in smooth]
    if record.continuity < inf:
        assert record.kinks
        places += [(kink, record.continuity, record.continuity + 1) for kink in record.kinks]
    for point, agree, differ in places:
        sides = point + np.array([-1e-7, 1e-7])
        for order in range(agree + 1):
            left, right = slope(record, sides, order)
            assert abs(left - right) < 1e-5, (point, order)
            assert_allclose(slope(record, np.array([point]), order), left, atol=1e-5, err_msg=f"at {point} itself")
        if differ is not None:
            left, right = slope(record, sides, differ)
            assert abs(left - right) > 1e-3, (point, differ)


CONVENTIONAL = {"tanh": 5 / 3, "sigmoid": 1.0}  # not from the second moment


@each
def test_gain(record):
    if record.name in CONVENTIONAL:
        assert record.gain == CONVENTIONAL[record.name]
        return
    density = lambda z: float(record(np.float64(z))) ** 2 * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    ends = [-12.0, *record.kinks, 12.0]
    moment = sum(quad(density, a, b, limit=200)[0] for a, b in itertools.pairwise(ends))
    assert_allclose(record.gain, moment**-0.5, rtol=1e-8)


def test_known_gains():
    for name, gain in {"identity": 1, "selu": 1, "relu": 2**0.5, "leaky_relu": (2 / 1.0001) ** 0.5}.items():
        assert_allclose(nn.activation(name).gain, gain, rtol=1e-12)
    assert_allclose(nn.activation("leaky_relu").with_(alpha=0.5).gain, (2 / 1.25) ** 0.5)


def phi(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def gelu_tanh_slope(x):
    u, du = (2 / np.pi) ** 0.5 * (x + 0.044715 * x**3), (2 / np.pi) ** 0.5 * (1 + 3 * 0.044715 * x**2)
    return (1 + np.tanh(u)) / 2 + x * (1 - np.tanh(u) ** 2) * du / 2


def soboleva_slope(x, g, a, b, c, d):
    D = np.exp(c * x) + np.exp(-d * x)
    return (a * np.exp(a * x) + b * np.exp(-b * x)) / D - g * (c * np.exp(c * x) - d * np.exp(-d * x)) / D


LAMBDA, ALPHA = 1.0507009873554805, 1.6732632423543772
WRITTEN: dict[str, Any] = {  # the cell g'(x) of the table, and the same in NumPy; g is the value
    "1": lambda x, g: np.ones_like(x),
    "0": lambda x, g, threshold: np.zeros_like(x),
    "1 (by decree)": lambda x, g, threshold: np.ones_like(x),
    "g(x) (1 - g(x))": lambda x, g: g * (1 - g),
    "1 - g(x)²": lambda x, g: 1 - g**2,
    "(a eᵃˣ + b e⁻ᵇˣ) / D - g(x) (c eᶜˣ - d e⁻ᵈˣ) / D": soboleva_slope,
    "1 / (1 + |x|)²": lambda x, g: 1 / (1 + abs(x)) ** 2,
    "1/6 if |x| < 3, else 0": lambda x, g: np.where(abs(x) < 3, 1 / 6, 0),
    "1 if |x| < 1, else 0": lambda x, g: np.where(abs(x) < 1, 1, 0),
    "0 if x ≤ 0, 1 if x > 0": lambda x, g: np.where(x <= 0, 0, 1),
    "α if x ≤ 0, 1 if x > 0": lambda x, g, alpha: np.where(x <= 0, alpha, 1),
    "α eˣ if x ≤ 0, 1 if x > 0": lambda x, g, alpha: np.where(x <= 0, alpha * np.exp(x), 1),
    "λ α eˣ if x ≤ 0, λ if x > 0": lambda x, g: np.where(x <= 0, LAMBDA * ALPHA * np.exp(x), LAMBDA),
    "e^(x/α) if x ≤ 0, 1 if x > 0": lambda x, g, alpha: np.where(x <= 0, np.exp(x / alpha), 1),
    "1 if 0 < x < 6, else 0": lambda x, g: np.where((x > 0) & (x < 6), 1, 0),
    "2 max(0, x)": lambda x, g: 2 * np.maximum(0, x),
    "σ(x)": lambda x, g: special.expit(x),
    "σ(-x)": lambda x, g: special.expit(-x),
    "Φ(x) + x φ(x)": lambda x, g: special.ndtr(x) + x * phi(x),
    "(1 + tanh u) / 2 + x (1 - tanh² u) u'(x) / 2": lambda x, g: gelu_tanh_slope(x),
    "(1 + e⁻ˣ + x e⁻ˣ) / (1 + e⁻ˣ)²": lambda x, g: (1 + np.exp(-x) + x * np.exp(-x)) / (1 + np.exp(-x)) ** 2,
    "σ(β x) + β x σ(β x) (1 - σ(β x))": lambda x, g, beta: (
        special.expit(beta * x) + beta * x * special.expit(beta * x) * (1 - special.expit(beta * x))
    ),
    "tanh s + x σ(x) (1 - tanh² s), s = ln(1 + eˣ)": lambda x, g: (
        np.tanh(np.log(1 + np.exp(x))) + x * special.expit(x) * (1 - np.tanh(np.log(1 + np.exp(x))) ** 2)
    ),
    "0 if x ≤ -3, 1 if x ≥ 3, else (2x + 3) / 6": lambda x, g: np.where(
        x <= -3, 0, np.where(x >= 3, 1, (2 * x + 3) / 6)
    ),
    "(cos(x) - g(x)) / x, 0 at 0": lambda x, g: np.where(x == 0, 0, (np.cos(x) - g) / np.where(x == 0, 1, x)),
}


@each
def test_the_derivative_that_is_written_is_the_derivative(record):
    """The cell g'(x), read as a program, at points and at the kinks, where it says which value is used."""
    x = np.unique([-6.5, -3.0, -2.2, -1.0, -0.7, -0.3, 0.0, 0.3, 0.5, 1.0, 1.7, 3.0, 4.1, 6.0, 6.5, *record.kinks])
    written = WRITTEN[record.derivative](x, record(x), **record.parameters, **record.learned)
    assert_allclose(slope(record, x), written, rtol=1e-11, atol=1e-14)


@every
def test_record_is_complete(record):
    assert record.formula
    assert record.derivative
    assert record.range is not None
    assert pickle.loads(pickle.dumps(record)) == record


# choices at kinks


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("relu", 0.0, 0.0),
        ("leaky_relu", 0.0, 0.01),
        ("prelu", 0.0, 0.25),
        ("elu", 0.0, 1.0),
        ("selu", 0.0, 1.0507009873554805 * 1.6732632423543772),
        ("relu6", 0.0, 0.0),
        ("relu6", 6.0, 0.0),
        ("hard_tanh", 1.0, 0.0),
        ("hard_sigmoid", -3.0, 0.0),
        ("hardswish", -3.0, 0.0),
        ("hardswish", 3.0, 1.0),
        ("step", 0.0, 0.0),
    ],
)
def test_slope_at_kink(name, at, expected):
    assert_allclose(slope(nn.activation(name), np.array([at])), expected, rtol=1e-15)


# the lectures' numbers


def at(name, *x):
    return nn.activation(name)(np.array(x))


def test_sigmoid():
    f = nn.activation("sigmoid")
    assert_allclose(slope(f, np.array([-10.0, 0, 5, 10])), [4.53958e-5, 0.25, 0.0066481, 4.53958e-5], rtol=1e-5)
    assert_array_equal(f(np.array([-1000.0, 1000.0])), [0, 1])
    assert np.all(slope(f, np.linspace(-5, 5, 1001)) <= 0.25)


def test_tanh_is_a_sigmoid():
    t = np.linspace(-5, 5, 101)
    assert_allclose(at("tanh", *t), 2 * at("sigmoid", *(2 * t)) - 1, atol=1e-15)
    assert slope(np.tanh, np.zeros(1)) == 4 * slope(nn.activation("sigmoid"), np.zeros(1))


def test_leaky_is_a_maximum():
    for alpha in (0.01, 0.1):
        f = nn.activation("leaky_relu").with_(alpha=alpha)
        assert_array_equal(f(POINTS), np.maximum(alpha * POINTS, POINTS))


def test_leaky_beyond_one_is_no_maximum():
    """The slope on the left is still alpha, as PReLU may learn it; the lectures' max(2x, x) would double the right."""
    x = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    f = nn.LeakyReLU(2.0).activation
    assert_array_equal(f(x), [-6, -2, 0, 1, 3])
    assert_array_equal(np.maximum(2 * x, x), [-3, -1, 0, 2, 6])
    assert_array_equal(slope(f, x), [2, 2, 2, 1, 1])
    assert_allclose(f.gain, (2 / 5) ** 0.5)


def test_prelu_learns_its_slope():
    x, g = np.random.default_rng(0).normal(size=(2, 20))
    f = nn.activation("prelu")
    by_alpha = pel.grad(lambda alpha: np.sum(g * f(x, alpha=alpha)))(0.25)
    assert_allclose(by_alpha, np.sum((x * g)[x < 0]))


def test_elu_and_the_lectures_slip():
    assert_allclose(at("elu", -0.5, -1, -2), [-0.393469, -0.632121, -0.864665], atol=5e-7)
    assert nn.activation("elu").continuity == 1
    assert nn.activation("elu").with_(alpha=0.5).continuity == 0
    assert str(nn.activation("elu").with_(alpha=0.5).range) == "(-0.5, ∞)"


def test_selu_keeps_mean_and_variance():
    net = nn.Sequential(*itertools.chain(*[(nn.Dense(400, init="lecun"), "selu")] * 20))
    x = np.random.default_rng(0).normal(size=(1000, 400))
    y = net.predict(net.initialize(400).params, x)
    assert abs(y.mean()) < 0.1
    assert abs(y.var() - 1) < 0.15
    assert_allclose(nn.activation("selu").range.low, -1.7581, atol=5e-5)


@pytest.mark.parametrize(
    ("name", "x", "least"),
    [
        ("gelu", -0.751792, -0.169971),
        ("silu", -1.278465, -0.278465),
        ("mish", -1.192431, -0.308843),
        ("gelu_tanh", -0.752461, -0.170041),
        ("hardswish", -1.5, -0.375),
        ("sinc", 4.493409, -0.217234),
    ],
)
def test_minimum(name, x, least):
    assert_allclose(at(name, x), least, atol=5e-7)
    assert_allclose(slope(nn.activation(name), np.array([x])), 0, atol=1e-6)
    assert_allclose(nn.activation(name).range.low, least, atol=5e-7)


def test_gelu_approximation_is_near():
    x = np.linspace(-6, 6, 1001)
    assert 1e-4 < np.max(np.abs(at("gelu", *x) - at("gelu_tanh", *x))) < 5e-4


def test_swish_limits():
    x = np.array([-2.0, -0.1, 0.3, 5.0])
    swish = nn.activation("swish")
    assert_array_equal(swish(x, beta=0.0), x / 2)
    assert_allclose(swish(x, beta=1e4), np.maximum(x, 0), atol=1e-15)
    assert_array_equal(swish(x), at("silu", *x))
    s = at("sigmoid", *x)
    by_beta = pel.jvp(lambda beta: swish(x, beta=beta), (1.0,), (1.0,))[1]
    assert_allclose(by_beta, x**2 * s * (1 - s))


def test_softplus_sinc_softsign():
    assert_array_equal(at("softplus", -1000, 1000), [0, 1000])
    x = np.linspace(-4, 4, 33)
    assert_allclose(slope(nn.activation("softplus"), x), at("sigmoid", *x), rtol=1e-14)
    assert_allclose(slope(nn.activation("softsign"), x), 1 / (1 + abs(x)) ** 2, rtol=1e-14)
    assert [float(slope(nn.activation("sinc"), np.float64(0), k)) for k in (0, 1, 2)] == [1, 0, pytest.approx(-1 / 3)]


def test_step():
    assert_array_equal(at("hard_threshold", -1, 0, 1), [0, 1, 1])
    f = nn.activation("straight_through_step").with_(threshold=0.5)
    assert_array_equal(f(np.array([0.4, 0.5])), [0, 1])
    assert_array_equal(slope(f, np.array([0.4, 0.5])), [1, 1])
    assert pel.grad(lambda n: np.sum(f(np.zeros(3), threshold=n)))(0.5) == -3
    assert_array_equal(slope(nn.activation("step"), np.array([-1.0, 2.0])), [0, 0])


def test_soboleva():
    x, f = np.linspace(-5, 5, 41), nn.activation("smht")
    assert_allclose(f(x), np.tanh(x), atol=1e-15)
    printed = f.with_(a=0.5, b=2.0, c=0.5, d=2.0)  # the lecture's form: the same exponents above and below
    assert_allclose(printed(x), mp_printed(x, 0.5, 2.0), atol=1e-15)
    a, b, c, d = 0.5, 0.75, 1.0, 1.5
    g = f.with_(a=a, b=b, c=c, d=d)
    below = np.exp(c * x) + np.exp(-d * x)
    by_hand = (a * np.exp(a * x) + b * np.exp(-b * x) - g(x) * (c * np.exp(c * x) - d * np.exp(-d * x))) / below
    assert_allclose(slope(g, x), by_hand, rtol=1e-12, atol=1e-15)
    assert f.with_(a=2.0).range == Interval(-1, inf)


def mp_printed(x, a, b):
    """(e^ax - e^-bx) / (e^ax + e^-bx) = tanh((a + b) x / 2)"""
    return np.tanh((a + b) * x / 2)


# functions of rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_at_extremes(name, dtype):
    f = nn.activation(name)
    x = np.array([[1e4, -1e4, 0], [-1e4, -1e4, -1e4], [1, 2, 3]], dtype)
    with np.errstate(all="raise", under="ignore"):
        y, dy = pel.jvp(f, (x,), (np.ones_like(x),))
        g = pel.grad(lambda x: np.sum(f(x)[:, 0]))(x)
    assert y.dtype == dy.dtype == g.dtype == dtype
    shares = y if name == "softmax" else np.exp(y)
    expected = [[1, 0, 0], [1 / 3] * 3, [0.09003057317038046, 0.24472847105479764, 0.6652409557748218]]
    assert_allclose(shares, expected, rtol=1e-4 if dtype == np.float32 else 1e-11)  # |x| eps, for x = 1e4
    assert_allclose(dy, 0, atol=1e-4 if dtype == np.float32 else 1e-11)  # a shift of the whole row changes nothing
    assert np.all(np.isfinite(g))


def test_softmax_jacobian():
    x = np.array([0.3, -1.0, 2.0])
    powers = [mp.exp(v) for v in x]
    p = np.array([float(v / sum(powers)) for v in powers])
    assert_allclose(nn.activation("softmax")(x), p, rtol=1e-14)
    assert_allclose(nn.activation("log_softmax")(x), np.log(p), rtol=1e-14)
    assert_allclose(pel.jacobian(nn.activation("softmax"))(x), np.diag(p) - np.outer(p, p), rtol=1e-13)
    assert_allclose(pel.jacobian(nn.activation("log_softmax"))(x), np.eye(3) - p, rtol=1e-13)


# identities

numbers = st.floats(-1e4, 1e4)


@given(numbers)
def test_identities(x):
    x = np.float64(x)
    f = {name: record for name, record in nn.ACTIVATIONS.items() if name not in ROWS}
    close: Any = {"rtol": 1e-14, "atol": 1e-14}
    assert_allclose(f["sigmoid"](-x), 1 - f["sigmoid"](x), **close)
    assert_allclose(f["log_sigmoid"](x), -f["softplus"](-x), **close)
    for name in ("softplus", "silu", "gelu", "gelu_tanh", "relu", "hardswish"):
        assert_allclose(f[name](x) - f[name](-x), x, **close, err_msg=name)
    for name in ("tanh", "softsign", "hard_tanh", "soboleva"):
        assert_allclose(f[name](-x), -f[name](x), **close, err_msg=name)
    assert_allclose(f["sinc"](-x), f["sinc"](x), **close)
    assert_allclose(f["elu"](x), f["celu"](x), **close)
    assert_allclose(f["relu6"](x), f["relu"](x) - f["relu"](x - 6), rtol=1e-12, atol=1e-11)


# one's own


@pytest.fixture
def table(monkeypatch):
    """A copy of the table to write into."""
    from pellucid.nn.activations import activation as activations

    copy = dict(nn.ACTIVATIONS)
    monkeypatch.setattr(activations, "ACTIVATIONS", copy)
    return copy


def train(net, x, y, steps=400, lr=0.1):
    """Plain gradient descent on the squared error."""
    params = net.initialize(x.shape[1]).params
    loss = pel.value_and_grad(lambda p: np.mean(np.square(net.predict(p, x) - y)))
    for _ in range(steps):
        value, g = loss(params)
        params = {name: params[name] - lr * g[name] for name in params}
    return value, params


def test_a_function():
    def bump(x):
        return np.exp(-x * x)

    record = nn.activation(bump)
    assert record.name == "bump"
    assert_allclose(record.gain, 5**0.25, rtol=1e-12)  # E exp(-2 z²) = 1 / sqrt(5)
    net = nn.Sequential(nn.Dense(3), bump, nn.Dense(1))
    params = net.initialize(2).params
    x = np.random.default_rng(0).normal(size=(5, 2))
    pel.check_grads(lambda p: np.sum(net.predict(p, x) ** 2), (params,))
    assert nn.activation(np.tanh) is nn.activation("tanh")


def test_a_function_that_wants_its_width():
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert nn.activation(lambda x: x @ turn).gain == 1.0
    assert nn.activation(lambda x: 0 * x).gain == 1.0


def test_relu_with_another_slope_at_zero():
    x = np.array([-1.0, 0.0, 2.0])
    for slope in (0.0, 0.5, 1.0):
        f = nn.relu_at(slope)
        assert pel.grad(lambda x: np.sum(f(x)))(x).tolist() == [0, slope, 1]  # noqa: B023
        assert pel.jvp(f, (x,), (np.ones(3),))[1].tolist() == [0, slope, 1]
    with pytest.raises(ValueError, match=r"in 0 \.\.\. 1, got 2"):
        nn.relu_at(2)


def test_registered(table):
    record = nn.Activation("square", np.square, range=Interval(0, inf, "[)"))
    assert nn.register_activation(record, "x2") is record
    assert nn.activation("x2") is nn.activation("Square") is record
    with pytest.raises(ValueError, match="exists already"):
        nn.register_activation(record)


def test_learned_parameters_train():
    """The lecture's parametric rectifier: hinge, left and right slope are learned."""

    def rectifier(x, hinge, left, right):
        return np.where(x > hinge, right, left) * (x - hinge)

    record = nn.Activation("rectifier", rectifier, learned={"hinge": 0.0, "left": 0.1, "right": 1.0})
    x = np.linspace(-2, 2, 41)[:, None]
    y = rectifier(x, 0.5, -0.4, 1.5)
    loss, params = train(nn.Sequential(nn.Activate(record)), x, y, 2000)
    assert loss < 1e-6
    learned = {name.split(".")[1]: float(value[0]) for name, value in params.items()}
    assert learned == pytest.approx({"hinge": 0.5, "left": -0.4, "right": 1.5}, abs=5e-3)


@pytest.mark.parametrize(("layer", "target"), [(activate.PReLU(), 0.6), (activate.Swish(shared=True), 2.0)])
def test_prelu_and_swish_train(layer, target):
    x = np.linspace(-2, 2, 41)[:, None]
    (name,) = layer.activation.learned
    loss, params = train(nn.Sequential(layer), x, layer.activation(x, **{name: target}), 3000)
    assert loss < 1e-6
    (value,) = params.values()
    assert_allclose(value, target, atol=1e-2)
    assert value.shape == (() if layer.shared else (1,))


def test_fixed_or_learned():
    assert nn.activation("swish").with_(beta=1.5).learning().parameters == {"beta": 1.5}
    elu = nn.activation("elu").learning("alpha")
    assert nn.Sequential(nn.Dense(3), elu).initialize(2).params["elu1.alpha"].shape == (3,)
    with pytest.raises(ValueError, match="elu has no parameter 'beta': it has alpha"):
        nn.activation("elu").with_(beta=1.0)
    with pytest.raises(ValueError, match="relu has no parameter 'alpha': it has none"):
        nn.activation("relu").learning("alpha")


def test_mixed():
    x = np.array([[-1.0, 2.0, -1.0, 1.0]])
    net = nn.Mixed("relu", "tanh")
    assert_allclose(net.predict({}, x), [[0, 2, np.tanh(-1), np.tanh(1)]])
    assert_allclose(
        pel.grad(lambda x: np.sum(net.predict({}, x)))(x), [[0, 1, 1 - np.tanh(1) ** 2, 1 - np.tanh(1) ** 2]]
    )


def test_names():
    same = {
        "logistic": "sigmoid",
        "linear": "identity",
        "swish-1": "silu",
        "hard threshold": "step",
        "SMHT": "soboleva",
    }
    for alias, name in same.items():
        assert nn.activation(alias) is nn.activation(name)
    with pytest.raises(ValueError, match="no activation called 'reul': did you mean 'relu"):
        nn.activation("reul")
    with pytest.raises(TypeError, match="got 3"):
        nn.activation(3)


def test_layer_constructors():
    names = [name for name in vars(activate) if name[0].isupper() and inspect.isfunction(getattr(activate, name))]
    assert len(names) == 22
    for name in names:
        record = getattr(activate, name)().activation
        assert record == nn.activation(record.name)
        assert record.name.replace("_", "") == name.lower()
    assert activate.GELU(approximate=True).activation == nn.activation("gelu_tanh")
    assert repr(activate.ELU(2.0)) == "Activate('elu(alpha=2.0)')"


# on paper


def test_page_has_the_table():
    shown = re.search(r"<!-- activation_table\(\) -->\n(.*?)\n<!-- end -->", PAGE.read_text(), flags=re.S).group(1)
    assert shown == activation_table([record.name for record in TABLE])


def test_table_escapes_bars():
    assert r"x / (1 + \|x\|)" in activation_table(["softsign"])


def test_curves():
    axes = plot_activations()
    titles = "sigmoid tanh step softplus relu softsign elu log_sigmoid silu sinc leaky_relu(alpha=0.1) mish"
    assert " ".join(ax.get_title() for ax in axes) == titles
    curve, tangent = axes[0].lines[:2]
    assert_allclose(tangent.get_ydata(), curve.get_ydata() * (1 - curve.get_ydata()), rtol=1e-12)
    plt.close("all")


def test_curves_on_given_axes(monkeypatch):
    _, given = plt.subplots(1, 2)
    assert plot_activations([np.sin], given)[0] is given[0]
    with pytest.raises(ValueError, match="3 activations for 2 axes"):
        plot_activations(["relu", "elu", "selu"], given)
    plt.close("all")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install"):
        plot_activations(["relu"])


def test_gain_of_row_functions():
    assert gain_of(lambda x: np.stack([x[:, 0], -x[:, 0]], axis=1)) == pytest.approx(1.0)
