"""Reductions: NumPy's axis and keepdims brought to the primitives' normal form, and what is composed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.spec import format_shape, normalize_axes, one_axis
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api.doors import NO_VALUE, REDUCTIONS, implements
from pellucid.graph.primitives import reductions
from pellucid.graph.primitives.control import stop_gradient


def _reduce(op: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    keepdims = bool(keepdims) if keepdims is not NO_VALUE else False
    return op(a, axis=normalize_axes(axis, len(a.shape), op.name), keepdims=keepdims)


@implements(np.sum, method="sum")
def sum(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.sum, a, axis, keepdims)


@implements(np.mean, method="mean")
def mean(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.mean, a, axis, keepdims)


@implements(np.max, np.amax, method="max")
def max(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.max, a, axis, keepdims)


@implements(np.min, np.amin, method="min")
def min(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.min, a, axis, keepdims)


@implements(np.prod, method="prod")
def prod(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.prod, a, axis, keepdims)


@implements(np.any, method="any")
def any(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.any_, a, axis, keepdims)


@implements(np.all, method="all")
def all(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce(reductions.all_, a, axis, keepdims)


@implements(np.var, method="var")
def var(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: Any = False) -> Any:
    axes = normalize_axes(axis, len(a.shape), "var")
    deviation = np.square(a - np.mean(a, axis=axes, keepdims=True))
    if ddof == 0:
        return np.mean(deviation, axis=axes, keepdims=keepdims)
    return np.sum(deviation, axis=axes, keepdims=keepdims) / (reductions.count(a, axes) - ddof)


@implements(np.std, method="std")
def std(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: Any = False) -> Any:
    return np.sqrt(var(a, axis, ddof=ddof, keepdims=keepdims))


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return np.mean(a, axis=axis)
    if np.shape(weights) != np.shape(a):  # one weight for each place along the axis
        if not isinstance(axis, int) or np.ndim(weights) != 1:
            raise ShapeError(
                f"np.average: weights of shape {format_shape(np.shape(weights))} for an array of shape "
                f"{format_shape(np.shape(a))}: give the same shape, or one weight for each place along one axis"
            )
        weights = np.reshape(
            weights, tuple(-1 if i == one_axis(axis, np.ndim(a), "average") else 1 for i in range(np.ndim(a)))
        )
    return np.sum(a * weights, axis=axis) / np.sum(weights * np.ones_like(a), axis=axis)


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


@implements(np.argmax, method="argmax")
def argmax(a: Any, axis: int | None = None) -> Any:
    return reductions.argmax(a, axis=None if axis is None else one_axis(axis, len(a.shape), "argmax"))


@implements(np.argmin, method="argmin")
def argmin(a: Any, axis: int | None = None) -> Any:
    return reductions.argmin(a, axis=None if axis is None else one_axis(axis, len(a.shape), "argmin"))


def logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """log Σ exp(x) along an axis, without overflow.

    Parameters
    ----------
    x : array
        any shape
    axis : int | tuple | None
        to sum along; None is all
    keepdims : bool
        keep that axis, with length 1

    Returns
    -------
    array
        x without that axis

    Examples
    --------
    >>> float(logsumexp(np.array([1000.0, 1000.0])))
    1000.6931471805599
    """
    x = x if type(x) is Tracer else np.asarray(x)
    return _reduce(reductions.logsumexp, x, axis, keepdims)


def softmax(x: Any, axis: Any = -1) -> Any:
    """exp(x) / Σ exp(x) along an axis, without overflow.

    Parameters
    ----------
    x : array
        any shape
    axis : int
        along which the result sums to 1

    Returns
    -------
    array
        the shape of x

    Examples
    --------
    >>> softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    return np.exp(log_softmax(x, axis))


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """log(softmax(x)), exact where softmax would round to zero.

    Parameters
    ----------
    x : array
        any shape
    axis : int
        along which the softmax sums to 1

    Returns
    -------
    array
        the shape of x

    Examples
    --------
    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    x = x - stop_gradient(np.max(x, axis=axis, keepdims=True))  # first, or float32 loses digits far from 0
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


REDUCTIONS.update(
    {
        np.add: sum,
        np.multiply: prod,
        np.maximum: max,
        np.minimum: min,
        np.logical_and: all,
        np.logical_or: any,
    }
)
