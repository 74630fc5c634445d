"""Derivatives by differences: never exact, always available, good for checking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.errors import DifferentiationError
from pellucid.graph.core.tree import flatten, unflatten

SCHEMES = {"forward": 1 / 2, "central": 1 / 3}
"""The best step is about eps to this power: rounding error eps/h against truncation error h or h²."""


def numerical_grad(f: Callable[..., Any], x: Any, *, h: float | None = None, scheme: str = "central") -> Any:
    """The gradient of a scalar function by differences, one coordinate at a time.

    Parameters
    ----------
    f : Callable
        a function that returns one number
    x : array | nest
        where; it may be nested
    h : float | None
        the step; None is the best power of the machine's precision times the size of x_i
    scheme : str
        "forward": (f(x + h e_i) - f(x)) / h, error of order h; "central": (f(x + h e_i) - f(x - h e_i)) / 2h, order
        h²

    Returns
    -------
    array | nest
        the gradient, in the structure and shapes of `x`

    Examples
    --------
    >>> import numpy as np
    >>> f = lambda x: np.log(x[0]) + x[0] * x[1] - np.sin(x[1])
    >>> np.round(numerical_grad(f, np.array([2.0, 5.0])), 6)
    array([5.5     , 1.716338])
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme is 'forward' or 'central', got {scheme!r}")
    leaves, tree = flatten(x)
    points = [np.array(leaf, dtype=np.result_type(np.asarray(leaf), np.float32), copy=True) for leaf in leaves]

    def value() -> float:
        y = np.asarray(f(unflatten(tree, [p[()] if p.ndim == 0 else p for p in points])))
        if y.shape != ():
            raise DifferentiationError(f"numerical_grad needs a scalar output, got shape {y.shape}: take a sum or mean")
        return float(y)

    middle = value() if scheme == "forward" else 0.0
    gradients = []
    for point in points:
        gradient = np.zeros_like(point)
        for i in np.ndindex(point.shape):
            x0 = point[i].copy()
            step = (
                h if h is not None else float(np.finfo(point.dtype).eps) ** SCHEMES[scheme] * max(1.0, abs(float(x0)))
            )
            point[i] = x0 + step
            above, upper = value(), float(point[i])  # the step that was really made, after rounding
            below, lower = middle, float(x0)
            if scheme == "central":
                point[i] = x0 - step
                below, lower = value(), float(point[i])
            if upper == lower:
                raise ValueError(
                    f"numerical_grad: h={step:g} is lost in rounding beside x={float(x0):g}: take a larger h"
                )
            gradient[i] = (above - below) / (upper - lower)
            point[i] = x0
        gradients.append(gradient[()])
    return unflatten(tree, gradients)


def directional_difference(f: Callable[..., Any], xs: list[Any], vs: list[Any], h: float = 1e-4) -> Any:
    """(d/dt) f(xs + t vs) at t = 0 by central differences of order h⁶ (leaves of arrays, any output shape)."""

    def at(t: float) -> Any:
        return np.asarray(f(*(x + t * v for x, v in zip(xs, vs, strict=True))), dtype=float)

    weights = ((1, 45.0), (2, -9.0), (3, 1.0))
    return sum(w * (at(k * h) - at(-k * h)) for k, w in weights) / (60.0 * h)
