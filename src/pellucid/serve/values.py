"""Values of a request as the model takes them: what JSON has, or the texts of a CSV, checked by the column's kind."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.estimators.column_list import Column
from pellucid.estimators.tables.columns import BOOLEAN, CATEGORY, NUMERIC, TIME
from pellucid.estimators.tables.text_columns import read_values
from pellucid.serve.faults import wrong_value

TRUTHS = {"true": True, "false": False, "1": True, "0": False}
EXPECTED = {
    NUMERIC: "a number",
    BOOLEAN: "true or false",
    CATEGORY: "a text",
    TIME: 'a date or time as a text, such as "2024-03-01" or "2024-03-01T18:30"',
}
NO: Any = object()
"""No value of this kind."""

Read = Callable[[Column, Any], Any]


def read_column(column: Column, values: Sequence[Any], first: int = 1, *, texts: bool = False) -> Array:
    """The values of a column as an array, missing ones None or NaN; a RequestFault for the first that is wrong.

    texts: they are cells of a CSV, where an empty one is missing; first: the number of the first row

    >>> read_column(Column("age", NUMERIC), [3, 4.5])
    array([3. , 4.5])
    >>> read_column(Column("town", CATEGORY, ("Bern",)), ["Bern", "Bonn"]).tolist()
    ['Bern', 'Bonn']
    """
    if column.kind == NUMERIC and not texts and (numbers := _plain_numbers(values)) is not None:
        return numbers
    read = (OF_TEXT if texts else OF_JSON)[column.kind]
    if texts:
        values = [None if value == "" else value for value in values]
    cells = [None if value is None else read(column, value) for value in values]
    if any(cell is NO or cell is None for cell in cells):
        for row, (cell, value) in enumerate(zip(cells, values, strict=True), first):
            if cell is NO or (cell is None and not column.missing):
                raise wrong_value(column.name, row, expected(column, texts=texts), value)
    if column.kind == NUMERIC:
        return np.array(cells, np.float64)  # None becomes NaN
    if column.kind == TIME:
        return np.array([np.datetime64("NaT") if cell is None else cell for cell in cells], "datetime64[us]")
    array = np.empty(len(cells), object)
    array[:] = cells
    return array


def _plain_numbers(values: Sequence[Any]) -> Array | None:
    """Numbers, if all of them are such and finite: the usual case, without a look at each."""
    if not set(map(type, values)) <= {int, float}:
        return None
    try:
        return np.array(values, np.float64) if all(map(math.isfinite, values)) else None
    except OverflowError:  # a whole number of hundreds of digits
        return None


def expected(column: Column, *, texts: bool = False) -> str:
    """What a value of the column is, in words."""
    words = EXPECTED[column.kind]
    if column.texts is not None and column.kind == NUMERIC:
        words = "a number, or a text that is one"
    if column.kind == CATEGORY and _numbered(column):
        words = "a text or a number"
    missing = ("an empty cell" if texts else "null") if column.missing else ""
    return f"{words}{f', or {missing} if it is not known' if missing else ''}"


def _numbered(column: Column) -> bool:
    """Are there numbers among its categories?"""
    return any(_number(category) is not NO for category in column.categories)


# kinds, in JSON


def _json_number(column: Column, value: Any) -> Any:
    if isinstance(value, str) and column.texts is not None:
        return _by_use(column, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NO
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return NO
    return number if math.isfinite(number) else NO


def _json_truth(column: Column, value: Any) -> Any:
    return value if isinstance(value, bool) else NO


def _json_category(column: Column, value: Any) -> Any:
    if isinstance(value, bool):
        return str(value) if str(value) in column.categories else NO
    if isinstance(value, int | float):
        return value if _numbered(column) else NO
    return value if isinstance(value, str) else NO


def _moment(column: Column, value: Any) -> Any:
    """The time on the wall: a zone is left out, as in fit."""
    if not isinstance(value, str):
        return NO
    try:
        return np.datetime64(datetime.datetime.fromisoformat(value.strip()).replace(tzinfo=None), "us")
    except ValueError:
        return NO if column.texts is None else _by_use(column, value)


# kinds, in cells of a CSV


def _cell_number(column: Column, text: str) -> Any:
    number = _number(text)
    return _by_use(column, text) if number is NO and column.texts is not None else number


def _cell_truth(column: Column, text: str) -> Any:
    return TRUTHS.get(text.strip().lower(), NO)


def _cell_category(column: Column, text: str) -> Any:
    """3.0 is the category 3, where there is such."""
    if text in column.categories or (number := _number(text)) is NO or not number.is_integer():
        return text
    return short if (short := str(int(number))) in column.categories else text


def _number(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return NO
    return number if math.isfinite(number) and "_" not in text else NO


def _by_use(column: Column, text: str) -> Any:
    """As texts were read in fit."""
    assert column.texts is not None
    value = read_values([text.strip()], column.texts)[0]
    return NO if value != value else value  # NaN and NaT differ from themselves


OF_JSON: dict[str, Read] = {NUMERIC: _json_number, BOOLEAN: _json_truth, CATEGORY: _json_category, TIME: _moment}
OF_TEXT: dict[str, Read] = {NUMERIC: _cell_number, BOOLEAN: _cell_truth, CATEGORY: _cell_category, TIME: _moment}
