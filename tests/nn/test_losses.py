"""The table of losses is walked: an entry without a case fails. References are naive formulas in 40 digits."""

import warnings
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, special, stats

import pellucid as pel
from pellucid import nn
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import Loss, sample_weights
from pellucid.nn.losses.table import LOSSES, check_pairing, loss, loss_for, register_loss
from pellucid.nn.penalties import L2

rng = np.random.default_rng(0)
N = 12


def average(f):
    return lambda s, y: mp.fsum(f(a, b) for a, b in zip(s, y, strict=True)) / len(s)


def sigma(s):
    return 1 / (1 + mp.exp(-s))


def softmax(s):
    total = mp.fsum(mp.exp(a) for a in s)
    return [mp.exp(a) / total for a in s]


def binary(s, y, smoothing=0):
    q = (1 - smoothing) * y + mp.mpf(smoothing) / 2
    return -q * mp.log(sigma(s)) - (1 - q) * mp.log(1 - sigma(s))


def cross_entropy(s, y, smoothing=0):
    p, k = softmax(s), len(s)
    q = [(1 - smoothing) * (j == y) + mp.mpf(smoothing) / k for j in range(k)] if np.ndim(y) == 0 else list(y)
    return -mp.fsum(a * mp.log(b) for a, b in zip(q, p, strict=True))


def brier(s, y):
    p = softmax(s)
    q = [int(j == y) for j in range(len(s))] if np.ndim(y) == 0 else list(y)
    return mp.fsum((a - b) ** 2 for a, b in zip(p, q, strict=True))


def focal(p, gamma, alpha=1):
    return -alpha * (1 - p) ** gamma * mp.log(p)


def weighted_focal(s, y):
    return focal(sigma(s if y else -s), 0.5, 0.25 if y else 0.75)


def pinball(quantiles):
    def each(s, y):
        parts = []
        for i, target in enumerate(y):
            for j, tau in enumerate(quantiles):
                r = target - s[i * len(quantiles) + j]
                parts.append(tau * r if r >= 0 else (tau - 1) * r)
        return mp.fsum(parts) / len(parts)

    return each


@dataclass(frozen=True)
class Case:
    loss: Loss
    scores: Any
    y: Any  # as a user gives it
    reference: Any

    @property
    def id(self):
        return f"{self.loss}-{self.scores.shape[1]}"


def make(name, k, y, reference, **settings):
    return Case(loss(name, **settings), rng.normal(size=(N, k)) * 2, y, reference)


reals, real_rows = rng.normal(size=N), rng.normal(size=(N, 3))
bits, bit_rows = rng.integers(0, 2, N), rng.integers(0, 2, (N, 3))
classes = np.arange(N) % 4
counts, count_rows = rng.poisson(3, N), rng.poisson(3, (N, 3))
sizes, size_rows = rng.gamma(2, size=N), rng.gamma(2, size=(N, 3))
TAUS = (0.1, 0.5, 0.9)

squared = average(lambda s, y: (s - y) ** 2)
half = average(lambda s, y: (s - y) ** 2 / 2)
absolute = average(lambda s, y: abs(s - y))


def huber(delta):
    return average(lambda s, y: (s - y) ** 2 / 2 if abs(s - y) <= delta else delta * (abs(s - y) - mp.mpf(delta) / 2))


def gaussian(floor):
    def each(s, y):
        parts = []
        for i, target in enumerate(y):
            variance = mp.exp(2 * s[2 * i + 1]) + mp.mpf(floor) ** 2
            parts.append((mp.log(variance) + (target - s[2 * i]) ** 2 / variance) / 2)
        return mp.fsum(parts) / len(parts)

    return each


poisson = average(lambda s, y: mp.exp(s) - y * s)
full_poisson = average(lambda s, y: mp.exp(s) - y * s + mp.log(mp.factorial(int(y))))
gamma = average(lambda s, y: y * mp.exp(-s) + s)
hinge = average(lambda s, y: max(0, 1 - y * s))
squared_hinge = average(lambda s, y: max(0, 1 - y * s) ** 2)
perceptron = average(lambda s, y: max(0, -y * s))

