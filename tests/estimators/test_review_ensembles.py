"""Ensembles and searches where they meet tables, weights and rare classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import load, nn
from pellucid.datasets import load as load_table
from pellucid.estimators import (
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    MLPClassifier,
    MLPRegressor,
    TabularMLPClassifier,
    TabularMLPRegressor,
    tune,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
VALUES = 1000 + 50 * X[:, 0] + 5 * rng.normal(size=200)
LABELS = np.array(["cat", "dog", "eel"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
QUICK = {"hidden_layer_sizes": (8,), "max_iter": 8}
QUANTILES = nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::pellucid.estimators.DataWarning"),
]


def parameters(ensemble):
    return [member.estimator_.model_.params for member in ensemble.estimators_]


# ensembles


@pytest.mark.parametrize("method", ["bagging", "seeds", "folds"])
@pytest.mark.parametrize("weights", [None, "any", "whole"])
def test_tables_side_by_side_are_tables_one_after_the_other(method, weights):
    frame, y = load_table("penguins")
    draw = np.random.default_rng(1)
    w = {"any": draw.uniform(0.1, 2, len(y)), "whole": draw.integers(0, 3, len(y))}.get(weights)
    one, two = (
        BaggedMLPClassifier(TabularMLPClassifier(**QUICK), 3, method=method, n_jobs=jobs, random_state=0).fit(
            frame, y, w
        )
        for jobs in (1, 2)
    )
    for a, b in zip(parameters(one), parameters(two), strict=True):
        for name in a:
            assert_array_equal(a[name], b[name])
    assert getattr(one, "oob_score_", None) == getattr(two, "oob_score_", None)


@pytest.mark.parametrize(
    "member",
    [
        TabularMLPRegressor(**QUICK, loss=QUANTILES),
        make_pipeline(StandardScaler(), MLPRegressor(**QUICK, loss=QUANTILES)),
    ],
    ids=["table", "pipeline"],
)
def test_quantiles_of_members_that_hold_a_network_inside(member):
    ensemble = BaggedMLPRegressor(member, 4, random_state=0).fit(X, VALUES)
    assert ensemble.predict(X).shape == (200, 3)
    low, high = ensemble.predict_interval(X, coverage=0.8)
    assert low.shape == high.shape == (200,)
    assert np.mean((low <= VALUES) & (high >= VALUES)) > 0.75
    report = ensemble.member_report(X, VALUES)
    errors = np.stack([m.predict(X) for m in ensemble.estimators_]) - VALUES[None, :, None]
    assert_allclose(report.variance, np.mean(np.var(errors, axis=1, ddof=1)))


def test_numbers_in_lists_beside_texts_stay_numbers():
    rows = [[float(i), "left" if i % 2 else "right"] for i in range(60)]
    y = ["low" if i < 30 else "high" for i in range(60)]
    alone = TabularMLPClassifier(**QUICK).fit(rows, y)
    ensemble = BaggedMLPClassifier(TabularMLPClassifier(**QUICK), 2, random_state=0).fit(rows, y)
    for member in ensemble.estimators_:
        assert_array_equal(member.preprocessor_.get_feature_names_out(), alone.preprocessor_.get_feature_names_out())
    assert ensemble.predict_proba([[7.5, "left"]]).shape == (1, 2)  # a number that was not there


def test_rows_of_weight_zero_do_not_widen_intervals():
    wild = VALUES.copy()
    wild[:100] += 1e6
    weights = np.repeat([0.0, 1.0], 100)
    ensemble = BaggedMLPRegressor(MLPRegressor(**QUICK), 5, random_state=0).fit(X, wild, weights)
    low, high = ensemble.predict_interval(X)
    assert np.max(high - low) < 1e4


@pytest.mark.parametrize("weights", ["any", "whole"])
def test_validation_rows_of_members_have_their_weights(weights):
    w = np.where(LABELS == "cat", 3.0, 1.0) + (0.5 if weights == "any" else 0.0)
    made = TabularMLPClassifier(**QUICK, monitor="accuracy", validation_fraction=0.2)
    ensemble = BaggedMLPClassifier(made, 2, n_jobs=1, random_state=0).fit(X, LABELS, w)
    for member, rows in zip(ensemble.estimators_, ensemble.estimators_samples_, strict=True):
        held = np.setdiff1d(np.arange(200), rows)
        right = member.predict(X[held]) == LABELS[held]
        assert_allclose(member.best_validation_score_, np.average(right, weights=w[held]), rtol=1e-6)


# tables


def test_weights_of_validation_rows():
    w = np.random.default_rng(2).uniform(0.1, 3, 50)
    clf = TabularMLPClassifier(**QUICK, monitor="accuracy", random_state=0)
    clf.fit(X[:150], LABELS[:150], X_val=X[150:], y_val=LABELS[150:], sample_weight_val=w)
    right = clf.predict(X[150:]) == LABELS[150:]
    assert_allclose(clf.best_validation_score_, np.average(right, weights=w), rtol=1e-6)
    with pytest.raises(ValueError, match="give X_val and y_val"):
        clf.fit(X, LABELS, sample_weight_val=w)
    with pytest.raises(ValueError, match="sample_weight"):
        clf.fit(X[:150], LABELS[:150], X_val=X[150:], y_val=LABELS[150:], sample_weight_val=w[:9])


def largest_error(y, prediction):
    return -np.max(np.abs(y - prediction))


@pytest.mark.parametrize("monitor", ["rmse", "neg_mean_squared_error", largest_error])
def test_what_a_regressor_watches_is_in_the_users_units(monitor, tmp_path):
    reg = TabularMLPRegressor(**QUICK, monitor=monitor, random_state=0)
    reg.fit(X[:150], VALUES[:150], X_val=X[150:], y_val=VALUES[150:])
    error = reg.predict(X[150:]) - VALUES[150:]
    wanted = {
        "rmse": np.sqrt(np.mean(error**2)),
        "neg_mean_squared_error": -np.mean(error**2),
        largest_error: -np.max(np.abs(error)),
    }
    curve = np.array(reg.validation_scores_)
    assert_allclose(curve[reg.best_iter_ - 1], wanted[monitor], rtol=1e-4)
    if monitor == "rmse":
        reg.save(tmp_path / "reg.pel")  # the metric is one of ours: the file is whole
        assert_allclose(load(tmp_path / "reg.pel").predict(X), reg.predict(X), rtol=1e-6)


def test_a_metric_without_weights_is_named():
    with pytest.raises(ValueError, match="takes no sample_weight"):
        TabularMLPRegressor(**QUICK, monitor=largest_error).fit(X, VALUES, np.ones(200) * 0.5)


# searches


def rates(trial):
    return {"learning_rate_init": trial.suggest_float("rate", 0.01, 0.1, log=True)}


def test_a_search_gives_errors_in_the_users_units():
    parts = (X[:150], VALUES[:150]), (X[150:], VALUES[150:])
    made = TabularMLPRegressor(**QUICK, random_state=0)
    found = tune(*parts[0], validation=parts[1], trials=2, estimator=made, metric="rmse", space=rates, verbose=False)
    alone = made.set_params(monitor="rmse").fit(*parts[0], X_val=parts[1][0], y_val=parts[1][1])
    error = np.sqrt(mean_squared_error(parts[1][1], alone.predict(parts[1][0])))
    assert found.mode == "min"
    assert_allclose(found.trials[0].value, error, rtol=1e-4)


def test_weights_judge_tables_too():
    w = np.where(LABELS == "cat", 5.0, 0.5)
    made = TabularMLPClassifier(**QUICK, monitor="accuracy", random_state=0)
    kept = slice(150), slice(150, 200)
    judge = (X[kept[1]], LABELS[kept[1]], w[kept[1]])
    found = tune(X[kept[0]], LABELS[kept[0]], validation=judge, trials=1, estimator=made, space=rates, verbose=False)
    alone = made.fit(X[kept[0]], LABELS[kept[0]], X_val=judge[0], y_val=judge[1], sample_weight_val=judge[2])
    assert_allclose(found.trials[0].value, max(alone.validation_scores_), rtol=1e-6)
    assert not np.isclose(found.trials[0].value * 50, np.round(found.trials[0].value * 50))


@pytest.mark.parametrize("made", [MLPClassifier((4,), max_iter=5), TabularMLPClassifier(**QUICK)])
def test_a_class_of_one_row_is_trained_on(made):
    y = LABELS.copy()
    y[0] = "auk"
    found = tune(X, y, trials=1, estimator=made, space=rates, random_state=0, verbose=False)
    assert "auk" in found.best_estimator.classes_


def test_the_last_fit_has_the_schedule_of_the_trial():
    """A trial sees fewer rows, for which "auto" may choose more epochs: the best of them is an epoch of that length."""
    many = np.random.default_rng(3).normal(size=(2100, 1))
    made = TabularMLPRegressor((2,), periodic=False, random_state=0)
    found = tune(many, many[:, 0], trials=1, estimator=made, verbose=False)
    assert len(found.trials[0].curve) == 256
    assert found.best_estimator.estimator_.max_iter == 256
    assert found.best_estimator.max_iter == "auto"
    assert found.best_estimator.n_iter_ == found.best_epochs


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("made", [MLPClassifier((4,), max_iter=5), TabularMLPClassifier(**QUICK)])
def test_a_class_of_one_row_does_not_stop_folds(made):
    y = LABELS.copy()
    y[0] = "auk"
    found = tune(X, y, trials=1, cv=3, estimator=made, space=rates, random_state=0, verbose=False)
    assert found.trials[0].state == "complete"
