"""Statistics of arrays against plain NumPy, computed and inside the engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import pellucid as pel
from pellucid.inspect import Statistics
from pellucid.inspect.statistics import BINS, measure

ARRAYS = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=1, max_dims=3, max_side=12),
    elements=st.floats(-1e6, 1e6, width=32),
)


def reference(x):
    """By np.histogram and its kin."""
    mean, std = np.mean(x), np.std(x)
    lower, upper = max(x.min(), mean - 5 * std), min(x.max(), mean + 5 * std)
    if not upper > lower:
        lower, upper = lower - 0.5, lower + 0.5
    return mean, std, np.histogram(np.clip(x, lower, upper), BINS, (lower, upper))[0], (lower, upper)


@given(ARRAYS)
def test_statistics_are_those_of_numpy(x):
    s = Statistics.of(x)
    mean, std, counts, bounds = reference(x)
    scale = max(1.0, np.abs(x).max())
    assert s.count == x.size == sum(s.counts)
    np.testing.assert_allclose(s.mean, mean, atol=1e-12 * scale)
    np.testing.assert_allclose(s.std, std, atol=1e-7 * scale)
    np.testing.assert_allclose(s.rms, np.sqrt(np.mean(np.square(x))), atol=1e-7 * scale)
    assert (s.low, s.high, s.zeros) == (x.min(), x.max(), np.mean(x == 0))
    if std > 1e-6 * scale:  # a number on an edge may be on either side of it
        np.testing.assert_allclose(s.bounds, bounds, rtol=1e-6, atol=1e-6 * scale)
        assert np.abs(np.cumsum(s.counts) - np.cumsum(counts)).max() <= np.sum(near_edges(x, bounds))


def near_edges(x, bounds):
    edges = np.linspace(bounds[0], bounds[1], BINS + 1)
    return np.min(np.abs(x.ravel()[:, None] - edges[None, :]), axis=1) < 1e-6 * max(1.0, np.abs(x).max())


@pytest.mark.parametrize("q", [0.01, 0.25, 0.5, 0.75, 0.99])
@pytest.mark.parametrize("draw", ["normal", "uniform", "exponential", "standard_t"])
def test_quantiles_are_right_to_a_bin(draw, q):
    rng = np.random.default_rng(1)
    x = rng.standard_t(2, size=20_000) if draw == "standard_t" else getattr(rng, draw)(size=20_000)
    s = Statistics.of(x)
    width = (s.bounds[1] - s.bounds[0]) / BINS
    assert abs(s.quantile(q) - np.quantile(x, q)) < 1.01 * width
    assert (s.quantile(0.0), s.quantile(1.0)) == (x.min(), x.max())


def test_ends_hold_what_is_further_out():
    x = np.concatenate([np.random.default_rng(0).normal(size=10_000), [1e3, -1e3]])
    s = Statistics.of(x)
    assert s.bounds == pytest.approx((s.mean - 5 * s.std, s.mean + 5 * s.std))
    assert s.counts[0] == s.counts[-1] == 1
    assert (s.low, s.high) == (-1e3, 1e3)


def test_constant_and_broken_arrays():
    one = Statistics.of(np.full(7, 3.0))
    assert (one.std, one.quantile(0.3), sum(one.counts), one.bounds) == (0.0, 3.0, 7, (2.5, 3.5))
    for bad in (np.nan, np.inf):
        s = Statistics.of(np.array([1.0, bad, 2.0]))
        assert not s.finite
        assert sum(s.counts) == 0
        assert np.isnan(s.quantile(0.5))
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        one.quantile(50)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(300, 70), (1,), (257, 513)])
def test_the_engine_counts_as_numpy_does(dtype, shape):
    x = np.random.default_rng(2).normal(size=shape).astype(dtype)
    x[x < -1] = 0
    ours, theirs = Statistics.read(pel.compile(measure, engine="native")(x)), Statistics.of(x)
    for name in ("mean", "std", "low", "high", "zeros"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-12)
    assert np.abs(np.subtract(ours.counts, theirs.counts)).sum() <= 4
