"""Searches where targets have units, weights, or classes of a single row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import mean_squared_error

from pellucid.estimators import MLPClassifier, TabularMLPClassifier, TabularMLPRegressor, tune
from pellucid.estimators.tables.recipe import auto_epochs
from tests.estimators.animals import LABELS, QUICK, VALUES, X
from tests.estimators.marks import few_epochs, odd_data

pytestmark = [few_epochs, odd_data]


def rates(trial):
    return {"learning_rate_init": trial.suggest_float("rate", 0.01, 0.1, log=True)}


def test_a_search_gives_errors_in_the_users_units():
    parts = (X[:150], VALUES[:150]), (X[150:], VALUES[150:])
    made = TabularMLPRegressor(folds=1, **QUICK, numbers="waves", random_state=0)
    found = tune(*parts[0], validation=parts[1], trials=2, estimator=made, metric="rmse", space=rates, verbose=False)
    alone = made.set_params(monitor="rmse").fit(*parts[0], X_val=parts[1][0], y_val=parts[1][1])
    error = np.sqrt(mean_squared_error(parts[1][1], alone.predict(parts[1][0])))
    assert found.mode == "min"
    assert_allclose(found.trials[0].value, error, rtol=1e-4)


def test_weights_judge_tables_too():
    w = np.where(LABELS == "cat", 5.0, 0.5)
    made = TabularMLPClassifier(folds=1, **QUICK, numbers="waves", monitor="accuracy", random_state=0)
    kept = slice(150), slice(150, 200)
    judge = (X[kept[1]], LABELS[kept[1]], w[kept[1]])
    found = tune(X[kept[0]], LABELS[kept[0]], validation=judge, trials=1, estimator=made, space=rates, verbose=False)
    alone = made.fit(X[kept[0]], LABELS[kept[0]], X_val=judge[0], y_val=judge[1], sample_weight_val=judge[2])
    assert_allclose(found.trials[0].value, max(alone.validation_scores_), rtol=1e-6)
    assert not np.isclose(found.trials[0].value * 50, np.round(found.trials[0].value * 50))


@pytest.mark.parametrize("made", [MLPClassifier((4,), max_iter=5), TabularMLPClassifier(folds=1, **QUICK)])
def test_a_class_of_one_row_is_trained_on(made):
    y = LABELS.copy()
    y[0] = "auk"
    found = tune(X, y, trials=1, estimator=made, space=rates, random_state=0, verbose=False)
    assert "auk" in found.best_estimator.classes_


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("made", [MLPClassifier((4,), max_iter=5), TabularMLPClassifier(folds=1, **QUICK)])
def test_a_class_of_one_row_does_not_stop_folds(made):
    y = LABELS.copy()
    y[0] = "auk"
    found = tune(X, y, trials=1, cv=3, estimator=made, space=rates, random_state=0, verbose=False)
    assert found.trials[0].state == "complete"


def test_the_last_fit_has_the_schedule_of_the_trial():
    """A trial sees fewer rows, for which "auto" may choose more epochs: the best of them is an epoch of that length."""
    many = np.random.default_rng(3).normal(size=(2100, 1))
    made = TabularMLPRegressor((2,), folds=1, numbers="plain", random_state=0)
    found = tune(many, many[:, 0], trials=1, estimator=made, verbose=False)
    assert len(found.trials[0].curve) == 64 > auto_epochs(2100)
    assert found.best_estimator.estimator_.max_iter == 64
    assert found.best_estimator.max_iter == "auto"
    assert found.best_estimator.n_iter_ == found.best_epochs
