"""Numbers that users set: which ones are meant, said once. NaN, infinity, booleans and texts are no amounts."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_number(
    value: Any, low: float = 0.0, high: float = math.inf, *, above: bool = False, closed: bool = False
) -> bool:
    """A number in [low, high); `above` leaves out low, `closed` takes in high.

    >>> [is_number(value) for value in (0.5, math.nan, math.inf, -1, True, "3")]
    [True, False, False, False, False, False]
    """
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    number = float(value)
    return (number > low if above else number >= low) and (number <= high if closed else number < high)


def is_whole(value: Any, low: float = 1) -> bool:
    """A whole number from `low`, as an integer.

    >>> is_whole(3), is_whole(np.int64(3)), is_whole(3.0), is_whole(0), is_whole(True)
    (True, True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low


def is_count(value: Any, low: int = 1) -> bool:
    """A number of things from `low`, also as a float.

    >>> is_count(3), is_count(3.0), is_count(2.5), is_count(math.inf)
    (True, True, False, False)
    """
    return is_number(value, low) and float(value).is_integer()


def check_whole(low: int = 1, **named: Any) -> None:
    """Raise for the first that is not a whole number from `low`.

    >>> check_whole(batch_size=2.5)
    Traceback (most recent call last):
    ...
    ValueError: batch_size is a whole number from 1, got 2.5
    """
    for name, value in named.items():
        if not is_whole(value, low):
            raise ValueError(f"{name} is a whole number from {low}, got {value!r}")


def check_number(kind: str, low: float = 0.0, high: float = math.inf, *, above: bool = False, **named: Any) -> None:
    """Raise for the first that is not a number in [low, high); `kind` says what it is.

    >>> check_number("a share in (0, 1)", 0, 1, above=True, warm=1.0)
    Traceback (most recent call last):
    ...
    ValueError: warm is a share in (0, 1), got 1.0
    """
    for name, value in named.items():
        if not is_number(value, low, high, above=above):
            raise ValueError(f"{name} is {kind}, got {value!r}")
