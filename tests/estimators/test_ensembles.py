"""Ensembles: members as if trained alone, out-of-bag predictions, deviations, intervals, reports."""

from __future__ import annotations

import _thread
import pickle
import signal
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import load
from pellucid.estimators.classifier import MLPClassifier
from pellucid.estimators.ensembles.bagged import BaggedMLPClassifier, BaggedMLPRegressor
from pellucid.estimators.regressor import MLPRegressor
from pellucid.estimators.settings import TrainingSettings
from pellucid.train import Callback
from tests.both_engines import each_engine
from tests.estimators.ensemble_cases import LABELS, NUMBERS, WEIGHTS, X, classifier, regressor, same
from tests.estimators.marks import converted_targets, few_epochs, odd_data, skipped_checks

rng = np.random.default_rng(0)

pytestmark = [
    few_epochs,
    odd_data,
]


# scikit-learn's checks

SMALL = {"hidden_layer_sizes": (16,), "max_iter": 60, "learning_rate_init": 0.03}


@parametrize_with_checks(
    [
        BaggedMLPClassifier(MLPClassifier(**SMALL), 3),
        BaggedMLPRegressor(MLPRegressor(**SMALL), 3),
        BaggedMLPClassifier(MLPClassifier(**SMALL), 2, method="seeds"),
        BaggedMLPRegressor(MLPRegressor(**SMALL), 2, method="seeds"),
    ]
)
@converted_targets
@skipped_checks
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# members


@each_engine
def test_a_member_is_an_estimator_fitted_alone(engine):
    for ensemble, y, weights in (
        (BaggedMLPClassifier(classifier(engine=engine), 3, random_state=7), LABELS, None),
        (BaggedMLPRegressor(regressor(engine=engine), 3, random_state=7), NUMBERS, WEIGHTS),
    ):
        ensemble.fit(X, y, weights)
        assert_array_equal(ensemble.seeds_, check_random_state(7).randint(2**31 - 1, size=3))
        for member, seed, rows in zip(ensemble.estimators_, ensemble.seeds_, ensemble.estimators_samples_, strict=True):
            alone = clone(ensemble.estimator).set_params(random_state=seed, threads=1)
            alone.fit(X[rows], y[rows], None if weights is None else weights[rows])
            same(member, alone)


@pytest.mark.parametrize("method", ["bagging", "seeds", "folds"])
@each_engine
def test_the_number_of_jobs_changes_nothing(method, engine):
    one, two = (
        BaggedMLPClassifier(classifier(engine=engine), 4, method=method, n_jobs=jobs, random_state=1).fit(X, LABELS)
        for jobs in (1, 2)
    )
    for a, b in zip(one.estimators_, two.estimators_, strict=True):
        same(a, b)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_fewer_members_are_the_first_of_more():
    few, many = (BaggedMLPRegressor(regressor(), n, random_state=3).fit(X, NUMBERS) for n in (2, 4))
    for a, b in zip(few.estimators_, many.estimators_, strict=False):
        same(a, b)


def test_deep_ensembles_see_all_rows_and_differ_by_seed():
    ensemble = BaggedMLPRegressor(regressor(), 3, method="seeds", random_state=0).fit(X, NUMBERS)
    for member, seed, rows in zip(ensemble.estimators_, ensemble.seeds_, ensemble.estimators_samples_, strict=True):
        assert_array_equal(rows, np.arange(120))
        same(member, regressor(random_state=seed, threads=1).fit(X, NUMBERS))
    assert np.ptp([m.predict(X[:1])[0] for m in ensemble.estimators_]) > 0
    assert not hasattr(ensemble, "oob_score_")


def test_the_callers_estimator_is_left_alone():
    given = classifier(random_state=5, threads=2)
    ensemble = BaggedMLPClassifier(given, 2, random_state=0).fit(X, LABELS)
    assert not hasattr(given, "model_")
    assert (given.random_state, given.threads) == (5, 2)
    assert ensemble.estimator is given


def test_a_pipeline_may_be_a_member():
    scaled = make_pipeline(StandardScaler(), classifier(max_iter=40))
    ensemble = BaggedMLPClassifier(scaled, 3, random_state=0).fit(X * 1000, LABELS)
    assert ensemble.oob_score_ > 0.7
    assert ensemble.estimators_[0][-1].random_state == ensemble.seeds_[0]
    with pytest.raises(ValueError, match="Pipeline takes no sample_weight"):
        ensemble.fit(X, LABELS, WEIGHTS)


