"""Order: sort, argsort, searchsorted, and what is found in sorted arrays: median, quantile, percentile, interp."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.core.dims import is_open
from pellucid.graph.core.spec import format_shape, normalize_axes, one_axis
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api.doors import implements
from pellucid.graph.primitives import sorting
from pellucid.graph.primitives.indexing import take_item
from pellucid.graph.primitives.reductions import keep, together


@implements(np.argsort, method="argsort")
def argsort(a: Any, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    kind = "stable" if stable else kind or "quicksort"
    return sorting.argsort(a, axis=one_axis(axis, len(a.shape), "argsort"), kind=kind)


@implements(np.sort)
def sort(a: Any, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    place = one_axis(axis, len(a.shape), "sort")
    return sorting.reorder(a, sorting.argsort(a, axis=place, kind="stable"), axis=place)


@implements(np.searchsorted, method="searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    if np.ndim(a) != 1:
        raise ShapeError(f"np.searchsorted looks into an array of one dimension, got shape {format_shape(np.shape(a))}")
    if side not in ("left", "right"):
        raise UnsupportedError(f"np.searchsorted: side is 'left' or 'right', got {side!r}")
    return sorting.searchsorted(a, v, side=side)


# the middle of an array


def _sorted_together(a: Any, axis: Any, operation: str) -> tuple[Any, tuple[int, ...]]:
    """The elements that fall together, sorted along one last axis; and which axes they were."""
    axes = normalize_axes(axis, len(a.shape), operation)
    if 0 in a.shape:
        raise ShapeError(f"np.{operation}: there is nothing in an array of shape {format_shape(a.shape)}")
    return np.sort(together(a, axes)), axes


def _with_nan(result: Any, ordered: Any, places: int = 0) -> Any:
    """NaN where there was one: it stands last in its row. The result has so many axes behind those of the rows."""
    if ordered.dtype.kind != "f":
        return result
    last = ordered[(..., -1, *(None,) * places)].astype(result.dtype)
    return np.where(np.isnan(last), last, result)


@implements(np.median)
def median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    ordered, axes = _sorted_together(a, axis, "median")
    n = ordered.shape[-1]
    if is_open(n):
        middle = np.stack([np.floor_divide(n - 1, 2), np.floor_divide(n, 2)])
    else:
        middle = np.unique([(n - 1) // 2, n // 2])
    result = _with_nan(np.mean(ordered[..., middle], axis=-1), ordered)
    return keep(result, a, axes, False) if keepdims else result


@implements(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    if method != "linear":
        raise UnsupportedError(f"np.quantile of a traced array: method='linear' only, got {method!r}")
    if type(q) is Tracer:
        raise UnsupportedError("np.quantile: the shares q are plain numbers, not traced ones")
    if not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ShapeError(f"np.quantile: shares lie in 0 ... 1 (percentages in 0 ... 100), got {q}")
    dtype = a.dtype if isinstance(q, int | float) and a.dtype.kind == "f" else np.result_type(np.asarray(q), np.float16)
    ordered, axes = _sorted_together(a, axis, "quantile")
    place = np.asarray(q, float) * (ordered.shape[-1] - 1)
    lower = np.floor(place)
    weight = (place - lower).astype(dtype)
    low, high = (ordered[..., at.astype(np.intp)] for at in (lower, np.ceil(place)))
    result = _with_nan(low + (high - low) * weight, ordered, np.ndim(q))
    first = len(result.shape) - np.ndim(q)  # the axes of q stand in front
    result = np.transpose(result, (*range(first, len(result.shape)), *range(first)))
    if not keepdims:
        return result
    return np.reshape(result, (*np.shape(q), *(1 if i in axes else s for i, s in enumerate(a.shape))))


@implements(np.percentile)
def percentile(a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    share = q / 100 if isinstance(q, int | float) or type(q) is Tracer else np.asarray(q) / 100
    return quantile(a, share, axis, method=method, keepdims=keepdims)


# a line through points


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """Piecewise linear; a knot belongs to the segment on its right, the last one to that on its left."""
    x, xp, fp = (z.astype(float) if type(z) is Tracer else np.asarray(z, float) for z in (x, xp, fp))
    if np.ndim(xp) != 1 or np.shape(xp) != np.shape(fp) or np.shape(xp) == (0,):
        raise ShapeError(
            f"np.interp: xp and fp are the coordinates of points, two arrays of one length, got shapes "
            f"{format_shape(np.shape(xp))} and {format_shape(np.shape(fp))}"
        )
    if period is not None:
        if period == 0:
            raise ShapeError("np.interp: the period is not 0")
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp, kind="stable")
        xp, fp = take_item(xp, order), take_item(fp, order)
        xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
        left = right = None
    before, behind = x < xp[0], x > xp[-1]
    inside = fp[0]
    last = np.shape(xp)[0] - 1
    if last != 0:
        x = np.where(before | behind, xp[0], x)
        knot = np.searchsorted(xp, x, side="right") - 1
        start = np.minimum(knot, last - 1)
        width = take_item(xp, start + 1) - take_item(xp, start)
        slope = (take_item(fp, start + 1) - take_item(fp, start)) / np.where(width > 0, width, 1)
        inside = slope * (x - take_item(xp, knot)) + take_item(fp, knot)
    inside = np.where(before, fp[0] if left is None else left, inside)
    return np.where(behind, fp[-1] if right is None else right, inside)
