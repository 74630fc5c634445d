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
    key = name.lower().replace("-", "_").replace(" ", "_")
    if key in table:
        return table[key]
    near = difflib.get_close_matches(key, table, n=2, cutoff=0.6)
    hint = f": did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise ValueError(f"there is no {kind} called {name!r}{hint} There are {', '.join(sorted(table))}")
