"""What users' data brings along: odd names, huge numbers, absent classes, functions of one's own."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import make_scorer, r2_score

from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor, load
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.tables.scaling import SmoothRobustScaler
from pellucid.nn.losses.numbers import Quantile

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SMALL: dict[str, Any] = {"hidden_layer_sizes": (8,), "max_iter": 3, "random_state": 0}
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
TWO = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
NUMBERS = 2 * X[:, 0] + X[:, 1]
LABELS = (X[:, :3] > 0).astype(int)
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.arange(60) % 5, "c": [f"k{i % 20}" for i in range(60)]})


def again(estimator: Any, path: Path, **custom: Any) -> Any:
    """Saved and loaded."""
    estimator.save(path / "model.plc")
    return load(path / "model.plc", custom=custom)


# categories


@pytest.mark.parametrize("columns", [FRAME.columns[1:], np.array(["b", "c"]), pd.Index([], dtype=object)])
def test_categorical_columns_come_as_index_or_array(columns: Any, tmp_path: Path) -> None:
    clf = TabularMLPClassifier(**SMALL, categorical=columns).fit(FRAME, TWO)
    assert (clf.preprocessor_.kinds_["b"] == "category") == (len(columns) > 0)
    assert np.array_equal(again(clf, tmp_path).predict_proba(FRAME), clf.predict_proba(FRAME))


def test_long_identifiers_are_different_categories() -> None:
    ids = np.array([2**60 + i for i in range(6)])
    for column in (ids, ids.astype(object)):
        pre = TablePreprocessor(categorical=["id"]).fit(pd.DataFrame({"id": column}))
        assert pre.categories_["id"] == [str(i) for i in ids.tolist()]


def test_true_and_1_are_different_categories_in_any_order() -> None:
    values = [True, 1, "a"]
    for order in ([0, 1, 2], [1, 0, 2]):
        column = pd.Series([values[i] for i in order], dtype=object)
        assert TablePreprocessor().fit(pd.DataFrame({"x": column})).categories_["x"] == ["1", "True", "a"]


def test_dates_as_categories_are_the_same_as_objects() -> None:
    days = pd.Series(pd.date_range("2020", periods=3))
    pre = TablePreprocessor().fit(pd.DataFrame({"x": days.astype("category")}))
    as_objects = np.array([day.to_pydatetime() for day in days], object)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no names
        assert np.array_equal(pre.transform(as_objects), pre.transform(pd.DataFrame({"x": days.astype("category")})))


# tables


def test_names_of_several_kinds_are_refused_as_by_scikit_learn() -> None:
    with pytest.raises(TypeError, match="1 is a int"):
        TabularMLPClassifier(**SMALL).fit(pd.DataFrame(X, columns=["a", 1, "b", 2]), TWO)


def test_column_called_like_a_part_of_a_date_keeps_its_missing_mark() -> None:
    when = pd.date_range("2020", periods=60, freq="40D")
    frame = pd.DataFrame({"d": when, "d_year": np.where(np.arange(60) % 7, X[:, 0], np.nan)})
    assert "d_year_missing" in TablePreprocessor().fit(frame).get_feature_names_out()


def test_huge_outliers_end_at_the_limit() -> None:
    scaler = SmoothRobustScaler().fit(X)
    assert np.array_equal(scaler.transform(np.array([[1e300, -1e300, 1e160, 1e20]])), [[3.0, -3.0, 3.0, 3.0]])


@pytest.mark.parametrize("y", [pd.Series(pd.date_range("2020", periods=60)), NUMBERS.astype(str)])
def test_table_regressor_refuses_targets_that_are_no_numbers(y: Any) -> None:
    with pytest.raises(ValueError, match="y holds numbers, got"):
        TabularMLPRegressor(**SMALL).fit(X, y)


def test_table_regressor_scores_several_quantiles() -> None:
    reg = TabularMLPRegressor(**SMALL, loss=Quantile((0.1, 0.5, 0.9))).fit(X, NUMBERS)
    assert reg.score(X, NUMBERS) < 1.0
    plain = TabularMLPRegressor(**SMALL).fit(X, 100 * NUMBERS + 7)
    assert plain.score(X, 100 * NUMBERS + 7) == pytest.approx(r2_score(100 * NUMBERS + 7, plain.predict(X)))


def test_embedding_dim_may_be_a_list() -> None:
    clf = TabularMLPClassifier(**SMALL, embedding_dim=[3]).fit(FRAME[["c"]], TWO)
    assert clf.estimator_.model_.params["input.embed.table1"].shape[1] == 3


# weights


def test_class_weight_names_a_class_that_is_not_among_these_rows() -> None:
    seen = THREE < 2
    clf = MLPClassifier(**SMALL, class_weight={2: 3.0}).partial_fit(X[seen], THREE[seen], classes=[0, 1, 2])
    plain = MLPClassifier(**SMALL).partial_fit(X[seen], THREE[seen], classes=[0, 1, 2])
    assert np.array_equal(clf.predict_proba(X), plain.predict_proba(X))
    TabularMLPClassifier(**SMALL, class_weight={2: 3.0}).fit(X, THREE, X_val=X[seen], y_val=THREE[seen])
    with pytest.raises(ValueError, match="class_weight names"):
        MLPClassifier(**SMALL, class_weight={7: 3.0}).fit(X, THREE)


def test_rows_to_train_on_that_all_weigh_nothing() -> None:
    weights = np.zeros(60)
    weights[:5] = 1.0
    with pytest.raises(ValueError, match="55 rows to train on are 0"):
        MLPClassifier(**SMALL).fit(X, TWO, weights, val_rows=np.arange(5))


# calibration


def test_calibrate_takes_the_targets_of_fit() -> None:
    clf = MLPClassifier(**SMALL).fit(X, sparse.csr_matrix(LABELS))
    dense = MLPClassifier(**SMALL).fit(X, LABELS).calibrate(X, LABELS)
    assert clf.calibrate(X, sparse.csr_matrix(LABELS)).temperature_ == dense.temperature_


def test_calibrate_refuses_targets_that_do_not_fit() -> None:
    reg = MLPRegressor(**SMALL).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        reg.calibrate(X, NUMBERS[:1])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        reg.calibrate(X, np.where(np.arange(60) == 3, np.nan, NUMBERS))


def test_interval_of_an_estimator_that_is_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        MLPRegressor().predict_interval(X)


# what is watched


def worst(y: Any, prediction: Any) -> float:
    return float(np.abs(y - prediction).max())


@pytest.mark.parametrize("monitor", ["d2_absolute_error_score", make_scorer(worst, greater_is_better=False)])
def test_scorers_of_numbers_watch_regressors(monitor: Any) -> None:
    reg = MLPRegressor(**SMALL, early_stopping=True, monitor=monitor).fit(X, NUMBERS)
    assert len(reg.validation_scores_) == 3
    assert reg.validation_scores_[-1] > reg.validation_scores_[0]


def test_own_monitor_is_not_needed_to_load(tmp_path: Path) -> None:
    reg = MLPRegressor(**SMALL, early_stopping=True, warm_start=True, monitor=worst).fit(X, NUMBERS)
    loaded = again(reg, tmp_path)
    assert np.array_equal(loaded.predict(X), reg.predict(X))
    with pytest.raises(ValueError, match="worst is a function and not in the file"):
        loaded.fit(X, NUMBERS)
    known = again(reg, tmp_path, worst=worst).fit(X, NUMBERS)
    assert known.validation_scores_ == reg.fit(X, NUMBERS).validation_scores_


def test_scorer_by_name_comes_back_without_a_warning(tmp_path: Path) -> None:
    clf = MLPClassifier(**SMALL, early_stopping=True, warm_start=True, monitor="f1_macro").fit(X, THREE)
    loaded = again(clf, tmp_path)
    assert loaded.fit(X, THREE).validation_scores_ == clf.fit(X, THREE).validation_scores_


# files


def test_numbers_of_numpy_are_numbers_after_loading(tmp_path: Path) -> None:
    given = {"hidden_layer_sizes": [np.int64(4)], "max_iter": np.int64(3), "class_weight": {np.int64(1): np.float32(2)}}
    clf = MLPClassifier(**given, random_state=np.int64(0)).fit(X, TWO)
    loaded = again(clf, tmp_path)
    assert loaded.max_iter == 3
    assert np.ndim(loaded.max_iter) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.array_equal(loaded.fit(X, TWO).predict_proba(X), clf.predict_proba(X))


def test_calibration_belongs_to_the_weights_it_was_made_for():
    A, b = make_classification(200, 5, random_state=0)
    clf = MLPClassifier((4,), max_iter=300, tol=0.01, random_state=0).fit(A, b)
    assert clf.calibrate(A, b).temperature_ != 1.0
    assert clf.partial_fit(A, b).temperature_ == 1.0
