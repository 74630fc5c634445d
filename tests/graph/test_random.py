"""Random numbers as nodes: reproducible, of the right distribution, and without a derivative."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

import pellucid as pel
from pellucid.errors import ShapeError, UnsupportedError

N = 100_000

DRAWS = {
    "uniform": pel.random.uniform,
    "normal": pel.random.normal,
    "bernoulli": lambda key, counter, shape=(), dtype=np.float64: pel.random.bernoulli(key, counter, 0.3, shape, dtype),
}

every_draw = pytest.mark.parametrize("draw", [pytest.param(draw, id=name) for name, draw in DRAWS.items()])
both_dtypes = pytest.mark.parametrize("dtype", [pytest.param(np.float32, id="32"), pytest.param(np.float64, id="64")])


@both_dtypes
@every_draw
def test_same_key_and_counter_same_numbers(draw, dtype):
    first = draw(3, 5, (40, 2), dtype)
    assert first.shape == (40, 2)
    assert first.dtype == dtype
    assert_array_equal(first, draw(3, 5, (40, 2), dtype))


@both_dtypes
@every_draw
@pytest.mark.parametrize(
    ("key", "counter"),
    [
        pytest.param(4, 5, id="other key"),
        pytest.param(3, 6, id="other counter"),
        pytest.param(5, 3, id="exchanged"),
        pytest.param(3, -5, id="negative counter"),
        pytest.param(3 + 2**40, 5, id="high bits of the key"),
    ],
)
def test_other_key_or_counter_other_numbers(draw, dtype, key, counter):
    first, other = draw(3, 5, (400,), dtype), draw(key, counter, (400,), dtype)
    assert np.mean(first == other) < 0.7  # of Bernoulli(0.3) draws 58 % agree by chance
    assert abs(np.corrcoef(first, other)[0, 1]) < 5 / np.sqrt(400)


@pytest.mark.parametrize("shape", [pytest.param(s, id=str(s)) for s in [(), 3, [2, 2], (0,), (2, 0, 3)]])
@every_draw
def test_shapes(draw, shape):
    assert np.shape(draw(0, 0, shape)) == np.shape(np.zeros(shape))


@both_dtypes
def test_uniform_distribution(dtype):
    drawn = pel.random.uniform(11, 0, (N,), dtype)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    wide = drawn.astype(float)
    assert abs(wide.mean() - 1 / 2) < 5 * np.sqrt(1 / 12 / N)
    assert abs(wide.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / N)
    assert stats.kstest(wide, "uniform").pvalue > 1e-3


@both_dtypes
def test_normal_distribution(dtype):
    drawn = pel.random.normal(11, 0, (N,), dtype)
    assert np.all(np.isfinite(drawn))
    wide = drawn.astype(float)
    assert abs(wide.mean()) < 5 / np.sqrt(N)
    assert abs(wide.var() - 1) < 5 * np.sqrt(2 / N)
    assert stats.kstest(wide, "norm").pvalue > 1e-3


@both_dtypes
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_bernoulli_frequency(p, dtype):
    drawn = pel.random.bernoulli(11, 0, p, (N,), dtype)
    assert set(np.unique(drawn)) <= {0.0, 1.0}
    assert abs(drawn.astype(float).mean() - p) <= 5 * np.sqrt(p * (1 - p) / N)


def test_bernoulli_with_a_probability_for_each_column():
    p = np.array([0.0, 0.2, 1.0])
    frequency = pel.random.bernoulli(1, 2, p, (N, 3)).mean(axis=0)
    assert np.all(np.abs(frequency - p) <= 5 * np.sqrt(p * (1 - p) / N))


@every_draw
def test_neighbours_are_not_correlated(draw):
    drawn = draw(11, 0, (N,))
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 5 / np.sqrt(N)
    successive = np.stack([draw(11, counter, (N // 100,)) for counter in range(100)])
    assert abs(np.corrcoef(successive[1:].ravel(), successive[:-1].ravel())[0, 1]) < 5 / np.sqrt(N)


# in graphs


@every_draw
def test_a_traced_counter_draws_anew_at_each_run(draw):
    def noisy(x, counter):
        return x + draw(7, counter, x.shape)

    x = np.zeros((20, 3))
    graph = pel.record(noisy, x, 0)
    by_shape = pel.record(noisy, pel.Spec(x.shape), pel.Spec((), np.int64))
    results = [pel.run(graph, x, counter) for counter in range(3)]
    for counter, result in enumerate(results):
        assert_array_equal(result, draw(7, counter, x.shape))
        assert_array_equal(pel.run(by_shape, x, counter), result)
    assert not np.array_equal(results[0], results[1])
    assert not np.array_equal(results[1], results[2])


@every_draw
def test_open_shape(draw):
    specs = pel.Spec(("n", 3)), pel.Spec((), np.int64)
    graph = pel.record(lambda x, counter: x * draw(7, counter, x.shape, np.float32), *specs)
    fixed = pel.record(lambda x: x * draw(7, 4, x.shape, np.float32), specs[0])
    for n in (2, 5):
        expected = draw(7, 4, (n, 3), np.float32)
        assert_array_equal(pel.run(graph, np.ones((n, 3)), 4), expected)
        assert_array_equal(pel.run(fixed, np.ones((n, 3))), expected)


def test_no_derivative_flows_through_a_draw():
    def f(x):
        return np.sum(x * pel.random.normal(0, x[0].astype(int), x.shape))

    x = np.array([2.5, 1.0])
    assert_array_equal(pel.grad(f)(x), pel.random.normal(0, 2, (2,)))

    def kept(p):
        return np.sum(pel.random.bernoulli(0, 0, p, (4,)))

    assert pel.grad(kept)(0.5) == 0
    assert pel.jvp(kept, (0.5,), (1.0,))[1] == 0


def test_dropout_keeps_its_mask_in_the_gradient():
    def dropped(x, counter):
        return np.sum(x * pel.random.bernoulli(3, counter, 0.5, x.shape) / 0.5)

    gradient = pel.record(pel.grad(dropped), pel.Spec(("n",)), pel.Spec((), np.int64))
    for counter in (0, 1):
        assert_array_equal(pel.run(gradient, np.ones(9), counter), pel.random.bernoulli(3, counter, 0.5, (9,)) / 0.5)


def test_integers_are_refused():
    with pytest.raises(UnsupportedError, match="float32 or float64"):
        pel.random.uniform(0, 0, (2,), np.int64)


@pytest.mark.parametrize("p", [pytest.param(np.zeros((2, 3)), id="more axes"), pytest.param(np.zeros(4), id="other")])
def test_bernoulli_probabilities_must_fit_the_shape(p):
    with pytest.raises(ShapeError, match="bernoulli"):
        pel.random.bernoulli(0, 0, p, (3,))
    with pytest.raises(ShapeError, match="bernoulli"):
        pel.record(lambda p: pel.random.bernoulli(0, 0, p, (3,)), pel.Spec(p.shape))
