"""Values that users set: which ones are meant, said once. NaN, infinity, booleans and texts are no amounts."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

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
    condition = Condition(lambda value: is_whole(value, low), f"a whole number from {low}")
    for name, value in named.items():
        condition.check(name, value)


def check_number(kind: str, low: float = 0.0, high: float = math.inf, *, above: bool = False, **named: Any) -> None:
    """Raise for the first that is not a number in [low, high); `kind` says what it is.

    >>> check_number("a share in (0, 1)", 0, 1, above=True, warm=1.0)
    Traceback (most recent call last):
    ...
    ValueError: warm is a share in (0, 1), got 1.0
    """
    condition = Condition(lambda value: is_number(value, low, high, above=above), kind)
    for name, value in named.items():
        condition.check(name, value)


# conditions, with the words of the error


class Condition(NamedTuple):
    """`holds` tells whether a value is meant; `words` complete the sentence "alpha is ...\""""

    holds: Callable[[Any], bool]
    words: str

    def met(self, value: object) -> bool:
        """Does the value do? What cannot even be looked at does not."""
        try:
            return bool(self.holds(value))
        except TypeError:
            return False

    def check(self, name: str, value: object) -> None:
        """Raise for a value that does not do."""
        if not self.met(value):
            raise ValueError(f"{name} is {self.words}, got {value!r}")

    def or_(self, other: Condition, words: str) -> Condition:
        """Either of two."""
        return Condition(lambda value: self.met(value) or other.met(value), words)


YES_NO = Condition(lambda value: isinstance(value, bool | np.bool_), "True or False")
WHOLE = Condition(is_whole, "a whole number from 1")
SHARE = Condition(lambda value: is_number(value, 0, 1), "a number in [0, 1)")
FROM_0 = Condition(is_number, "a number from 0")
FLOATS = Condition(lambda value: str(np.dtype(value)) in ("float32", "float64"), "'float64' or 'float32'")
ABOVE_0 = Condition(lambda value: is_number(value, above=True), "a number above 0")


def one_of(*values: object, words: str = "") -> Condition:
    """One of some texts, or None."""
    *others, last = map(repr, values)
    return Condition(
        lambda value: (value is None or isinstance(value, str)) and value in values,
        words or (f"{', '.join(others)} or {last}" if others else last),
    )


def an(kind: type | tuple[type, ...], words: str) -> Condition:
    """An object of a class, or of one of some."""
    return Condition(lambda value: isinstance(value, kind), words)


def or_none(condition: Condition, words: str = "") -> Condition:
    """The condition, or None."""
    return Condition(lambda value: value is None or condition.met(value), words or f"{condition.words}, or None")


def each(condition: Condition, words: str) -> Condition:
    """A list or tuple whose items all do."""
    return Condition(lambda value: isinstance(value, list | tuple) and all(map(condition.met, value)), words)


def or_each(condition: Condition, words: str) -> Condition:
    """One value, or a list of them."""
    lists = (list, tuple, np.ndarray)
    return Condition(lambda value: all(map(condition.met, value if isinstance(value, lists) else [value])), words)
