"""Estimators in files."""

import json
import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_multilabel_classification, make_regression
from sklearn.exceptions import ConvergenceWarning

import pellucid as pel
from pellucid import nn, optim
from pellucid.estimators import MLPClassifier, MLPRegressor, NetworkSettings, TrainingSettings
from pellucid.estimators.storage import Reader, StorageError
from pellucid.estimators.stored_classes import UPGRADES
from pellucid.train.files.container import read, write
from tests.estimators import few_rows as few
from tests.estimators.few_rows import saved_and_loaded, worst
from tests.estimators.marks import few_epochs

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
QUICK = {"max_iter": 5, "random_state": 0, "tol": 0.0, "n_iter_no_change": 100}


def quiet(estimator, *data, **fit):
    with pytest.warns(ConvergenceWarning, match="Maximum iterations"):
        return estimator.fit(*data, **fit)


def same(a, b, X):
    assert type(a) is type(b)
    for name, value in a.get_params(deep=False).items():
        assert repr(getattr(b, name)) == repr(value), name
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert a.loss_curve_ == b.loss_curve_
    assert a.n_iter_ == b.n_iter_


def back(estimator, path):
    estimator.save(path)
    return pel.load(path)


@pytest.mark.parametrize("labels", [y, NAMES, NAMES.astype(object), y == 1], ids=["int", "str", "object", "bool"])
def test_a_classifier_comes_back_whole(tmp_path, labels):
    clf = quiet(MLPClassifier((8, 4), ["relu", "tanh"], dropout=[0.1, 0.0], norm="batch", **QUICK), X, labels)
    again = back(clf, tmp_path / "a.pel")
    same(clf, again, X)
    np.testing.assert_array_equal(clf.predict_proba(X), again.predict_proba(X))
    assert again.classes_.dtype == clf.classes_.dtype


def test_settings_travel(tmp_path):
    clf = MLPClassifier(
        (8,),
        penalty=nn.L1(1e-3) + nn.L2(1e-4, on="output.*"),
        optimizer=optim.AdamW(1e-3),
        network=NetworkSettings(input_dropout=0.1, init="orthogonal"),
        training=TrainingSettings(clip_norm=1.0, ema=0.9, schedule=optim.Cosine(0.01)),
        class_weight={0: 1.0, 1: 2.0, 2: 0.5},
        **QUICK,
    )
    same(clf.fit(X, y), back(clf, tmp_path / "a.pel"), X)  # the schedule ends with it: no warning


def test_a_regressor_with_intervals_and_several_outputs(tmp_path):
    A, B = make_regression(120, 4, n_targets=2, random_state=0)
    reg = quiet(MLPRegressor(hidden_layer_sizes=(8,), early_stopping=True, validation_fraction=0.4, **QUICK), A, B)
    again = back(reg, tmp_path / "a.pel")
    same(reg, again, A)
    np.testing.assert_array_equal(reg.predict_interval(A, 0.8), again.predict_interval(A, 0.8))
    assert again.validation_scores_ == reg.validation_scores_


def test_several_labels(tmp_path):
    A, B = make_multilabel_classification(60, random_state=0)
    same(clf := quiet(MLPClassifier((8,), **QUICK), A, B), back(clf, tmp_path / "a.pel"), A)


@pytest.mark.parametrize("ema", [None, 0.9])
def test_training_goes_on_exactly(tmp_path, ema):
    make = lambda n: MLPClassifier(
        (8,), warm_start=True, training=TrainingSettings(ema=ema), **(QUICK | {"max_iter": n})
    )
    whole = quiet(make(10), X, y)
    for way in (lambda e: back(e, tmp_path / "a.pel"), lambda e: pickle.loads(pickle.dumps(e))):
        part = way(quiet(make(4), X, y)).set_params(max_iter=6)
        quiet(part, X, y)
        for a, b in zip(whole.coefs_, part.coefs_, strict=True):
            np.testing.assert_array_equal(a, b)
        assert part.loss_curve_ == whole.loss_curve_


def test_callbacks_stay_outside(tmp_path):
    clf = quiet(MLPClassifier((4,), callbacks=[lambda run: None], **QUICK), X, y)
    assert back(clf, tmp_path / "a.pel").callbacks == ()


