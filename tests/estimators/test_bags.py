"""The rows of each member: bootstrap samples, folds, and what is predicted for rows that members have not seen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from pellucid.errors import DataWarning
from pellucid.estimators.ensembles.bagged import BaggedMLPClassifier, BaggedMLPRegressor
from pellucid.estimators.ensembles.resampling import bags, content_order
from tests.estimators.ensemble_cases import LABELS, NUMBERS, X, classifier, regressor, same
from tests.estimators.marks import few_epochs, odd_data

pytestmark = [few_epochs, odd_data]

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
    assert_array_equal(ensemble._reading.of(member, X)[:, ensemble.classes_ == absent], 0.0)


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
