"""Settings of rules, links and schedules, checked when they are made. What is scheduled or traced has no value yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.graph.core.tracer import Tracer


def check_amounts(who: Any, *fields: str) -> None:
    """Fields that are numbers from 0."""
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
