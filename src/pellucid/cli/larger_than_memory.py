"""Tables that do not fit into memory: told by the sizes of their files; streamed, with some rows of them to look at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.cli.failures import Failure
from pellucid.cli.processes import is_one_of_several
from pellucid.cli.settings import TrainSettings, known
from pellucid.data.table_files import PACKINGS
from pellucid.data.types import Array

if TYPE_CHECKING:
    import polars as pl

    from pellucid.data.dataset import Dataset

COPIES = 4
"""Of a table, about, that a training in memory holds: as it was read, as numbers, and the parts of the folds."""

UNPACKED = {".parquet": 4.0, ".pq": 4.0, ".feather": 2.0, ".arrow": 1.0, ".ipc": 1.0}
"""How much larger than its file a table is in memory, by suffix; others, as text, are about as large."""

PACKED = 6.0
"""... and how much larger than a packed file its content."""

LOOKED_AT = 50_000
"""Rows of those that train which are looked at: for the kinds of columns, leaks, simple models, the report."""


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Rows to train on that are not in memory: the data set, how many, and which column says what goes together."""

    data: Dataset
    rows: int
    fit_parameters: dict[str, str]


@dataclass(frozen=True, eq=False)
class LookedAt:
    """Rows of a streamed table in memory: the first `training` of them train, the others test."""

    frame: pl.DataFrame
    training: Array
    testing: Array
    stream: StreamedRows


def is_streamed(files: Sequence[Path], asked: bool | None) -> bool:
    """Is a table streamed? As asked for; else where several processes can read a share each, or by its size."""
    if asked is not None:
        return asked
    if is_one_of_several():
        from pellucid.data.arrow_files import is_read_in_parts

        return all(map(is_read_in_parts, files))
    return COPIES * expected_bytes(files) > available_memory()


def expected_bytes(files: Sequence[Path]) -> float:
    """What the rows of files take in memory, about, told by their sizes and suffixes."""
    return sum(_expected(file) for file in files)


def _expected(file: Path) -> float:
    packed = file.suffix.lower() in PACKINGS
    form = (Path(file.stem) if packed else file).suffix.lower()
    return file.stat().st_size * (PACKED if packed else 1.0) * UNPACKED.get(form, 1.0)


def available_memory() -> float:
    """Bytes that a process may take: what the system has left, or what its group is given."""
    limits = [float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))] if hasattr(os, "sysconf") else []
    with suppress(OSError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        limits += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # "max", where a group has no limit
        limits.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=float("inf"))


def looked_at(settings: TrainSettings, files: Sequence[Path]) -> LookedAt:
    """Split a table, and read some of the rows that train, and those that test.

    Rows are drawn by a hash of their places; or as `--split` says, whole groups, or the latest.
    """
    from pellucid.data.dataset_stream import HELD, checking_part
    from pellucid.data.door import dataset
    from pellucid.distributed import share

    if settings.folds is not None and settings.folds > 1:
        raise Failure(
            f"--folds {settings.folds}: of a streamed table there is one network of each kind: leave --folds out, or "
            "say --no-stream if the table fits into memory"
        )
    table = dataset(list(map(str, files)))
    targets = tuple(known(dict.fromkeys(settings.target or ()), table.columns, "--target"))
    data = dataset(list(map(str, files)), target=targets)
    data = share(data) if is_one_of_several() else data.counted()
    rows = data.rows or 0
    kind, column = settings.column_of_split
    apart = {} if column is None else {"groups" if kind == "group" else "time": column}
    known(apart.values(), table.columns, f"--split {kind}:")
    # seeds of their own: a share of a share by the same hash would be all rows, or none
    test_seed, sample_seed = np.random.RandomState([settings.seed, 1]).randint(1, 2**31 - 1, size=2).tolist()
    training, testing = data.split(min(settings.test, HELD / max(rows, 1)), seed=test_seed, **apart)
    trained = training.counted().rows or 0
    some = training if trained <= LOOKED_AT else training.split(LOOKED_AT / trained, seed=sample_seed)[1]
    parts = [_frame(some.in_memory(), targets), _frame(checking_part(testing), targets)]
    import polars as pl

    numbers = np.arange(sum(part.height for part in parts))
    return LookedAt(
        pl.concat(parts, how="vertical_relaxed", rechunk=True),
        numbers[: parts[0].height],
        numbers[parts[0].height :],
        StreamedRows(training, trained, apart),
    )


def streamed_frames(file: Path) -> Iterator[pl.DataFrame]:
    """The rows of a file in parts, of which few are in memory."""
    from pellucid.data.door import dataset

    for part in dataset(str(file)).parts():
        yield _frame(part, ())


def _frame(part: Any, targets: Sequence[str]) -> pl.DataFrame:
    """Rows with their target as a frame."""
    import polars as pl

    columns = [] if part.target is None else [part.target] if part.target.ndim == 1 else list(part.target.T)
    named = [pl.Series(name, values.tolist()) for name, values in zip(targets, columns, strict=True)]
    frame = pl.from_arrow(part.native)
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(named)
