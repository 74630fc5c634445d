"""Records: frozen dataclasses that describe a layer, a loss, a rule. What one is made of is checked when it is made.

And kinds: enumerations that a record may hold, in files of others too.
"""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Any, Self

REMEDY = "write @dataclass(frozen=True) above the class (from dataclasses import dataclass)"


class Record:
    """The base of what is described by the fields of a dataclass: so it can be compared, changed, stored and loaded.

    A class that is none would work until somebody saves it; so it is refused when the first object of it is made.

    >>> class Own(Record):
    ...     size: int
    >>> Own()
    Traceback (most recent call last):
    ...
    TypeError: Own is not a dataclass: write @dataclass(frozen=True) above the class (from dataclasses import dataclass)
    """

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        _refuse_plain(cls)
        return super().__new__(cls)


def _refuse_plain(cls: type) -> None:
    """Raise for a class that is no dataclass, or adds to one what only a decorated class would make fields of."""
    if not hasattr(cls, "__dataclass_fields__"):
        raise TypeError(f"{cls.__name__} is not a dataclass: {REMEDY}")
    for part in cls.__mro__:
        if "__dataclass_fields__" in vars(part):  # decorated: all above it are fields already
            return
        added = [name for name, kind in inspect.get_annotations(part).items() if "ClassVar" not in str(kind)]
        if added:
            raise TypeError(
                f"{part.__name__} declares {', '.join(added)}, but is not a dataclass itself, so that they are no "
                f"fields: {REMEDY}"
            )


class Kind(Enum):
    """An enumeration whose members are made again by their value: skops restores objects in no other way.

    >>> class Colour(Kind):
    ...     RED = "red"
    >>> Colour.RED.__reduce__() == (Colour, ("red",))
    True
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.value,)
