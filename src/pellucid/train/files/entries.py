"""Plain data from files, looked at before they are used: a file may hold anything, whoever wrote it."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.train.files.atomic import CheckpointError

MISSING: Any = object()
LARGEST = 2**62
"""Counts end here: what is added to them must not leave 64 bits."""


@dataclass(frozen=True)
class Kind:
    """What a value is to be, in words, and whether one is."""

    words: str
    holds: Callable[[Any], bool]


COUNT = Kind("a whole number from 0", lambda value: type(value) is int and 0 <= value < LARGEST)
NUMBER = Kind("a number", lambda value: type(value) in (int, float))
CELL = Kind("a number or a text", lambda value: value is None or type(value) in (bool, int, float, str))
TEXT = Kind("a text", lambda value: type(value) is str)
MAPPING = Kind("values by name", lambda value: type(value) is dict)
TEXTS = Kind("a list of texts", lambda value: type(value) is list and all(type(item) is str for item in value))
COUNTS = Kind("a list of whole numbers", lambda value: type(value) is list and all(map(COUNT.holds, value)))
MAPPINGS = Kind(
    "a list of values by name", lambda value: type(value) is list and all(type(item) is dict for item in value)
)


def maybe(kind: Kind) -> Kind:
    """The same, or None."""
    return Kind(f"{kind.words}, or nothing", lambda value: value is None or kind.holds(value))


def among(*values: Any) -> Kind:
    """One of these."""
    return Kind(f"one of {', '.join(map(repr, values))}", lambda value: any(value is v or value == v for v in values))


def entry(data: Any, name: str, kind: Kind, path: Any, default: Any = MISSING) -> Any:
    """data[name], which must be of this kind; the default where it is missing and there is one.

    >>> entry({"epoch": 3}, "epoch", COUNT, "run.ckpt")
    3
    """
    value = data.get(name, default) if type(data) is dict else MISSING
    if value is MISSING:
        raise CheckpointError(f"{path}: {name!r} is missing: the file is not what pellucid writes")
    if not kind.holds(value):
        raise CheckpointError(
            f"{path}: {name!r} is to be {kind.words}, got {short(value)}: the file is not what pellucid writes"
        )
    return value


def short(value: Any) -> str:
    """A value of any size and depth in few words."""
    return reprlib.repr(value)[:200]


def must_match(path: Any, part: str, expected: Mapping[str, Any], stored: Mapping[str, Any], whose: str) -> None:
    """The same names, shapes and kinds of numbers, or an error that says what differs. Nothing is allocated.

    `expected` has arrays, or what has a shape and a dtype.
    """
    for name in [*expected, *(name for name in stored if name not in expected)]:
        mine, theirs = (_form(tree[name]) if name in tree else None for tree in (expected, stored))
        if mine != theirs:
            raise CheckpointError(
                f"{path}: {part} {name!r} is {_words(theirs)} in the file and {_words(mine)} in {whose}"
            )


def _form(array: Any) -> tuple[tuple[int, ...], str]:
    array = array if hasattr(array, "shape") and hasattr(array, "dtype") else np.asarray(array)
    return tuple(array.shape), np.dtype(array.dtype).kind


def _words(form: tuple[tuple[int, ...], str] | None) -> str:
    if form is None:
        return "not there"
    kinds = {"f": "floats", "i": "whole numbers", "u": "whole numbers", "b": "truth values"}
    return f"an array of {kinds.get(form[1], 'something else')} of shape {form[0]}"
