"""What the elementary functions are written with: each word computes, given arrays of NumPy, or writes instructions,
given numbers of compiled code. Arithmetic, comparisons and bits (`+`, `<`, `&`, `<<`, `abs`) are Python's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.lanes import Lanes

Number = Any
"""An array of NumPy, or `Lanes`."""

_SIGNED = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}
_UNSIGNED = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
_FLOATS = {4: np.dtype(np.float32), 8: np.dtype(np.float64)}


def select(condition: Number, yes: Number, no: Number) -> Number:
    """`yes` where the condition holds, else `no`: both are computed."""
    return condition.select(yes, no) if isinstance(condition, Lanes) else np.where(condition, yes, no)


def bits(x: Number) -> Number:
    """The bits of a float, as a whole number with a sign."""
    return _viewed(x, _SIGNED[x.dtype.itemsize])


def floats(x: Number) -> Number:
    """The float of these bits."""
    return _viewed(x, _FLOATS[x.dtype.itemsize])


def shift_right(x: Number, places: int) -> Number:
    """Zeros come in from the left."""
    return _viewed(_viewed(x, _UNSIGNED[x.dtype.itemsize]) >> places, x.dtype)


def horner(x: Number, coefficients: Sequence[Any]) -> Number:
    """coefficients[0] + x (coefficients[1] + x (...))"""
    *rest, total = coefficients
    for c in reversed(rest):
        total = total * x + c
    return total


def _viewed(x: Number, dtype: Any) -> Number:
    return x.viewed(dtype) if isinstance(x, Lanes) else x.view(dtype)
