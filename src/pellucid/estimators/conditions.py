"""What a parameter may be: a test, and the words that say it in an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import NamedTuple

import numpy as np

from pellucid.amounts import is_number, is_whole
from pellucid.train import Callback


class Condition(NamedTuple):
    """`holds` tells whether a value is meant; `words` complete the sentence "alpha is ...\""""

    holds: Callable[[object], bool]
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

    def said(self, words: str) -> Condition:
        """The same test in other words."""
        return self._replace(words=words)

    def or_(self, other: Condition, words: str) -> Condition:
        """Either of two."""
        return Condition(lambda value: self.met(value) or other.met(value), words)


ANYTHING = Condition(lambda value: True, "anything")
"""For what is checked by the part that uses it."""

NOTHING = Condition(lambda value: value is None, "None")
YES_NO = Condition(lambda value: isinstance(value, bool | np.bool_), "True or False")
WHOLE = Condition(is_whole, "a whole number from 1")
SHARE = Condition(lambda value: is_number(value, 0, 1), "a number in [0, 1)")
FROM_0 = Condition(is_number, "a number from 0")
ABOVE_0 = Condition(lambda value: is_number(value, above=True), "a number above 0")


def one_of(*values: object, words: str = "") -> Condition:
    """One of some texts, or None."""

    def holds(value: object) -> bool:
        return any(value is one or (isinstance(one, str) and isinstance(value, str) and value == one) for one in values)

    listed = [repr(value) for value in values]
    return Condition(holds, words or " or ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed))


def an(kind: type, words: str) -> Condition:
    """An object of a class."""
    return Condition(lambda value: isinstance(value, kind), words)


def or_none(condition: Condition, words: str = "") -> Condition:
    """The condition, or None."""
    return condition.or_(NOTHING, words or f"{condition.words}, or None")


def each(condition: Condition, words: str) -> Condition:
    """A list or tuple whose items all do."""
    return Condition(lambda value: isinstance(value, list | tuple) and all(map(condition.met, value)), words)


def or_each(condition: Condition, words: str) -> Condition:
    """One value, or a list of them."""

    def holds(value: object) -> bool:
        items = value if isinstance(value, list | tuple | np.ndarray) else [value]
        return all(condition.met(item) for item in items)

    return Condition(holds, words)


AUTO = one_of("auto")
ENDLESS = Condition(lambda value: value == math.inf, "infinity")
CALLBACKS = each(
    Condition(lambda v: isinstance(v, Callback) or (callable(v) and not isinstance(v, type)), "a callback"),
    "a list of callbacks (objects of pellucid.train, functions of the run)",
)
VERBOSE = Condition(lambda value: isinstance(value, Real | np.bool_), "True, False, a number").or_(
    one_of("auto", "bar", "lines", "silent"), "True, False, a number, or 'bar' for a progress bar ('auto', 'lines')"
)
DTYPE = or_none(
    Condition(lambda value: str(np.dtype(value)) in ("float32", "float64"), "'float32', 'float64'"),  # type: ignore[call-overload]
    "'float32', 'float64' or None",
)
