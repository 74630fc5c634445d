"""The columns that an exported model takes, and the tables of users in that form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.estimators.tables.coded_texts import as_objects
from pellucid.estimators.tables.columns import BOOLEAN, CATEGORY, NUMERIC, TIME, Table
from pellucid.estimators.tables.layout import CYCLES, DateUse, Layout, column_values
from pellucid.estimators.tables.text_columns import read_texts

ROWS = "X"
"""What the columns of an array are called together."""


class Kind(Enum):
    """What an exported model is given for a column."""

    NUMBER = "number"  # NaN where it is missing
    BOOLEAN = "boolean"  # 1, 0, NaN where it is missing
    CATEGORY = "category"  # a text; one that is none of the categories where it is missing


@dataclass(frozen=True)
class Column:
    """A column, or several that go in together.

    Parameters
    ----------
    name : str
        as in the table
    kind : Kind
        what is given
    width : int
        numbers for each row
    categories : tuple of str
        those that are known, in their order: the first has code 1, and 0 is any other text
    missing : bool
        may values be missing?
    note : str
        what numbers mean that are not the column itself
    """

    name: str
    kind: Kind = Kind.NUMBER
    width: int = 1
    categories: tuple[str, ...] = ()
    missing: bool = True
    note: str = ""


def table_columns(layout: Layout) -> tuple[Column, ...]:
    """One for each column of a table that is used; of dates one for each number that is made of them."""
    groups = dict(zip(_numeric(layout), layout.number_groups(), strict=True))
    columns: list[Column] = []
    for name in layout.names:
        kind = layout.kinds[name]
        if kind == TIME:
            for one in groups[name]:
                meaning = _part_of_date(one.removeprefix(f"{name}_"), layout.dates[name])
                columns.append(Column(one, note=f"of the date {name!r}: {meaning}"))
        elif kind == NUMERIC:
            read = f"the number that the texts of {name!r} hold" if name in layout.texts else ""
            columns.append(Column(name, note=read))
        elif kind == BOOLEAN:
            columns.append(Column(name, Kind.BOOLEAN))
        elif kind == CATEGORY:
            columns.append(Column(name, Kind.CATEGORY, categories=tuple(layout.categories[name])))
    return tuple(columns)


def _part_of_date(part: str, use: DateUse) -> str:
    """What a number that is made of a date is, in words."""
    if part == "elapsed":
        start = np.datetime64(0, "s") + np.timedelta64(round(use["start"] * 86_400), "s")
        return f"days since {start}, with a fraction"
    cycle, _, function = part.partition("_")
    if not function:
        return f"the {part}"
    begin = {"month": "January is 0", "weekday": "Monday is 0", "hour": "minutes are a fraction"}[cycle]
    return f"{function}(2 pi {cycle} / {CYCLES[cycle]}); {begin}"


def array_columns(features: int, names: Array | None) -> tuple[Column, ...]:
    """Those of a data frame by name; those of an array together."""
    if names is None:
        return (Column(ROWS, width=features, missing=False),)
    return tuple(Column(str(name), missing=False) for name in names)


def table_inputs(layout: Layout, columns: tuple[Column, ...], table: Table) -> dict[str, Array]:
    """What an exported model takes for the rows of a table, by name: (n, 1) floats, or texts."""
    values = column_values(read_texts(table, layout.texts), layout.kinds)
    numbers = dict(zip(layout.number_names(), layout.numbers(values).T, strict=True))
    return {column.name: _input(column, {**values, **numbers}[column.name])[:, None] for column in columns}


def _input(column: Column, values: Array) -> Array:
    if column.kind is Kind.NUMBER:
        return values
    if column.kind is Kind.BOOLEAN:
        return np.array([{"True": 1.0, "False": 0.0}.get(value, np.nan) for value in values])
    absent = no_category(column)
    return np.array([absent if value is None else value for value in as_objects(values)], object)


def no_category(column: Column) -> str:
    """A text that is none of the categories of a column: what is given where the value is missing."""
    text = ""
    while text in column.categories:
        text += "?"
    return text


def _numeric(layout: Layout) -> list[str]:
    return [name for name, kind in layout.kinds.items() if kind in (NUMERIC, TIME)]


def as_data(column: Column) -> dict[str, Any]:
    """A column as it stands in files."""
    data: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind.value,
        "width": column.width,
        "missing": column.missing,
    }
    if column.kind is Kind.CATEGORY:
        data["categories"] = list(column.categories)
    if column.note:
        data["note"] = column.note
    return data
