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
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import load, nn, optim
from pellucid.estimators.classifier import DataWarning, MLPClassifier
from pellucid.estimators.ensembles.bagged import BaggedMLPClassifier, BaggedMLPRegressor
from pellucid.estimators.ensembles.resampling import bags, content_order
from pellucid.estimators.regressor import MLPRegressor
from pellucid.estimators.settings import TrainingSettings
from pellucid.train import Callback

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
LABELS = np.array(["cat", "dog", "eel"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
NUMBERS = X[:, 0] ** 2 - X[:, 1] + 0.1 * rng.normal(size=120)
WEIGHTS = rng.uniform(0.5, 2.0, 120)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::pellucid.estimators.DataWarning"),
]


def classifier(**given):
    return MLPClassifier((8,), **{"max_iter": 8, "learning_rate_init": 0.01, "batch_size": 32, **given})


def regressor(**given):
    given = {"max_iter": 8, "learning_rate_init": 0.01, "batch_size": 32, **given}
    return MLPRegressor(hidden_layer_sizes=(8,), **given)


def same(a, b):
    assert_array_equal(a.model_.params.keys(), b.model_.params.keys())
    for name, w in a.model_.params.items():
        assert_array_equal(w, b.model_.params[name])


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
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# members


@pytest.mark.parametrize("engine", ["numpy", "native"])
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
@pytest.mark.parametrize("engine", ["numpy", "native"])
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


def test_a_bootstrap_sample_has_632_of_1000_rows():
    n = 2000
    shares = bags(np.arange(n)[:, None] * 1.0, np.zeros(n), None, None, 1.0, range(50))
    unique = np.array([len(np.unique(share.rows)) / n for share in shares])
    expected = 1 - (1 - 1 / n) ** n
    assert abs(expected - 0.632) < 1e-3
    assert abs(unique.mean() - expected) < 4 * unique.std(ddof=1) / np.sqrt(50)
    for share in shares:
        assert len(share.rows) == n
        assert_array_equal(np.union1d(share.rows, share.held), np.arange(n))
        assert not np.intersect1d(share.rows, share.held).size


@pytest.mark.parametrize(("size", "rows"), [(0.5, 60), (1.0, 120), (7, 7), (1, 1)])
def test_max_samples_is_a_share_or_a_number(size, rows):
    ensemble = BaggedMLPRegressor(regressor(batch_size="auto"), 2, max_samples=size, random_state=0).fit(X, NUMBERS)
    assert [len(one) for one in ensemble.estimators_samples_] == [rows, rows]


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(120)
    one = BaggedMLPClassifier(classifier(), 3, random_state=0).fit(X, LABELS)
    two = BaggedMLPClassifier(classifier(), 3, random_state=0).fit(X[order], LABELS[order])
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert_array_equal(one.oob_decision_function_[order], two.oob_decision_function_)


def test_the_order_of_contents_tells_rows_apart():
    from scipy import sparse

    numbers = np.random.default_rng(0).integers(0, 3, (3000, 12)).astype(float)
    numbers = np.unique(numbers, axis=0)
    y = np.zeros(len(numbers))
    for made in (numbers, sparse.csr_array(numbers)):
        order = content_order(made, y)
        assert_array_equal(np.sort(order), np.arange(len(y)))
        back = content_order(made[::-1] if made is numbers else made[np.arange(len(y))[::-1]], y)
        assert_array_equal(numbers[order], numbers[::-1][back])  # no two rows share a key


def test_whole_weights_count_copies():
    counts = np.random.default_rng(2).integers(0, 4, 120)
    plain = BaggedMLPRegressor(regressor(), 3, random_state=0).fit(X.repeat(counts, 0), NUMBERS.repeat(counts))
    weighted = BaggedMLPRegressor(regressor(), 3, random_state=0).fit(X, NUMBERS, counts)
    assert_array_equal(plain.predict(X), weighted.predict(X))
    assert all(np.all(counts[rows] > 0) for rows in weighted.estimators_samples_)
    ones = BaggedMLPRegressor(regressor(), 3, random_state=0).fit(X, NUMBERS, np.ones(120))
    none = BaggedMLPRegressor(regressor(), 3, random_state=0).fit(X, NUMBERS)
    assert_array_equal(ones.predict(X), none.predict(X))


def test_large_weights_do_not_make_large_samples():
    ensemble = BaggedMLPRegressor(regressor(), 2, random_state=0).fit(X, NUMBERS, np.full(120, 10_000))
    assert len(ensemble.estimators_samples_[0]) == 120


def test_rows_of_weight_zero_are_never_drawn():
    weights = np.where(np.arange(120) < 60, 0.0, 1.5)
    ensemble = BaggedMLPClassifier(classifier(), 3, random_state=0).fit(X, LABELS, weights)
    assert all(rows.min() >= 60 for rows in ensemble.estimators_samples_)
    with pytest.raises(ValueError, match=r"(?i)sample weights"):
        ensemble.fit(X, LABELS, np.zeros(120))


@pytest.mark.parametrize("method", ["bagging", "folds", "seeds"])
def test_a_class_of_one_row_breaks_nothing(method):
    y = LABELS.copy()
    y[0] = "yak"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of the small class in folds
        ensemble = BaggedMLPClassifier(classifier(class_weight={"yak": 2.0}), 4, method=method, random_state=0).fit(
            X, y
        )
    assert ensemble.classes_.tolist() == ["cat", "dog", "eel", "yak"]
    assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1.0)
    if method == "bagging":
        assert all("yak" in y[rows] for rows in ensemble.estimators_samples_)


