"""Ensembles of estimators for tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from pellucid.datasets import load as load_table
from pellucid.estimators import BaggedMLPClassifier, TabularMLPClassifier
from tests.estimators.animals import LABELS, QUICK, X
from tests.estimators.marks import few_epochs, odd_data

pytestmark = [few_epochs, odd_data]


def test_tables_of_any_kind():
    sizes, redness = X[:120, 0], X[:120, 1]
    frame = pd.DataFrame({"size": sizes, "colour": np.where(redness > 0, "red", "blue")})
    frame.loc[::7, "size"] = np.nan
    y = np.where(redness + 0.1 * sizes > 0, "yes", "no")
    base = TabularMLPClassifier((16,), folds=1, max_iter=15)
    ensemble = BaggedMLPClassifier(base, 3, random_state=0, n_jobs=1).fit(frame, y)
    assert ensemble.feature_names_in_.tolist() == ["size", "colour"]
    assert ensemble.oob_score_ > 0.75
    member, rows = ensemble.estimators_[0], ensemble.estimators_samples_[0]
    held = np.setdiff1d(np.arange(120), rows)
    alone = clone(base).set_params(random_state=ensemble.seeds_[0], threads=1)
    alone.fit(frame.iloc[rows], y[rows], X_val=frame.iloc[held], y_val=y[held])
    assert_array_equal(member.predict_proba(frame), alone.predict_proba(frame))
    assert_array_equal(ensemble.predict(frame[["colour", "size"]]), ensemble.predict(frame))


def parameters(ensemble):
    return [member.estimator_.model_.params for member in ensemble.estimators_]


@pytest.mark.parametrize("method", ["bagging", "seeds", "folds"])
@pytest.mark.parametrize("weights", [None, "any", "whole"])
def test_tables_side_by_side_are_tables_one_after_the_other(method, weights):
    frame, y = load_table("penguins")
    draw = np.random.default_rng(1)
    w = {"any": draw.uniform(0.1, 2, len(y)), "whole": draw.integers(0, 3, len(y))}.get(weights)
    one, two = (
        BaggedMLPClassifier(TabularMLPClassifier(folds=1, **QUICK), 3, method=method, n_jobs=jobs, random_state=0).fit(
            frame, y, w
        )
        for jobs in (1, 2)
    )
    for a, b in zip(parameters(one), parameters(two), strict=True):
        for name in a:
            assert_array_equal(a[name], b[name])
    assert getattr(one, "oob_score_", None) == getattr(two, "oob_score_", None)


def test_numbers_in_lists_beside_texts_stay_numbers():
    rows = [[float(i), "left" if i % 2 else "right"] for i in range(60)]
    y = ["low" if i < 30 else "high" for i in range(60)]
    alone = TabularMLPClassifier(folds=1, **QUICK).fit(rows, y)
    ensemble = BaggedMLPClassifier(TabularMLPClassifier(folds=1, **QUICK), 2, random_state=0).fit(rows, y)
    for member in ensemble.estimators_:
        assert member.preprocessor_.kinds_ == alone.preprocessor_.kinds_
    assert ensemble.predict_proba([[7.5, "left"]]).shape == (1, 2)  # a number that was not there


@pytest.mark.parametrize("weights", ["any", "whole"])
def test_validation_rows_of_members_have_their_weights(weights):
    w = np.where(LABELS == "cat", 3.0, 1.0) + (0.5 if weights == "any" else 0.0)
    made = TabularMLPClassifier(folds=1, **QUICK, numbers="waves", monitor="accuracy", validation_fraction=0.2)
    ensemble = BaggedMLPClassifier(made, 2, n_jobs=1, random_state=0).fit(X, LABELS, w)
    for member, rows in zip(ensemble.estimators_, ensemble.estimators_samples_, strict=True):
        held = np.setdiff1d(np.arange(200), rows)
        right = member.predict(X[held]) == LABELS[held]
        assert_allclose(member.best_validation_score_, np.average(right, weights=w[held]), rtol=1e-6)