CASES = [
    make("squared_error", 1, reals, squared),
    make("squared_error", 3, real_rows, squared),
    make("half_squared_error", 1, reals, half),
    make("half_squared_error", 3, real_rows, half),
    make("absolute_error", 1, reals, absolute),
    make("absolute_error", 3, real_rows, absolute),
    make("huber", 1, reals, huber(1)),
    make("huber", 3, real_rows, huber(0.5), delta=0.5),
    make("quantile", 1, reals, pinball((0.5,))),
    make("quantile", 3, reals, pinball(TAUS), quantiles=TAUS),
    make("quantile", 9, real_rows, pinball(TAUS), quantiles=TAUS),
    make("gaussian", 2, reals, gaussian(1e-3)),
    make("gaussian", 6, real_rows, gaussian(0.5), floor=0.5),
    make("poisson", 1, counts, poisson),
    make("poisson", 3, count_rows, full_poisson, constant=True),
    make("gamma", 1, sizes, gamma),
    make("gamma", 3, size_rows, gamma),
    make("cross_entropy", 4, classes, cross_entropy),
    make("cross_entropy", 4, classes, lambda s, y: cross_entropy(s, y, 0.1), smoothing=0.1),
    make("cross_entropy", 3, special.softmax(real_rows, axis=1), cross_entropy),
    make("brier", 4, classes, brier),
    make("brier", 3, special.softmax(real_rows, axis=1), brier),
    make("binary_cross_entropy", 1, bits, average(binary)),
    make("binary_cross_entropy", 1, bits, average(lambda s, y: binary(s, y, 0.2)), smoothing=0.2),
    make("multilabel", 3, bit_rows, average(binary)),
    make("focal", 1, bits, average(lambda s, y: focal(sigma(s if y else -s), 2))),
    make("focal", 1, bits, average(weighted_focal), gamma=0.5, alpha=0.25),
    make("focal", 4, classes, lambda s, y: focal(softmax(s)[y], 2)),
    make("focal", 4, classes, lambda s, y: focal(softmax(s)[y], 0.5, y + 1), gamma=0.5, alpha=(1, 2, 3, 4)),
    make("hinge", 1, bits, hinge),
    make("hinge", 3, bit_rows, hinge),
    make("squared_hinge", 1, bits, squared_hinge),
    make("squared_hinge", 3, bit_rows, squared_hinge),
    make("perceptron", 1, bits, perceptron),
    make("perceptron", 3, bit_rows, perceptron),
]  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def test_every_loss_of_the_table_has_a_case():
    assert {record.name for record in LOSSES.values()} - {"power_example"} == {case.loss.name for case in CASES}


@every_case
def test_values(case):
    y = case.loss.prepare(case.y, case.scores.shape[1])
    assert case.loss.outputs(case.y) == case.scores.shape[1]
    with mp.workdps(40):
        rows = [
            float(case.reference([mp.mpf(float(a)) for a in s], t if np.ndim(t) == 0 else list(map(float, t))))
            for s, t in zip(case.scores, y, strict=True)
        ]
    each = case.loss.per_sample(case.scores, y)
    assert each.shape == (N,)
    assert_allclose(each, rows, rtol=1e-12, atol=1e-14)
    assert_allclose(case.loss(case.scores, y), np.mean(rows), rtol=1e-12)


@every_case
def test_gradients(case):
    y = case.loss.prepare(case.y)
    pel.check_grads(lambda s: case.loss(s, y), (case.scores,), order=2)
    pel.check_grads(lambda s, w: case.loss(s, y, w), (case.scores, rng.uniform(0.5, 2, N)), order=1)


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e4, -1e4, "mixed"])
def test_extreme_scores_are_finite_and_silent(case, dtype, size):
    y = case.loss.prepare(case.y)
    signs = np.where(np.arange(case.scores.size) % 2, 1e4, -1e4).reshape(case.scores.shape)
    s = (signs if size == "mixed" else np.full_like(signs, size)).astype(dtype)
    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("error")
        value, slope = pel.value_and_grad(lambda s: case.loss(s, y))(s)
        curvature = pel.jvp(pel.grad(lambda s: case.loss(s, y)), (s,), (np.ones_like(s),))[1]
        predicted = case.loss.link(s)
    assert np.isfinite(value)
    for array in (slope, curvature, predicted):
        assert np.all(np.isfinite(array))
        assert array.dtype == dtype


@every_case
def test_float32_is_kept(case):
    y, s = case.loss.prepare(case.y), case.scores.astype(np.float32)  # a float64 target does not promote
    weights = np.linspace(1, 2, N)
    assert case.loss.per_sample(s, y).dtype == np.float32
    assert case.loss(s, y, weights).dtype == np.float32
    assert pel.grad(lambda s: case.loss(s, y, weights))(s).dtype == np.float32
    assert case.loss.link(s).dtype == np.float32
    assert_allclose(case.loss(s, y), case.loss(case.scores, y), rtol=1e-5)


