"""Functions of one number, looked at: their derivatives of any order, jumps, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.autodiff import jvp


def derivative(f: Callable[[Any], Any], x: Any, order: int = 1) -> Any:
    """The derivative of a function that works element by element, at every x, by forward mode.

    >>> derivative(np.tanh, np.array([0.0, 1.0]), 2).round(4).tolist()
    [-0.0, -0.6397]
    """
    x = np.asarray(x, float)
    for _ in range(order):
        f = _slope(f)
    return f(x)


def _slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: jvp(f, (x,), (np.ones_like(x),))[1]


def difference(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """The same by a central difference: no rule of differentiation is used.

    >>> float(difference(np.sin, 0.0).round(6))
    1.0
    """
    x = np.asarray(x, float)
    return (f(x + step) - f(x - step)) / (2 * step)


def continuity(f: Callable[[Any], Any], at: float = 0.0, highest: int = 3, gap: float = 1e-6) -> int:
    """How many derivatives have no jump at a point: -1 if the function itself jumps; `highest` if none of them does.

    >>> continuity(lambda x: np.maximum(x, 0)), continuity(np.tanh)
    (0, 3)
    """
    sides = np.array([at - 1e-9, at + 1e-9])
    for order in range(highest + 1):
        values = derivative(f, sides, order)
        if abs(values[1] - values[0]) > gap:
            return order - 1
    return highest
