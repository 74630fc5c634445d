"""Splits of data sets by groups and by time: nothing on both sides, nothing later in training, the same every time."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid.data import dataset
from pellucid.data.dependence import dependence_of
from pellucid.data.dependent_shares import ChosenRows, group_hashes
from pellucid.errors import ShapeError

pytest.importorskip("pyarrow")
ROWS = 3000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 400, ROWS)
    return pd.DataFrame(
        {
            "row": np.arange(ROWS),
            "x": rng.normal(size=ROWS),
            "patient": [f"p{number}" for number in rng.integers(0, 60, ROWS)],
            "number": rng.integers(0, 60, ROWS),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"),
            "y": rng.normal(size=ROWS),
        }
    )


@pytest.fixture(params=["parquet", "csv", "frame", "batches"])
def data(request, table, tmp_path):
    if request.param == "parquet":
        pl.from_pandas(table).write_parquet(tmp_path / "t.parquet", row_group_size=700)
        return dataset(str(tmp_path / "t.parquet"), target="y")
    if request.param == "csv":
        for number in range(2):
            table[number::2].to_csv(tmp_path / f"{number}.csv", index=False)
        return dataset(str(tmp_path / "*.csv"), target="y")
    if request.param == "frame":
        return dataset(table, target="y")
    return dataset([table[start : start + 400] for start in range(0, ROWS, 400)], target="y")


def rows_of(part):
    return pd.concat([one.X.to_pandas() for one in part.parts()])


@pytest.mark.parametrize("column", ["patient", "number"])
def test_no_group_is_on_both_sides(data, column):
    training, held = data.split(0.2, seed=1, groups=column)
    ours, theirs = rows_of(training), rows_of(held)
    assert not set(ours[column]) & set(theirs[column])
    assert sorted([*ours["row"], *theirs["row"]]) == list(range(ROWS))
    assert abs(len(theirs) / ROWS - 0.2) < 0.02  # as near as a group of 50 rows allows
    assert (training.counted().rows, held.counted().rows) == (len(ours), len(theirs))


def test_the_same_groups_by_the_same_seed_and_others_by_another(data):
    first, again, other = (
        set(rows_of(data.split(0.2, seed=seed, groups="patient")[1])["patient"]) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_what_is_held_out_is_later(data, table):
    training, held = data.split(0.25, time="day")
    ours, theirs = (pd.to_datetime(rows_of(part)["day"]) for part in (training, held))
    assert ours.max() < theirs.min()
    assert len(ours) + len(theirs) == ROWS
    inside, _ = dependence_of(table, None, "day").hold_out(0.25, None, 0)
    assert len(ours) == len(inside)  # as in memory: the sample is the table


def test_shares_of_shares(data):
    training, test = data.split(0.2, seed=1, groups="patient")
    inner, validation = training.split(0.25, seed=5, groups="patient")
    sides = [set(rows_of(part)["patient"]) for part in (inner, validation, test)]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 60
    past, future = training.split(0.3, time="day")
    assert pd.to_datetime(rows_of(past)["day"]).max() < pd.to_datetime(rows_of(future)["day"]).min()
    assert past.counted().rows + future.counted().rows == training.counted().rows


def test_an_epoch_is_taken_up_in_its_middle(data):
    training = data.select(["row", "x"]).split(0.2, seed=1, groups="patient")[0]
    whole = [X[:, 0].tolist() for X, _ in training.batches(100, seed=3, epoch=2)]
    rest = [X[:, 0].tolist() for X, _ in training.batches(100, seed=3, epoch=2, start=7)]
    assert rest == whole[7:]


def test_a_checksum_tells_splits_apart(data):
    sums = {
        data.split(0.2, seed=seed, groups=groups, time=time)[0].checksum()
        for seed, groups, time in ((1, "patient", None), (2, "patient", None), (0, None, "day"), (0, None, None))
    }
    assert len(sums) == 4
    assert data.split(0.2, time="day")[0].checksum() in sums


def test_whole_numbers_are_the_same_group_in_any_form():
    labels = np.array([1, 2, 3])
    np.testing.assert_array_equal(group_hashes(labels, 4), group_hashes(labels.astype(float), 4))
    assert not np.any(group_hashes(labels, 4) == group_hashes(labels, 5))


def test_rows_behind_the_last_bit_are_on_no_side():
    assert not ChosenRows((np.zeros(0, np.uint8),)).of(0, 5, 3).any()


def test_errors(data, table):
    with pytest.raises(ShapeError, match="groups='patiend' names a column that is not there"):
        data.split(0.2, groups="patiend")
    with pytest.raises(ValueError, match="by groups or by time, got both"):
        data.split(0.2, groups="patient", time="day")
    holes = table.assign(patient=table["patient"].where(table["row"] != 17))
    with pytest.raises(ValueError, match="groups='patient' is missing in row 17"):
        dataset(holes, target="y").split(0.2, groups="patient")
    with pytest.raises(ValueError, match="has 1 different values, and 2 are needed"):
        dataset(table.assign(patient="one"), target="y").split(0.2, groups="patient")
    with pytest.raises(ValueError, match="has 1 different values, and 2 are needed"):
        dataset(table.assign(day=3), target="y").split(0.2, time="day")
    with pytest.raises(ValueError, match="no ISO date"):
        dataset(table.assign(day="soon"), target="y").split(0.2, time="day")