@every_case
def test_a_weight_of_two_is_the_row_twice(case):
    y, weights = case.loss.prepare(case.y), np.arange(N) % 3
    f = pel.value_and_grad(lambda s, y, w=None: case.loss(s, y, w))
    value, slope = f(case.scores, y, weights)
    twice, twice_slope = f(np.repeat(case.scores, weights, axis=0), np.repeat(y, weights, axis=0))
    assert_allclose(value, twice, rtol=1e-14)
    per_row = np.zeros_like(slope)
    np.add.at(per_row, np.repeat(np.arange(N), weights), twice_slope)
    assert_allclose(slope, per_row, rtol=1e-12, atol=1e-17)
    assert_allclose(case.loss(case.scores, y, 7 * weights), value, rtol=1e-14)


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [7, 100, 1000])
def test_weights_of_one_change_no_bit(case, dtype, n):
    rows = np.arange(n) % N
    s = (case.scores[rows] * np.linspace(0.5, 1, n)[:, None]).astype(dtype)
    y = case.loss.prepare(case.y)[rows]
    for ones in (np.ones(n), np.ones(n, np.float32), np.ones(n, int)):
        plain = pel.value_and_grad(lambda s: case.loss(s, y))(s)
        weighted = pel.value_and_grad(lambda s, w=ones: case.loss(s, y, w))(s)
        assert_array_equal(plain[0], weighted[0])
        assert_array_equal(plain[1], weighted[1])


@every_case
def test_recorded_by_shape_for_every_batch_size(case):
    y, k = case.loss.prepare(case.y), case.scores.shape[1]
    weights = np.linspace(1, 2, N)
    specs = (pel.Spec(("n", k)), pel.Spec(("n", *y.shape[1:]), y.dtype), pel.Spec(("n",)))
    f = pel.value_and_grad(lambda s, y, w: case.loss(s, y, w))
    graph = pel.record(f, *specs)
    for n in (5, N):
        args = (case.scores[:n], y[:n], weights[:n])
        for got, expected in zip(pel.run(graph, *args), f(*args), strict=True):
            assert_allclose(got, expected, rtol=1e-13)


# settings that follow a schedule are inputs of the graph


@pytest.mark.parametrize(
    ("name", "setting", "value", "k", "y"),
    [
        ("cross_entropy", "smoothing", 0.1, 4, classes),
        ("binary_cross_entropy", "smoothing", 0.1, 1, bits),
        ("multilabel", "smoothing", 0.1, 3, bit_rows),
        ("huber", "delta", 0.7, 3, real_rows),
        ("gaussian", "floor", 0.2, 2, reals),
        ("focal", "gamma", 1.5, 1, bits),
        ("focal", "gamma", 1.5, 4, classes),
        ("focal", "alpha", 0.3, 1, bits),
    ],
)
def test_settings_may_be_traced(name, setting, value, k, y):
    s, y = rng.normal(size=(N, k)).astype(np.float32), loss(name).prepare(y, k)
    graph = pel.record(lambda s, v: loss(name, **{setting: v})(s, y), pel.Spec((N, k), np.float32), pel.Spec(()))
    direct = loss(name, **{setting: value})(s, y)
    assert pel.run(graph, s, np.float64(value)).dtype == np.float32
    assert_allclose(pel.run(graph, s, np.float64(value)), direct, rtol=1e-6)
    pel.check_grads(lambda v: loss(name, **{setting: v})(s.astype(float), y), (value,), order=1)


# links: the best constant prediction is the one that is claimed


def best_scores(which, y, k):
    y = which.prepare(y, k)
    f = pel.value_and_grad(lambda c: which(np.ones((len(y), 1)) * c, y))
    return optimize.minimize(f, np.zeros(k), jac=True, method="BFGS", options={"gtol": 1e-10}).x[None]


@pytest.mark.parametrize(
    ("name", "k", "y", "best"),
    [
        ("squared_error", 3, real_rows, real_rows.mean(0)),
        ("half_squared_error", 1, reals, reals.mean()),
        ("poisson", 3, count_rows, count_rows.mean(0)),
        ("gamma", 3, size_rows, size_rows.mean(0)),
        ("cross_entropy", 4, [0, 1, 1, 2, 3, 3, 3, 3], np.array([1, 2, 1, 4]) / 8),
        ("brier", 4, [0, 1, 1, 2, 3, 3, 3, 3], np.array([1, 2, 1, 4]) / 8),
        ("binary_cross_entropy", 1, [0, 1, 1, 1], 0.75),
        ("multilabel", 2, [[0, 1], [1, 1], [0, 1], [0, 0]], [0.25, 0.75]),
    ],
)
def test_the_link_of_the_best_scores_is_the_mean(name, k, y, best):
    assert_allclose(loss(name).link(best_scores(loss(name), y, k))[0], best, rtol=1e-6)


