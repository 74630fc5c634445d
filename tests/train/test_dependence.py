"""Rows that depend on each other: groups stay together, the future stays out of training, whatever the sizes are."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, TimeSeriesSplit

from pellucid import Model, nn, train
from pellucid.data.dependence import Dependence, dependence_of
from pellucid.data.named_columns import without_column

ROWS = np.arange(60)
GROUPS = np.repeat([f"g{i:02}" for i in range(15)], 4)
FRAME = pd.DataFrame({"row": ROWS, "shop": GROUPS, "day": pd.date_range("2024-01-01", periods=60)[::-1]})


def of(groups: Any = None, time: Any = None) -> Dependence:
    count = len(groups if time is None else time)
    dependence = dependence_of(np.zeros((count, 1)), groups, time)
    assert dependence is not None
    return dependence


def all_rows_once(inside: np.ndarray, outside: np.ndarray, count: int) -> None:
    assert_array_equal(np.sort(np.r_[inside, outside]), np.arange(count))
    assert len(inside)
    assert len(outside)


# properties

blocks = st.lists(st.integers(0, 12), min_size=2, max_size=80).filter(lambda values: len(set(values)) > 1)
shares = st.floats(0.05, 0.6)


@given(values=blocks, share=shares, seed=st.integers(0, 99), classes=st.booleans())
@settings(deadline=None)
def test_no_group_is_on_both_sides(values, share, seed, classes):
    groups = np.array(values)
    labels = groups % 3 + np.arange(len(groups)) % 2 * 3 if classes else None
    try:
        inside, outside = of(groups).hold_out(share, labels, seed)
    except ValueError as error:
        if "one class only" not in str(error):
            raise
        return
    all_rows_once(inside, outside, len(groups))
    assert not set(groups[inside]) & set(groups[outside])
    again = of(groups).hold_out(share, labels, seed)
    assert_array_equal(outside, again[1])


@given(values=blocks, share=shares)
@settings(deadline=None)
def test_nothing_that_is_trained_on_is_later(values, share):
    times = np.array(values)
    inside, outside = of(time=times).hold_out(share, None, 0)
    all_rows_once(inside, outside, len(times))
    assert times[inside].max() < times[outside].min()


@given(values=blocks, count=st.integers(2, 6), seed=st.integers(0, 99))
@settings(deadline=None)
def test_folds(values, count, seed):
    numbers = np.array(values)
    if len(set(values)) >= count:
        pairs = of(numbers).folds(count, None, seed)
        assert_array_equal(np.sort(np.concatenate([held for _, held in pairs])), np.arange(len(numbers)))
        for inside, outside in pairs:
            all_rows_once(inside, outside, len(numbers))
            assert not set(numbers[inside]) & set(numbers[outside])
    if len(set(values)) > count:
        pairs = of(time=numbers).folds(count, None, seed)
        assert len(pairs) == count
        for inside, outside in pairs:
            assert numbers[inside].max() < numbers[outside].min()
        assert pairs[-1][1].tolist() == np.flatnonzero(numbers > numbers[pairs[-1][0]].max()).tolist()


@given(values=blocks, data=st.data())
@settings(deadline=None)
def test_groups_with_times_keep_both_promises(values, data):
    groups = np.array(values)
    times = np.array(data.draw(st.lists(st.integers(0, 30), min_size=len(groups), max_size=len(groups))))
    both = of(groups, times)
    if len(set(both.blocks.tolist())) == 1:
        with pytest.raises(ValueError, match="times that a group lasts over are one"):
            both.hold_out(0.3, None, 0)
        return
    inside, outside = both.hold_out(0.3, None, 0)
    assert times[inside].max() < times[outside].min()
    assert not set(groups[inside]) & set(groups[outside])


# shares


def test_times_without_ties_are_those_of_scikit_learn():
    mixed = np.random.default_rng(0).permutation(60)
    for (inside, outside), (a, b) in zip(of(time=mixed).folds(4, None, 0), TimeSeriesSplit(4).split(ROWS), strict=True):
        assert_array_equal(np.sort(mixed[inside]), a)
        assert_array_equal(np.sort(mixed[outside]), b)
    inside, outside = of(time=mixed).hold_out(0.2, None, 0)
    assert_array_equal(np.sort(mixed[outside]), np.arange(48, 60))


def test_a_share_is_of_rows_and_of_every_class():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 80, 2000)
    labels = np.where(rng.random(80) < 0.1, "rare", "usual")[groups]
    for seed in range(5):
        _, held = of(groups).hold_out(0.2, labels, seed)
        for label in ("rare", "usual"):
            assert 0.15 < np.mean(np.isin(np.flatnonzero(labels == label), held)) < 0.25
    different = {of(groups).hold_out(0.2, labels, seed)[1].tobytes() for seed in range(5)}
    assert len(different) == 5
    large = np.r_[np.zeros(900, int), np.repeat(np.arange(1, 21), 5)]
    assert 0.05 <= len(of(large).hold_out(0.1, None, 0)[1]) / 1000 <= 0.1  # the largest group stays in training


def test_folds_of_groups_have_like_sizes_and_classes():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 60, 1200)
    labels = (rng.random(60) < 0.25)[groups].astype(int)
    pairs = of(groups).folds(4, labels, 0)
    assert np.ptp([len(held) for _, held in pairs]) < 100
    assert np.ptp([labels[held].mean() for _, held in pairs]) < 0.08
    assert np.ptp([len(held) for _, held in of(groups).folds(4, None, 0)]) < 30
    assert len({of(groups).folds(4, None, seed)[0][1].tobytes() for seed in range(3)}) == 3


def test_a_class_of_several_groups_stays_in_training():
    groups = np.arange(100) // 5
    labels = np.where(groups < 2, "rare", "usual")
    for seed in range(10):
        inside, _ = of(groups).hold_out(0.4, labels, seed)
        assert set(labels[inside]) == {"rare", "usual"}


# what may be handed in


@pytest.mark.parametrize(
    "times",
    [
        np.arange(4.0),
        np.arange("2024-01-01", "2024-01-05", dtype="datetime64[D]"),
        [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)],
        ["2023-12-31", "2024-01-01", "2024-01-01T12:30", "20240102"],
        ["2024-01-01T01:00+02:00", "2024-01-01T00:00+00:00", "2024-01-01T00:30Z", "2024-01-01T03:00+02:00"],
        pd.Series(pd.date_range("2024-10-27", periods=4, freq="h", tz="Europe/Berlin")),
        pd.Series(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
        pl.Series([datetime.datetime(2024, 1, day) for day in (1, 2, 3, 4)]),
        pl.Series(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
        pd.Series([1, 2, 3, 4], dtype="Int64"),
    ],
    ids=lambda times: type(times).__name__,
)
def test_kinds_of_times(times):
    assert of(time=times).blocks.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "labels",
    [np.array([3, 3, 7, 1]), ["c", "c", "d", "a"], pd.Series(["c", "c", "d", "a"], dtype="category"), [2.5, 2.5, 3, 1]],
    ids=lambda labels: type(labels).__name__,
)
def test_kinds_of_groups(labels):
    assert of(labels).blocks.tolist() == [1, 1, 2, 0]


def test_columns_by_name():
    for frame in (FRAME, pl.DataFrame({"row": ROWS, "shop": GROUPS, "day": FRAME["day"].to_numpy()})):
        by_name = dependence_of(frame, "shop", None)
        assert_array_equal(by_name.blocks, of(GROUPS).blocks)
        assert_array_equal(dependence_of(frame, None, "day").blocks, ROWS[::-1])
        assert list(without_column(frame, "shop").columns) == ["row", "day"]
        assert without_column(frame, "other") is frame
    assert dependence_of(FRAME, None, None) is None


@pytest.mark.parametrize(
    ("groups", "time", "error", "words"),
    [
        (GROUPS[:10], None, ValueError, r"groups .* each of the 60 rows of X.* got shape \(10,\)"),
        (None, ROWS[:, None], ValueError, r"time .* got shape \(60, 1\)"),
        (3, None, ValueError, r"got shape \(\)"),
        (["a", None] * 30, None, ValueError, "groups is missing in row 1, 30 rows in all"),
        (["a", np.nan] * 30, None, ValueError, "groups is missing in row 1, 30 rows in all"),
        (None, np.where(ROWS == 7, np.nan, ROWS), ValueError, "time is missing in row 7, 1 rows in all"),
        (None, np.where(ROWS == 7, np.inf, ROWS), ValueError, "time is infinite in row 7"),
        (None, [*["2024-01-01"] * 59, "3.1.2024"], ValueError, "'3.1.2024' in row 59, no ISO date"),
        (None, [*["2024-01-01"] * 59, "2024-01-01T00:00Z"], ValueError, "with and without a time zone"),
        (None, [*range(59), "x"], TypeError, "all of one kind.* got a str: 'x'"),
        ("store", None, ValueError, "groups='store' names a column that X does not have: its columns are 'row'"),
        (None, "when", ValueError, "time='when' names a column that X does not have"),
    ],
)
def test_errors(groups, time, error, words):
    with pytest.raises(error, match=words):
        dependence_of(FRAME, groups, time)


def test_a_name_needs_names():
    with pytest.raises(ValueError, match="groups='shop' names a column, but X is a ndarray without names"):
        dependence_of(np.zeros((3, 1)), "shop", None)


def test_too_few_blocks():
    with pytest.raises(ValueError, match="groups has 1 different value in 60 rows, and 2 are needed"):
        of(np.zeros(60)).hold_out(0.2, None, 0)
    with pytest.raises(ValueError, match="groups has 2 different values in 60 rows, and 3 are needed for 3 folds"):
        of(ROWS % 2).folds(3, None, 0)
    with pytest.raises(ValueError, match="time has 3 different values in 60 rows, and 4 are needed for 3 folds"):
        of(time=ROWS % 3).folds(3, None, 0)
    with pytest.raises(ValueError, match="the latest rows held out the rows to train on hold one class only, 0"):
        of(time=ROWS).hold_out(0.2, (ROWS > 50).astype(int), 0)
    with pytest.raises(ValueError, match="groups kept together the rows to train on hold one class only"):
        of(ROWS // 30).hold_out(0.2, ROWS // 30, 0)


# the house's own splits


def test_split():
    y = ROWS % 2
    parts = train.split(FRAME, y, test=0.2, validation=0.2, groups="shop")
    shops = [set(part["shop"]) for part, _ in parts]
    assert [len(part) for part, _ in parts] == [36, 12, 12]
    assert not (shops[0] & shops[1] | shops[0] & shops[2] | shops[1] & shops[2])
    fit, choose, test = (part["day"] for part, _ in train.split(FRAME, y, test=0.2, validation=0.2, time="day"))
    assert fit.max() < choose.min() <= choose.max() < test.min()


def test_cross_validation(monkeypatch):
    X, y = np.column_stack([ROWS, GROUPS == "g01"]).astype(float), ROWS / 60
    halves = []
    monkeypatch.setattr(
        Model, "fit", lambda self, X, y, **more: halves.append([X[:, 0].astype(int)]) or train.History()
    )
    monkeypatch.setattr(
        Model, "evaluate", lambda self, X, y, w: halves[-1].append(X[:, 0].astype(int)) or {"loss": 0.0}
    )

    def make() -> Model:
        return Model(nn.mlp((2,), 1))

    train.cross_validate(make, X, y, folds=3, groups=GROUPS)
    assert len(halves) == 3
    assert all(not set(GROUPS[inside]) & set(GROUPS[held]) for inside, held in halves)
    halves.clear()
    train.cross_validate(make, X, y, folds=3, time=-ROWS)
    assert len(halves) == 3
    assert all(inside.min() > held.max() for inside, held in halves)
    halves.clear()
    train.cross_validate(make, X, y, folds=LeaveOneGroupOut(), groups=GROUPS)
    assert len(halves) == 15
    with pytest.raises(ValueError, match="time goes with a number of folds, got GroupKFold"):
        train.cross_validate(make, X, y, folds=GroupKFold(2), time=ROWS)
