"""A fit that goes on: names of columns, the penalty, and what a user has put in the place of what was learned."""

import numpy as np
import pandas as pd
import pytest

from pellucid import MLPClassifier, TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators import MLPRegressor
from tests.estimators import few_rows as few
from tests.estimators.marks import few_epochs

pytestmark = few_epochs
FRAME = pd.DataFrame(few.X, columns=["a", "b", "c", "d"])


def test_names_of_columns_stay() -> None:
    warm = MLPClassifier(**few.SMALL, warm_start=True).fit(FRAME, few.TWO).fit(FRAME, few.TWO)
    part = MLPClassifier(**few.SMALL).partial_fit(FRAME, few.TWO, classes=[0, 1]).partial_fit(FRAME, few.TWO)
    calibrated = MLPClassifier(**few.SMALL).fit(FRAME, few.TWO).calibrate(FRAME, few.TWO)
    for clf in (warm, part, calibrated):
        assert clf.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        with pytest.raises(ValueError, match="feature names should match"):
            clf.predict(FRAME[["b", "a", "c", "d"]])
    warm.set_params(warm_start=False).fit(few.X, few.TWO)
    assert not hasattr(warm, "feature_names_in_")


@pytest.mark.parametrize("first", [0.0, 0.5])
def test_partial_fit_keeps_the_penalty_of_the_first_call(first: float) -> None:
    clf = MLPClassifier(**few.SMALL, alpha=first).partial_fit(few.X, few.TWO, classes=[0, 1])
    before = clf.model_.penalty
    assert (before is None) == (first == 0)
    assert clf.set_params(alpha=2.0).partial_fit(few.X, few.TWO).model_.penalty == before


def test_the_next_fit_replaces_what_was_set_by_hand() -> None:
    clf = MLPClassifier(**few.SMALL).fit(few.X, few.TWO)
    clf.classes_, clf.n_iter_ = np.array(["x", "y"]), 99
    clf.fit(few.X, few.TWO)
    assert clf.classes_.tolist() == [0, 1]
    assert clf.n_iter_ == 3


def test_a_failed_fit_draws_no_random_numbers() -> None:
    rng = np.random.RandomState(0)
    broken = few.X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        MLPClassifier(**few.SMALL | {"random_state": rng}).fit(broken, few.TWO)
    assert rng.randint(10**6) == np.random.RandomState(0).randint(10**6)


def test_classes_of_tables_have_the_type_that_scikit_learn_gives_them() -> None:
    words = pd.Series(np.where(few.TWO, "yes", "no"), dtype="category")
    clf = TabularMLPClassifier(folds=1, **few.SMALL).fit(few.X, words)
    assert clf.classes_.dtype == clf.predict(few.X).dtype == MLPClassifier(**few.SMALL).fit(few.X, words).classes_.dtype


@pytest.mark.parametrize("kind", [TabularMLPClassifier, TabularMLPRegressor])
def test_tables_compare_the_numbers_of_rows(kind: type) -> None:
    model = kind(**few.SMALL).fit(few.X, few.TWO)
    for rows in (1, 30):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.calibrate(few.X, few.TWO[:rows])
    with pytest.raises(ValueError, match=r"X_val has 60 rows and y_val has 5"):
        model.fit(few.X, few.TWO, X_val=few.X, y_val=few.TWO[:5])


def test_a_sparse_target_of_numbers_is_refused() -> None:
    from scipy import sparse

    with pytest.raises(ValueError, match="y holds numbers"):
        MLPRegressor(**few.SMALL).fit(few.X, sparse.csr_matrix(few.LABELS.astype(float)))
