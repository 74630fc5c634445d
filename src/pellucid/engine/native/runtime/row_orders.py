"""The rows of epochs in the order of their batches: NumPy's own, made by compiled code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.engine.native.code.builtin_kernels import SHUFFLE
from pellucid.engine.native.runtime import cache


def row_orders(rows: int, seed: int, first: int, count: int) -> Any:
    """numpy.random.default_rng([seed, epoch]).permutation(rows) of so many epochs."""
    shuffle = cache.function(SHUFFLE)
    draws, half = draws_for(rows), 1 << (rows - 1).bit_length() >> 1
    orders = np.empty((count, rows), np.int64)
    table = SHUFFLE.words.table(draws=draws, rows=rows, order=orders.ctypes.data, half=half)
    size = max(-(-seed.bit_length() // 32), 1)
    words = np.array([*np.frombuffer(seed.to_bytes(4 * size, "little"), "<u4"), 0], np.uint32)  # as [seed, epoch]
    for order, epoch in zip(orders, range(first, first + count), strict=True):
        words[-1] = epoch
        numbers = np.random.PCG64(words).random_raw(-(-draws // 2))
        table.numbers = numbers.ctypes.data
        if shuffle(table.address):
            order[:] = np.random.default_rng([seed, epoch]).permutation(rows)
        table.order += order.nbytes
    return orders


def draws_for(rows: int) -> int:
    """Random numbers for an order: enough but for very few orders, which are left to NumPy.

    A draw counts at least every second time, on average more than two times in three.
    """
    return int(1.5 * rows + 8 * math.sqrt(rows)) + 64
