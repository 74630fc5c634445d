"""Datasets: every source gives the same rows; orders are a function of seed and epoch; an epoch can be taken up."""

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import pellucid as pel
from pellucid.data import Dataset, dataset
from tests.data.tables_in_files import ROWS, table, write

FRAME = table()
FEATURES = ["a", "b", "c", "d"]
X = FRAME[FEATURES].to_numpy(np.float32)


class Batches:
    """Parts of the table, anew for every pass."""

    def __init__(self, size: int = 700) -> None:
        self.size, self.passes = size, 0

    def __iter__(self):
        self.passes += 1
        for first in range(0, ROWS, self.size):
            yield FRAME.iloc[first : first + self.size]


def sources(folder: Path) -> dict[str, Any]:
    return {
        **{kind: write(folder, kind, FRAME) for kind in ("parquet", "feather", "csv", "csv.gz", "tsv")},
        "pandas": FRAME,
        "polars": pl.from_pandas(FRAME),
        "arrow": pa.Table.from_pandas(FRAME),
        "arrow data set": pa.dataset.dataset(pa.Table.from_pandas(FRAME)),
        "filtered": pa.dataset.dataset(pa.Table.from_pandas(FRAME)).filter(pa.dataset.field("number") >= 0),
        "lazy": pl.from_pandas(FRAME).lazy(),
        "iterable": Batches(),
        "list": list(Batches()),
        "arrays": [(X[:1000], FRAME["number"][:1000]), (X[1000:], FRAME["number"][1000:])],
    }


NAMES = [
    "parquet", "feather", "csv", "csv.gz", "tsv", "pandas", "polars", "arrow", "arrow data set", "filtered", "lazy",
    "iterable", "list", "arrays",
]  # fmt: skip


@pytest.fixture(scope="module")
def every_source(tmp_path_factory):
    return sources(tmp_path_factory.mktemp("files"))


def of(source: Any, **more: Any) -> Dataset:
    if isinstance(source, list) and isinstance(source[0], tuple):
        return dataset(source, **more)
    return dataset(source, target="number", columns=FEATURES, **more)