def test_gamma_zero_makes_focal_the_log_loss():
    for k, y, plain in ((1, bits, "bce"), (4, classes, "log_loss")):
        s, other = rng.normal(size=(N, k)), loss(plain)
        focal = loss("focal", gamma=0.0)
        assert_allclose(focal.per_sample(s, focal.prepare(y, k)), other.per_sample(s, other.prepare(y)), rtol=1e-13)
        assert_allclose(focal.link(s), other.link(s))


def test_quantiles_minimise_the_pinball_loss_and_are_sorted():
    y = np.sort(rng.normal(size=999))
    quantiles = (0.1, 0.5, 0.9)
    which = loss("quantile", quantiles=quantiles)
    at = np.quantile(y, quantiles)
    value = lambda c: float(which(np.ones((999, 1)) * c, y[:, None]))
    for shift in (-0.05, 0.05):
        for j in range(3):
            assert value(at) < value(at + shift * (np.arange(3) == j))
    assert_array_equal(which.link(np.array([[3.0, 1.0, 2.0]])), [[1, 2, 3]])
    assert_array_equal(which.link(np.array([[3.0, 1.0, 2.0, 0.0, -1.0, 5.0]])), [[1, 2, 3, -1, 0, 5]])
    slope = pel.grad(lambda s: loss("quantile", quantiles=0.9)(s, np.zeros((1, 1))))(np.zeros((1, 1)))
    assert_allclose(slope, 0.5 - 0.9)


def test_the_best_normal_distribution_has_the_mean_and_the_deviation():
    which = loss("gaussian", floor=1e-9)
    mean, deviation, *others = which.link(best_scores(which, np.column_stack([reals, 5 * reals - 3]), 4))[0]
    assert_allclose([mean, deviation], [reals.mean(), reals.std()], rtol=1e-6)
    assert_allclose(others, [5 * mean - 3, 5 * deviation], rtol=1e-6)
    s = rng.normal(size=(N, 2))
    density = stats.norm.logpdf(reals, s[:, 0], np.exp(s[:, 1]))
    assert_allclose(which.per_sample(s, reals[:, None]), -density - 0.5 * np.log(2 * np.pi), rtol=1e-12)


def test_beta_changes_the_pull_of_each_row_and_not_the_value():
    s, y = rng.normal(size=(N, 2)), reals[:, None]
    plain, stronger = loss("gaussian"), loss("gaussian", beta=0.5)
    assert_allclose(stronger.per_sample(s, y), plain.per_sample(s, y), rtol=1e-14)
    slopes = [pel.grad(lambda s, one=one: one(s, y))(s) for one in (plain, stronger)]
    assert_allclose(slopes[1], slopes[0] * plain.link(s)[:, 1:], rtol=1e-12)
    squared = pel.grad(lambda s: loss("gaussian", beta=1.0)(s, y))(s)[:, 0]  # with 1 the mean learns as by ½ r²
    assert_allclose(squared, (s[:, 0] - reals) / N, rtol=1e-12)
    both = np.array([[1e4, 1e4], [-1e4, -1e4]], np.float32)
    assert np.isfinite(pel.grad(lambda s: stronger(s, np.zeros((2, 1))))(both)).all()


def test_a_deviation_stays_above_its_floor():
    which = loss("gaussian", floor=0.1)
    assert_allclose(which.link(np.array([[3.0, -50.0]])), [[3.0, 0.1]])
    assert_allclose(which.link(np.array([[3.0, 5.0]])), [[3.0, np.exp(5.0)]], rtol=1e-6)


def test_signs_and_the_absolute_error():
    assert_array_equal(loss("hinge").link(np.array([[-0.1, 0.0, 2.0]])), [[-1, -1, 1]])
    y = np.array([0.0, 1.0, 5.0])[:, None]
    assert_array_equal(pel.grad(lambda c: loss("mae")(c * np.ones((3, 1)), y))(1.0), 0)  # the median