def test_a_sample_smaller_than_the_number_of_classes():
    ensemble = BaggedMLPClassifier(classifier(batch_size="auto"), 5, max_samples=2, random_state=0).fit(X, LABELS)
    assert {len(m.classes_) for m in ensemble.estimators_} == {2}
    found = ensemble.predict_proba(X)
    assert found.shape == (120, 3)
    assert_allclose(found.sum(axis=1), 1.0)
    member = ensemble.estimators_[0]
    absent = np.setdiff1d(ensemble.classes_, member.classes_)
    assert_array_equal(ensemble._output(member, X)[:, ensemble.classes_ == absent], 0.0)


# rows that members have not seen


def test_out_of_bag_predictions_come_from_members_that_did_not_draw_the_row():
    ensemble = BaggedMLPRegressor(regressor(), 5, random_state=0).fit(X, NUMBERS)
    for row in range(120):
        said = [
            member.predict(X[[row]])[0]
            for member, rows in zip(ensemble.estimators_, ensemble.estimators_samples_, strict=True)
            if row not in rows
        ]
        if said:
            assert_allclose(ensemble.oob_prediction_[row], np.mean(said))
        else:
            assert np.isnan(ensemble.oob_prediction_[row])
    some = ~np.isnan(ensemble.oob_prediction_)
    assert 0 < (~some).sum() < 30
    left = NUMBERS[some] - ensemble.oob_prediction_[some]
    assert_allclose(ensemble.oob_score_, 1 - np.sum(left**2) / np.sum((NUMBERS[some] - NUMBERS[some].mean()) ** 2))


def test_the_out_of_bag_score_is_about_that_of_new_rows():
    make = np.random.default_rng(5)
    Z = make.normal(size=(2000, 2))
    y = (Z[:, 0] * Z[:, 1] + 0.3 * make.normal(size=2000) > 0).astype(int)
    ensemble = BaggedMLPClassifier(classifier(max_iter=30, learning_rate_init=0.02), 12, random_state=0).fit(
        Z[:400], y[:400]
    )
    new = ensemble.score(Z[400:], y[400:])
    assert abs(ensemble.oob_score_ - new) < 4 * np.sqrt(new * (1 - new) / 400)
    assert ensemble.oob_score_ < ensemble.score(Z[:400], y[:400])


