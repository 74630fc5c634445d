"""Arrays in another shape: every one of these is linear, so only its adjoint is written.

Settings are in normal form (numpy_api brings them there): shapes are tuples without -1, axes are non-negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.dims import product
from pellucid.graph.core.primitive import EachArgument, Primitive, fit, primitive
from pellucid.graph.core.spec import Spec, broadcast, format_shape, promote


def _reshape_shape(x: Spec, *, shape: tuple[Any, ...]) -> Spec:
    if product(shape) != x.size:
        raise ShapeError(
            f"reshape: {format_shape(x.shape)} has {x.size} elements, {format_shape(shape)} has {product(shape)}"
        )
    return Spec(shape, x.dtype)


reshape = primitive(
    "reshape",
    lambda x, *, shape: np.reshape(x, shape),
    shape=_reshape_shape,
    jvp=(),
    vjp=(lambda d, y, x, *, shape: np.reshape(d, x.shape),),
    linear=1,
)

transpose = primitive(
    "transpose",
    lambda x, *, axes: np.transpose(x, axes),
    shape=lambda x, *, axes: Spec(tuple(x.shape[i] for i in axes), x.dtype),
    jvp=(),
    vjp=(lambda d, y, x, *, axes: np.transpose(d, tuple(np.argsort(axes).tolist())),),
    linear=1,
)


def _broadcast_to_shape(x: Spec, *, shape: tuple[Any, ...]) -> Spec:
    if broadcast([x.shape, shape], "broadcast_to") != shape:
        raise ShapeError(f"broadcast_to: {format_shape(x.shape)} does not broadcast to {format_shape(shape)}")
    return Spec(shape, np.dtype(x.dtype))


broadcast_to = primitive(
    "broadcast_to",
    lambda x, *, shape: np.broadcast_to(x, shape),
    shape=_broadcast_to_shape,
    jvp=(),
    vjp=(lambda d, y, x, *, shape: fit(d, x),),
    linear=1,
)

flip = primitive(
    "flip",
    lambda x, *, axis: np.flip(x, axis),
    shape=lambda x, *, axis: Spec(x.shape, x.dtype),
    jvp=(),
    vjp=(lambda d, y, x, *, axis: np.flip(d, axis),),
    linear=1,
)


def _concatenate_shape(*xs: Spec, axis: int) -> Spec:
    first = xs[0].shape
    total: Any = 0
    for x in xs:
        if x.shape[:axis] != first[:axis] or x.shape[axis + 1 :] != first[axis + 1 :]:
            listed = ", ".join(format_shape(x.shape) for x in xs)
            raise ShapeError(f"concatenate along axis {axis}: shapes {listed} differ on another axis")
        total = total + x.shape[axis]
    return Spec((*first[:axis], total, *first[axis + 1 :]), promote(xs))


def _concatenate_vjp(position: int, d: Any, y: Any, *xs: Any, axis: int) -> Any:
    start: Any = 0
    for x in xs[:position]:
        start = start + np.shape(x)[axis]
    stop = start + np.shape(xs[position])[axis]
    return fit(d[(slice(None),) * axis + (slice(start, stop),)], xs[position])


concatenate = primitive(
    "concatenate",
    lambda *xs, axis: np.concatenate(xs, axis=axis),
    shape=_concatenate_shape,
    jvp=(),
    vjp=EachArgument(_concatenate_vjp),
    linear=-1,
)


def _pad_shape(x: Spec, *, width: tuple[tuple[int, int], ...]) -> Spec:
    return Spec(tuple(s + before + after for s, (before, after) in zip(x.shape, width, strict=True)), x.dtype)


pad = primitive(  # with zeros
    "pad",
    lambda x, *, width: np.pad(x, width),
    shape=_pad_shape,
    jvp=(),
    vjp=(
        lambda d, y, x, *, width: d[
            tuple(slice(before, before + s) for s, (before, _) in zip(x.shape, width, strict=True))
        ],
    ),
    linear=1,
)

full_like: Primitive = primitive(  # `fill` over the shape of x; for known shapes numpy_api makes a constant instead
    "full_like",
    lambda x, fill, *, dtype: np.full_like(x, fill, dtype=dtype),
    shape=lambda x, fill, *, dtype: Spec(x.shape, dtype),
    jvp=(None, lambda d, y, x, fill, *, dtype: full_like(x, d, dtype=dtype)),
    vjp=(None, lambda d, y, x, fill, *, dtype: fit(d, fill)),
)
