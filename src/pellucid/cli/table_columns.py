"""What the columns of a table are taken for, and which are left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from pellucid.cli.screen import grid, line
from pellucid.data.splits import evenly
from pellucid.data.types import Array
from pellucid.errors import ColumnWarning
from pellucid.markup import number

if TYPE_CHECKING:
    import polars as pl

LOOKED_AT = 2000
"""Rows by which texts are taken for dates or numbers on the screen (the model looks at all of them), and by which most
columns are known to be of use."""

FEWEST = 20
"""Rows from which texts that are all different are names of rows."""

MOST_LINES = 30
"""Columns that are shown one by one; more are shown by their kinds."""


@dataclass(frozen=True)
class ColumnNote:
    """A column: what it is taken for, how much of it is missing, and what is in it."""

    name: str
    kind: str
    missing: float
    content: str


def column_notes(frame: pl.DataFrame, texts: Mapping[str, str], categorical: Collection[str]) -> list[ColumnNote]:
    """What every column is taken for.   texts: what columns of texts hold, see `text_kinds`"""
    spans = _spans(frame)
    return [
        _note_of_numbers(name, frame.height, *spans[name])
        if name in spans and name not in categorical
        else _note(frame[name], texts.get(name, ""), name in categorical)
        for name in frame.columns
    ]


def _spans(frame: pl.DataFrame) -> dict[str, tuple[int, float | None, float | None]]:
    """Of each column of numbers how many are missing, the least and the largest; columns side by side."""
    import polars as pl

    numeric = {name: pl.col(name) for name, dtype in frame.schema.items() if dtype.is_numeric()}
    if not numeric:
        return {}
    gone = {name: column.is_nan().sum() for name, column in numeric.items() if frame.schema[name].is_float()}
    wanted = (
        [column.null_count() + gone.get(name, 0) for name, column in numeric.items()],
        [column.min() for column in numeric.values()],
        [column.max() for column in numeric.values()],
    )
    missing, least, most = (one.row(0) for one in pl.collect_all([frame.lazy().select(each) for each in wanted]))
    return {name: each for name, *each in zip(numeric, missing, least, most, strict=True)}  # type: ignore[misc]


def _note_of_numbers(name: str, rows: int, missing: int, low: float | None, high: float | None) -> ColumnNote:
    if low is None or high is None or missing == rows:
        return ColumnNote(name, "nothing", 1.0, "")
    return ColumnNote(name, "number", missing / rows, f"{number(float(low))} to {number(float(high))}")


def text_kinds(frame: pl.DataFrame) -> dict[str, str]:
    """Columns of texts that hold dates or numbers, and which of the two."""
    import polars as pl

    from pellucid.estimators.tables.columns import read_table
    from pellucid.estimators.tables.text_columns import WORDS, recognise

    texts = frame.select(pl.col(pl.String))
    if not texts.width:
        return {}
    some = texts[evenly(texts.height, LOOKED_AT)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        uses = recognise(read_table(some, "pellucid"), set()).uses
    return {name: WORDS[use["kind"]] for name, use in uses.items()}


def _note(column: pl.Series, text_kind: str, chosen: bool) -> ColumnNote:
    import polars as pl

    dtype = column.dtype
    values = (column.fill_nan(None) if dtype.is_float() else column).drop_nulls()
    gone = 1 - len(values) / len(column)
    if not len(values):
        return ColumnNote(column.name, "nothing", 1.0, "")
    if dtype.is_temporal():
        return ColumnNote(column.name, "date", gone, f"{values.min()!s} to {values.max()!s}")
    if dtype == pl.Boolean:
        return ColumnNote(column.name, "truth", gone, f"{np.mean(values.to_numpy()):.0%} true")
    if text_kind and not chosen:
        return ColumnNote(column.name, text_kind.removesuffix("s"), gone, f"texts such as {values[0]!r:.30}")
    common = values.cast(pl.String).value_counts(sort=True)
    names = [str(name) for name in common[column.name][:3]]
    more = f" and {common.height - 3:,} more" if common.height > 3 else ""
    return ColumnNote(column.name, "category", gone, f"{', '.join(names)}{more}")


def useless(frame: pl.DataFrame, readable: Collection[str]) -> dict[str, str]:
    """Columns that cannot help, and why: nothing in them, always the same, names or numbers of rows.

    readable: columns of texts that hold dates or numbers, which are all different at times
    """
    import polars as pl

    reasons: dict[str, str] = {}
    for name, dtype in frame.schema.items():
        values = frame[name].drop_nulls()
        if not len(values):
            reasons[name] = "nothing in it but missing values"
        elif dtype == pl.String and len(values) >= FEWEST and name not in readable and _all(values, _are_different):
            reasons[name] = "every text in it is another one: a name of the row"
        elif dtype.is_integer() and len(values) == frame.height >= FEWEST and _all(values, _count):
            reasons[name] = "it counts the rows"
        elif len(values) == frame.height and _all(values, _are_equal):
            reasons[name] = f"always the same, {values[0]!r:.30}"
    return reasons


def _all(values: pl.Series, what: Callable[[pl.Series], bool]) -> bool:
    """Is something true of all values? Of few it mostly is not, and then the others need not be looked at."""
    return what(values.head(LOOKED_AT)) and what(values)


def _are_different(values: pl.Series) -> bool:
    return values.n_unique() == len(values)


def _are_equal(values: pl.Series) -> bool:
    return bool((values == values[0]).all())


def _count(values: pl.Series) -> bool:
    """0, 1, 2, ... or 1, 2, 3, ...?"""
    numbers = values.to_numpy()
    return bool(numbers[0] in (0, 1) and np.all(np.diff(numbers) == 1))


def moments_of(column: pl.Series) -> Array:
    """Dates and times of a column, also those that are written as texts: something that has an order."""
    import polars as pl

    from pellucid.estimators.tables.columns import read_table
    from pellucid.estimators.tables.text_columns import recognise

    if column.dtype == pl.String:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnWarning)
            return np.asarray(recognise(read_table(column.to_frame(), "pellucid"), set()).table.columns[0])
    return np.asarray(column.to_numpy())


# on the screen


def shown(notes: list[ColumnNote]) -> Table:
    """The columns one by one, or by their kinds where there are many."""
    if len(notes) > MOST_LINES:
        return _by_kind(notes)
    table = grid("column", "taken as", "missing", "values", right=(2,), long=3)
    for note in notes:
        gone = f"{note.missing:.1%}" if note.missing else ""
        table.add_row(Text(note.name), Text(note.kind, "cyan"), gone, line(note.content, "dim"))
    return table


def _by_kind(notes: list[ColumnNote]) -> Table:
    table = grid("taken as", "columns", "missing", "names", right=(1, 2), long=3)
    for kind in dict.fromkeys(note.kind for note in notes):
        some = [note for note in notes if note.kind == kind]
        gone = np.mean([note.missing for note in some])
        names = ", ".join(note.name for note in some[:8]) + (f" and {len(some) - 8} more" if len(some) > 8 else "")
        table.add_row(Text(kind, "cyan"), str(len(some)), f"{gone:.1%}" if gone else "", line(names, "dim"))
    return table
