"""Variance of averages, and bias and variance by Monte Carlo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from pellucid.errors import DataWarning
from pellucid.estimators.ensembles.bagged import BaggedMLPRegressor
from pellucid.estimators.ensembles.spread import bias_variance, compare, variance_of_average
from pellucid.estimators.regressor import MLPRegressor
from tests.estimators.marks import few_epochs


@pytest.mark.parametrize("members", [1, 2, 10, 50])
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9, 1.0])
def test_the_average_of_equally_correlated_predictors(members, rho):
    draws, sigma2, mean = 20_000, 2.5, 3.0
    rng = np.random.default_rng([members, int(10 * rho)])
    shared, own = rng.normal(size=(draws, 1)), rng.normal(size=(draws, members))
    predictors = mean + np.sqrt(sigma2) * (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own)
    average = predictors.mean(axis=1)
    expected = variance_of_average(sigma2, rho, members)
    assert abs(average.var() - expected) < 5 * expected * np.sqrt(2 / draws)
    assert abs(average.mean() - mean) < 5 * np.sqrt(expected / draws)  # averaging does not change the mean


def test_the_formula_at_its_ends():
    assert_allclose(variance_of_average(4.0, 0.25, 1), 4.0)
    assert_allclose(variance_of_average(4.0, 0.25, 10**9), 1.0)
    assert_allclose(variance_of_average(4.0, -1 / 3, 4), 0.0, atol=1e-15)  # the lowest that 4 can have


def test_a_report_finds_variance_and_correlation():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(4000, 2))
    shared, own = rng.normal(size=(4000, 2)), rng.normal(size=(8, 4000, 2))
    outputs = truth + np.sqrt(0.4) * shared + np.sqrt(0.6) * own
    report = compare(outputs, truth)
    assert abs(report.correlation - 0.4) < 0.03
    assert abs(report.variance - 1.0) < 0.05
    assert abs(report.predicted - 0.475) < 0.03
    assert_allclose(report.predicted, report.observed, rtol=0.01)
    assert_allclose(report.predicted, variance_of_average(report.variance, report.correlation, 8))


def test_members_that_agree_or_stand_alone():
    one = np.random.default_rng(0).normal(size=(1, 50))
    assert compare(one).correlation == 1.0
    equal = compare(np.repeat(one, 3, axis=0))
    assert_allclose([equal.correlation, equal.disagreement], [1.0, 0.0], atol=1e-12)
    assert_allclose(equal.predicted, equal.variance)
    assert compare(np.ones((3, 5))).correlation == 0.0
    with pytest.raises(ValueError, match="2 rows or more, got 1"):
        compare(np.ones((3, 1)))


# bias and variance


def curve(x):
    return np.sin(3 * x[:, 0])


def draw(rng, n=40, noise=0.3):
    X = rng.uniform(-1, 1, (n, 1))
    return X, curve(X) + noise * rng.normal(size=n)


POINTS = np.linspace(-0.9, 0.9, 25)[:, None]


def test_parts_that_are_known():
    """The mean of n numbers of variance σ²: its variance is σ²/n, its bias that of a constant."""
    constant = lambda rng: (np.zeros((10, 1)), 2.0 + 0.5 * rng.normal(size=10))
    parts = bias_variance(lambda seed: DummyRegressor(), constant, lambda x: x[:, 0], POINTS, 400, 0.5)
    assert abs(parts.variance - 0.025) < 4 * parts.variance_error
    assert abs(parts.bias_squared - np.mean((2 - POINTS) ** 2)) < 4 * parts.bias_squared_error
    assert parts.noise == 0.25
    assert 0 < parts.variance_error < 0.005
    honest = bias_variance(lambda seed: DummyRegressor(), constant, lambda x: 2 + 0 * x[:, 0], POINTS, 400, 0.5)
    assert abs(honest.bias_squared) < 4 * honest.bias_squared_error


@few_epochs
def test_the_parts_add_up_to_the_measured_error():
    network = lambda seed: MLPRegressor(
        hidden_layer_sizes=(8,), learning_rate_init=0.05, max_iter=60, random_state=seed
    )
    for make in (network, lambda seed: LinearRegression()):
        parts = bias_variance(make, draw, curve, POINTS, 60, 0.3)
        slack = np.sqrt(parts.mse_error**2 + parts.variance_error**2 + parts.bias_squared_error**2)
        assert abs(parts.total - parts.mse) < 4 * slack
        assert slack < 0.2 * parts.mse
        assert "measured" in str(parts)


def test_averaging_takes_variance_away_and_leaves_the_bias():
    one = lambda seed: DecisionTreeRegressor(random_state=seed)
    alone = lambda seed: BaggedMLPRegressor(one(0), 1, random_state=seed, n_jobs=1)
    many = lambda seed: BaggedMLPRegressor(one(0), 10, random_state=seed, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # one member has no prediction for most rows
        single = bias_variance(alone, draw, curve, POINTS, 60, 0.3)
    together = bias_variance(many, draw, curve, POINTS, 60, 0.3)
    gain = single.variance - together.variance
    assert gain > 5 * np.hypot(single.variance_error, together.variance_error)
    change = together.bias_squared - single.bias_squared
    assert abs(change) < 4 * np.hypot(single.bias_squared_error, together.bias_squared_error)


def test_threads_change_nothing_and_seeds_do():
    make = lambda seed: LinearRegression()
    one = bias_variance(make, draw, curve, POINTS, 10, 0.3, threads=1)
    assert one == bias_variance(make, draw, curve, POINTS, 10, 0.3, threads=2)
    assert one != bias_variance(make, draw, curve, POINTS, 10, 0.3, seed=1)


def test_what_bias_and_variance_ask_for():
    make = lambda seed: LinearRegression()
    with pytest.raises(ValueError, match="3 repetitions or more, got 2"):
        bias_variance(make, draw, curve, POINTS, 2)
    with pytest.raises(ValueError, match="noise is a deviation"):
        bias_variance(make, draw, curve, POINTS, 5, -1.0)
    with pytest.raises(ValueError, match=r"truth\(x\) has shape \(25, 1\), but predictions have shape \(25,\)"):
        bias_variance(make, draw, lambda x: x, POINTS, 5)