def test_likelihoods_up_to_constants():
    s, k = rng.normal(size=(N, 1)), 2.5
    y = counts[:, None].astype(float)
    assert_allclose(loss("poisson", constant=True).per_sample(s, y), -stats.poisson.logpmf(counts, np.exp(s[:, 0])))
    each = loss("gamma").per_sample(s, sizes[:, None])
    difference = -stats.gamma.logpdf(sizes, k, scale=np.exp(s[:, 0]) / k) - k * each
    constant = special.gammaln(k) - k * np.log(k) - (k - 1) * np.log(sizes)
    assert_allclose(difference, constant)


def test_exp_beyond_the_highest_score_is_its_tangent():
    which = loss("poisson")
    slope = pel.grad(lambda s: which(s, np.zeros((3, 1))))(np.array([[49.999999], [50.0], [90.0]]))
    assert_allclose(slope[:, 0] * 3, np.exp([49.999999, 50.0, 50.0]))


# the lectures' formulas


def test_the_gradient_is_p_minus_y():
    for n, k in ((5, 3), (64, 10)):
        s, y = rng.normal(size=(n, k)) * 5, rng.integers(0, k, n)
        slope = pel.grad(lambda s, y=y: loss("cross_entropy")(s, y))(s)
        assert_allclose(slope, -(np.eye(k)[y] - special.softmax(s, axis=1)) / n, rtol=0, atol=1e-12)
        assert_allclose(slope, pel.numerical_grad(lambda s, y=y: loss("cross_entropy")(s, y), s), atol=1e-8)


def test_squared_loss_on_probabilities():
    """The first lecture's ‖p - y‖², beside its -log p_y: they rank alike, and differ in what a bad row teaches."""
    s, y = np.array([[0.0, 1.0, 3.0]]), np.array([1])
    p = special.softmax(s[0])
    assert_allclose(loss("brier")(s, y), np.sum((p - [0, 1, 0]) ** 2), rtol=1e-14)
    assert_allclose(loss("log_loss")(s, y), -np.log(p[1]), rtol=1e-14)
    jacobian = np.diag(p) - np.outer(p, p)
    assert_allclose(pel.grad(lambda s: loss("brier")(s, y))(s)[0], 2 * jacobian @ (p - [0, 1, 0]), rtol=1e-12)
    wrong = np.array([[20.0, 0.0, 0.0]])  # sure, and wrong: the log-loss pulls with 1, the square with nothing
    assert np.abs(pel.grad(lambda s: loss("log_loss")(s, y))(wrong)).max() > 0.99
    assert np.abs(pel.grad(lambda s: loss("brier")(s, y))(wrong)).max() < 1e-7
    assert loss("brier")(wrong, y) <= 2.0


def test_half_squared_error_has_delta_prediction_minus_target():
    s, y = np.array([[3.0]]), np.array([[1.0]])
    value, delta = pel.value_and_grad(lambda s: loss("half_squared_error")(s, y))(s)
    assert value == 2.0
    assert_array_equal(delta, [[2.0]])
    assert loss("squared_error")(s, y) == 4.0


def test_the_gradient_of_a_batch_is_unbiased_with_variance_one_over_its_size():
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, (200, 1)).astype(float)
    w = np.array([0.5, -1.0, 0.2])
    slope = lambda rows: X[rows].T @ (special.expit(X[rows] @ w) - y[rows, 0]) / len(rows)
    full = pel.grad(lambda w: loss("bce")((X @ w)[:, None], y))(w)
    assert_allclose(full, slope(np.arange(200)), rtol=1e-12)
    draws = np.random.default_rng(1)
    estimate = pel.compile(pel.grad(lambda w, X, y: loss("bce")((X @ w)[:, None], y)))
    spread = {}
    for m in (5, 20):
        drawn = [draws.integers(0, 200, m) for _ in range(2000)]
        g = np.array([estimate(w, X[rows], y[rows]) for rows in drawn])
        spread[m] = g.var(axis=0)
        assert np.all(np.abs(g.mean(axis=0) - full) < 4 * np.sqrt(spread[m] / 2000))
    assert_allclose(spread[5] / spread[20], 4.0, rtol=0.2)


def test_the_perceptron_learns_at_a_margin_of_zero():
    which, x = loss("perceptron"), np.array([[1.0, 2.0]])
    for label in (-1.0, 1.0):
        update = -pel.grad(lambda w, t=label: which(x @ w, np.array([[t]])))(np.zeros((2, 1)))
        assert_array_equal(update, label * x.T)  # Rosenblatt's w <- w + y x
    assert_array_equal(pel.grad(lambda s: which(s, np.ones((1, 1))))(np.array([[0.1]])), [[0.0]])


