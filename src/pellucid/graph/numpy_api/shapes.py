"""Shapes: reshape, transpose, stack, split, pad, tile and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.core.dims import is_open, product
from pellucid.graph.core.primitive import METHODS
from pellucid.graph.core.spec import SCALARS, format_shape, normalize_axes, one_axis
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api.doors import implements
from pellucid.graph.primitives import elementwise, shaping


@implements(np.shape)
def shape(a: Any) -> Any:
    return a.shape


@implements(np.ndim)
def ndim(a: Any) -> int:
    return len(a.shape)


@implements(np.size)
def size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


@implements(np.reshape)
def reshape(a: Any, shape: Any) -> Any:
    sizes = shape if isinstance(shape, tuple | list) or np.ndim(shape) else (shape,)
    new = tuple(s if is_open(s) else s.__index__() for s in sizes)
    if -1 in new:
        others = product(s for s in new if s != -1)
        new = tuple((a.size // others if others else 0) if s == -1 else s for s in new)
    return a if new == a.shape else shaping.reshape(a, shape=new)


@implements(method="reshape")
def reshape_method(a: Any, *shape: Any) -> Any:
    return reshape(a, shape[0] if len(shape) == 1 else shape)


@implements(np.ravel, method="ravel")
def ravel(a: Any) -> Any:
    return reshape(a, -1)


METHODS["flatten"] = METHODS["ravel"]


@implements(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    n = len(a.shape)
    order = tuple(range(n))[::-1] if axes is None else tuple(one_axis(i, n, "transpose") for i in axes)
    if sorted(order) != list(range(n)):
        raise ShapeError(f"transpose: axes {axes} do not name each axis of {format_shape(a.shape)} once")
    return shaping.transpose(a, axes=order)


@implements(method="transpose")
def transpose_method(a: Any, *axes: Any) -> Any:
    return transpose(a, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


@implements(np.swapaxes, method="swapaxes")
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    n = len(a.shape)
    order = list(range(n))
    axis1, axis2 = one_axis(axis1, n, "swapaxes"), one_axis(axis2, n, "swapaxes")
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return shaping.transpose(a, axes=tuple(order))


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    n = len(a.shape)
    sources, destinations = (
        [one_axis(i, n, "moveaxis") for i in np.atleast_1d(axes)] for axes in (source, destination)
    )
    order = [i for i in range(n) if i not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return shaping.transpose(a, axes=tuple(order))


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any) -> Any:
    new = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return array if new == array.shape else shaping.broadcast_to(array, shape=new)


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    n = len(a.shape) + len(axes)
    places = normalize_axes(tuple(axes), n, "expand_dims")
    rest = iter(a.shape)
    return shaping.reshape(a, shape=tuple(1 if i in places else next(rest) for i in range(n)))


@implements(np.squeeze, method="squeeze")
def squeeze(a: Any, axis: Any = None) -> Any:
    if axis is None:
        gone: tuple[int, ...] = tuple(i for i, s in enumerate(a.shape) if s == 1)
    else:
        gone = normalize_axes(axis, len(a.shape), "squeeze")
        for i in gone:
            if a.shape[i] != 1:
                raise ShapeError(f"squeeze: axis {i} has size {a.shape[i]}, only axes of size 1 can go")
    return shaping.reshape(a, shape=tuple(s for i, s in enumerate(a.shape) if i not in gone))


@implements(np.atleast_1d)
def atleast_1d(a: Any) -> Any:
    return reshape(a, (1,)) if not a.shape else a


@implements(np.atleast_2d)
def atleast_2d(a: Any) -> Any:
    return a if len(a.shape) > 1 else reshape(a, (1, -1))


@implements(np.concatenate)
def concatenate(arrays: Any, axis: int | None = 0) -> Any:
    if axis is None:
        arrays, axis = [np.ravel(a) for a in arrays], 0
    (place,) = normalize_axes(axis, np.ndim(arrays[0]), "concatenate")
    return shaping.concatenate(*arrays, axis=place)


@implements(np.stack)
def stack(arrays: Any, axis: int = 0) -> Any:
    return concatenate([np.expand_dims(a, axis) for a in arrays], axis)


@implements(np.vstack)
def vstack(tup: Any) -> Any:
    return concatenate([np.atleast_2d(a) for a in tup], 0)


@implements(np.hstack)
def hstack(tup: Any) -> Any:
    arrays = [np.atleast_1d(a) for a in tup]
    return concatenate(arrays, 0 if np.ndim(arrays[0]) == 1 else 1)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    return concatenate([a if np.ndim(a) > 1 else np.reshape(a, (-1, 1)) for a in tup], 1)


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    axis = one_axis(axis, len(ary.shape), "split")
    total = ary.shape[axis]
    if isinstance(indices_or_sections, int) and not is_open(total) and total % indices_or_sections:
        raise ShapeError(f"split: {total} places do not make {indices_or_sections} equal parts: use np.array_split")
    return list(array_split(ary, indices_or_sections, axis))


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    axis = one_axis(axis, len(ary.shape), "split")
    total = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if is_open(total):
            raise UnsupportedError(f"split: the axis has the open size {total}, its parts have no known sizes")
        base, extra = divmod(total, indices_or_sections)
        sizes = [base + 1] * extra + [base] * (indices_or_sections - extra)
        cuts = [sum(sizes[:i]) for i in range(1, len(sizes))]
    else:
        cuts = list(indices_or_sections)
    lead = (slice(None),) * axis
    return [ary[(*lead, slice(a, b))] for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    return shaping.flip(m, axis=normalize_axes(axis, len(m.shape), "flip"))


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    if mode != "constant":
        raise UnsupportedError(f"np.pad of a traced array: mode='constant' only, got {mode!r}")
    width = tuple((int(a), int(b)) for a, b in np.broadcast_to(np.asarray(pad_width), (len(array.shape), 2)))
    padded = shaping.pad(array, width=width)
    if np.all(np.equal(constant_values, 0)):
        return padded
    if np.ndim(constant_values) or is_open(array.shape):
        raise UnsupportedError("np.pad of a traced array: constant_values is one number, and sizes are known")
    inside = np.pad(np.ones(array.shape, bool), width)
    return np.where(inside, padded, constant_values)


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    n = max(len(reps), len(A.shape))
    reps = (1,) * (n - len(reps)) + reps
    shape = (1,) * (n - len(A.shape)) + tuple(A.shape)
    doubled = np.broadcast_to(
        np.reshape(A, tuple(x for s in shape for x in (1, s))),
        tuple(x for r, s in zip(reps, shape, strict=True) for x in (r, s)),
    )
    return np.reshape(doubled, tuple(r * s for r, s in zip(reps, shape, strict=True)))


@implements(np.repeat, method="repeat")
def repeat(a: Any, repeats: int, axis: int | None = None) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    return np.take(a, np.repeat(np.arange(a.shape[axis]), repeats), axis=axis)


@implements(np.roll)
def roll(a: Any, shift: int, axis: int | None = None) -> Any:
    if axis is None:
        return reshape(roll(np.ravel(a), shift, 0), a.shape)
    n = a.shape[axis]
    return np.take(a, (np.arange(n) - shift) % n, axis=axis)


def _filled(a: Any, fill: Any, dtype: Any) -> Any:
    dtype = np.dtype(a.dtype if dtype is None else dtype)
    if is_open(a.shape):
        return shaping.full_like(a, fill, dtype=dtype)
    return np.full(a.shape, fill, dtype)


@implements(np.zeros_like)
def zeros_like(a: Any, dtype: Any = None) -> Any:
    return _filled(a, 0, dtype)


@implements(np.ones_like)
def ones_like(a: Any, dtype: Any = None) -> Any:
    return _filled(a, 1, dtype)


@implements(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    if type(fill_value) in SCALARS:
        return _filled(a, fill_value, dtype)
    return np.broadcast_to(np.asarray(fill_value) if type(fill_value) is not Tracer else fill_value, a.shape).astype(
        a.dtype if dtype is None else dtype
    )


@implements(np.astype, method="astype")
def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    return x if x.dtype == np.dtype(dtype) else elementwise.astype(x, dtype=np.dtype(dtype))


@implements(np.copy, method="copy")
def copy(a: Any) -> Any:
    return a
