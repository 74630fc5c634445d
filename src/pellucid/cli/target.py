"""What is to be predicted: classes or numbers, told by the values of the target's columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.cli.failures import Failure
from pellucid.cli.settings import Task
from pellucid.data.types import Array
from pellucid.errors import ColumnWarning
from pellucid.markup import listed, number, plural
from pellucid.report.rows import word

if TYPE_CHECKING:
    import polars as pl

MOST_CODES = 20
"""Whole numbers of a target that are taken for classes: at most so many, from 0 or 1 on, hardly with gaps."""

LOOKED_AT = 1000
"""Rows by which a target is mostly known to be no class: the others need not be looked at."""

MOST_CLASSES = 1000
SHOWN = 5
"""Classes that are named in a line."""


@dataclass(frozen=True, eq=False)
class Target:
    """Values of the target: labels (n,), numbers (n,) or (n, columns), or `several`: zeros and ones."""

    names: tuple[str, ...]
    values: Array
    classes: bool
    several: bool
    why: str  # it is taken for that

    @property
    def task(self) -> str:
        return str(Task.CLASSES if self.classes else Task.NUMBERS)

    def take(self, rows: Array) -> Array:
        return np.asarray(self.values[rows])

    @property
    def strata(self) -> Array | None:
        """Which class each row is of; None for numbers."""
        return np.unique(self.values, return_inverse=True)[1] if self.classes and not self.several else None

    def described(self) -> str:
        """What it is, in a line."""
        names = " and ".join(self.names)
        if self.several:
            return f"{names}: {plural(len(self.names), 'label')}, each yes or no"
        if not self.classes:
            ends = np.atleast_2d(self.values.T)
            ranges = [f"{number(each.min())} to {number(each.max())}" for each in ends]
            return f"{names}: {'a number' if len(ranges) == 1 else 'numbers'}, {' and '.join(ranges)}"
        labels, counts = np.unique(self.values, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        parts = counts / len(self.values)
        shares = [f"{labels[k]} {'<1%' if parts[k] < 0.005 else f'{parts[k]:.0%}'}" for k in order[:SHOWN]]
        more = f", {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
        return f"{names}: {len(labels)} classes ({', '.join(shares)}{more})"


def target_of(frame: pl.DataFrame, names: Sequence[str], task: Task) -> Target:
    """The target in these columns, none of which has a missing value.

    Texts, truths, and whole numbers that look like codes of classes are classes; other numbers are numbers, also those
    that are written with a decimal comma, or in another way that makes texts of them.
    """
    if task is not Task.CLASSES:
        frame = frame.with_columns(_read_numbers(frame[name]) for name in names)
    kinds = {name: _kind(frame[name], task) for name in names}
    if len({classes for classes, _ in kinds.values()}) > 1:
        odd = [name for name, (classes, _) in kinds.items() if classes]
        raise Failure(
            f"the targets are of two kinds: {listed(odd)} would be classes, the others numbers. Train one model for "
            "each, or say --task regression"
        )
    classes, why = next(iter(kinds.values()))
    if len(names) == 1:
        values = _labels(frame[names[0]]) if classes else _numbers(frame[names[0]])
        _check(values, names[0], classes)
        return Target(tuple(names), values, classes, False, why)
    columns = [_truths(frame[name]) if classes else _numbers(frame[name]) for name in names]
    for name, column in zip(names, columns, strict=True):
        _check(column, name, classes)
    return Target(tuple(names), np.column_stack(columns), classes, classes, why.replace("it ", f"{names[0]!r} ", 1))


def _read_numbers(column: pl.Series) -> pl.Series:
    """Texts that hold numbers, as numbers; another column as it is."""
    import polars as pl

    from pellucid.estimators.tables.columns import NUMERIC, read_table
    from pellucid.estimators.tables.text_columns import read_texts, recognise

    if column.dtype != pl.String:
        return column
    table = read_table(column.to_frame(), "pellucid")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        uses = {name: use for name, use in recognise(table, set()).uses.items() if use["kind"] == NUMERIC}
    if not uses:
        return column
    numbers = np.asarray(read_texts(table, uses).columns[0])
    if np.isnan(numbers).any():
        wrong = column.filter(pl.Series(np.isnan(numbers)))[0]
        raise Failure(
            f"--target {column.name!r} holds numbers, and {wrong!r}, which is none: mend it, or leave the cell empty"
        )
    return pl.Series(column.name, numbers)


def _kind(column: pl.Series, task: Task) -> tuple[bool, str]:
    """Classes? And why."""
    import polars as pl

    if task is not Task.AUTO:
        return task is Task.CLASSES, f"--task {task}"
    if not column.dtype.is_numeric():
        kind = "truth values" if column.dtype == pl.Boolean else "texts"
        return True, f"it holds {kind}"
    first = column.head(LOOKED_AT).unique().to_numpy()
    if len(column) > LOOKED_AT and len(first) > MOST_CODES and not np.all(first == np.floor(first)):
        return False, "it has numbers with fractions"
    values = column.unique().to_numpy()
    whole = bool(np.all(values == np.floor(values)))
    if len(values) == 2:
        return True, "it has two values"
    if whole and len(values) <= MOST_CODES and values.min() in (0, 1) and values.max() <= 2 * len(values):
        return True, f"it has {len(values)} whole numbers from {values.min():g} on"
    return False, f"it has {plural(len(values), 'different number')}"


def _labels(column: pl.Series) -> Array:
    """Labels as arrays of texts, truths or whole numbers."""
    import polars as pl

    values = column.to_numpy()
    if values.dtype.kind == "f" and np.all(values == np.floor(values)):
        return np.asarray(values.astype(np.int64))
    return np.asarray(values if values.dtype.kind in "biu" else column.cast(pl.String).to_numpy().astype(str))


def _numbers(column: pl.Series) -> Array:
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count():
        wrong = column.filter(numbers.is_null())[0]
        raise Failure(
            f"--target {column.name!r} is to be a number, but holds {wrong!r}: say --task classification, or mend it"
        )
    return np.asarray(numbers.to_numpy())


def _truths(column: pl.Series) -> Array:
    """Zeros and ones, of one label of several."""
    labels = np.unique(column.to_numpy())
    if len(labels) != 2:
        raise Failure(
            f"--target {column.name!r} has {len(labels)} classes; several targets are labels of two values each, or "
            "numbers. Train one model for each"
        )
    return np.asarray(column.to_numpy() == labels[1]).astype(np.int64)


def _check(values: Array, name: str, classes: bool) -> None:
    if np.all(values == values[0]):
        raise Failure(
            f"--target {name!r} is {word(values[0])} in all {len(values)} rows: there is nothing to tell apart. Is it "
            "the right column?"
        )
    different = len(np.unique(values)) if classes else 0
    if classes and (different > MOST_CLASSES or different > len(values) / 2):
        raise Failure(
            f"--target {name!r} has {different:,} different values in {len(values):,} rows, too many for classes: is "
            "it the right column? If they are numbers, say --task regression"
        )
