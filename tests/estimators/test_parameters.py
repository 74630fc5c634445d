"""Weights, repeated and continued fits, kinds of input, and scikit-learn's tools around the estimators."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from pellucid import TabularMLPClassifier
from pellucid.engine.native.runtime import cache
from pellucid.estimators import MLPClassifier, MLPRegressor, NetworkSettings, TrainingSettings
from tests.both_engines import each_engine
from tests.estimators import few_rows as few
from tests.estimators.marks import few_epochs

pytestmark = few_epochs
X, y = make_classification(120, 6, n_informative=4, n_classes=3, weights=[0.6, 0.3, 0.1], random_state=0)
target = X[:, 0] * X[:, 1] + X[:, 2]
BOTH = [(MLPClassifier, y), (MLPRegressor, target)]


def small(cls: Any, **more: Any) -> Any:
    return cls(**{"hidden_layer_sizes": (8,), "max_iter": 5, "random_state": 0, "batch_size": 32, **more})


def assert_same_bits(a: Any, b: Any) -> None:
    for mine, other in zip(a.coefs_ + a.intercepts_, b.coefs_ + b.intercepts_, strict=True):
        assert_array_equal(mine, other)


# weights


@each_engine
@pytest.mark.parametrize(("cls", "y"), BOTH)
@pytest.mark.parametrize("early", [False, True])
def test_weights_of_one_change_no_bit(cls: Any, y: Any, engine: str, early: bool) -> None:
    plain = small(cls, engine=engine, early_stopping=early).fit(X, y)
    assert_same_bits(plain, small(cls, engine=engine, early_stopping=early).fit(X, y, np.ones(len(X))))


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
@pytest.mark.parametrize(("cls", "y"), BOTH)
def test_a_weight_of_two_is_the_row_twice(cls: Any, y: Any, solver: str) -> None:
    weights = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(X)), weights.astype(int))
    settings: dict[str, Any] = {"solver": solver, "shuffle": False, "alpha": 0.5, "max_iter": 20}
    a = small(cls, batch_size=len(X), **settings).fit(X, y, weights)
    b = small(cls, batch_size=len(twice), **settings).fit(X[twice], y[twice])
    assert_allclose(a.predict(X) if cls is MLPRegressor else a.predict_proba(X), _outputs(b), rtol=1e-6, atol=1e-8)


def _outputs(estimator: Any) -> Any:
    return estimator.predict_proba(X) if isinstance(estimator, MLPClassifier) else estimator.predict(X)


def test_balanced_classes_are_the_same_sample_weights() -> None:
    weights = compute_sample_weight("balanced", y)
    a, b = small(MLPClassifier, class_weight="balanced").fit(X, y), small(MLPClassifier).fit(X, y, weights)
    assert_same_bits(a, b)
    given = {k: float(w) for k, w in zip(y, weights, strict=True)}
    assert_same_bits(small(MLPClassifier, class_weight=given).fit(X, y), b)
    own = np.random.default_rng(0).uniform(size=len(X))
    both = small(MLPClassifier, class_weight="balanced").fit(X, y, own)
    assert_same_bits(both, small(MLPClassifier).fit(X, y, own * weights))


def test_class_weight_names_a_class_that_is_not_among_these_rows() -> None:
    seen = few.THREE < 2
    clf = MLPClassifier(**few.SMALL, class_weight={2: 3.0}).partial_fit(few.X[seen], few.THREE[seen], classes=[0, 1, 2])
    plain = MLPClassifier(**few.SMALL).partial_fit(few.X[seen], few.THREE[seen], classes=[0, 1, 2])
    assert np.array_equal(clf.predict_proba(few.X), plain.predict_proba(few.X))
    TabularMLPClassifier(folds=1, **few.SMALL, class_weight={2: 3.0}).fit(
        few.X, few.THREE, X_val=few.X[seen], y_val=few.THREE[seen]
    )
    with pytest.raises(ValueError, match="class_weight names"):
        MLPClassifier(**few.SMALL, class_weight={7: 3.0}).fit(few.X, few.THREE)


def test_rows_to_train_on_that_all_weigh_nothing() -> None:
    weights = np.zeros(60)
    weights[:5] = 1.0
    with pytest.raises(ValueError, match="55 rows to train on are 0"):
        MLPClassifier(**few.SMALL).fit(few.X, few.TWO, weights, val_rows=np.arange(5))


# again, and on


@each_engine
@pytest.mark.parametrize(("cls", "y"), BOTH)
def test_the_same_bits_again(cls: Any, y: Any, engine: str) -> None:
    a = small(cls, engine=engine, dropout=0.2).fit(X, y)
    assert_same_bits(a, small(cls, engine=engine, dropout=0.2).fit(X, y))
    assert_same_bits(a, clone(a).fit(X, y))
    assert_same_bits(a, a.fit(X, y))
    other = small(cls, engine=engine, dropout=0.2, random_state=1).fit(X, y)
    assert not np.array_equal(a.coefs_[0], other.coefs_[0])


def test_engines_and_threads_agree() -> None:
    a, b, c = (
        small(MLPClassifier, engine=engine, threads=threads).fit(X, y)
        for engine, threads in (("numpy", None), ("native", 1), ("native", 2))
    )
    for mine, other, third in zip(a.coefs_, b.coefs_, c.coefs_, strict=True):
        assert_allclose(mine, other, rtol=1e-10, atol=1e-12)
        assert_allclose(mine, third, rtol=1e-10, atol=1e-12)


@each_engine
@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize(("cls", "y"), BOTH)
def test_partial_fits_are_the_epochs_of_a_fit(cls: Any, y: Any, solver: str, engine: str) -> None:
    settings: dict[str, Any] = {"solver": solver, "engine": engine, "dropout": 0.1}
    if solver == "sgd":
        settings["learning_rate"] = "invscaling"
    whole = small(cls, **settings).fit(X, y)
    parts = small(cls, **settings)
    for _ in range(5):
        parts.partial_fit(X, y, **({"classes": np.unique(y)} if cls is MLPClassifier else {}))
    assert_same_bits(whole, parts)
    assert whole.loss_curve_ == parts.loss_curve_
    assert whole.t_ == parts.t_
    assert parts.n_iter_ == 1


@pytest.mark.parametrize("way", ["as it is", "pickle", "joblib", "saved"])
@each_engine
@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_a_warm_start_goes_on_exactly(solver: str, engine: str, way: str, tmp_path: Any) -> None:
    settings: dict[str, Any] = {"solver": solver, "engine": engine, "warm_start": True, "dropout": 0.1}
    settings |= {"training": TrainingSettings(ema=0.9), "norm": "batch"}
    whole = small(MLPClassifier, max_iter=10, **settings).fit(X, y)
    parts = small(MLPClassifier, max_iter=4, **settings).fit(X, y)
    if way == "pickle":
        parts = pickle.loads(pickle.dumps(parts))
    elif way == "joblib":
        joblib.dump(parts, tmp_path / "a.joblib")
        parts = joblib.load(tmp_path / "a.joblib")
    elif way == "saved":
        from pellucid import load

        parts.save(tmp_path / "a.pel")
        parts = load(tmp_path / "a.pel")
    parts.set_params(max_iter=6).fit(X, y)
    assert_same_bits(whole, parts)
    assert whole.loss_curve_ == parts.loss_curve_
    assert parts.n_iter_ == 6
    assert_array_equal(whole.predict_proba(X), parts.predict_proba(X))


def test_a_warm_start_holds_out_the_same_rows_and_keeps_the_best() -> None:
    clf = small(MLPClassifier, early_stopping=True, warm_start=True, max_iter=30, n_iter_no_change=100).fit(X, y)
    best = clf.best_validation_score_
    clf.set_params(learning_rate_init=10.0, max_iter=3).fit(X, y)
    assert clf.best_validation_score_ >= best
    assert max(clf.validation_scores_) == clf.best_validation_score_
    assert clf.validation_scores_[clf.best_iter_ - 1] == clf.best_validation_score_


def test_a_warm_start_goes_on_with_the_parameters_of_now() -> None:
    clf = small(MLPClassifier, warm_start=True).fit(X, y)
    before = [w.copy() for w in clf.coefs_]
    clf.set_params(learning_rate_init=1e-12, max_iter=1, dropout=0.5, label_smoothing=0.1).fit(X, y)
    for mine, other in zip(clf.coefs_, before, strict=True):
        assert_allclose(mine, other, atol=1e-10)
    assert any("dropout" in name for name, _ in clf.model_.net.children)
    clf.set_params(solver="sgd", learning_rate_init=0.1).fit(X, y)  # another rule begins with a state of its own
    assert not np.allclose(clf.coefs_[0], before[0])
    clf.set_params(hidden_layer_sizes=(9,))
    with pytest.raises(ValueError, match="a warm start goes on with the same layers"):
        clf.fit(X, y)
    assert clf.coefs_[0].shape == (6, 8)


def test_pickles_predict_the_same() -> None:
    for cls, t in BOTH:
        a = small(cls, early_stopping=True, monitor="neg_log_loss" if cls is MLPClassifier else "mae").fit(X, t)
        b = pickle.loads(pickle.dumps(a))
        assert_array_equal(_outputs(a), _outputs(b))


def test_another_alpha_or_other_rows_compile_nothing() -> None:
    def fit(cls: Any, count: int, t: Any, **more: Any) -> int:
        before = cache.compilations
        small(cls, engine="native", **more).fit(X[:count], t[:count])
        return cache.compilations - before

    for cls, t in BOTH:
        for compat in (None, "sklearn"):
            fit(cls, 120, t, compat=compat)
            assert fit(cls, 120, t, compat=compat, alpha=0.03) == 0
            assert fit(cls, 97, t, compat=compat, alpha=0.2, learning_rate_init=0.1) == 0


# inputs


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_sparse_is_dense(kind: Any, solver: str) -> None:
    holes = np.where(np.abs(X) > 0.7, X, 0.0)
    a = small(MLPClassifier, solver=solver).fit(holes, y)
    b = small(MLPClassifier, solver=solver).fit(kind(holes), y)
    assert_same_bits(a, b)
    assert_allclose(a.predict_proba(holes), b.predict_proba(kind(holes)), rtol=1e-12)


@pytest.mark.parametrize("shuffle", [True, False])
def test_large_sparse_matrices_are_trained_on_in_batches(shuffle: bool, monkeypatch: Any) -> None:
    """Where the network cannot take sparse rows."""
    settings: dict[str, Any] = {"shuffle": shuffle, "engine": "numpy", "network": NetworkSettings(input_dropout=0.2)}
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    a = small(MLPClassifier, early_stopping=True, **settings).fit(sparse.csr_array(X), y, weights)
    monkeypatch.setattr("pellucid.data.sparse.MOST", 1000)
    b = small(MLPClassifier, early_stopping=True, **settings).fit(sparse.csr_array(X), y, weights)
    for mine, other in zip(a.coefs_, b.coefs_, strict=True):
        assert_allclose(mine, other, rtol=1e-12)
    parts = small(MLPClassifier, warm_start=True, max_iter=2, **settings).fit(sparse.csr_array(X), y)
    parts.set_params(max_iter=3).fit(sparse.csr_array(X), y)
    whole = small(MLPClassifier, **settings).fit(X, y)
    for mine, other in zip(parts.coefs_, whole.coefs_, strict=True):
        assert_allclose(mine, other, rtol=1e-12)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, 20, 30], [-1, 0, 1]])
def test_labels_of_any_kind(labels: list[Any]) -> None:
    named = np.array(labels)[y]
    a, b = small(MLPClassifier).fit(X, y), small(MLPClassifier).fit(X, named)
    assert_same_bits(a, b)
    assert_array_equal(np.array(labels)[a.predict(X)], b.predict(X))
    assert b.classes_.tolist() == sorted(labels)
    assert b.predict(X).dtype == named.dtype


def test_yes_and_no() -> None:
    yes = y == 0
    clf = small(MLPClassifier, max_iter=60, learning_rate_init=0.02).fit(X, yes)
    assert clf.predict(X).dtype == bool
    assert clf.score(X, yes) > 0.8
    assert clf.predict_proba(X).shape == (len(X), 2)
    assert clf.decision_function(X).shape == (len(X),)
    assert_array_equal(clf.decision_function(X) > 0, clf.predict(X))


def test_several_labels() -> None:
    A, labels = make_multilabel_classification(100, 6, n_classes=4, random_state=0)
    a = small(MLPClassifier, max_iter=50).fit(A, labels)
    b = small(MLPClassifier, max_iter=50).fit(A, sparse.csr_matrix(labels))
    assert_same_bits(a, b)
    assert a.predict(A).shape == a.predict_proba(A).shape == (100, 4)
    assert_array_equal(a.predict(A), a.predict_proba(A) > 0.5)


def test_several_outputs() -> None:
    several = np.column_stack([target, -target])
    reg = small(MLPRegressor, solver="lbfgs", max_iter=50).fit(X, several)
    assert reg.predict(X).shape == (len(X), 2)
    assert reg.score(X, several) > 0.5


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(frame: Any) -> None:
    names = list("abcdef")
    table = frame(dict(zip(names, X.T, strict=True)))
    clf = small(MLPClassifier).fit(table, y)
    assert clf.feature_names_in_.tolist() == names
    assert clf.n_features_in_ == 6
    assert_same_bits(clf, small(MLPClassifier).fit(X, y))
    assert_array_equal(clf.predict(table), small(MLPClassifier).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(table[["b", "a", "c", "d", "e", "f"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        clf.predict(table.rename({"a": "z"}) if frame is pl.DataFrame else table.rename(columns={"a": "z"}))


@each_engine
@pytest.mark.parametrize(("cls", "y"), BOTH)
def test_single_precision_stays_single(cls: Any, y: Any, engine: str) -> None:
    few = small(cls, engine=engine, early_stopping=True).fit(X.astype(np.float32), y)
    assert {w.dtype for w in few.coefs_ + few.intercepts_} == {np.dtype(np.float32)}
    assert _outputs(few).dtype == np.float32
    assert few.transform(X.astype(np.float32)).dtype == np.float32
    forced = small(cls, engine=engine, dtype="float32").fit(X, y)
    assert forced.coefs_[0].dtype == np.float32


def test_columns_may_be_permuted_with_their_weights() -> None:
    order = np.random.default_rng(0).permutation(6)
    a = small(MLPClassifier).fit(X, y)
    b = small(MLPClassifier).fit(X[:, order], y)
    b.coefs_ = [a.coefs_[0][order], a.coefs_[1]]
    b.intercepts_ = a.intercepts_
    assert_allclose(a.predict_proba(X), b.predict_proba(X[:, order]), rtol=1e-12)


# scikit-learn's tools


def test_transform_gives_named_columns() -> None:
    clf = small(MLPClassifier).set_output(transform="pandas").fit(X, y)
    found = clf.transform(X)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == [f"mlpclassifier{i}" for i in range(8)]
    assert clf.get_feature_names_out().tolist() == list(found.columns)
    hidden = np.maximum(X @ clf.coefs_[0] + clf.intercepts_[0], 0)
    assert_allclose(found.to_numpy(), hidden, rtol=1e-10)
    assert_allclose(clf.logits(X), hidden @ clf.coefs_[1] + clf.intercepts_[1], rtol=1e-8)


def test_grids_reach_into_settings() -> None:
    grid = {
        "hidden_layer_sizes": [(4,), (8,)],
        "training__clip_norm": [None, 0.1],
        "network__input_dropout": [0.0, 0.5],
    }
    clf = small(MLPClassifier, training=TrainingSettings(), network=NetworkSettings())
    found = GridSearchCV(clf, grid, cv=2).fit(X, y)
    assert len(found.cv_results_["params"]) == 8
    assert found.best_estimator_.score(X, y) > 0.3
    assert clf.training.clip_norm is None  # the original is left alone
    through = make_pipeline(StandardScaler(), small(MLPClassifier))
    spread = {"mlpclassifier__alpha": [1e-4, 1e-2, 1.0]}
    assert RandomizedSearchCV(through, spread, n_iter=2, cv=2, random_state=0).fit(X, y).best_score_ > 0.3
    halving = HalvingGridSearchCV(through, spread, resource="mlpclassifier__max_iter", max_resources=8, cv=2)
    assert halving.fit(X, y).best_score_ > 0.3


def test_n_jobs_changes_nothing() -> None:
    clf = small(MLPClassifier, max_iter=20)
    assert_array_equal(cross_val_score(clf, X, y, cv=3), cross_val_score(clf, X, y, cv=3, n_jobs=2))


def test_around_it() -> None:
    yes = y == 0
    clf = small(MLPClassifier, max_iter=60, learning_rate_init=0.02).fit(X, yes)
    calibrated = CalibratedClassifierCV(small(MLPClassifier, max_iter=40), cv=2).fit(X, yes)
    assert calibrated.predict_proba(X).shape == (len(X), 2)
    voting = VotingClassifier([("a", clone(clf)), ("b", clone(clf).set_params(alpha=1.0))], voting="soft")
    assert voting.fit(X, yes).score(X, yes) > 0.7
    importance = permutation_importance(clf, X, yes, n_repeats=2, random_state=0)
    assert importance.importances_mean.shape == (6,)
    assert importance.importances_mean.max() > 0
    regressor = small(MLPRegressor, solver="lbfgs", max_iter=100)
    assert cross_val_score(make_pipeline(StandardScaler(), regressor), X, target, cv=3).shape == (3,)


def test_what_fit_takes_is_routed() -> None:
    weights = np.random.default_rng(0).uniform(size=len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        clf = small(MLPClassifier, early_stopping=True)
        clf.set_fit_request(sample_weight=True, X_val=True, y_val=True).set_score_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf, transform_input=["X_val"])
        pipe.fit(X, y, sample_weight=weights, X_val=X[:20], y_val=y[:20])
        inner = pipe[-1]
        scaled = StandardScaler().fit(X).transform(X)
        expected = small(MLPClassifier, early_stopping=True).fit(scaled, y, weights, X_val=scaled[:20], y_val=y[:20])
        assert_same_bits(inner, expected)
        scores = cross_val_score(clf.set_fit_request(X_val=False, y_val=False), X, y, params={"sample_weight": weights})
        assert scores.shape == (5,)
