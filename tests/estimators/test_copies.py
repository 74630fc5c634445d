"""Rows that are copies of others are held out together, so that what is held out was not seen."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid.estimators import TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators.tables.columns import read_table
from pellucid.estimators.tables.copies import copies_of

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc")).assign(t=RNG.choice(["u", "v"], 60))
X.loc[:9, "a"] = np.nan
Y = RNG.integers(0, 2, 60)


def copied(table, y):
    return copies_of(read_table(table, "test"), np.asarray(y))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, lambda table: table.to_numpy(object)])
@pytest.mark.parametrize("order", [np.tile(np.arange(60), 3), np.repeat(np.arange(60), 2), np.r_[np.arange(60), 3:9]])
def test_copies_are_found(frame, order):
    row_of = copied(frame(X.iloc[order].reset_index(drop=True)), Y[order])
    first = np.unique(row_of, return_index=True)[1]
    assert (order[first][row_of] == order).all()


@pytest.mark.parametrize(
    ("table", "y"),
    [
        (X, Y),
        (X[:3], Y[:3]),
        (X[:1], Y[:1]),
        (pd.concat([X, X.iloc[:2]]), np.r_[Y, Y[:2]]),  # hardly any
        (pd.concat([X, X]), np.r_[Y, 1 - Y]),  # measured again
        (pd.DataFrame(RNG.integers(0, 2, (90, 5))), np.zeros(90)),  # the same by chance
        (pd.DataFrame({"code": np.tile(np.arange(30), 3)}), np.tile(np.arange(30), 3)),
        (pd.DataFrame({"rounded": RNG.integers(0, 40, 900) / 10, "b": RNG.integers(0, 9, 900)}), np.zeros(900)),
    ],
)
def test_what_is_no_copy(table, y):
    assert copied(table, y) is None


def noisy_copies(times):
    """A few rows with labels that are partly noise, each so many times; and new ones."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120 + 3000, 6))
    chance = 1 / (1 + np.exp(-rows[:, 0] - rows[:, 1]))
    y = (rng.uniform(size=len(rows)) < chance).astype(int)
    order = rng.permutation(np.repeat(np.arange(120), times))
    return rows[order], y[order], rows[120:], y[120:]


def test_labels_of_copies_are_not_known_by_heart():
    rows, y, new, truth = noisy_copies(6)
    model = TabularMLPClassifier(random_state=0, numbers="waves", folds=2).fit(rows, y)
    probability = model.predict_proba(new)[np.arange(len(new)), truth]
    assert -np.log(probability).mean() < np.log(2)
    assert model.baselines_["constant"] > model.baselines_["network"] > 0.4


@pytest.mark.parametrize("folds", [1, 3])
def test_copies_are_on_one_side(folds):
    order = np.tile(np.arange(60), 3)
    model = TabularMLPRegressor(folds=folds, random_state=0)
    table, y = read_table(X.iloc[order], "test"), X["b"].to_numpy()[order]
    for inside, outside in model._held_out_parts(table, y, np.random.RandomState(0), None, split=True):
        assert not set(order[inside]) & set(order[outside])
        assert len(inside) + len(outside) == len(y)
