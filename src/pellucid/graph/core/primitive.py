"""A primitive: the one place where a value, its shape and its derivative are written down.

A derivative rule belongs to one argument. It takes the incoming derivative `d`, the result `y` and the
arguments, and gives what goes on:

    jvp rule:  tangent of that argument -> its share of the tangent of y
    vjp rule:  adjoint of y             -> its share of the adjoint of that argument

Rules are plain NumPy. On arrays they compute; on tracers they are recorded, so that derivatives can be
differentiated again and can become graphs. For an elementwise function both rules are the same product
with the slope (a diagonal matrix is its own transpose): it is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pellucid.errors import DifferentiationError
from pellucid.graph.core.spec import Spec, broadcast, promote

Rule = Callable[..., Any]


class Rules(Protocol):
    """One rule for each argument: a tuple, or `EachArgument` for any number of arguments."""

    def __getitem__(self, position: int, /) -> Rule | None: ...


@dataclass(frozen=True)
class EachArgument:
    """Rules for a primitive with any number of arguments: `rule(position, d, y, *xs, **settings)`."""

    rule: Callable[..., Any]

    def __getitem__(self, position: int) -> Rule:
        return lambda *args, **settings: self.rule(position, *args, **settings)


@dataclass(frozen=True, eq=False)
class Primitive:
    """An operation that is recorded as one node.

    Arrays are positional arguments, settings (axis, shape) are keywords. A rule that is None says that the
    derivative is zero (rounding, comparisons, index arrays); rules that nobody wrote raise an error when asked for.
    """

    name: str
    value: Callable[..., Any]
    shape: Callable[..., Spec] = field(repr=False)
    jvp: Rules = field(repr=False)
    vjp: Rules = field(repr=False)
    linear: int = 0  # linear in that many leading arguments taken together (-1: all): its own jvp
    bind: Callable[..., Any] = field(default=None, repr=False)  # type: ignore[assignment]  # `apply`, see `make`

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return self.bind(self, args, settings)

    def __reduce__(self) -> Any:
        return (_by_name, (self.name,))


class _Missing:
    """Asked for a rule, it says what is missing and how to add it."""

    def __init__(self, name: str, mode: str) -> None:
        self.name, self.mode = name, mode

    def __getitem__(self, position: int) -> Rule:
        raise DifferentiationError(
            f"the operation {self.name!r} has no {self.mode} rule for argument {position}, so it cannot be "
            f"differentiated in {'forward' if self.mode == 'jvp' else 'reverse'} mode: "
            f"give {self.mode}=... where it is defined, or use the other mode"
        )


REGISTRY: dict[str, Primitive] = {}
"""Every primitive of the package by name. The tests walk it."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""What stands for a NumPy function that is not a ufunc (filled by numpy_api, and by primitives made of one)."""

METHODS: dict[str, Callable[..., Any]] = {}
"""Array methods (`x.sum()`) by name, and the rarer doors of NumPy (filled by numpy_api)."""

UFUNCS: dict[Any, Primitive] = {}
"""Which primitive a NumPy or SciPy ufunc stands for."""


def _by_name(name: str) -> Primitive:
    return REGISTRY[name]


def primitive(
    name: str,
    value: Callable[..., Any],
    *,
    shape: Callable[..., Spec],
    jvp: Rules | Sequence[Rule | None] | None = None,
    vjp: Rules | Sequence[Rule | None] | None = None,
    linear: int = 0,
    ufunc: Any = None,
) -> Primitive:
    """Define an operation and enter it into the registry.

    Parameters
    ----------
    name : str
        of the operation, in graphs and errors
    value : Callable
        computes it with NumPy: arrays by position, settings by name
    shape : Callable[..., Spec]
        the same for `Spec`s in place of arrays: the Spec of the result
    jvp : sequence of rules
        forward mode: for each array argument a rule (d, y, *xs) -> tangent of y; None where there is none
    vjp : sequence of rules
        reverse mode: for each array argument a rule (d, y, *xs) -> adjoint of that argument
    linear : int
        so many first arguments it is linear in, taken together (-1: all): then it is its own rule of forward mode
    ufunc : np.ufunc
        the function of NumPy or SciPy that is recorded as this operation

    Returns
    -------
    Primitive
        to be called like the function

    Examples
    --------
    >>> from pellucid.graph.core.spec import Spec
    >>> double = primitive(
    ...     "double_example",
    ...     lambda x: 2 * x,
    ...     shape=lambda x: x,
    ...     jvp=[lambda d, y, x: 2 * d],
    ...     vjp=[lambda d, y, x: 2 * d],
    ... )
    >>> double(21)
    42
    """
    record = make(name, value, shape=shape, jvp=jvp, vjp=vjp, linear=linear)
    return register(record, ufunc)


