"""What is learned of a table that is larger than memory: a random sample of its rows, and the levels of its categories.

The sample is drawn by a hash of the rows' numbers, so it is the same whatever the order of reading, and samples of two
data sets are a sample of both. Quantiles of it have the rank error of `pellucid.data.shares.rank_error`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pellucid.data.dataset import Dataset
from pellucid.data.levels import Levels, joined_levels
from pellucid.data.parts import Part
from pellucid.data.types import Array
from pellucid.errors import ColumnWarning, ShapeError
from pellucid.estimators.tables.coded_texts import levels_of
from pellucid.estimators.tables.columns import Table, read_table, tokens
from pellucid.notices import notice

ROWS = 1 << 17
"""Rows of a sample at most; a table of fewer is learned from all of them."""

SCALED = 1 << 16
"""Rows of a table in memory that scales are learned from, at most."""

BYTES = 1 << 27
"""Of a sample, about: of tables with more than 128 columns it has fewer rows."""

LEVELS = 100
"""Categories of a column, at most, each of which is in the sample of a table in memory."""

SEED = 0
"""Of the hash that draws the sample."""


@dataclass(frozen=True, eq=False)
class TableSample:
    """Some rows of a data set, and how many there are."""

    table: Table
    part: Part
    rows: int

    @property
    def weights(self) -> Array | None:
        """How much each of them counts."""
        return self.part.weights

    @property
    def whole(self) -> bool:
        """Are these all rows?"""
        return self.table.rows == self.rows


def sampled_table(data: Dataset, who: str) -> TableSample:
    """A random sample of the rows; all of them where they are few. One pass, or two where nobody knows their number."""
    counted = data.counted()
    rows = counted.rows or 0
    if not rows:
        raise ShapeError("the data set is empty: it has columns, but no rows")
    most = max(min(ROWS, BYTES // (8 * len(data.columns))), 1)
    some = counted if rows <= most else counted.split(most / rows, seed=SEED)[1]
    sample = some.in_memory()
    return TableSample(table_of(sample, who), sample, rows)


def scale_rows(values: Mapping[str, Array], categories: Mapping[str, list[str]], rows: int) -> Array | None:
    """Numbers of the rows that scales are learned from: SCALED of a larger table, drawn; None is all of them.

    A column that is missing in all that are drawn brings a row where it is not, and one of few categories a row of
    each, and one where it is missing.   values: columns by name.   categories: all that columns have, where they do
    """
    if rows <= SCALED:
        return None
    drawn = np.sort(np.random.default_rng(SEED).choice(rows, SCALED, replace=False, shuffle=False))
    more = [drawn]
    for name, column in values.items():
        if column.dtype.kind in "fM":
            if _is_missing(column[drawn[:1]]) and _is_missing(column[drawn]):
                more.append(np.flatnonzero(column == column)[:1])
        elif len(categories.get(name, ())) < LEVELS:
            levels = levels_of(column[drawn])
            absent_levels = [level for level in categories.get(name, ()) if level not in levels]
            more += [np.flatnonzero(column == level)[:1] for level in absent_levels]
            more += [] if None in levels else [np.flatnonzero(pd.isna(column))[:1]]
    return np.unique(np.concatenate(more))


def _is_missing(values: Array) -> bool:
    """Are all of these floats or moments missing?"""
    return bool((values != values).all())


def table_of(part: Part, who: str) -> Table:
    """The rows of a part as a table; what is wrong with it names the place."""
    try:
        return read_table(part.native, who)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{part.where}: {error}") from None


def counted_levels(data: Dataset, columns: dict[str, str], who: str) -> dict[str, list[str]]:
    """The categories of some columns, of all rows: a pass over these columns alone.

    columns: the names that the data set has for them, by those that the preprocessor has
    """
    if not columns:
        return {}
    levels = {name: Levels() for name in columns}
    alone = replace(data, read=replace(data.read, features=tuple(columns.values()), target=(), weight=None))
    for part in alone.parts():
        for (name, counts), column in zip(levels.items(), table_of(part, who).columns, strict=True):
            counts.add(tokens(name, column))
    everyones = data.told(levels)
    levels = {name: joined_levels([each[name] for each in everyones]) for name in columns}
    categories = {name: counts.names() for name, counts in levels.items()}
    crowded = [name for name, counts in levels.items() if counts.lost]
    if crowded:
        notice(
            f"More levels than are counted: column{'s' * (len(crowded) > 1)} {', '.join(map(repr, crowded))}. Of "
            f"{crowded[0]!r} the {len(categories[crowded[0]]):,} most frequent are kept; others are unknown ones.",
            ColumnWarning,
        )
    return categories