def test_adaline_is_gradient_descent_on_the_half_squared_error():
    X, target, lr = rng.normal(size=(50, 3)), rng.normal(size=50), 0.1
    w = v = np.zeros((3, 1))
    for x, t in zip(X, target, strict=True):
        w = w + lr * (t - x @ w) * x[:, None]
        v = v - lr * pel.grad(lambda v, x=x, t=t: loss("half_squared_error")(x[None] @ v, np.array([[t]])))(v)
    assert_allclose(v, w, rtol=1e-12)


# networks without hidden layers are the classical models


def trained(k, which, X, y, penalty=0.0):
    """A Dense layer at the minimum: L-BFGS, then Newton steps with the exact Hessian."""
    net = nn.Sequential(("out", nn.Dense(k)))
    start = {"out.weight": np.zeros((X.shape[1], k)), "out.bias": np.zeros(k)}
    y, cut = which.prepare(y, k), X.shape[1] * k

    def objective(z):
        p = {"out.weight": np.reshape(z[:cut], start["out.weight"].shape), "out.bias": z[cut:]}
        return which(net.predict(p, X), y) + (L2(penalty)(p) if penalty else 0.0)

    z = optimize.minimize(pel.value_and_grad(objective), np.zeros(cut + k), jac=True, method="L-BFGS-B").x
    for _ in range(8):
        z = z - np.linalg.lstsq(pel.hessian(objective)(z), pel.grad(objective)(z), rcond=1e-12)[0]
    return z[:cut].reshape(X.shape[1], k), z[cut:]


X = rng.normal(size=(80, 4))
X1 = np.column_stack([X, np.ones(80)])


@pytest.mark.parametrize("strength", [0.0, 0.3])
@pytest.mark.parametrize(("name", "factor"), [("squared_error", 2), ("half_squared_error", 1)])
def test_linear_regression(strength, name, factor):
    y = X @ rng.normal(size=(4, 2)) + 0.5 + rng.normal(size=(80, 2))
    W, b = trained(2, loss(name), X, y, strength)
    # times n: factor/2 Σ r² / 2 outputs + n/2 strength w²
    ridge = np.diag([80 * strength * 2 / factor] * 4 + [0])
    assert_allclose(np.vstack([W, b]), np.linalg.solve(X1.T @ X1 + ridge, X1.T @ y), atol=1e-8)


@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_logistic_regression(strength):
    y = (special.expit(X @ [1.0, -1.0, 0.5, 0.0] + 0.3) > rng.uniform(size=80)).astype(int)
    W, b = trained(1, loss("binary_cross_entropy"), X, y, strength)
    beta = np.zeros(5)
    for _ in range(30):  # iteratively reweighted least squares
        p = 1 / (1 + np.exp(-X1 @ beta))
        ridge = 80 * strength * np.array([1, 1, 1, 1, 0])
        beta = beta - np.linalg.solve((X1.T * (p * (1 - p))) @ X1 + np.diag(ridge), X1.T @ (p - y) + ridge * beta)
    assert_allclose(np.append(W, b), beta, atol=1e-6)
    probability = np.exp(X1 @ beta) / (1 + np.exp(X1 @ beta))
    assert_allclose(loss("bce").link(X @ W + b)[:, 0], probability, rtol=1e-6)


def test_multinomial_regression():
    y, strength, K = rng.integers(0, 3, 80), 0.05, 3
    W, b = trained(K, loss("cross_entropy"), X, y, strength)
    B, hot = np.zeros((5, K)), np.eye(K)[y]
    ridge = 80 * strength * np.array([1, 1, 1, 1, 0])[:, None] * np.ones((5, K))
    for _ in range(30):  # Newton on the penalised likelihood; vec by rows
        P = special.softmax(X1 @ B, axis=1)
        H = sum(np.kron(np.outer(x, x), np.diag(p) - np.outer(p, p)) for x, p in zip(X1, P, strict=True))
        G = X1.T @ (P - hot) + ridge * B
        B = B - np.linalg.lstsq(H + np.diag(ridge.ravel()), G.ravel(), rcond=1e-12)[0].reshape(5, K)
    assert_allclose(W, B[:4], atol=1e-6)
    assert_allclose(b - b.mean(), B[4] - B[4].mean(), atol=1e-6)  # a common shift of the scores is free
    assert_allclose(loss("log_loss").link(X @ W + b), special.softmax(X1 @ B, axis=1), atol=1e-6)


# targets


