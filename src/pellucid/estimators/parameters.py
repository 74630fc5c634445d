"""Parameters of estimators, each declared once: its type, its default, what it may be, and a line that says what it is.

The constructor, its signature, the check ahead of every fit, the list in the docstring and the reference page all come
from the declaration.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, dataclass_transform

from pellucid.amounts import WHOLE, Condition, one_of

ANYTHING = Condition(lambda value: True, "anything")
"""For what is checked by the part that uses it."""

AUTO = one_of("auto")
WHOLE_OR_AUTO = WHOLE.or_(AUTO, "a whole number from 1, or 'auto'")


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter."""

    default: object
    condition: Condition
    doc: str
    after: str = ""  # the parameter that it follows in the signature, where that is not the order of declarations
    kw_only: bool = True
    same: type[Parameters] | None = None  # where a parameter of this name is declared, to be taken over
    annotation: Any = Any

    def completed(self, name: str, annotation: Any) -> Parameter:
        """With its type, and with what is taken over from elsewhere: all but the default and the place."""
        source = self if self.same is None else self.same.declared[name]
        return replace(
            self,
            condition=source.condition,
            doc=self.doc or source.doc,
            kw_only=source.kw_only,
            same=None,
            annotation=annotation,
        )


def parameter(
    *,
    default: object,
    condition: Condition = ANYTHING,
    doc: str = "",
    after: str = "",
    kw_only: bool = True,
    same: type[Parameters] | None = None,
) -> Any:
    """Declare a parameter, as an attribute of a class of `Parameters`; or take it over from another, by `same`."""
    return Parameter(default, condition, doc, after, kw_only, same)


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter,))
class Parameters:
    """A class whose constructor only takes what is declared, and keeps it under its name, as scikit-learn asks for.

    Declarations of base classes come first. "{parameters}" in the docstring stands for the list of all.

    Examples
    --------
    >>> from pellucid.amounts import SHARE
    >>> class Coin(Parameters):
    ...     chance: float = parameter(default=0.5, condition=SHARE, doc="of heads")
    >>> Coin(chance=0.25).chance
    0.25
    >>> check_parameters(Coin(chance=2.0))
    Traceback (most recent call last):
    ValueError: Coin: chance is a number in [0, 1), got 2.0
    """

    declared: ClassVar[Mapping[str, Parameter]] = {}
    """All parameters in the order of the constructor."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {
            name: vars(cls)[name].completed(name, annotation)
            for name, annotation in inspect.get_annotations(cls).items()
            if isinstance(vars(cls).get(name), Parameter)
        }
        for name, value in own.items():
            setattr(cls, name, value.default)  # for files of versions that did not know it yet
        cls.own_parameters = own
        cls.declared = _ordered(cls)
        if "__init__" not in vars(cls) and (cls.__init__ is object.__init__ or hasattr(cls.__init__, "declared")):
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("{parameters}", listing(cls))

    own_parameters: ClassVar[Mapping[str, Parameter]] = {}
    """Those that the class itself declares."""


def _ordered(cls: type[Parameters]) -> dict[str, Parameter]:
    """Base classes first; then those that name another as the one to follow are put there."""
    every: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        every |= vars(base).get("own_parameters", {})
    order = [name for name, one in every.items() if one.after not in every]
    waiting = [name for name in every if name not in order]
    while waiting:  # each as soon as the one that it follows has its place
        name = next(name for name in waiting if every[name].after in order)
        waiting.remove(name)
        order.insert(order.index(every[name].after) + 1, name)
    return {name: every[name] for name in order}


def _constructor(cls: type[Parameters]) -> Any:
    by_name, by_position = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    declared = [
        inspect.Parameter(name, by_name if one.kw_only else by_position, default=one.default, annotation=one.annotation)
        for name, one in sorted(cls.declared.items(), key=lambda item: item[1].kw_only)
    ]
    signature = inspect.Signature([inspect.Parameter("self", by_position), *declared], return_annotation=None)

    def __init__(self: Parameters, *values: object, **named: object) -> None:
        try:
            bound = signature.bind(self, *values, **named)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        bound.apply_defaults()
        del bound.arguments["self"]
        vars(self).update(bound.arguments)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.declared = True  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def check_parameters(holder: Parameters, who: str = "", prefix: str = "") -> None:
    """Raise for the first parameter that cannot be used; groups of settings are looked into."""
    who = who or type(holder).__name__
    for name, one in holder.declared.items():
        value = getattr(holder, name)
        one.condition.check(f"{who}: {prefix}{name}", value)
        if isinstance(value, Parameters):
            check_parameters(value, who, f"{name}.")


def listing(cls: type[Parameters]) -> str:
    """The parameters with types, defaults and lines, as the section of a docstring (numpydoc)."""
    lines = ["Parameters", "----------"]
    for name, one in cls.declared.items():
        kind = one.annotation if isinstance(one.annotation, str) else inspect.formatannotation(one.annotation)
        lines.append(f"{name} : {kind}, default {one.default!r}")
        lines += textwrap.wrap(one.doc, 108, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return "\n    ".join(lines)
