"""The matrix products of a step with the batch split over our own threads, each with BLAS held to one thread.

A limit for engines that split the batch: no thread waits for another, gradients are not added up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.cases import TrainCase
from benchmarks.products import Step, gemm, looped


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Callable[[int], None]:
    """n epochs' worth of products."""
    loop = looped(gemm(case.dtype, 1))
    parts = [Step(replace(case, batch=case.batch // threads)) for _ in range(threads)]

    def work(n: int) -> None:
        with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(loop, part.table, n * case.batches) for part in parts]:
                future.result()

    return work
