"""Predictions and how sure they are: draws of dropout, intervals, calibrated probabilities."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from pellucid import MLPClassifier, MLPRegressor, nn
from pellucid.estimators import TrainingSettings
from pellucid.estimators.fitted import has_noise
from tests.estimators import few_rows as few
from tests.estimators.marks import few_epochs
from tests.estimators.three_classes import X, classifier, regressor, y

pytestmark = few_epochs
rng = np.random.default_rng(0)


def test_log_probabilities_are_never_minus_infinity() -> None:
    clf = classifier(max_iter=2).fit(X, y)
    clf.coefs_ = [1000 * w for w in clf.coefs_]
    found = clf.predict_log_proba(X)
    assert np.isfinite(found).all()
    assert clf.predict_proba(X).min() == 0


def test_networks_drawn_by_dropout() -> None:
    clf = classifier(dropout=0.3, max_iter=30, learning_rate_init=0.01).fit(X, y)
    mean, deviation = clf.predict_proba(X, return_std=True, n_draws=40)
    assert mean.shape == deviation.shape == (200, 3)
    assert deviation.max() > 0.01
    assert_allclose(mean.sum(axis=1), 1.0, rtol=1e-6)
    assert np.abs(mean - clf.predict_proba(X)).mean() < 0.1
    assert_array_equal(mean, clf.predict_proba(X, return_std=True, n_draws=40)[0])
    A = rng.uniform(-1, 1, (200, 1))
    reg = regressor(dropout=0.1, max_iter=100).fit(A, np.sin(3 * A[:, 0]))
    far, near = (reg.predict(x, return_std=True)[1].mean() for x in (A * 6, A))
    assert far > near  # less sure where nothing was seen


def test_noise_is_found_inside() -> None:
    assert has_noise(nn.Sequential(nn.Dense(2), nn.Sequential(nn.Dropout(0.1))))
    assert not has_noise(nn.mlp((3,), 1))


def test_prediction_takes_little_memory() -> None:
    clf = classifier(hidden_layer_sizes=(1000,), engine="numpy", max_iter=1).fit(X, y)
    many = np.zeros((100_000, 6))
    tracemalloc.start()
    clf.predict_proba(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6  # the hidden layer of all rows would be 800e6


# intervals


def noisy_line(count: int) -> tuple[Any, Any]:
    A = rng.uniform(-1, 1, (count, 2))
    return A, A[:, 0] + 0.3 * rng.normal(size=count)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("loss", ["squared_error", nn.loss("quantile", quantiles=(0.2, 0.5, 0.8))])
def test_intervals_hold_the_truth(loss: Any, coverage: float) -> None:
    reg = regressor(loss=loss, early_stopping=True, validation_fraction=0.4).fit(*noisy_line(4000))
    A, truth = noisy_line(4000)
    low, high = reg.predict_interval(A, coverage)
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(coverage, abs=0.06)


def test_intervals_from_other_rows() -> None:
    reg = regressor().fit(*noisy_line(300))
    with pytest.raises(ValueError, match="rows that were not trained on"):
        reg.predict_interval(X[:5, :2])
    low, high = reg.calibrate(*noisy_line(500)).predict_interval(noisy_line(10)[0])
    assert 0.6 < float(np.mean(high - low)) < 1.6  # ± 1.645 * 0.3 is 0.99
    reg.calibrate(*noisy_line(5))
    with pytest.raises(ValueError, match="too few"):
        reg.predict_interval(X[:5, :2])


def test_interval_of_an_estimator_that_is_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        MLPRegressor().predict_interval(few.X)


# calibration


def test_a_temperature_makes_probabilities_honest() -> None:
    A, b = make_classification(600, 6, n_informative=4, flip_y=0.3, random_state=1)
    settings: dict[str, Any] = {"max_iter": 200, "n_iter_no_change": 1000, "learning_rate_init": 0.02, "alpha": 0.0}
    clf = classifier(**settings).fit(A[:200], b[:200])
    before = log_loss(b[400:], clf.predict_proba(A[400:]))
    classes = clf.predict(A)
    clf.calibrate(A[200:400], b[200:400])
    assert clf.temperature_ > 1.5
    assert log_loss(b[400:], clf.predict_proba(A[400:])) < 0.8 * before
    assert_array_equal(classes, clf.predict(A))
    again = classifier(training=TrainingSettings(calibrate=True), **settings)
    again.fit(A[:200], b[:200], X_val=A[200:400], y_val=b[200:400])
    assert again.temperature_ == pytest.approx(clf.temperature_, rel=1e-3)
    clf.fit(A[:200], b[:200])
    assert clf.temperature_ == 1.0  # learned anew


def test_calibrate_takes_the_targets_of_fit() -> None:
    clf = MLPClassifier(**few.SMALL).fit(few.X, sparse.csr_matrix(few.LABELS))
    dense = MLPClassifier(**few.SMALL).fit(few.X, few.LABELS).calibrate(few.X, few.LABELS)
    assert clf.calibrate(few.X, sparse.csr_matrix(few.LABELS)).temperature_ == dense.temperature_


def test_calibrate_refuses_targets_that_do_not_fit() -> None:
    reg = MLPRegressor(**few.SMALL).fit(few.X, few.NUMBERS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        reg.calibrate(few.X, few.NUMBERS[:1])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        reg.calibrate(few.X, np.where(np.arange(60) == 3, np.nan, few.NUMBERS))


def test_calibration_belongs_to_the_weights_it_was_made_for():
    A, b = make_classification(200, 5, random_state=0)
    clf = MLPClassifier((4,), max_iter=300, tol=0.01, random_state=0).fit(A, b)
    assert clf.calibrate(A, b).temperature_ != 1.0
    assert clf.partial_fit(A, b).temperature_ == 1.0
