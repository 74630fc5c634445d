"""Running results along an axis: cumsum, cumprod, and the recurrence that the derivative of a running product is.

    recurrence   y_i = a_i y_{i-1} + b_i,   y_{-1} = 0

Its tangents and adjoints (which run backwards) are recurrences again, so there is no division, and zeros among the
factors of a product are welcome.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.graph.core.primitive import Primitive, primitive
from pellucid.graph.core.spec import Spec, promote

cumsum = primitive(
    "cumsum",
    lambda x, *, axis: np.cumsum(x, axis=axis),
    shape=lambda x, *, axis: Spec(x.shape, np.cumsum(np.zeros(0, x.dtype)).dtype),
    jvp=(),
    vjp=(lambda d, y, x, *, axis: np.flip(np.cumsum(np.flip(d, axis), axis=axis), axis),),
    linear=1,
)


def _before(x: Any, axis: int, first: int) -> Any:
    """Each element's predecessor along the axis, `first` for the first."""
    start = np.full_like(np.any(x, axis=axis, keepdims=True), first, dtype=x.dtype)  # one, also of no elements
    return np.concatenate([start, x], axis=axis)[(slice(None),) * axis + (slice(None, -1),)]


def _recurrence(a: Any, b: Any, *, axis: int) -> Any:
    out = np.array(b, dtype=np.result_type(a, b))
    rows, factors = np.moveaxis(out, axis, 0), np.moveaxis(np.asarray(a), axis, 0)
    for i in range(1, len(rows)):
        rows[i] += factors[i] * rows[i - 1]
    return out


def _backwards(d: Any, a: Any, axis: int) -> Any:
    """The adjoint of b: the recurrence from the end, each adjoint passed on by the factor behind it."""
    return np.flip(recurrence(_before(np.flip(a, axis), axis, 0), np.flip(d, axis), axis=axis), axis)


recurrence: Primitive = primitive(
    "recurrence",
    _recurrence,
    shape=lambda a, b, *, axis: Spec(b.shape, promote([a, b])),
    jvp=(
        lambda d, y, a, b, *, axis: recurrence(a, d * _before(y, axis, 0), axis=axis),
        lambda d, y, a, b, *, axis: recurrence(a, d, axis=axis),
    ),
    vjp=(
        lambda d, y, a, b, *, axis: (_backwards(d, a, axis) * _before(y, axis, 0)).astype(a.dtype),
        lambda d, y, a, b, *, axis: _backwards(d, a, axis).astype(b.dtype),
    ),
)

cumprod = primitive(
    "cumprod",
    lambda x, *, axis: np.cumprod(x, axis=axis),
    shape=lambda x, *, axis: Spec(x.shape, np.cumprod(np.zeros(0, x.dtype)).dtype),
    jvp=(lambda d, y, x, *, axis: recurrence(x, d * _before(y, axis, 1), axis=axis),),
    vjp=(lambda d, y, x, *, axis: _backwards(d, x, axis) * _before(y, axis, 1),),
)
