"""Rows made part by part, side by side: temporary arrays stay small, and in a core's cache."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from pellucid.data.types import Array
from pellucid.processors import default_threads

PART = 8200
"""Rows that are made at a time: no power of two, by which columns would lie in the same few lines of a cache."""


def by_parts(part: Callable[[slice], Array], count: int, order: Literal["C", "F"] = "C") -> Array:
    """The rows 0, 1, ... of which `part` makes some, as one array (count, columns); `order` of many in memory.

    >>> by_parts(lambda some: np.arange(3)[some, None] ** 2, 3).tolist()
    [[0], [1], [4]]
    """
    first = part(slice(0, PART))
    if count <= PART:
        return first
    rows = np.empty((count, first.shape[1]), first.dtype, order)
    rows[:PART] = first

    def fill(start: int) -> None:
        rows[start : start + PART] = part(slice(start, start + PART))

    with ThreadPoolExecutor(default_threads()) as pool:
        for _ in pool.map(fill, range(PART, count, PART)):
            pass  # raises what a part raised
    return rows
