"""`groups=` and `time=` in every `fit` and in `tune`: no group on both sides, no future in training."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.data.rows import Rows
from pellucid.estimators import (
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    MLPClassifier,
    MLPRegressor,
    TabularMLPClassifier,
    TabularMLPRegressor,
    tune,
)
from pellucid.train import Callback, Run
from tests.estimators.few_rows import saved_and_loaded
from tests.estimators.marks import few_epochs

pytestmark = few_epochs

COUNT = 90
rng = np.random.default_rng(0)
ROWS = np.arange(COUNT)
X = np.column_stack([ROWS, rng.normal(size=(COUNT, 2))])  # the first column says which row it is
CLASSES = np.where(X[:, 1] > 0, "yes", "no")
NUMBERS = X[:, 1] + 0.1 * X[:, 2]
GROUPS = rng.permutation(np.repeat(np.arange(15), 6))
TIMES = rng.permutation(np.repeat(np.arange(30), 3))  # with ties
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "shop": [f"shop {g}" for g in GROUPS], "when": TIMES})

QUICK: dict[str, Any] = {"hidden_layer_sizes": (4,), "max_iter": 2, "random_state": 0, "engine": "numpy"}
PLAIN: dict[str, Any] = {"early_stopping": True, "validation_fraction": 0.2, "batch_size": 8}
TABLE: dict[str, Any] = {"scaling": None, "numbers": "plain", "folds": 1}
SINGLE: dict[str, tuple[Any, dict[str, Any]]] = {
    "classifier": (MLPClassifier, PLAIN),
    "regressor": (MLPRegressor, PLAIN),
    "table classifier": (TabularMLPClassifier, TABLE),
    "table regressor": (TabularMLPRegressor, TABLE),
}


def numbers_of(part: Rows) -> np.ndarray:
    return np.rint(np.asarray(part.X)[:, 0]).astype(int)


class Sides(Callback):
    """Notes which rows are trained on, and which check."""

    def __init__(self, seen: list[tuple[np.ndarray, np.ndarray | None]]) -> None:
        self.seen = seen

    def __deepcopy__(self, memo: object) -> Sides:
        return self  # clones write into the same list

    def on_fit_begin(self, run: Run) -> None:
        held = run.plan.validation
        assert isinstance(run.plan.data, Rows)
        self.seen.append((numbers_of(run.plan.data), None if held is None else numbers_of(held)))


def single(name: str, seen: list[Any] | None = None, **more: Any) -> Any:
    kind, settings = SINGLE[name]
    return kind(**QUICK | settings | {"callbacks": [] if seen is None else [Sides(seen)]} | more)


def target(estimator: Any) -> np.ndarray:
    return CLASSES if is_classifier(estimator) else NUMBERS


def apart(inside: np.ndarray, held: np.ndarray) -> None:
    assert len(held)
    assert not set(GROUPS[inside]) & set(GROUPS[held])


def later(inside: np.ndarray, held: np.ndarray) -> None:
    assert len(held)
    assert TIMES[inside].max() < TIMES[held].min()


PROMISES = {"groups": (GROUPS, apart), "time": (TIMES, later)}
each_single = pytest.mark.parametrize("name", SINGLE)
each_promise = pytest.mark.parametrize("what", PROMISES)


# single estimators


@each_single
@each_promise
def test_rows_that_are_held_out(name, what):
    values, promise = PROMISES[what]
    for seed in range(3):
        seen: list[Any] = []
        estimator = single(name, seen, random_state=seed)
        estimator.fit(X, target(estimator), **{what: values})
        ((inside, held),) = seen
        assert_array_equal(np.sort(np.r_[inside, held]), ROWS)
        promise(inside, held)
        assert 0.1 < len(held) / COUNT < 0.35


@each_single
def test_the_draw_is_that_of_random_state(name):
    def sides(**more: Any) -> np.ndarray:
        seen: list[Any] = []
        estimator = single(name, seen, **more)
        estimator.fit(X, target(estimator), groups=GROUPS)
        return np.sort(seen[0][1])

    assert_array_equal(sides(), sides())
    assert len({sides(random_state=seed).tobytes() for seed in range(4)}) > 1


@each_single
def test_weights_and_groups(name):
    weights = np.where(ROWS % 9 == 0, 0.0, 1.0 + ROWS % 2)
    seen: list[Any] = []
    estimator = single(name, seen)
    estimator.fit(X, target(estimator), weights, groups=GROUPS)
    apart(*seen[0])


@each_single
@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_groups_is_no_feature(name, frames, tmp_path):
    table = frames({name: FRAME[name].to_numpy() for name in FRAME})
    seen: list[Any] = []
    estimator = single(name, seen)
    estimator.fit(table, target(estimator), groups="shop")
    apart(*seen[0])
    assert list(estimator.feature_names_in_) == ["a", "b", "when"]
    assert estimator.groups_column_ == "shop"
    bare = table.drop("shop", axis=1) if frames is pd.DataFrame else table.drop("shop")
    for one in (estimator, pickle.loads(pickle.dumps(estimator)), saved_and_loaded(estimator, tmp_path)):
        assert_array_equal(one.predict(table), estimator.predict(bare))  # it may be there, or not
        assert one.score(table, target(one)) == one.score(bare, target(one))
    by_array = single(name).fit(bare, target(estimator), groups=GROUPS)
    assert not hasattr(by_array, "groups_column_")
    estimator.fit(bare, target(estimator))
    assert not hasattr(estimator, "groups_column_")


@each_single
def test_a_column_of_times_is_a_feature(name):
    table = FRAME.drop(columns="shop")
    seen: list[Any] = []
    estimator = single(name, seen)
    estimator.fit(table, target(estimator), time="when")
    later(*seen[0])
    assert list(estimator.feature_names_in_) == ["a", "b", "when"]


@each_single
def test_validation_rows_of_ones_own_go_first(name):
    seen: list[Any] = []
    estimator = single(name, seen)
    y = target(estimator)
    estimator.fit(FRAME[30:], y[30:], X_val=FRAME[:30], y_val=y[:30], groups="shop")
    assert_array_equal(seen[0][1], ROWS[:30])


@each_single
def test_errors_leave_the_estimator_as_it_was(name):
    estimator = single(name)
    y = target(estimator)
    estimator.fit(X, y)
    before = copy.copy(vars(estimator))
    for more, words in (
        ({"groups": np.zeros(COUNT)}, "groups has 1 different value in 90 rows, and 2 are needed"),
        ({"groups": GROUPS[:5]}, "each of the 90 rows"),
        ({"time": np.where(ROWS == 4, np.nan, ROWS)}, "time is missing in row 4"),
        ({"groups": "shop"}, "X is a ndarray without names"),
        ({"groups": GROUPS, "time": TIMES}, "times that a group lasts over are one"),
    ):
        with pytest.raises(ValueError, match=words):
            estimator.fit(X, y, **more)
        assert vars(estimator) == before
    with pytest.raises(ValueError, match="groups='store' names a column that X does not have"):
        estimator.fit(FRAME, y, groups="store")


def test_groups_that_follow_each_other_in_time():
    sessions = ROWS // 6
    for name in SINGLE:
        seen: list[Any] = []
        estimator = single(name, seen)
        estimator.fit(X, target(estimator), groups=sessions, time=ROWS)
        (inside, held) = seen[0]
        assert inside.max() < held.min()
        assert not set(sessions[inside]) & set(sessions[held])


@each_promise
def test_a_warm_start_keeps_what_was_held_out(what):
    values, promise = PROMISES[what]
    seen: list[Any] = []
    clf = single("classifier", seen, warm_start=True, random_state=None)
    clf.fit(X, CLASSES, **{what: values}).fit(X, CLASSES, **{what: values})
    assert_array_equal(seen[0][1], seen[1][1])
    promise(*seen[1])


def test_a_column_of_groups_in_later_calls():
    clf = MLPClassifier((4,), max_iter=2, warm_start=True, random_state=0).fit(FRAME, CLASSES, groups="shop")
    clf.fit(FRAME, CLASSES)
    clf.partial_fit(FRAME, CLASSES)
    assert clf.groups_column_ == "shop"
    assert clf.calibrate(FRAME, CLASSES).predict(FRAME).shape == (COUNT,)


# in scikit-learn


@each_single
def test_metadata_routing(name):
    seen: list[Any] = []
    with config_context(enable_metadata_routing=True):
        estimator = single(name, seen).set_fit_request(groups=True)
        scores = cross_validate(
            estimator, X, target(estimator), params={"groups": GROUPS}, cv=GroupKFold(3), error_score="raise"
        )
        assert len(scores["test_score"]) == len(seen) == 3
        for inside, held in seen:
            apart(inside, held)
            assert len(set(GROUPS[np.r_[inside, held]])) == 10  # the other five are held out by scikit-learn
        seen.clear()
        cross_validate(
            single(name, seen).set_fit_request(time=True), X, target(estimator), params={"time": TIMES}, cv=3
        )
        for sides in seen:
            later(*sides)


def test_metadata_routing_through_a_pipeline():
    seen: list[Any] = []
    with config_context(enable_metadata_routing=True):
        steps = make_pipeline(StandardScaler(with_std=False), single("classifier", seen).set_fit_request(groups=True))
        cross_validate(steps, X, CLASSES, params={"groups": GROUPS}, cv=GroupKFold(3), error_score="raise")
    assert len(seen) == 3


# ensembles


def ensemble(kind: Any, base: str, seen: list[Any], method: str, **more: Any) -> Any:
    return kind(single(base, seen), 8, method=method, random_state=0, n_jobs=1, **more)


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (BaggedMLPClassifier, "classifier"),
        (BaggedMLPRegressor, "regressor"),
        (BaggedMLPClassifier, "table classifier"),
        (BaggedMLPRegressor, "table regressor"),
    ],
)
@pytest.mark.parametrize("method", ["bagging", "folds", "seeds"])
@each_promise
def test_members(kind, base, method, what):
    values, promise = PROMISES[what]
    seen: list[Any] = []
    many = ensemble(kind, base, seen, method).fit(X, target(single(base)), **{what: values})
    assert len(seen) == 8
    for inside, held in seen:
        promise(inside, held)
    if method == "seeds":
        return
    for rows in many.estimators_samples_:
        promise(rows, np.setdiff1d(ROWS, rows) if what == "groups" else np.flatnonzero(TIMES[rows].max() < TIMES))
    assert np.isfinite(many.oob_score_)
    outputs = many.oob_decision_function_[:, 0] if is_classifier(many) else many.oob_prediction_
    if what == "groups":
        assert np.isfinite(outputs).mean() > 0.8
    else:  # nobody predicts what was before all training
        checked = min(TIMES[rows].max() for rows in many.estimators_samples_) < TIMES
        assert_array_equal(np.isfinite(outputs), checked)


def test_bags_are_of_whole_groups():
    many = BaggedMLPClassifier(LogisticRegression(), 8, max_samples=0.5, n_jobs=1, random_state=0)
    many.fit(X[:, 1:], CLASSES, groups=GROUPS)
    for rows in many.estimators_samples_:
        _, copies = np.unique(rows, return_counts=True)
        times = {group: set(copies[GROUPS[np.unique(rows)] == group]) for group in set(GROUPS[rows])}
        assert all(len(counts) == 1 for counts in times.values())  # each of its rows as often as the group
        assert all(np.isin(np.flatnonzero(group == GROUPS), rows).all() for group in times)
        assert 45 <= len(rows) <= 51
    shuffled = np.random.default_rng(1).permutation(COUNT)
    again = BaggedMLPClassifier(LogisticRegression(), 8, max_samples=0.5, n_jobs=1, random_state=0)
    again.fit(X[shuffled][:, 1:], CLASSES[shuffled], groups=GROUPS[shuffled])
    for a, b in zip(many.estimators_samples_, again.estimators_samples_, strict=True):
        assert_array_equal(a, shuffled[b])  # the order of the rows does not matter


def test_bags_of_groups_have_every_class():
    rare = np.where(np.isin(GROUPS, [3]), "rare", CLASSES)
    many = BaggedMLPClassifier(LogisticRegression(), 16, n_jobs=1, random_state=0).fit(X[:, 1:], rare, groups=GROUPS)
    assert all(len(member.classes_) == 3 for member in many.estimators_)


def test_ensembles_know_their_column_of_groups(tmp_path):
    for base in ("classifier", "table classifier"):
        many = ensemble(BaggedMLPClassifier, base, [], "bagging").fit(FRAME, CLASSES, groups="shop")
        bare = FRAME.drop(columns="shop")
        for one in (many, saved_and_loaded(many, tmp_path)):
            assert_array_equal(one.predict_proba(FRAME), many.predict_proba(bare))
        assert list(many.feature_names_in_) == ["a", "b", "when"]
        assert not hasattr(many.fit(bare, CLASSES), "groups_column_")


def test_what_ensembles_refuse():
    for method, more, words in (
        ("bagging", {"groups": np.zeros(COUNT)}, "2 are needed to leave some of them out of a sample"),
        ("folds", {"groups": ROWS % 3}, "groups has 3 different values in 90 rows, and 8 are needed for 8 folds"),
        ("folds", {"time": ROWS % 3}, "9 are needed for 8 folds, each with a past"),
        ("folds", {"groups": GROUPS[:4]}, "each of the 90 rows"),
    ):
        with pytest.raises(ValueError, match=words):
            ensemble(BaggedMLPRegressor, "regressor", [], method).fit(X, NUMBERS, **more)
    with pytest.raises(ValueError, match="LogisticRegression takes no groups and no time"):
        BaggedMLPClassifier(LogisticRegression(), 3, method="seeds").fit(X, CLASSES, groups=GROUPS)


# tune


def search(name: str, seen: list[Any], data: Any = X, **more: Any) -> Any:
    def space(trial: Any) -> dict[str, Any]:
        return {"learning_rate_init": trial.suggest_float("rate", 0.001, 0.1)}

    y = target(single(name))
    settings = {"trials": 2, "space": space, "random_state": 0, "n_jobs": 1, "verbose": False} | more
    return tune(data, y, estimator=single(name, seen), **settings)


@each_single
@each_promise
@pytest.mark.parametrize("cut", [{"validation": 0.25}, {"cv": 3}], ids=["share", "folds"])
def test_rows_that_judge_settings(name, what, cut):
    values, promise = PROMISES[what]
    seen: list[Any] = []
    search(name, seen, **{what: values}, **cut)
    *trials, (everything, none) = seen
    assert len(trials) == (6 if "cv" in cut else 2)
    for sides in trials:
        promise(*sides)
    assert none is None
    assert_array_equal(np.sort(everything), ROWS)  # the last fit is on all rows


def test_splitters_and_columns_in_tune():
    seen: list[Any] = []
    found = search("table classifier", seen, FRAME, cv=GroupKFold(3), groups="shop")
    for sides in seen[:-1]:
        apart(*sides)
    best = found.best_estimator
    assert_array_equal(best.predict(FRAME), best.predict(FRAME.drop(columns="shop")))
    assert list(best.feature_names_in_) == ["a", "b", "when"]
    own = (FRAME[:30], CLASSES[:30])
    search("table classifier", seen, FRAME, validation=own, groups="shop")
    with pytest.raises(ValueError, match="time goes with a number of folds"):
        search("classifier", seen, cv=GroupKFold(3), time=TIMES)
    with pytest.raises(ValueError, match="groups has 15 different values in 90 rows, and 16 are needed for 16 folds"):
        search("classifier", seen, cv=16, groups=GROUPS)
