"""Arrays as compiled code reads them: in one piece, aligned, in the byte order of the machine."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_read(array: Any, dtype: Any) -> Any:
    """The array itself where compiled code can read it as it lies, else a copy."""
    return np.require(array, np.dtype(dtype).newbyteorder("="), ("C", "A", "E"))


def is_read_in_place(array: Any, dtype: Any) -> bool:
    """Would `as_read` give the array itself?"""
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros that begin at a line of the cache."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)
