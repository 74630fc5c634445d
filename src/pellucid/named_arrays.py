"""Arrays by name, in flat dicts: {"hidden1.weight": ...}; and which of them are meant by a pattern."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any

Arrays = dict[str, Any]
"""Named arrays, flat: "hidden1.weight"."""

On = str | tuple[str, ...]
"""Which parameters: a pattern of names ("*.weight", "hidden1.*"), or several."""


def matches(name: str, on: On) -> bool:
    """Is a parameter meant by a pattern, or one of several?

    >>> matches("hidden1.weight", "*.weight"), matches("weight", "*.weight"), matches("out.bias", ("a", "out.*"))
    (True, True, True)
    """
    patterns = (on,) if isinstance(on, str) else on
    # a layer on its own has no name: its "weight" is ".weight"
    return any(fnmatchcase(name, p) or fnmatchcase(f".{name}", p) for p in patterns)


def chosen(on: On, names: Collection[str], who: str = "") -> list[str]:
    """The names that are meant; none is an error, in the name of `who`.

    >>> chosen("*.weight", ["hidden1.weight", "hidden1.bias"])
    ['hidden1.weight']
    """
    meant = [name for name in names if matches(name, on)]
    if not meant:
        setting = f"{who}: on=" if who else ""
        raise ValueError(f"{setting}{on!r} matches none of the parameters: {', '.join(names)}")
    return meant
