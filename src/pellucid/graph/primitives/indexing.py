"""Taking elements out, and its adjoint: adding them in where they came from.

An index is split into a static part, `spec` (slices, None, Ellipsis, ints; a `slot` for each array), and the
index arrays, which are arguments of the node, so that they may be inputs of the graph (labels, row numbers).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.core.dims import Dim, is_open
from pellucid.graph.core.primitive import Primitive, primitive
from pellucid.graph.core.spec import Spec, broadcast, format_shape
from pellucid.graph.core.tracer import Tracer


class _Slot:
    """The place of an index array in the static part of an index."""

    def __repr__(self) -> str:
        return "·"

    def __reduce__(self) -> str:
        return "SLOT"


SLOT = _Slot()


def split_index(index: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """(static part, index arrays) of what stands in the brackets."""
    parts = index if isinstance(index, tuple) else (index,)
    static: list[Any] = []
    arrays: list[Any] = []
    for part in parts:
        if (
            part is None
            or part is Ellipsis
            or (isinstance(part, int | np.integer | Dim) and not isinstance(part, bool))
        ):
            static.append(int(part) if isinstance(part, np.integer) else part)
        elif isinstance(part, slice):
            ends = (part.start, part.stop, part.step)
            if any(type(end) is Tracer for end in ends):
                part = slice(*(end.__index__() if type(end) is Tracer else end for end in ends))
            static.append(part)
        else:
            if type(part) is not Tracer:
                part = np.asarray(part)
            if part.dtype.kind == "b":
                if not part.shape:
                    raise UnsupportedError("x[True] and x[False] are not recorded: use x[None], or np.where")
                positions = np.nonzero(part.known("indexing with a mask") if type(part) is Tracer else part)
                static.extend([SLOT] * len(positions))
                arrays.extend(positions)
                continue
            if part.dtype.kind not in "iu":
                raise UnsupportedError(f"an index array holds integers or booleans, got {part.dtype}")
            static.append(SLOT)
            arrays.append(part)
    return tuple(static), tuple(arrays)


def _check_masks(parts: tuple[Any, ...], shape: tuple[Any, ...]) -> None:
    """A mask has the sizes of the axes it stands for: its positions alone would not tell."""

    def is_mask(part: Any) -> bool:
        return hasattr(part, "dtype") and part.dtype.kind == "b"

    def width(part: Any) -> int:
        return 0 if part is None else len(part.shape) if is_mask(part) else 1

    axis = 0
    for i, part in enumerate(parts):
        if part is Ellipsis:
            axis = len(shape) - sum(map(width, parts[i + 1 :]))
            continue
        covered = shape[axis : axis + width(part)]
        if is_mask(part) and part.shape != covered:
            raise ShapeError(
                f"a mask of shape {format_shape(part.shape)} stands for axes of shape {format_shape(covered)} "
                f"in an array of shape {format_shape(shape)}"
            )
        axis += width(part)


def _index(spec: tuple[Any, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    rest = iter(arrays)
    return tuple(next(rest) if part is SLOT else part for part in spec)


def _slice_size(part: slice, size: Any) -> Any:
    """How many elements a slice takes; open sizes are allowed where the answer is plain."""
    if not is_open(size) and not is_open(part):
        return len(range(*part.indices(size)))
    step = 1 if part.step is None else part.step
    if part == slice(None) or (step == -1 and part.start is None and part.stop is None):
        return size
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    if step == 1 and (isinstance(start, Dim) or start >= 0):
        if isinstance(stop, Dim):
            return stop - start
        if stop < 0 and not isinstance(start, Dim):
            return size + stop - start  # x[1:-1] along an open axis
    raise UnsupportedError(f"the slice {part} of an axis of open size {size} has no known length: use a fixed size")


def _getitem_shape(x: Spec, *arrays: Spec, spec: tuple[Any, ...]) -> Spec:
    consumed = sum(part is not None and part is not Ellipsis for part in spec)
    if consumed > x.ndim:
        raise ShapeError(f"index {spec} has {consumed} entries for an array of shape {x.shape}")
    if Ellipsis not in [p for p in spec if p is None or p is Ellipsis]:
        spec = (*spec, Ellipsis)
    parts: list[Any] = []
    for part in spec:
        parts += [slice(None)] * (x.ndim - consumed) if part is Ellipsis else [part]
    # an int beside index arrays counts as one of them, as in NumPy
    advanced = [i for i, part in enumerate(parts) if part is SLOT or (arrays and isinstance(part, int))]
    gathered = broadcast([a.shape for a in arrays], "index arrays")
    together = bool(advanced) and advanced[-1] - advanced[0] + 1 == len(advanced)
    out: list[Any] = [] if together or not advanced else list(gathered)
    axis = 0
    for i, part in enumerate(parts):
        if together and i == advanced[0]:
            out += gathered
        if part is None:
            out.append(1)
            continue
        if isinstance(part, slice):
            out.append(_slice_size(part, x.shape[axis]))
        elif isinstance(part, int) and isinstance(x.shape[axis], int) and not -x.shape[axis] <= part < x.shape[axis]:
            raise ShapeError(f"index {part} is out of range for axis {axis} of size {x.shape[axis]}")
        axis += 1
    return Spec(tuple(out), x.dtype)


def _scatter_add(d: Any, *arrays: Any, spec: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, np.asarray(d).dtype)
    if arrays:
        np.add.at(out, _index(spec, arrays), d)  # an element that was taken twice receives twice
    else:
        out[spec] += d
    return out


getitem: Primitive = primitive(
    "getitem",
    lambda x, *arrays, spec: x[_index(spec, arrays)],
    shape=_getitem_shape,
    jvp=(None,) * 9,
    vjp=(
        lambda d, y, x, *arrays, spec: scatter_add(d, *arrays, spec=spec, shape=x.shape),
        *(None,) * 8,
    ),
    linear=1,
)

scatter_add: Primitive = primitive(
    "scatter_add",
    _scatter_add,
    shape=lambda d, *arrays, spec, shape: Spec(shape, d.dtype),
    jvp=(None,) * 9,
    vjp=(lambda d, y, x, *arrays, spec, shape: getitem(d, *arrays, spec=spec), *(None,) * 8),
    linear=1,
)


def take_item(x: Any, index: Any) -> Any:
    """x[index]"""
    parts = index if isinstance(index, tuple) else (index,)
    # an empty list is a list of no numbers, whatever NumPy makes of it
    parts = tuple(np.asarray(part, None if part else np.intp) if isinstance(part, list) else part for part in parts)
    _check_masks(parts, np.shape(x))
    spec, arrays = split_index(parts)
    return getitem(x, *arrays, spec=spec)


def _one_hot(labels: Any, *, classes: int, dtype: Any) -> Any:
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, got {labels.dtype}")
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        raise ValueError(f"labels must lie in 0 ... {classes - 1}, got {labels.min()} ... {labels.max()}")
    return (labels[..., None] == np.arange(classes)).astype(dtype)


one_hot_node = primitive(
    "one_hot",
    _one_hot,
    shape=lambda labels, *, classes, dtype: Spec((*labels.shape, classes), dtype),
    jvp=(None,),
    vjp=(None,),
)


def one_hot(labels: Any, classes: int, dtype: Any = np.float64) -> Any:
    """Labels 0 ... classes-1 as unit vectors.   (...,) -> (..., classes)

    Parameters
    ----------
    labels : array of int
        0 ... classes - 1
    classes : int
        how many there are
    dtype : dtype
        of the result

    Returns
    -------
    array
        (..., classes)

    Examples
    --------
    >>> one_hot(np.array([2, 0]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return one_hot_node(labels, classes=classes, dtype=np.dtype(dtype))