def test_targets_are_converted():
    assert loss("mse").prepare([1, 2]).shape == (2, 1)
    assert loss("mse").prepare(np.ones(2, np.float32)).dtype == np.float32
    for coding in ([-1, 1], [0, 1], [False, True], [0.0, 1.0]):
        assert_array_equal(loss("hinge").prepare(coding), [[-1], [1]])
        assert_array_equal(loss("bce").prepare(coding), [[0], [1]])
    assert_array_equal(loss("bce").prepare([0.25]), [[0.25]])
    assert loss("cross_entropy").prepare([0.0, 2.0]).dtype == np.int64
    assert loss("cross_entropy").outputs([0, 2]) == 3
    assert loss("focal").outputs([0, 1]) == 1
    assert loss("focal").outputs([0, 1, 2]) == 3
    assert loss("focal").prepare([0, 1], outputs=2).shape == (2,)
    assert loss("quantile", quantiles=TAUS).outputs(np.ones((4, 2))) == 6


@pytest.mark.parametrize(
    ("name", "y", "outputs", "message"),
    [
        ("mse", [1.0, np.nan], None, "squared_error: y is nan in row 1"),
        ("mse", ["a", "b"], None, "return_inverse=True"),
        ("mse", np.ones((2, 1, 1)), None, r"\(n,\) or \(n, outputs\), got \(2, 1, 1\)"),
        ("mse", [], None, r"got \(0,\)"),
        ("mse", np.ones((5, 3)), 2, r"y of shape \(5, 3\) asks for 3 outputs, not 2"),
        ("cross_entropy", [0, 5], 3, r"label in 0 ... 2, got 5 in row 1"),
        ("cross_entropy", [0, -1], None, r"label in 0 ... K-1, got -1 in row 1"),
        ("cross_entropy", [0, 0.5], None, r"got 0.5 in row 1"),
        ("cross_entropy", [[0], [1]], None, r"shape \(n,\), got \(2, 1\): use y.ravel\(\)"),
        ("cross_entropy", [[1, 1], [0, 1]], None, "rows with sum 1 .*multilabel.*got 2 in row 0"),
        ("focal", np.eye(3), None, "argmax"),
        ("focal", [0, 2], 1, r"label in 0 ... 1, got 2 in row 1"),
        ("bce", np.ones((5, 2)), None, r"got \(5, 2\): several labels are 'multilabel'"),
        ("bce", [0, 2], None, "got 2 in row 1"),
        ("bce", [-1, 0, 1], None, "got -1 in row 0"),
        ("multilabel", [[0, 3]], None, "got 3 in row 0"),
        ("hinge", [-1, 0], None, r"-1 or 1 \(or 0 or 1\), got 0 in row 1"),
        ("perceptron", [1, 2], None, "perceptron: y is .* got 2 in row 1"),
        ("poisson", [1, -2], None, "poisson: y is a count from 0, got -2 in row 1"),
        ("gamma", [1, 0], None, "gamma: y is a number above 0, got 0 in row 1"),
    ],
)
def test_targets_that_do_not_fit(name, y, outputs, message):
    with pytest.raises((ValueError, TypeError), match=message):
        loss(name).prepare(y, outputs)


def test_shapes_that_would_broadcast_are_refused():
    for name in ("mse", "bce", "hinge", "quantile", "focal"):
        with pytest.raises(ShapeError, match="prepare"):
            loss(name)(np.ones((4, 1)), np.ones(4))
    with pytest.raises(ShapeError, match=r"\(4, 1\) do not fit a target of shape \(4,\)"):
        loss("mse")(np.ones((4, 1)), np.ones(4))
    with pytest.raises(ShapeError, match=r"\(4, 2\) do not fit a target of shape \(4, 1\)"):
        loss("mse")(np.ones((4, 2)), np.ones((4, 1)))
    with pytest.raises(ShapeError, match=r"\(n, outputs\), got \(4,\)"):
        loss("mse")(np.ones(4), np.ones(4))
    with pytest.raises(ShapeError, match=r"weights of shape \(4, 1\) for samples of shape \(4,\)"):
        loss("mse")(np.ones((4, 1)), np.ones((4, 1)), np.ones((4, 1)))
    with pytest.raises(ShapeError, match="binary_cross_entropy"):
        loss("log_loss")(np.ones((4, 1)), np.zeros(4, int))
    with pytest.raises(ShapeError, match="a tuple of K"):
        loss("focal", alpha=0.5)(np.ones((4, 3)), np.zeros(4, int))


