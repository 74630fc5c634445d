"""Norms of vectors and matrices. Where a norm has a kink, at zero, its derivative is 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.core.spec import format_shape, one_axis
from pellucid.graph.numpy_api.doors import implements
from pellucid.graph.numpy_api.linalg import singular_values
from pellucid.graph.primitives.control import safe_where
from pellucid.graph.primitives.reductions import keep, together


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x = x if x.dtype.kind == "f" else x.astype(float)
    ord = ord.item() if isinstance(ord, np.generic) else ord
    n = len(x.shape)
    if axis is None and ord is None:
        axes = tuple(range(n))
        return _root(np.sum(np.square(x), axis=axes, keepdims=keepdims), 2)
    listed = tuple(range(n)) if axis is None else tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    axes = tuple(one_axis(i, n, "norm") for i in listed)
    if len(axes) == 1:
        return _of_vectors(x, ord, axes[0], keepdims)
    if len(set(axes)) == len(axes) == 2:
        result = _of_matrices(np.moveaxis(x, axes, (-2, -1)), ord)
        return keep(result, x, axes, False) if keepdims else result
    raise ShapeError(
        f"np.linalg.norm with ord={ord!r}: vectors lie along one axis, matrices along two, got axis={axis!r} of an "
        f"array of shape {format_shape(x.shape)}"
    )


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    n = len(x.shape)
    axes = tuple(range(n)) if axis is None else tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    axes = tuple(one_axis(i, n, "vector_norm") for i in axes)
    result = norm(together(x, axes), ord, -1)
    return keep(result, x, axes, False) if keepdims else result


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)


def _root(total: Any, p: float) -> Any:
    """total ** (1/p), with derivative 0 at 0."""
    return safe_where(np.not_equal(total, 0), lambda t: np.sqrt(t) if p == 2 else t ** (1 / p), total)


def _of_vectors(x: Any, ord: Any, axis: int, keepdims: Any) -> Any:
    if ord is None or ord == 2:
        return _root(np.sum(np.square(x), axis=axis, keepdims=keepdims), 2)
    if isinstance(ord, str):
        raise UnsupportedError(f"np.linalg.norm of vectors: ord is None or a number, got ord={ord!r}")
    if ord == 0:
        return np.sum(np.not_equal(x, 0).astype(x.dtype), axis=axis, keepdims=keepdims)
    size = np.abs(x)
    if ord == np.inf:
        return np.max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    powers = safe_where(np.not_equal(size, 0), lambda s: s**ord, size, 0.0 if ord > 0 else np.inf)
    total = np.sum(powers, axis=axis, keepdims=keepdims)
    return _root(total, ord) if ord > 0 else total ** (1 / ord)


def _of_matrices(x: Any, ord: Any) -> Any:
    """The norms of the matrices in the last two axes."""
    if ord is None or ord in ("fro", "f"):
        return _root(np.sum(np.square(x), axis=(-2, -1)), 2)
    if ord == "nuc":
        return np.sum(singular_values(x), axis=-1)
    if ord in (2, -2):
        return (np.max if ord > 0 else np.min)(singular_values(x), axis=-1)
    if ord in (1, -1, np.inf, -np.inf):  # the largest or smallest sum of a column or row
        sums = np.sum(np.abs(x), axis=-2 if abs(ord) == 1 else -1)
        return (np.max if ord > 0 else np.min)(sums, axis=-1)
    raise UnsupportedError(
        f"np.linalg.norm of matrices: ord is None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got ord={ord!r}"
    )
