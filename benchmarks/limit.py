"""The limit of a step: its products' arithmetic as fused multiply-adds in registers, on all threads that it may use.

Nothing is read, written or waited for. As many threads as our engine gives such a step: a small one has one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.cases import TrainCase
from benchmarks.compiled import multiply_adds, operations
from pellucid.engine.native.runtime.work import PER_THREAD


def flops(case: TrainCase) -> int:
    """Of the products of a step: forward and weights' gradient of each layer, rows' gradient of all but the first."""
    pairs = list(zip(case.sizes, case.sizes[1:], strict=False))
    return 2 * case.batch * sum(a * b * (2 if i == 0 else 3) for i, (a, b) in enumerate(pairs))


def threads_of(case: TrainCase, threads: int) -> int:
    return max(1, min(threads, flops(case) // PER_THREAD))


def work_on(dtype: str, threads: int) -> Callable[[float], None]:
    """A function that does so many operations, divided among threads."""
    loop, each = multiply_adds(dtype), operations(dtype)
    places = [np.full(64, 1e-3, dtype) for _ in range(threads)]

    def work(count: float) -> None:
        turns = max(1, round(count / each / threads))
        with ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(loop, place.ctypes.data, turns) for place in places]:
                future.result()

    return work


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Callable[[int], None]:
    """n epochs' worth of operations."""
    work = work_on(case.dtype, threads_of(case, threads))
    return lambda n: work(n * case.batches * float(flops(case)))