# bootstrap samples


# rows that members have not seen


# snapshots


# predictions


def test_predictions_are_means_and_deviations_of_members():
    ensemble = BaggedMLPRegressor(regressor(), 4, random_state=0).fit(X, NUMBERS)
    said = np.stack([m.predict(X) for m in ensemble.estimators_])
    mean, deviation = ensemble.predict(X, return_std=True)
    assert_allclose(mean, said.mean(axis=0))
    assert_allclose(ensemble.predict(X), mean)
    assert_allclose(deviation, said.std(axis=0, ddof=1))

    ensemble = BaggedMLPClassifier(classifier(), 4, random_state=0).fit(X, LABELS)
    said = np.stack([m.predict_proba(X) for m in ensemble.estimators_])
    mean, deviation = ensemble.predict_proba(X, return_std=True)
    assert_allclose(mean, said.mean(axis=0))
    assert_allclose(deviation, said.std(axis=0, ddof=1))
    assert_array_equal(ensemble.predict(X), ensemble.classes_[np.argmax(mean, axis=1)])
    assert_allclose(np.exp(ensemble.predict_log_proba(X)), mean)


def test_members_without_probabilities_vote():
    y = np.where(LABELS == "cat", "cat", "other")
    ensemble = BaggedMLPClassifier(classifier(loss="hinge"), 5, random_state=0).fit(X, y)
    assert not hasattr(ensemble, "predict_proba")
    votes = np.mean([m.predict(X) == "cat" for m in ensemble.estimators_], axis=0)
    assert np.sum((votes > 0) & (votes < 1)) > 0
    assert_array_equal(ensemble.predict(X), np.where(votes > 0.5, "cat", "other"))


def test_several_labels():
    y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 1]).astype(int)
    ensemble = BaggedMLPClassifier(classifier(max_iter=60), 5, random_state=0).fit(X, y)
    assert ensemble.predict(X).shape == y.shape
    assert set(np.unique(ensemble.predict(X))) == {0, 1}
    assert ensemble.oob_decision_function_.shape == y.shape
    assert ensemble.score(X, y) > 0.7
    folded = BaggedMLPClassifier(classifier(), 3, method="folds", random_state=0).fit(X, y)
    assert folded.predict_proba(X).shape == y.shape


def test_several_outputs():
    y = np.column_stack([NUMBERS, -2 * NUMBERS])
    ensemble = BaggedMLPRegressor(regressor(max_iter=60), 8, random_state=0).fit(X, y)
    assert ensemble.predict(X).shape == ensemble.oob_prediction_.shape == y.shape
    low, high = ensemble.predict_interval(X)
    assert low.shape == high.shape == y.shape
    assert np.ptp(high - low, axis=0).max() < 1e-12
    assert (high - low)[0, 1] > 1.5 * (high - low)[0, 0]
    assert ensemble.score(X, y) > 0.6


def test_data_frames_and_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    ensemble = BaggedMLPClassifier(classifier(), 2, random_state=0).fit(frame, pandas.Series(LABELS))
    assert ensemble.feature_names_in_.tolist() == ["a", "b", "c"]
    assert ensemble.n_features_in_ == 3
    assert_array_equal(
        ensemble.predict_proba(frame),
        BaggedMLPClassifier(classifier(), 2, random_state=0).fit(X, LABELS).predict_proba(X),
    )
    with pytest.raises(ValueError, match="feature names should match"):
        ensemble.predict(frame[["b", "a", "c"]])


def test_sparse_rows_are_as_dense_ones():
    from scipy import sparse

    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    full = BaggedMLPRegressor(regressor(), 2, random_state=0, method="folds").fit(thin, NUMBERS)
    spare = BaggedMLPRegressor(regressor(), 2, random_state=0, method="folds").fit(sparse.csc_matrix(thin), NUMBERS)
    assert_allclose(full.predict(thin), spare.predict(sparse.csr_matrix(thin)))


@pytest.mark.parametrize("method", ["bagging", "snapshots"])
def test_saved_and_loaded(tmp_path, method):
    for ensemble, y in (
        (BaggedMLPClassifier(classifier(), 2, method=method, random_state=0), LABELS),
        (BaggedMLPRegressor(regressor(), 2, method=method, random_state=0), NUMBERS),
    ):
        ensemble.fit(X, y).save(tmp_path / "ensemble.pellucid")
        again = load(tmp_path / "ensemble.pellucid")
        assert_array_equal(again.predict(X), ensemble.predict(X))
        assert_array_equal(again.estimators_samples_, ensemble.estimators_samples_)


