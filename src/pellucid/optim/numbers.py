"""Small tools of the room: numbers in the dtype of an array, settings that are checked, names by pattern."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.graph.core.spec import Array as Array
from pellucid.graph.core.tracer import Tracer

Arrays = dict[str, Any]
"""Named arrays, flat: "hidden1.weight"."""

On = str | tuple[str, ...]
"""Which parameters: a pattern of names ("*.weight", "hidden1.*"), or several."""


def like(value: Any, array: Array) -> Any:
    """A number in the dtype of an array: settings that are traced or NumPy's own must not turn float32 into float64.

    Compute with settings first, in their own precision, and cast last: `like(1 - beta, w)`. Python numbers pass
    through, they have no dtype.

    >>> like(np.float64(0.1), np.ones(2, np.float32)).dtype, like(0.1, np.ones(2, np.float32))
    (dtype('float32'), 0.1)
    """
    return value.astype(array.dtype) if hasattr(value, "dtype") and value.dtype != array.dtype else value


def matches(name: str, on: On) -> bool:
    """Is a parameter meant by a pattern, or one of several?

    >>> matches("hidden1.weight", "*.weight"), matches("weight", "*.weight"), matches("out.bias", ("a", "out.*"))
    (True, True, True)
    """
    patterns = (on,) if isinstance(on, str) else on
    # a layer on its own has no name: its "weight" is ".weight"
    return any(fnmatchcase(name, p) or fnmatchcase(f".{name}", p) for p in patterns)


def chosen(who: Any, on: On, names: Any) -> list[str]:
    """The names that are meant; none is an error in the name of `who`."""
    found = [name for name in names if matches(name, on)]
    if not found:
        raise ValueError(f"{who}: on={on!r} matches none of the parameters: {', '.join(names)}")
    return found


def check_amounts(who: Any, *fields: str) -> None:
    """Fields that are numbers from 0. What is scheduled or traced has no value yet."""
    _check(who, fields, is_number, "a number from 0")


def check_above(who: Any, *fields: str) -> None:
    """Fields that are numbers above 0."""
    _check(who, fields, lambda value: is_number(value, above=True), "a number above 0")


def check_shares(who: Any, *fields: str) -> None:
    """Fields that are shares in [0, 1): with 1, an average would never hear anything new."""
    _check(who, fields, lambda value: is_number(value, 0, 1), "a number in [0, 1)")


def _check(who: Any, fields: tuple[str, ...], good: Callable[[Any], bool], kind: str) -> None:
    for field in fields:
        value = getattr(who, field)
        if callable(value) or isinstance(value, Tracer | np.ndarray):
            continue
        if not good(value):
            raise ValueError(f"{type(who).__name__}: {field} is {kind}, got {value!r}")


def check_choice(who: Any, field: str, *choices: str) -> None:
    """A field that is one of a few words."""
    if getattr(who, field) not in choices:
        words = " or ".join(map(repr, choices))
        raise ValueError(f"{type(who).__name__}: {field} is {words}, got {getattr(who, field)!r}")