def test_many_rows_without_prediction_are_told():
    with pytest.warns(DataWarning, match=r"\d+% of the rows were in the bags of all 2 members"):
        BaggedMLPRegressor(regressor(), 2, random_state=0).fit(X, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        BaggedMLPRegressor(regressor(max_iter=1), 12, random_state=0).fit(X, NUMBERS)


def test_folds_are_cross_validation():
    ensemble = BaggedMLPClassifier(classifier(), 5, method="folds", random_state=4).fit(X, LABELS)
    held = [np.setdiff1d(np.arange(120), rows) for rows in ensemble.estimators_samples_]
    assert_array_equal(np.sort(np.concatenate(held)), np.arange(120))
    shares = [np.mean(LABELS[rows] == "dog") for rows in held]
    assert np.ptp(shares) < 0.05  # stratified
    right = [m.predict(X[rows]) == LABELS[rows] for m, rows in zip(ensemble.estimators_, held, strict=True)]
    assert_allclose(ensemble.oob_score_, np.mean(np.concatenate(right)))
    assert not np.isnan(ensemble.oob_decision_function_).any()
    draw = check_random_state(4)
    draw.randint(2**31 - 1, size=5)
    splits = StratifiedKFold(5, shuffle=True, random_state=draw.randint(2**31 - 1)).split(X, LABELS)
    for rows, (inside, _) in zip(ensemble.estimators_samples_, splits, strict=True):
        assert_array_equal(rows, inside)


@pytest.mark.parametrize("method", ["folds", "bagging"])
def test_early_stopping_watches_rows_that_the_member_does_not_train_on(method):
    base = regressor(early_stopping=True, n_iter_no_change=2, max_iter=30)
    ensemble = BaggedMLPRegressor(base, 4, method=method, random_state=0).fit(X, NUMBERS)
    for member, seed, rows in zip(ensemble.estimators_, ensemble.seeds_, ensemble.estimators_samples_, strict=True):
        held = np.setdiff1d(np.arange(120), rows)
        both = np.concatenate([rows, held])
        alone = clone(base).set_params(random_state=seed, threads=1)
        alone.fit(X[both], NUMBERS[both], val_rows=np.arange(len(rows), len(both)))
        same(member, alone)
        assert_allclose(member.score(X[held], NUMBERS[held]), member.best_validation_score_)


# snapshots


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_snapshots_are_one_training_at_the_ends_of_its_cycles(engine):
    rates, kept = [], []

    class Watch(Callback):
        def on_epoch_end(self, run):
            rates.append(run.lr)
            kept.append({name: np.array(w) for name, w in run.prediction[0].items()})

        def __deepcopy__(self, memo):
            return self

    base = regressor(max_iter=11, engine=engine, callbacks=[Watch()])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)  # all cycles were meant to be done, and no more
        ensemble = BaggedMLPRegressor(base, 3, method="snapshots", random_state=0).fit(X, NUMBERS)
    assert len(rates) == 12  # rounded up to cycles of 4
    assert rates[3] < 0.1 * rates[0]
    assert rates[:4] == rates[4:8] == rates[8:]
    assert len(ensemble.estimators_) == 3
    for member, end in zip(ensemble.estimators_, (3, 7, 11), strict=True):
        for name, w in member.model_.params.items():
            assert_array_equal(w, kept[end][name])
    mean = np.mean([m.predict(X) for m in ensemble.estimators_], axis=0)
    assert_allclose(ensemble.predict(X), mean, rtol=1e-6)
    assert np.ptp([m.predict(X[:1])[0] for m in ensemble.estimators_]) > 0


def test_snapshots_begin_each_cycle_with_the_rules_own_rate():
    for given, rate in (
        ({"optimizer": optim.RMSprop(0.02)}, 0.02),
        ({"optimizer": optim.chain(optim.ClipNorm(1.0), optim.SGD(0.3))}, 0.3),
        ({"optimizer": "adamw", "learning_rate_init": 0.005}, 0.005),
    ):
        ensemble = BaggedMLPRegressor(regressor(**given), 2, method="snapshots", random_state=0).fit(X, NUMBERS)
        assert ensemble.estimators_[0].model_.optimizer.rule.lr.start == rate


def test_snapshots_need_steps():
    with pytest.raises(ValueError, match=r"snapshots.*solver='lbfgs'"):
        BaggedMLPRegressor(regressor(solver="lbfgs"), 2, method="snapshots").fit(X, NUMBERS)
    with pytest.raises(ValueError, match=r"snapshots.*Pipeline has no"):
        BaggedMLPRegressor(make_pipeline(regressor()), 2, method="snapshots").fit(X, NUMBERS)


def test_time_that_is_over_leaves_the_snapshots_there_are():
    ensemble = BaggedMLPRegressor(regressor(max_iter=10_000, max_time=1e-3), 3, method="snapshots").fit(X, NUMBERS)
    assert len(ensemble.estimators_) == len(ensemble.estimators_samples_) == 1
    with pytest.raises(ValueError, match="return_std needs 2 members"):
        ensemble.predict(X, return_std=True)


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


def test_tables_of_any_kind():
    pandas = pytest.importorskip("pandas")
    from pellucid.estimators.tables.tabular import TabularMLPClassifier

    frame = pandas.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    frame.loc[::7, "size"] = np.nan
    y = np.where(X[:, 1] + 0.1 * X[:, 0] > 0, "yes", "no")
    base = TabularMLPClassifier((16,), max_iter=15)
    ensemble = BaggedMLPClassifier(base, 3, random_state=0, n_jobs=1).fit(frame, y)
    assert ensemble.feature_names_in_.tolist() == ["size", "colour"]
    assert ensemble.oob_score_ > 0.75
    member, rows = ensemble.estimators_[0], ensemble.estimators_samples_[0]
    held = np.setdiff1d(np.arange(120), rows)
    alone = clone(base).set_params(random_state=ensemble.seeds_[0], threads=1)
    alone.fit(frame.iloc[rows], y[rows], X_val=frame.iloc[held], y_val=y[held])
    assert_array_equal(member.predict_proba(frame), alone.predict_proba(frame))
    assert_array_equal(ensemble.predict(frame[["colour", "size"]]), ensemble.predict(frame))


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
