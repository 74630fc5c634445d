"""Indexing: brackets, take, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.core.dims import is_open
from pellucid.graph.core.primitive import METHODS
from pellucid.graph.core.spec import format_shape, one_axis
from pellucid.graph.numpy_api.doors import implements
from pellucid.graph.primitives import indexing

METHODS["__getitem__"] = indexing.take_item


@implements(np.take, method="take")
def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    if axis is None:
        return indexing.take_item(np.ravel(a), indices)
    return indexing.take_item(a, (slice(None),) * one_axis(axis, np.ndim(a), "take") + (indices,))


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    if axis is None:
        arr, axis = np.ravel(arr), 0
    n = np.ndim(arr)
    if is_open(np.shape(arr)) or is_open(np.shape(indices)):
        raise UnsupportedError("take_along_axis needs known sizes; with open ones multiply by pellucid.one_hot and sum")
    grid: list[Any] = list(np.ogrid[tuple(slice(s) for s in np.shape(arr))])
    grid[one_axis(axis, n, "take_along_axis")] = indices
    return indexing.take_item(arr, tuple(grid))


@implements(np.diagonal, method="diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    if len(a.shape) < 2:
        raise ShapeError(f"np.diagonal takes at least two dimensions, got shape {format_shape(a.shape)}")
    if len(a.shape) > 2 or (axis1, axis2) != (0, 1):
        a = np.moveaxis(a, (axis1, axis2), (-2, -1))
    if is_open(a.shape[-2:]):
        raise UnsupportedError(f"np.diagonal of a traced array takes two known dimensions, got shape {a.shape[-2:]}")
    places = np.nonzero(np.eye(a.shape[-2], a.shape[-1], offset))
    return a[places if len(a.shape) == 2 else (..., *places)]


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    if len(v.shape) == 2:
        return diagonal(v, k)
    n = v.shape[0] + abs(k)
    rows, columns = np.nonzero(np.eye(n, k=k))
    return indexing.scatter_add(v, rows, columns, spec=(indexing.SLOT, indexing.SLOT), shape=(n, n))


@implements(np.trace, method="trace")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1)


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    return np.where(_lower(m, k), m, np.zeros((), m.dtype))


@implements(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    return np.where(_lower(m, k - 1), np.zeros((), m.dtype), m)


def _lower(m: Any, k: int) -> Any:
    """True in the lower triangle, up to the diagonal number k."""
    return np.tri(m.shape[-min(2, len(m.shape))], m.shape[-1], k, dtype=bool)
