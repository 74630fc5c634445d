"""What is known of an array without its values: shape and dtype; and how shapes broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.dims import Dim, Shape, product

Array = Any
"""An array or something that behaves like one while a function is recorded."""

Scalar = bool | int | float
SCALARS = (bool, int, float)
"""Python numbers: they take the dtype of the array they meet (NumPy's promotion, NEP 50)."""


@dataclass(frozen=True)
class Spec:
    """Shape and dtype of an array that is not there yet.

    Parameters
    ----------
    shape : tuple of int or str
        a string is an open dimension: a size that may differ from run to run
    dtype : dtype
        of the numbers

    Examples
    --------
    >>> Spec(("n", 784), np.float32)
    Spec((n, 784), float32)
    """

    shape: Shape
    dtype: Any = np.float64  # a NumPy dtype, or bool, int, float for a Python number

    def __post_init__(self) -> None:
        sizes = (self.shape,) if isinstance(self.shape, int | str | np.integer) else self.shape
        shape = tuple(Dim.symbol(s) if isinstance(s, str) else s for s in sizes)
        for size in shape:
            if not isinstance(size, Dim) and not (isinstance(size, int | np.integer) and size >= 0):
                raise ShapeError(f"a size is a number from 0 or a name such as 'n', got {size!r} in {self.shape}")
        object.__setattr__(self, "shape", tuple(s if isinstance(s, Dim) else int(s) for s in shape))
        if not self.weak:
            native = np.dtype(self.dtype).newbyteorder("=")  # byte order is a matter of storage
            object.__setattr__(self, "dtype", native)

    @property
    def weak(self) -> bool:
        """A Python number, whose dtype gives way to the dtype of an array?"""
        return any(self.dtype is kind for kind in SCALARS)  # np.dtype("float64") == float, so not `in`

    @property
    def size(self) -> Any:
        return product(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        name = self.dtype.__name__ if self.weak else self.dtype.name
        return f"Spec({format_shape(self.shape)}, {name})"


def format_shape(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def spec_of(value: Any) -> Spec:
    """The spec of an array, a Python number, an open dimension or a spec."""
    if isinstance(value, Spec):
        return value
    kind = type(value)  # exactly: a NumPy float64 is a Python float too, but keeps its dtype
    if kind in SCALARS:
        return Spec((), kind)
    if kind is Dim:
        return Spec((), int)
    value = value if hasattr(value, "dtype") else np.asarray(value)
    return Spec(value.shape, value.dtype)


def promote(specs: Sequence[Spec]) -> Any:
    """NumPy's common dtype, Python numbers giving way."""
    return np.result_type(*(s.dtype(0) if s.weak else s.dtype for s in specs))


def broadcast(shapes: Sequence[Shape], operation: str) -> Shape:
    """NumPy's broadcasting rule, open dimensions included."""
    ndim = max((len(s) for s in shapes), default=0)
    out: list[Any] = [1] * ndim
    for shape in shapes:
        for axis, size in enumerate(shape, start=ndim - len(shape)):
            if out[axis] == 1:
                out[axis] = size
            elif size not in (1, out[axis]):
                listed = " and ".join(format_shape(s) for s in shapes)
                raise ShapeError(
                    f"{operation}: shapes {listed} do not broadcast: "
                    f"sizes {out[axis]} and {size} meet on axis {axis - ndim} (aligned from the right)"
                )
    return tuple(out)


def one_axis(axis: Any, ndim: int, operation: str) -> int:
    """A single axis as a number from 0."""
    if not isinstance(axis, int | np.integer) or not -ndim <= axis < ndim:
        raise ShapeError(f"{operation}: axis {axis!r} does not exist in an array of {ndim} dimensions")
    return int(axis) % ndim


def normalize_axes(axis: Any, ndim: int, operation: str) -> tuple[int, ...]:
    """Axes as sorted non-negative numbers; None means all."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    out = tuple(sorted(one_axis(a, ndim, operation) for a in axes))
    if len(set(out)) != len(out):
        raise ShapeError(f"{operation}: axis {axis} names an axis twice")
    return out
