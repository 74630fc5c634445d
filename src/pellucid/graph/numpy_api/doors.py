"""Where NumPy's calls on traced arrays arrive, and what is said to those that cannot be recorded."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.errors import UnsupportedError
from pellucid.graph.core.primitive import FUNCTIONS, METHODS, UFUNCS
from pellucid.graph.core.tracer import apply

NO_VALUE: Any = np._NoValue  # noqa: SLF001
"""What NumPy's own functions have as the default of `keepdims` and the like."""

COMPOSED: dict[Any, Callable[..., Any]] = {}
"""Ufuncs that need a look at their arguments before they become a primitive."""

REDUCTIONS: dict[Any, Callable[..., Any]] = {}
"""What `ufunc.reduce` means: np.add.reduce is a sum."""


def implements(*functions: Any, method: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function as the traced twin of NumPy functions, and as an array method."""

    def enter(f: Callable[..., Any]) -> Callable[..., Any]:
        named = full_name(functions[0]) if functions else method
        parameters = inspect.signature(f).parameters
        kinds = [p.kind for p in parameters.values()]
        most = len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            most = sys.maxsize

        @functools.wraps(f)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if len(args) > most:
                raise UnsupportedError(
                    f"np.{named} of a traced array takes {most} arguments by position, got {len(args)}: "
                    f"it takes {', '.join(parameters)}"
                )
            for key, value in list(kwargs.items()):
                if key not in parameters:
                    if value is not None and value is not NO_VALUE:
                        raise UnsupportedError(
                            f"np.{named} of a traced array does not take {key}={value!r}: "
                            f"it takes {', '.join(parameters)}"
                        )
                    del kwargs[key]
            return f(*args, **kwargs)

        for function in functions:
            FUNCTIONS[function] = checked
        if method:
            METHODS[method] = checked
        return f

    return enter


def full_name(function: Any) -> str:
    """The name behind `np.`: sum, linalg.norm."""
    room = str(function.__module__).removeprefix("numpy").lstrip(".")
    return f"{room}.{function.__name__}" if room in ("linalg", "fft") else str(function.__name__)


# what is not supported, in words


def _ufunc(ufunc: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The rarer ways into a ufunc: SciPy's, reductions, options."""
    name = ufunc.__name__
    for key, value in kwargs.items():
        if not (method == "reduce" and key in ("axis", "keepdims")) and value is not None:
            raise UnsupportedError(f"np.{name} of a traced array does not take {key}=: the result is a new array")
    if method == "reduce" and ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](*args, **{"axis": 0, **kwargs})
    if method == "outer":
        a, b = args
        return ufunc(np.reshape(a, (*np.shape(a), *(1,) * np.ndim(b))), b)
    if method == "__call__":
        if ufunc in COMPOSED:
            return COMPOSED[ufunc](*args)
        importlib.import_module("pellucid.graph.primitives.special")
        op = UFUNCS.get(ufunc)
        if op is not None:
            return apply(op, args)
        raise unsupported(name, {u.__name__ for u in UFUNCS})
    raise UnsupportedError(f"np.{name}.{method} cannot be recorded: write it with supported operations")


def _function(func: Any) -> Any:
    raise unsupported(func.__name__, {f.__name__ for f in FUNCTIONS} | {u.__name__ for u in UFUNCS})


def unsupported(name: str, names: set[str]) -> UnsupportedError:
    """The error for a function that cannot be recorded: its name, the nearest of `names`, and how to add it."""
    inside = sorted((k for k in names if len(k) > 2 and k in name), key=len)[-1:]  # nansum: sum
    near = inside or difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.75)
    hint = f" The nearest that can is {near[0]}." if near else ""
    return UnsupportedError(
        f"the function {name!r} cannot be recorded.{hint} Write it with supported operations, or add it: "
        "pellucid.elementwise(name, f, rule) for an elementwise function, pellucid.primitive(name, f, shape=..., "
        "jvp=[...], vjp=[...]) for any other, or @pellucid.custom_rule for a function of your own"
    )


METHODS["__array_ufunc__"] = _ufunc
METHODS["__array_function__"] = _function
