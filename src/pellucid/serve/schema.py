"""What the service tells about itself: columns with their types, an example, and a JSON Schema of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.estimators.column_list import Column
from pellucid.estimators.tables.columns import BOOLEAN, CATEGORY, EMPTY, NUMERIC, TIME
from pellucid.serve.rows import Wanted

TYPES = {NUMERIC: "number", BOOLEAN: "boolean", CATEGORY: "string", TIME: "string"}


def schema(wanted: Wanted, says: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """The answer of GET /schema."""
    columns = [column for column in wanted.columns if column.kind != EMPTY]
    return {
        "model": about,
        "columns": [_described(column) for column in columns],
        "answers": says,
        "example": example(wanted),
        "row": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {column.name: _property(column) for column in columns}
            | {name: {"description": "may be there, and is not looked at"} for name in sorted(wanted.ignored)},
            "required": [column.name for column in columns],
            "additionalProperties": False,
        },
    }


def example(wanted: Wanted) -> dict[str, Any]:
    """A row that the model takes, as JSON."""
    return {column.name: _plain(column.example) for column in wanted.columns if column.kind != EMPTY}


def _described(column: Column) -> dict[str, Any]:
    described: dict[str, Any] = {"name": column.name, "kind": column.kind, "missing": column.missing}
    if column.kind == CATEGORY:
        described["categories"] = list(column.categories)
    return described | {"example": _plain(column.example)}


def _property(column: Column) -> dict[str, Any]:
    """Other categories than those of fit are taken, too, as unknown ones: so there is no `enum`."""
    types = [TYPES[column.kind]]
    if column.texts is not None and column.kind == NUMERIC:
        types.append("string")
    if column.kind == CATEGORY:
        types += ["number", "boolean"]
    if column.missing:
        types.append("null")
    described: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if column.kind == TIME:
        described["description"] = "a date or a time, ISO 8601"
    return described | {"examples": [_plain(column.example)]}


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value
