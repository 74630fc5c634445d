"""Along an axis: running sums and products, and differences of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.spec import one_axis
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api.doors import NO_VALUE, implements
from pellucid.graph.primitives import cumulative


def _along(op: Any, a: Any, axis: int | None) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    return op(a, axis=one_axis(axis, len(a.shape), op.name))


@implements(np.cumsum, method="cumsum")
def cumsum(a: Any, axis: int | None = None) -> Any:
    return _along(cumulative.cumsum, a, axis)


@implements(np.cumprod, method="cumprod")
def cumprod(a: Any, axis: int | None = None) -> Any:
    return _along(cumulative.cumprod, a, axis)


def _cumulative(op: Any, neutral: int) -> Callable[..., Any]:
    """The newer spelling, which asks for an axis and may begin with the result of no elements."""

    def running(x: Any, *, axis: int | None = None, include_initial: bool = False) -> Any:
        if axis is None and len(x.shape) > 1:
            raise ShapeError(f"np.cumulative_{op.name[3:]}: give the axis of an array of {len(x.shape)} dimensions")
        place = one_axis(0 if axis is None else axis, len(x.shape), op.name)
        out = op(x, axis=place)
        if not include_initial:
            return out
        start = np.full_like(np.any(x, axis=place, keepdims=True), neutral, dtype=out.dtype)
        return np.concatenate([start, out], axis=place)

    return running


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    implements(np.cumulative_sum)(_cumulative(cumulative.cumsum, 0))
    implements(np.cumulative_prod)(_cumulative(cumulative.cumprod, 1))


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    if n < 0:
        raise ShapeError(f"np.diff: the order n counts from 0, got {n}")
    a = a if type(a) is Tracer else np.asarray(a)
    place = one_axis(axis, len(a.shape), "diff")
    ends = [_as_slice(end, a, place) for end in (prepend, append)]
    if n and any(end is not None for end in ends):
        a = np.concatenate([part for part in (ends[0], a, ends[1]) if part is not None], axis=place)
    lead = (slice(None),) * place
    for _ in range(n):
        after, before = a[(*lead, slice(1, None))], a[(*lead, slice(None, -1))]
        a = np.not_equal(after, before) if a.dtype == bool else after - before
    return a


def _as_slice(end: Any, a: Any, axis: int) -> Any:
    """What stands before or behind: a number goes all along the edge."""
    if end is NO_VALUE or np.ndim(end):
        return None if end is NO_VALUE else end
    edge = np.any(a, axis=axis, keepdims=True)  # for its shape
    end = end if hasattr(end, "dtype") else np.asarray(end)
    return np.zeros_like(edge, dtype=end.dtype) + end