def joined(batches: Any) -> tuple[np.ndarray, ...]:
    return tuple(np.concatenate(arrays) for arrays in zip(*batches, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_the_rows_in_order_and_shuffled(every_source, name):
    data = of(every_source[name], buffer=1000)
    rows, numbers = joined(data.batches(128))
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(numbers, np.arange(ROWS))
    again = [joined(data.batches(128, seed=1, epoch=epoch)) for epoch in (0, 0, 1)]
    for rows, numbers in again:
        np.testing.assert_array_equal(rows, X[numbers.astype(int)])
        np.testing.assert_array_equal(np.sort(numbers), np.arange(ROWS))
        assert np.corrcoef(numbers[:128], np.arange(128))[0, 1] < 0.5
    assert np.array_equal(again[0][1], again[1][1])
    assert not np.array_equal(again[0][1], again[2][1])


@pytest.mark.parametrize("name", NAMES)
def test_an_epoch_is_taken_up_where_it_was_left(every_source, name):
    for data in (of(every_source[name], buffer=1000), of(every_source[name], buffer=1000).split(0.3)[0]):
        whole = list(data.batches(96, seed=5, epoch=2))
        for start in (1, 10, 17, len(whole) - 1, len(whole)):
            rest = list(data.batches(96, seed=5, epoch=2, start=start))
            assert len(rest) == len(whole) - start
            for (a, b), (c, d) in zip(rest, whole[start:], strict=True):
                assert np.array_equal(a, c)
                assert np.array_equal(b, d)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_counted_where_files_say_so_or_by_reading(every_source, name):
    data = of(every_source[name])
    unknown = name in ("csv", "csv.gz", "tsv", "filtered", "lazy", "iterable")
    assert data.rows == (None if unknown else ROWS)
    assert data.counted().rows == ROWS
    first, second = (part.counted().rows for part in data.split(0.25, seed=3))
    assert first + second == ROWS
    assert abs(second - 0.25 * ROWS) < 4 * np.sqrt(0.25 * 0.75 * ROWS)


def test_what_is_skipped_is_not_read(every_source, monkeypatch):
    """Whole row groups are passed over."""
    from pellucid.data.arrow_files import ParquetBlock

    data = of(every_source["parquet"], buffer=500)
    opened = []
    read = ParquetBlock.read
    monkeypatch.setattr(ParquetBlock, "read", lambda *args: opened.append(args) or read(*args))
    list(data.batches(100, start=40))
    assert len(opened) <= 5 + 1  # of 15, and one to see what a row is like


def test_shuffled_pools_mix_distant_row_groups(every_source):
    numbers = next(iter(of(every_source["parquet"], buffer=1024).batches(256, seed=0)))[1]
    assert len({int(number) // 400 for number in numbers}) >= 2


def test_a_split_has_no_rows_in_common(every_source):
    parts = of(every_source["parquet"]).split(0.2, seed=1)
    numbers = [set(joined(part.batches(512, seed=0))[1].tolist()) for part in parts]
    assert not numbers[0] & numbers[1]
    assert len(numbers[0] | numbers[1]) == ROWS


def test_weights_come_with_the_rows(every_source):
    data = dataset(every_source["parquet"], target=["number", "label"], weight="weight", drop=["d"])
    assert data.columns == ("a", "b", "c")
    _, target, weights = joined(data.batches(512, seed=0))
    places = target[:, 0].astype(int)
    np.testing.assert_array_equal(target[:, 1], FRAME["label"][places])
    np.testing.assert_array_equal(weights, FRAME["weight"].to_numpy()[places])


def test_hive_partitions_are_columns(tmp_path):
    frame = FRAME.assign(year=np.where(FRAME["c"] > 4, 2020, 2021))
    pa.dataset.write_dataset(
        pa.Table.from_pandas(frame, preserve_index=False), tmp_path, format="parquet",
        partitioning=pa.dataset.partitioning(pa.schema([("year", pa.int32())]), flavor="hive"),
    )  # fmt: skip
    data = dataset(pa.dataset.dataset(tmp_path, partitioning="hive"), target="number", columns=["c", "year"])
    rows, _ = joined(data.batches(512))
    np.testing.assert_array_equal(rows[:, 1], np.where(rows[:, 0] > 4, 2020, 2021))


def test_threads_end_with_their_passes(every_source):
    before = threading.active_count()
    data = of(every_source["parquet"], buffer=500)
    batches = data.batches(64, seed=0)
    next(batches)
    assert threading.active_count() > before
    batches.close()
    assert threading.active_count() == before
    next(data.parts())
    gc.collect()
    assert threading.active_count() == before


def test_nothing_is_kept_of_what_was_read(every_source):
    list(of(every_source["parquet"]).batches(64, seed=0))
    pa.default_memory_pool().release_unused()
    assert pa.total_allocated_bytes() < 1 << 20


def test_errors_say_what_is_wrong(every_source, tmp_path):
    files = every_source["parquet"]
    with pytest.raises(ValueError, match=r"target='price' names a column that is not there: the columns are 'a', 'b'"):
        dataset(files, target="price")
    with pytest.raises(ValueError, match="no files match"):
        dataset(str(tmp_path / "*.parquet"), target="a")
    with pytest.raises(ValueError, match="there is no such file"):
        dataset([str(tmp_path / "x.parquet")], target="a")
    with pytest.raises(ValueError, match="empty"):
        dataset(FRAME.iloc[:0], target="a")
    with pytest.raises(ValueError, match="read only once"):
        dataset(iter(Batches()), target="a")
    with pytest.raises(TypeError, match="arrays X, y as one batch are"):
        dataset(X)
    with pytest.raises(ValueError, match="no columns are left"):
        dataset(FRAME[["a"]], target="a")
    gaps = FRAME.assign(label=FRAME["label"].where(FRAME.index != 700))
    with pytest.raises(
        ValueError, match=r"part0.parquet: the target 'label' is missing in row 300: leave such rows out"
    ):
        list(dataset(write(tmp_path, "parquet", gaps), target="label").batches(64))
    endless = FRAME.assign(number=FRAME["number"].where(FRAME.index != 3, np.inf))
    with pytest.raises(ValueError, match="the target 'number' is infinite in row 3"):
        list(dataset(endless, target="number").batches(64))


def test_batches_with_other_columns_are_refused():
    with pytest.raises(ValueError, match=r"batch 1 has the columns .* all batches have the same columns"):
        list(dataset([FRAME, FRAME[["a", "label"]]], target="label").batches(64))


def test_it_is_a_value_that_shows_itself(every_source):
    assert repr(of(every_source["parquet"])).endswith("rows: 5,000, columns: 4, target: number)")
    assert pel.data.dataset is dataset
    assert isinstance(of(pd.DataFrame(FRAME)), Dataset)


SMALL = np.arange(6.0).reshape(3, 2)


def test_batches_hold_the_same_arrays():
    first, second = (SMALL, [1, 2, 3]), (SMALL, [1, 2, 3], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"batch 1 is a tuple \(X, y, weights\), the first one was a tuple \(X, y\)"):
        list(dataset([first, second]).batches(2))
    with pytest.raises(ValueError, match=r"batch 1 is a tuple \(X, y\), the first one was"):
        dataset([second, first]).gather()


def test_numbers_that_an_earlier_batch_has_no_room_for_are_told():
    narrow = (SMALL, np.array([1, 2, 3], np.int8))
    with pytest.raises(ValueError, match="holds int64 where others hold int8, which its numbers are too large for"):
        list(dataset([narrow, (SMALL, np.array([300, 1, 2]))]).batches(2))
    (_, y), *_ = dataset([narrow, (SMALL, np.array([4, 5, 6]))]).batches(6)
    assert y.tolist() == [1, 2, 3, 4, 5, 6]


def test_empty_batches_are_passed_over():
    empty: tuple[np.ndarray, list[int]] = (SMALL[:0], [])
    (X, y), *rest = dataset([empty, (SMALL, [1, 2, 3]), empty, (SMALL, [4, 5, 6])]).batches(6)
    assert (X.shape, y.tolist(), rest) == ((6, 2), [1, 2, 3, 4, 5, 6], [])


def test_a_small_share_of_many_blocks_has_some_rows():
    rows = [(np.full((1, 2), float(i)), [i]) for i in range(500)]
    held = dataset(rows).split(0.02)[1]
    assert 0 < held.rows < 30
    assert len(held.some(10)) == 1
    (_, y), *_ = held.batches(64)
    assert len(y) == held.rows


def test_columns_are_named_once_and_for_one_thing():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0], "ab": [3.0], "y": [1]})
    assert dataset(frame, target="y", drop="ab").columns == ("a", "b")
    assert dataset(frame, target="y", columns="ab").columns == ("ab",)
    assert dataset(frame, target="y", columns=["a", "b"], drop=["b"]).columns == ("a",)
    with pytest.raises(ValueError, match="'y' is among columns, and is the target or the weight"):
        dataset(frame, target="y", columns=["a", "y"])
    with pytest.raises(ValueError, match="columns names 'a' twice"):
        dataset(frame, target="y", columns=["a", "a"])
    with pytest.raises(ValueError, match="drop='price' names a column that is not there"):
        dataset(frame, target="y", drop=["price"])
    with pytest.raises(ValueError, match=r"named by texts, got 0: frame\.columns = frame\.columns\.astype"):
        dataset(pd.DataFrame(SMALL))
    with pytest.raises(TypeError, match=r"as one batch are \[\(X, y\)\]"):
        dataset((SMALL, np.array([1, 2, 3])))
