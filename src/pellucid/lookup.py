"""Looking things up by name, with help for those who mistype."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def look_up(kind: str, name: str, table: Mapping[str, T]) -> T:
    """The entry called `name`; an error suggests the nearest ones.

    >>> look_up("colour", "gren", {"green": 1, "red": 2})
    Traceback (most recent call last):
    ...
    ValueError: there is no colour called 'gren': did you mean 'green'? There are green, red
    """
    key = _key(name)
    if key in table:
        return table[key]
    near = difflib.get_close_matches(key, table, n=2, cutoff=0.6)
    hint = f": did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise ValueError(f"there is no {kind} called {name!r}{hint} There are {', '.join(sorted(table))}")


def enter(kind: str, record: T, names: tuple[str, ...], table: dict[str, T]) -> None:
    """Enter a record under its names; none of them may be taken, and either all are entered or none."""
    for name in names:
        if _key(name) in table:
            raise ValueError(f"{kind} {name!r} exists already: choose another name")
    table.update({_key(name): record for name in names})


def _key(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
