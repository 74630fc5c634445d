"""The rows of a request: one as an object, a list of them, or columns as lists; each answered in its own form."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, NoReturn

from pellucid.data.types import Array
from pellucid.estimators.column_list import Column
from pellucid.estimators.tables.columns import EMPTY
from pellucid.serve.faults import BAD_REQUEST, WRONG_VALUES, RequestFault, shown
from pellucid.serve.values import expected, read_column

FORMS = 'one row {"column": value, ...}, a list of rows, or columns {"column": [values], ...}'


class Form(Enum):
    """How rows are written."""

    ROW = "row"
    ROWS = "rows"
    COLUMNS = "columns"


class Rows(NamedTuple):
    """Columns by name, as the model takes them; how many rows they have, and how they were written."""

    columns: dict[str, Array]
    number: int
    form: Form


class Wanted(NamedTuple):
    """What the model wants of a row; `ignored` may be there, and is not looked at."""

    columns: tuple[Column, ...]
    ignored: frozenset[str] = frozenset()

    def check_names(self, names: Mapping[str, Any] | Sequence[str], row: int | None) -> None:
        """All columns, and no others; those that were empty in fit need not be there."""
        if len(set(names)) != len(names):  # counted in one pass: there may be millions of them
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise RequestFault(WRONG_VALUES, f"column {twice[:80]!r} is there twice", column=twice[:80])
        place = "" if row is None else f"row {row}: "
        for column in self.columns:
            if column.name not in names and column.kind != EMPTY:
                raise RequestFault(
                    WRONG_VALUES,
                    f"{place}column {column.name!r} is missing: expected {expected(column)}; see GET /schema",
                    column=column.name,
                    expected=expected(column),
                    **({} if row is None else {"row": row}),
                )
        known = {column.name for column in self.columns} | self.ignored
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name[:80], known, n=1)
                hint = f": did you mean {near[0]!r}?" if near else ""
                raise RequestFault(
                    WRONG_VALUES,
                    f"{place}column {name[:80]!r} is not one of the model's{hint}; see GET /schema",
                    column=name[:80],
                    **({} if row is None else {"row": row}),
                )

    def read(self, cells: Mapping[str, Sequence[Any]], first: int = 1, *, texts: bool = False) -> dict[str, Array]:
        """Columns as the model takes them. first: the number of the first row; texts: cells of a CSV"""
        return {
            column.name: read_column(column, cells[column.name], first, texts=texts)
            for column in self.columns
            if column.kind != EMPTY
        }


def parsed(body: bytes) -> Any:
    """The JSON of a body; NaN and Infinity, which JSON has not, are refused."""

    def refuse(word: str) -> NoReturn:
        raise RequestFault(BAD_REQUEST, f"the body has {word}, which JSON has not: use null for what is not known")

    try:
        return json.loads(body, parse_constant=refuse)
    except RecursionError:
        raise RequestFault(BAD_REQUEST, f"the body is nested too deeply: expected {FORMS}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise RequestFault(BAD_REQUEST, f"the body is not JSON ({error}): expected {FORMS}") from None


def read_rows(body: bytes, wanted: Wanted) -> Rows:
    """The rows of a body, checked."""
    data = parsed(body)
    match data:
        case dict() if data and all(isinstance(value, list) for value in data.values()):
            wanted.check_names(data, None)
            return _of_columns(data, wanted)
        case dict():
            return Rows(*_of_rows([data], wanted), Form.ROW)
        case list() if data:
            return Rows(*_of_rows(data, wanted), Form.ROWS)
    got = "an empty list" if data == [] else shown(data)
    raise RequestFault(BAD_REQUEST, f"the body is {got}: expected {FORMS}", expected=FORMS, got=got)


def gathered(rows: Sequence[Any], wanted: Wanted, first: int = 1) -> dict[str, list[Any]]:
    """Rows as lists by column; each must be an object with the model's columns."""
    for number, row in enumerate(rows, first):
        if not isinstance(row, dict):
            raise RequestFault(
                WRONG_VALUES, f"row {number}: expected an object, got {shown(row)}", row=number, got=shown(row)
            )
        wanted.check_names(row, number)
    return {column.name: [row.get(column.name) for row in rows] for column in wanted.columns}


def _of_rows(rows: list[Any], wanted: Wanted) -> tuple[dict[str, Array], int]:
    return wanted.read(gathered(rows, wanted)), len(rows)


def _of_columns(data: dict[str, list[Any]], wanted: Wanted) -> Rows:
    lengths = {name: len(values) for name, values in data.items()}
    count = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != count:
            first = next(iter(lengths))
            raise RequestFault(
                WRONG_VALUES,
                f"column {name!r} has {length} values, but {first!r} has {count}: they must be the same rows",
                column=name,
                expected=f"{count} values",
                got=f"{length} values",
            )
    if not count:
        raise RequestFault(BAD_REQUEST, "the columns have no values: give a row at least")
    return Rows(wanted.read(data), count, Form.COLUMNS)
