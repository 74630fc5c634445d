"""How far members are apart: intervals that hold, and reports of variance and correlation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import nn
from pellucid.estimators import MLPRegressor, TabularMLPRegressor
from pellucid.estimators.ensembles.bagged import BaggedMLPClassifier, BaggedMLPRegressor
from tests.estimators import animals
from tests.estimators.ensemble_cases import LABELS, NUMBERS, X, classifier, regressor
from tests.estimators.marks import few_epochs, odd_data

QUANTILES = nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))

pytestmark = [few_epochs, odd_data]

# intervals


def test_intervals_hold_as_often_as_they_say():
    make = np.random.default_rng(3)
    Z = make.normal(size=(2300, 2))
    y = Z[:, 0] ** 2 + 0.5 * make.normal(size=2300)
    for method, members in (("bagging", 12), ("folds", 5)):
        ensemble = BaggedMLPRegressor(
            regressor(max_iter=30, learning_rate_init=0.02), members, method=method, random_state=0
        )
        low, high = ensemble.fit(Z[:300], y[:300]).predict_interval(Z[300:], coverage=0.8)
        inside = np.mean((low <= y[300:]) & (y[300:] <= high))
        assert abs(inside - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 300)
        assert_allclose((low + high) / 2, ensemble.predict(Z[300:]))


def test_intervals_of_quantiles():
    loss = nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))
    ensemble = BaggedMLPRegressor(regressor(loss=loss, max_iter=60), 12, random_state=0).fit(X, NUMBERS)
    assert ensemble.predict(X).shape == (120, 3)
    assert np.isnan(ensemble.oob_score_)
    low, high = ensemble.predict_interval(X, 0.8)
    assert np.mean((low <= NUMBERS) & (high >= NUMBERS)) > 0.7
    assert np.ptp(high - low) > 0.01  # as wide as the row asks for


def test_intervals_need_unseen_rows():
    ensemble = BaggedMLPRegressor(regressor(), 2, method="seeds", random_state=0).fit(X, NUMBERS)
    with pytest.raises(ValueError, match=r"method='seeds' has none"):
        ensemble.predict_interval(X)
    ensemble.set_params(method="folds").fit(X, NUMBERS)
    with pytest.raises(ValueError, match="between 0 and 1"):
        ensemble.predict_interval(X, 1.0)
    ensemble.predict_interval(X)
    ensemble.set_params(method="seeds").fit(X, NUMBERS)
    assert not hasattr(ensemble, "oob_prediction_")  # nothing is left of the fit before


@pytest.mark.parametrize(
    "member",
    [
        TabularMLPRegressor(folds=1, **animals.QUICK, loss=QUANTILES),
        make_pipeline(StandardScaler(), MLPRegressor(**animals.QUICK, loss=QUANTILES)),
    ],
    ids=["table", "pipeline"],
)
def test_quantiles_of_members_that_hold_a_network_inside(member):
    ensemble = BaggedMLPRegressor(member, 4, random_state=0).fit(animals.X, animals.VALUES)
    assert ensemble.predict(animals.X).shape == (200, 3)
    low, high = ensemble.predict_interval(animals.X, coverage=0.8)
    assert low.shape == high.shape == (200,)
    assert np.mean((low <= animals.VALUES) & (high >= animals.VALUES)) > 0.75
    report = ensemble.member_report(animals.X, animals.VALUES)
    errors = np.stack([m.predict(animals.X) for m in ensemble.estimators_]) - animals.VALUES[None, :, None]
    assert_allclose(report.variance, np.mean(np.var(errors, axis=1, ddof=1)))


def test_rows_of_weight_zero_do_not_widen_intervals():
    wild = animals.VALUES.copy()
    wild[:100] += 1e6
    weights = np.repeat([0.0, 1.0], 100)
    ensemble = BaggedMLPRegressor(MLPRegressor(**animals.QUICK), 5, random_state=0).fit(animals.X, wild, weights)
    low, high = ensemble.predict_interval(animals.X)
    assert np.max(high - low) < 1e4


# reports


def test_the_report_of_members():
    ensemble = BaggedMLPRegressor(regressor(max_iter=60, learning_rate_init=0.03), 6, random_state=0).fit(
        X[:60], NUMBERS[:60]
    )
    new, y = X[60:], NUMBERS[60:]
    report = ensemble.member_report(new, y)
    errors = np.stack([m.predict(new) - y for m in ensemble.estimators_])
    assert_allclose(report.variance, errors.var(axis=1, ddof=1).mean())
    pairs = np.corrcoef(errors)[np.triu_indices(6, 1)]
    assert_allclose(report.correlation, pairs.mean())
    assert_allclose(report.observed, errors.mean(axis=0).var(ddof=1))
    assert report.observed < report.variance
    assert abs(report.predicted / report.observed - 1) < 0.25
    assert_allclose(report.member_scores, [m.score(new, y) for m in ensemble.estimators_])
    assert_allclose(report.ensemble_score, ensemble.score(new, y))
    assert report.ensemble_score > np.mean(report.member_scores)
    assert "score of the ensemble" in str(report)
    plain = ensemble.member_report(new)
    assert (plain.of, plain.member_scores) == ("predictions", None)
    deviation = ensemble.predict(new, return_std=True)[1]
    assert_allclose(plain.disagreement, np.mean(deviation**2))


def test_the_report_of_classifiers():
    ensemble = BaggedMLPClassifier(classifier(), 4, random_state=0).fit(X, LABELS)
    report = ensemble.member_report(X, LABELS)
    assert_allclose(report.member_scores, [m.score(X, LABELS) for m in ensemble.estimators_])
    assert_allclose(report.ensemble_score, ensemble.score(X, LABELS))
    assert 0 < report.correlation < 1