def test_sample_weights():
    assert loss("mse")(np.ones((2, 1)), np.zeros((2, 1)), np.zeros(2)) == 0.0  # a batch of weight 0
    assert sample_weights(np.ones(3, np.float32), 3).dtype == np.float32
    for weights, message in (
        ([1, 1, 1], r"\(2,\)"),
        ([1, -1], "got -1.0 in row 1"),
        ([np.nan, 1], "nan"),
        ([0, 0], "all"),
    ):
        with pytest.raises(ValueError, match=message):
            sample_weights(weights, 2)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("huber", {"delta": 0}),
        ("log_loss", {"smoothing": 1}),
        ("bce", {"smoothing": -0.1}),
        ("focal", {"gamma": -1}),
        ("focal", {"alpha": 1.0}),
        ("focal", {"alpha": (1, 0)}),
        ("quantile", {"quantiles": (0.5, 0.1)}),
        ("quantile", {"quantiles": (0.0, 0.5)}),
        ("quantile", {"quantiles": ()}),
        ("gaussian", {"floor": 0.0}),
        ("gaussian", {"beta": 2.0}),
    ],
)
def test_settings_are_checked(name, settings):
    (setting,) = settings
    with pytest.raises(ValueError, match=f"{setting} is "):
        loss(name, **settings)


# choosing


def test_names():
    assert loss("MSE") is loss("squared_error") is loss(loss("mse"))
    for alias in ("mae", "log_loss", "softmax_cross_entropy", "bce", "binary_log_loss", "pinball"):
        assert alias in LOSSES
    with pytest.raises(ValueError, match="did you mean 'huber'"):
        loss("hubber")
    with pytest.raises(ValueError, match="huber has no setting 'gamma': it has delta"):
        loss("huber", gamma=1)
    with pytest.raises(ValueError, match="it has none"):
        loss("mse", gamma=1)
    with pytest.raises(TypeError, match="a loss is a name"):
        loss(3)
    with pytest.raises(ValueError, match="exists already"):
        register_loss(loss("huber"))
    assert hash(loss("huber")) == hash(loss("huber", delta=1.0))


def test_a_function_of_ones_own():
    s, y = rng.normal(size=(N, 3)), real_rows

    def logcosh(s, y):
        return np.log(np.cosh(s - y))

    own = loss(logcosh, link=np.tanh)
    assert (own.name, own.link_name, own.outputs(y)) == ("logcosh", "tanh", 3)
    assert_allclose(own(s, own.prepare(y)), np.mean(np.log(np.cosh(s - y))))
    assert_array_equal(own.link(s), np.tanh(s))
    weights = np.arange(N) % 3
    assert_allclose(own(s, y, weights), own(np.repeat(s, weights, axis=0), np.repeat(y, weights, axis=0)))
    picky = loss(lambda s, y: -pel.log_softmax(s)[np.arange(N), y], like="cross_entropy")
    scores, labels = rng.normal(size=(N, 4)), picky.prepare(classes)
    assert_allclose(picky(scores, labels), loss("cross_entropy")(scores, labels))
    assert_allclose(picky.link(s), special.softmax(s, axis=1))
    assert picky.outputs(classes) == 4
    for wrong in (lambda s, y: np.mean(s - y), lambda s, y: s - y[:, 0]):
        with pytest.raises(ShapeError, match=r"one number for each sample \(n,\)"):
            loss(wrong)(np.ones((N, 1)), np.ones((N, 1)))


def test_the_loss_for_a_target():
    names = {
        "squared_error": (reals, real_rows, reals[:, None]),
        "binary_cross_entropy": (bits, bits == 1, bits * 2 - 1, bits[:, None]),
        "cross_entropy": (classes, np.array(["a", "b", "c"])),
        "multilabel": (bit_rows, bit_rows == 1),
    }
    for name, targets in names.items():
        for y in targets:
            assert loss_for(y).name == name
    with pytest.raises(ValueError, match="one class only, 1"):
        loss_for([1, 1])
    with pytest.raises(ShapeError, match=r"astype\(float\)"):
        loss_for([[1, 2], [3, 4]])


def test_a_mismatch_is_told():
    for last, which in (
        ("softmax", "cross_entropy"),
        ("sigmoid", "bce"),
        ("sigmoid", "multilabel"),
        ("softmax", "focal"),
    ):
        assert f"ends with {last}" in check_pairing(last, which)
        assert "itself: leave the activation out" in check_pairing(last, which)
    assert "stay in (-1, 1)" in check_pairing("tanh", "squared_error")
    assert "stay in [0, ∞)" in check_pairing("relu", loss("log_loss"))
    for last in (None, "identity", "linear"):
        assert check_pairing(last, "bce") is None
    assert check_pairing("tanh", lambda s, y: s - y) is None
