"""Requests that are refused: with which status, and in words that name the column, what was expected and what came."""

from __future__ import annotations

from typing import Any

from pellucid.errors import PellucidError

BAD_REQUEST, TOO_LARGE, OTHER_MEDIA, WRONG_VALUES, BUSY = 400, 413, 415, 422, 503


class RequestFault(PellucidError):
    """What is wrong with a request; `where` names column, row, expected and got, as far as there are such."""

    def __init__(self, status: int, text: str, **where: Any) -> None:
        super().__init__(text)
        self.status, self.where = status, where

    def plain(self) -> dict[str, Any]:
        """As the answer's JSON; halves of characters, which UTF-8 has not, are written out."""
        parts = {"message": str(self), **self.where}
        return {"error": {name: _encodable(part) if isinstance(part, str) else part for name, part in parts.items()}}


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def wrong_value(column: str, row: int, expected: str, value: Any) -> RequestFault:
    """A value of a column that is not of its kind."""
    got = shown(value)
    return RequestFault(
        WRONG_VALUES,
        f"column {column!r}, row {row}: expected {expected}, got {got}",
        column=column,
        row=row,
        expected=expected,
        got=got,
    )


def shown(value: Any) -> str:
    """A value of a request in few words, by what JSON calls it.

    >>> shown("old"), shown(None), shown([1, 2]), shown(3)
    ("the text 'old'", 'null', 'a list', 'the number 3')
    """
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value!r:.40}"
        case str():
            return f"the text {value[:60]!r}"
        case list():
            return "a list"
        case dict():
            return "an object"
    return type(value).__name__