def test_pickle_clone_and_search():
    ensemble = BaggedMLPClassifier(classifier(), 2, random_state=0).fit(X, LABELS)
    again = pickle.loads(pickle.dumps(ensemble))
    assert_array_equal(again.predict_proba(X), ensemble.predict_proba(X))
    assert_array_equal(clone(ensemble).fit(X, LABELS).predict_proba(X), ensemble.predict_proba(X))
    search = GridSearchCV(ensemble, {"estimator__alpha": [1e-4, 10.0], "n_estimators": [2]}, cv=2)
    assert search.fit(X, LABELS).best_estimator_.n_estimators == 2


# intervals


# reports


# errors and warnings


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_estimators": 0}, "n_estimators is a whole number from 1, got 0"),
        ({"n_estimators": True}, "n_estimators"),
        ({"method": "boosting"}, "method is one of 'bagging', 'seeds', 'folds', 'snapshots', got 'boosting'"),
        ({"max_samples": 1.5}, "max_samples is a share"),
        ({"max_samples": 0}, "max_samples is a share"),
        ({"n_jobs": 0}, "n_jobs is a whole number from 1"),
        ({"n_estimators": 1, "method": "folds"}, "n_estimators from 2 to the number of rows, 120, got 1"),
        ({"estimator": regressor(training=TrainingSettings(checkpoint="x"))}, "share a checkpoint"),
    ],
)
def test_parameters_that_cannot_be_used(wrong, said):
    with pytest.raises(ValueError, match=said):
        BaggedMLPRegressor(regressor()).set_params(**wrong).fit(X, NUMBERS)


def test_an_error_names_the_member_and_leaves_the_ensemble_as_it_was():
    ensemble = BaggedMLPRegressor(regressor(), 2, random_state=0).fit(X, NUMBERS)
    before = ensemble.predict(X)
    with pytest.raises(ValueError, match="solver is") as caught:
        ensemble.set_params(estimator__solver="none").fit(X, NUMBERS)
    assert "in ensemble, member 0 of 2" in caught.value.__notes__
    assert_array_equal(ensemble.predict(X), before)


def test_warnings_of_members_are_told_once():
    shown = warnings.showwarning
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        BaggedMLPRegressor(regressor(max_iter=2), 6, method="seeds", random_state=0).fit(X, NUMBERS)
    assert [w.category for w in found] == [ConvergenceWarning]
    text = str(found[0].message)
    assert text.startswith("A member of the ensemble: Stochastic Optimizer: Maximum iterations (2)")
    assert text.endswith("5 more members say the like.")
    assert found[0].filename == __file__
    assert warnings.showwarning is shown


def test_interrupting_ends_all_members():
    class Interrupt(Callback):
        sent = False

        def on_epoch_end(self, run):
            if not Interrupt.sent:
                Interrupt.sent = True
                _thread.interrupt_main()

    base = regressor(max_iter=100_000_000, n_iter_no_change=np.inf, callbacks=[Interrupt()])
    ensemble = BaggedMLPRegressor(base, 4, n_jobs=2)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ensemble.fit(X, NUMBERS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not hasattr(ensemble, "estimators_")


@pytest.mark.parametrize("method", ["bagging", "folds", "snapshots"])
def test_a_failed_fit_changes_nothing(method):
    ensemble = BaggedMLPRegressor(regressor(), 3, random_state=0).fit(X, NUMBERS)
    mean = ensemble.predict(X)
    ensemble.set_params(estimator=regressor(learning_rate_init=1e200, solver="sgd"), method=method)
    before = dict(vars(ensemble))
    with pytest.raises(ValueError, match="Solver produced non-finite parameter weights"):
        ensemble.fit(X[:, :2], NUMBERS)
    assert vars(ensemble).keys() == before.keys()
    assert all(vars(ensemble)[name] is value for name, value in before.items())
    assert_array_equal(ensemble.predict(X), mean)


def test_another_fit_leaves_nothing_of_the_last():
    ensemble = BaggedMLPRegressor(regressor(), 3, random_state=0).fit(X, NUMBERS)
    ensemble.set_params(method="seeds").fit(X[:, :2], NUMBERS)
    assert not hasattr(ensemble, "oob_score_")
    assert ensemble.n_features_in_ == 2
    with pytest.raises(ValueError, match="method='seeds' has none"):
        ensemble.predict_interval(X[:, :2])