def test_functions_come_back_by_name(tmp_path):
    def cubic(x):
        return x * x * x

    clf = quiet(MLPClassifier((4,), activation=cubic, learning_rate_init=1e-4, **QUICK), X, y)
    clf.save(tmp_path / "a.pel")
    with pytest.raises(ValueError, match="custom"):
        pel.load(tmp_path / "a.pel")
    same(clf, pel.load(tmp_path / "a.pel", custom={"cubic": cubic}), X)


def test_unfitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        MLPClassifier().save(tmp_path / "a.pel")


def test_unknown_things_in_a_file_are_refused(tmp_path):
    clf = quiet(MLPClassifier((4,), **QUICK), X, y)
    clf.save(tmp_path / "a.pel")
    arrays, data = read(tmp_path / "a.pel", "estimator")
    for change in ({"object": "Popen", "state": {}}, {"call": "os.system"}, [1]):
        bad = json.loads(json.dumps(data))
        bad["estimator"]["state"]["classes_"] = change
        write(tmp_path / "b.pel", arrays, bad, "estimator")
        with pytest.raises(StorageError):
            pel.load(tmp_path / "b.pel")


@dataclass(frozen=True)
class Box:
    width: int
    height: int = 7


class Shelf(BaseEstimator):
    def __init__(self, boxes=3, colour="red"):
        self.boxes = boxes
        self.colour = colour


@pytest.mark.parametrize(
    ("kind", "state", "values"),
    [
        (Box, {"width": 2}, {"width": 2, "height": 7}),
        (Shelf, {"boxes": 1, "found_": 4}, {"boxes": 1, "colour": "red", "found_": 4}),
    ],
)
def test_what_a_file_lacks_is_as_the_class_has_it(kind, state, values):
    thing = Reader({}, {}, "a.pel", {kind.__name__: kind}).read({"object": kind.__name__, "state": state})
    assert type(thing) is kind
    assert vars(thing) == values


@pytest.mark.parametrize("kind", [Box, Shelf])
def test_attributes_of_older_files_become_those_of_today(kind, monkeypatch):
    new = "width" if kind is Box else "boxes"
    monkeypatch.setitem(UPGRADES, kind.__name__, lambda state: {new: sum(state["parts"])})
    data = {"object": kind.__name__, "state": {"parts": {"list": [1, 2, 3]}}}
    assert getattr(Reader({}, {}, "a.pel", {kind.__name__: kind}).read(data), new) == 6


@few_epochs
def test_own_monitor_is_not_needed_to_load(tmp_path: Path) -> None:
    reg = MLPRegressor(**few.SMALL, early_stopping=True, warm_start=True, monitor=worst).fit(few.X, few.NUMBERS)
    loaded = saved_and_loaded(reg, tmp_path)
    assert np.array_equal(loaded.predict(few.X), reg.predict(few.X))
    with pytest.raises(ValueError, match="worst is a function and not in the file"):
        loaded.fit(few.X, few.NUMBERS)
    known = saved_and_loaded(reg, tmp_path, worst=worst).fit(few.X, few.NUMBERS)
    assert known.validation_scores_ == reg.fit(few.X, few.NUMBERS).validation_scores_


@few_epochs
def test_scorer_by_name_comes_back_without_a_warning(tmp_path: Path) -> None:
    clf = MLPClassifier(**few.SMALL, early_stopping=True, warm_start=True, monitor="f1_macro").fit(few.X, few.THREE)
    loaded = saved_and_loaded(clf, tmp_path)
    assert loaded.fit(few.X, few.THREE).validation_scores_ == clf.fit(few.X, few.THREE).validation_scores_


@few_epochs
def test_numbers_of_numpy_are_numbers_after_loading(tmp_path: Path) -> None:
    given = {"hidden_layer_sizes": [np.int64(4)], "max_iter": np.int64(3), "class_weight": {np.int64(1): np.float32(2)}}
    clf = MLPClassifier(**given, random_state=np.int64(0)).fit(few.X, few.TWO)
    loaded = saved_and_loaded(clf, tmp_path)
    assert loaded.max_iter == 3
    assert np.ndim(loaded.max_iter) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.array_equal(loaded.fit(few.X, few.TWO).predict_proba(few.X), clf.predict_proba(few.X))