def make(
    name: str,
    value: Callable[..., Any],
    *,
    shape: Callable[..., Spec],
    jvp: Rules | Sequence[Rule | None] | None = None,
    vjp: Rules | Sequence[Rule | None] | None = None,
    linear: int = 0,
) -> Primitive:
    """The same record, kept out of the registry (a user's own function with its rules)."""
    from pellucid.graph.core.tracer import apply

    return Primitive(
        name,
        value,
        shape,
        jvp=_Missing(name, "jvp") if jvp is None else jvp,
        vjp=_Missing(name, "vjp") if vjp is None else vjp,
        linear=linear,
        bind=apply,
    )


def register(record: Primitive, ufunc: Any = None) -> Primitive:
    """Enter a primitive. One of the user's own may be defined again (a notebook's cell that runs twice)."""
    before = REGISTRY.get(record.name)
    if before is not None and not (_module(before) == _module(record) == "__main__"):
        raise ValueError(f"a primitive called {record.name!r} exists already: choose another name")
    REGISTRY[record.name] = record
    if ufunc is not None:
        UFUNCS[ufunc] = record
    elif str(_module(record)).startswith("numpy"):  # np.sinc(x) itself arrives here from now on
        FUNCTIONS[record.value] = record
    return record


def _module(record: Primitive) -> Any:
    return getattr(record.value, "__module__", None)


def elementwise(
    name: str,
    value: Callable[..., Any],
    *rules: Rule | None,
    ufunc: Any = None,
) -> Primitive:
    """An elementwise function: its value, and for each argument `d` times the slope. Broadcasting is undone in reverse
    mode.

    Parameters
    ----------
    name : str
        of the operation, in graphs and errors
    value : Callable
        computes it with NumPy
    *rules
        for each argument `rule(d, y, *xs)`, d times the slope; it serves both modes
    ufunc : np.ufunc
        the function of NumPy or SciPy that is recorded as this operation

    Returns
    -------
    Primitive
        to be called like the function

    Examples
    --------
    >>> cube = elementwise("cube_example", lambda x: x * x * x, lambda d, y, x: d * (3 * x * x))
    >>> cube(2.0)
    8.0
    """
    ufunc = value if ufunc is None and isinstance(value, np.ufunc) else ufunc
    return primitive(
        name,
        value,
        shape=elementwise_shape(name, ufunc, value),
        jvp=rules,
        vjp=rules if len(rules) == 1 else tuple(pull_back(i, rule) for i, rule in enumerate(rules)),
        ufunc=ufunc,
    )


def elementwise_shape(name: str, ufunc: Any = None, value: Any = None) -> Callable[..., Spec]:
    """The broadcast shape; the dtype that the ufunc would give, or the common one."""

    def shape(*xs: Spec, **settings: Any) -> Spec:
        out = broadcast([x.shape for x in xs], name)
        if ufunc is None:
            return Spec(out, promote(xs))
        weak = all(x.weak for x in xs)
        if weak and value is not ufunc:  # Python's operators on Python numbers: the result is one, too
            return Spec((), type(value(*(x.dtype(1) for x in xs))))
        dtypes = [np.dtype(x.dtype) if weak or x.dtype is bool else x.dtype for x in xs]
        return Spec(out, ufunc.resolve_dtypes((*dtypes, None))[-1])

    return shape


def pull_back(position: int, rule: Rule | None) -> Rule | None:
    """The vjp rule of an elementwise function: the same product, with broadcasting undone."""
    if rule is None:
        return None

    def vjp(d: Any, y: Any, *xs: Any, **settings: Any) -> Any:
        return fit(rule(d, y, *xs, **settings), xs[position])

    return vjp


def fit(d: Any, x: Any) -> Any:
    """Bring the adjoint of a broadcast result back to the shape and dtype of `x`, summing what was repeated."""
    shape = np.shape(x)
    if d.shape != shape:
        lead = len(d.shape) - len(shape)
        repeated = tuple(range(lead)) + tuple(
            i + lead for i, size in enumerate(shape) if size == 1 and d.shape[i + lead] != 1
        )
        d = np.sum(d, axis=repeated)
        if d.shape != shape:
            d = np.reshape(d, shape)
    dtype = getattr(x, "dtype", None)
    return d if dtype is None or d.dtype == dtype or dtype.kind != "f" else d.astype(dtype)
