"""Who takes part. Each module offers jobs: functions that prepare a piece of work and return it as `work(n)`.

train(case)          n epochs of training, going on from where the last call ended
predict(case, rows)  n predictions, NumPy in and NumPy out
many()               n times: 50 small models from the start
fit(name)            fit a data set from seed n with the defaults; returns the epochs it took
target(task)         train with seed n until the validation loss is reached; returns the epochs it took
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.cases import THREADS

OURS = "pellucid"
Work = Callable[[int], Any]


@dataclass(frozen=True)
class Contestant:
    """A library, the module that drives it, and the numbers of threads it is tried with (the fastest counts)."""

    name: str
    module: str
    threads: tuple[int, ...] = (THREADS, 1)


CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant(OURS, "benchmarks.contestants.ours", threads=(THREADS,)),
        Contestant("PyTorch", "benchmarks.contestants.pytorch"),
        Contestant("JAX", "benchmarks.contestants.xla"),
        Contestant("scikit-learn", "benchmarks.contestants.sklearn_mlp"),
        Contestant("ONNX Runtime", "benchmarks.contestants.onnx_runtime"),
        Contestant("limit", "benchmarks.limit", threads=(THREADS,)),
        Contestant("products", "benchmarks.products", threads=(THREADS,)),
        Contestant("products, OpenBLAS", "benchmarks.products_openblas", threads=(THREADS,)),
    )
}
