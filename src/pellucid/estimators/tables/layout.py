"""What the columns of a table are: their kinds, their texts, categories, parts of dates. Learned in `fit`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from pellucid.data.types import Array
from pellucid.errors import PellucidError
from pellucid.estimators.tables.coded_texts import levels_of
from pellucid.estimators.tables.columns import (
    BOOLEAN,
    CATEGORY,
    EMPTY,
    KINDS,
    NUMERIC,
    TIME,
    Table,
    kind_of,
    numbers,
    times,
    tokens,
    truths,
)
from pellucid.estimators.tables.text_columns import TextUse, is_text_use

DAY = 86_400_000_000  # microseconds
NO_DATES = np.empty(0, "datetime64[us]")
CYCLES = {"month": 12, "weekday": 7, "hour": 24}
READERS = {NUMERIC: numbers, CATEGORY: tokens, BOOLEAN: truths, TIME: times}


class TableError(PellucidError, ValueError):
    """Data that describe no preprocessor."""


class DateUse(TypedDict):
    """What is made of a column of dates: days elapsed since `start`, and `parts` that vary."""

    start: float
    parts: list[str]


@dataclass(frozen=True)
class Layout:
    """The columns of a table. All but `names` go by name, in an order that does not depend on that of the columns.

    `names` are those of fit in their order, `named` says whether they are the user's. `one_hot` are the columns of few
    categories; the other columns of categories become codes. `texts` says how
    texts that hold dates or numbers are read.
    """

    names: list[str]
    named: bool
    kinds: dict[str, str]
    categories: dict[str, list[str]]
    dates: dict[str, DateUse]
    one_hot: list[str]
    texts: dict[str, TextUse] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not set(self.kinds.values()) <= set(KINDS) or set(self.kinds) != set(self.names):
            raise TableError("the columns or their kinds are not what pellucid writes")
        if not set(self.texts) <= set(self.names) or not all(map(is_text_use, self.texts.values())):
            raise TableError("how texts are read is not what pellucid writes")

    @property
    def embedded(self) -> list[str]:
        """Columns of many categories."""
        return [name for name in self.categories if name not in self.one_hot]

    def categories_of(self, names: Iterable[str]) -> list[list[str]]:
        """The categories of these columns."""
        return [self.categories[name] for name in names]

    def numbers(self, values: dict[str, Array]) -> Array:
        """Numbers and parts of dates, with NaN.   -> (n, numbers), column by column in memory"""
        columns: list[Array] = []
        for name, kind in self.kinds.items():
            if kind == NUMERIC:
                columns.append(values[name])
            elif kind == TIME:
                columns += date_numbers(values[name], self.dates[name]).values()
        rows = len(next(iter(values.values())))
        return np.array(columns).T if columns else np.empty((rows, 0))

    def number_groups(self) -> list[list[str]]:
        """Names of the columns of `numbers`, those of each column of the table together."""
        return [
            [name] if kind == NUMERIC else [f"{name}_{end}" for end in date_numbers(NO_DATES, self.dates[name])]
            for name, kind in self.kinds.items()
            if kind in (NUMERIC, TIME)
        ]

    def number_names(self) -> list[str]:
        """Names of the columns of `numbers`."""
        return [name for group in self.number_groups() for name in group]


def column_kinds(table: Table, categorical: set[str]) -> dict[str, str]:
    """The kind of each column; those called `categorical` are categories, whatever they hold."""
    by_name = dict(zip(table.names, zip(table.columns, table.texts, strict=True), strict=True))
    order = sorted(table.names) if table.named else table.names
    return {name: CATEGORY if name in categorical else kind_of(name, *by_name[name]) for name in order}


def column_values(table: Table, kinds: dict[str, str]) -> dict[str, Array]:
    """Columns by name, in the order of `kinds`, as their kind wants them; without those that are EMPTY."""
    columns = dict(zip(table.names, table.columns, strict=True))
    return {name: READERS[kind](name, columns[name]) for name, kind in kinds.items() if kind != EMPTY}


def learn_layout(
    table: Table,
    kinds: dict[str, str],
    texts: dict[str, TextUse],
    values: dict[str, Array],
    one_hot_max: int,
    counted: dict[str, list[str]] | None = None,
) -> Layout:
    """Categories and parts of dates. Columns of up to `one_hot_max` categories, and truth values, are one-hot.

    counted: the categories, where others than these rows are known
    """
    known = counted or {}
    categories = {
        name: ["False", "True"] if kind == BOOLEAN else known.get(name) or sorted(levels_of(values[name]) - {None})
        for name, kind in kinds.items()
        if kind in (BOOLEAN, CATEGORY)
    }
    return Layout(
        names=list(table.names),
        named=table.named,
        kinds=kinds,
        categories=categories,
        dates={name: useful_parts(values[name]) for name, kind in kinds.items() if kind == TIME},
        one_hot=[k for k, names in categories.items() if len(names) <= one_hot_max or kinds[k] == BOOLEAN],
        texts={name: use for name, use in texts.items() if kinds[name] != EMPTY},
    )


# dates and times: time elapsed, the year, and cycles as points on a circle


def date_parts(when: Array) -> dict[str, Array]:
    """Days since 1970, year, month (0-11), weekday (0 is Monday) and hour (with fraction); NaN where missing.

    >>> parts = date_parts(np.array(["2024-03-01T18:30"], "datetime64[us]"))
    >>> {name: float(value[0]) for name, value in parts.items()}
    {'elapsed': 19783.770833333332, 'year': 2024.0, 'month': 2.0, 'weekday': 4.0, 'hour': 18.5}
    """
    missing = np.isnat(when)
    filled = np.where(missing, np.datetime64(0, "us"), when)
    micro = filled.astype(np.int64)
    day = micro // DAY
    months = filled.astype("datetime64[M]").astype(np.int64)
    parts = {
        "elapsed": micro / DAY,
        "year": months // 12 + 1970,
        "month": months % 12,
        "weekday": (day + 3) % 7,
        "hour": (micro - day * DAY) / (DAY / 24),
    }
    return {name: np.where(missing, np.nan, value) for name, value in parts.items()}


def moment(days: float) -> np.datetime64:
    """So many days after 1970, to the second.

    >>> moment(19783.5)
    np.datetime64('2024-03-01T12:00:00')
    """
    return np.datetime64(round(days * 86_400), "s")


def useful_parts(when: Array) -> DateUse:
    """What a column of dates is turned into: always the time elapsed, the rest where it varies.

    >>> useful_parts(np.array(["2024-03-01", "2024-03-02"], "datetime64[us]"))
    {'start': 19783.0, 'parts': ['weekday']}
    """
    parts = date_parts(when)
    varying = [k for k, v in parts.items() if k != "elapsed" and len(np.unique(v[~np.isnan(v)])) > 1]
    return {"start": float(np.nanmin(parts["elapsed"])), "parts": varying}


def date_numbers(when: Array, use: DateUse) -> dict[str, Array]:
    """The columns that a column of dates becomes, each (n,), by what their names end with.

    >>> list(date_numbers(NO_DATES, {"start": 0.0, "parts": ["year", "hour"]}))
    ['elapsed', 'year', 'hour_sin', 'hour_cos']
    """
    parts = date_parts(when)
    columns = {"elapsed": parts["elapsed"] - use["start"]}
    for part in use["parts"]:
        if part in CYCLES:
            angle = parts[part] * (2 * np.pi / CYCLES[part])
            columns |= {f"{part}_sin": np.sin(angle), f"{part}_cos": np.cos(angle)}
        else:
            columns[part] = parts[part]
    return columns
