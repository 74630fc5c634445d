"""The matrix products of a training step by SciPy's OpenBLAS, held to one thread in each of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.cases import TrainCase
from benchmarks.limit import threads_of
from benchmarks.products import LibraryShare, run


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Callable[[int], None]:
    """n epochs' worth of products."""
    work = run(case, LibraryShare, threads_of(case, threads))

    def alone(n: int) -> None:
        with threadpool_limits(1):
            work(n)

    return alone
