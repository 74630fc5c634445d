"""Costs decide what a probability is enough for: scikit-learn's TunedThresholdClassifierCV around our classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, TunedThresholdClassifierCV

from pellucid.estimators import BaggedMLPClassifier, MLPClassifier, TabularMLPClassifier
from tests.estimators.marks import few_epochs

pytestmark = few_epochs

MISSED, FALSE_ALARM = 10.0, 1.0


def cost(y: Any, prediction: Any) -> float:
    """What errors cost, for each row: a fault that is missed ten times as much as a false alarm."""
    missed = np.mean((y == "fault") & (prediction == "fine"))
    return float(MISSED * missed + FALSE_ALARM * np.mean((y == "fine") & (prediction == "fault")))


def drawn(seed: int, count: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Machines: every fifth has a fault, and heat and load tell of it, but not for sure."""
    rng = np.random.default_rng(seed)
    fault = rng.random(count) < 0.2
    heat, load = rng.normal(fault, 1.0), rng.normal(0.5 * fault, 1.0)
    table = pd.DataFrame({"heat": heat, "load": load, "maker": rng.choice(["a", "b"], count)})
    return table, np.where(fault, "fault", "fine")


X, Y = drawn(0, 600)
UNSEEN, TRUTH = drawn(1, 3000)
QUICK: dict[str, Any] = {"max_iter": 8, "random_state": 0}
PLAIN = MLPClassifier((8,), learning_rate_init=0.01, batch_size=32, **QUICK)
CLASSIFIERS = {
    "plain": (PLAIN, ["heat", "load"]),
    "table": (TabularMLPClassifier((16,), folds=1, label_smoothing=0.0, **QUICK), ["heat", "load", "maker"]),
    "bagged": (BaggedMLPClassifier(PLAIN, 3, random_state=0), ["heat", "load"]),
}


def tuned(estimator: Any, **more: Any) -> TunedThresholdClassifierCV:
    return TunedThresholdClassifierCV(
        estimator, scoring=make_scorer(cost, greater_is_better=False), **{"cv": 3, "random_state": 0} | more
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore::pellucid.estimators.DataWarning")  # three members leave few rows out of a bag
def test_the_tuned_threshold_costs_less_on_unseen_rows(name):
    estimator, columns = CLASSIFIERS[name]
    by_cost = tuned(estimator).fit(X[columns], Y)
    plain = clone(estimator).fit(X[columns], Y)
    at_half = cost(TRUTH, plain.predict(UNSEEN[columns]))
    assert cost(TRUTH, by_cost.predict(UNSEEN[columns])) < 0.8 * at_half
    alarms = [np.mean(one.predict(UNSEEN[columns]) == "fault") for one in (plain, by_cost)]
    assert alarms[1] > alarms[0]
    best = MISSED / (MISSED + FALSE_ALARM)  # of P(fine), above which "fine" is cheaper: 0.91
    assert abs(by_cost.best_threshold_ - best) < 0.15


def test_thresholds_and_groups():
    """One array of groups keeps them together in the folds of the threshold and in the rows held out by each fit."""
    groups = np.arange(len(Y)) // 10
    with config_context(enable_metadata_routing=True):
        estimator = clone(PLAIN).set_params(early_stopping=True).set_fit_request(groups=True)
        by_cost = tuned(estimator, cv=GroupKFold(3)).fit(X[["heat", "load"]], Y, groups=groups)
        other = tuned(estimator, cv=GroupKFold(3)).fit(X[["heat", "load"]], Y, groups=np.arange(len(Y)))
    assert by_cost.estimator_.validation_scores_ != other.estimator_.validation_scores_  # the groups have arrived
