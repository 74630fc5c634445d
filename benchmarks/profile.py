"""Where our own step spends its time: matrix products, loops, barriers, and what surrounds the compiled code.

Parts of the program are run over and over on their own, on all threads: the products alone, the loops alone, both. With
the products' share one sees how much faster a step could be at best, whatever else is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.cases import CASES, THREADS, TrainCase, data
from benchmarks.contestants import OURS
from benchmarks.contestants.ours import model
from benchmarks.figures import Figure
from pellucid.engine.native.code.builtin_kernels import check_finite
from pellucid.engine.native.code.products.product import kernel
from pellucid.engine.native.code.run_loop import BARRIER, Job
from pellucid.engine.native.runtime import cache
from pellucid.engine.native.runtime import stepper as native
from pellucid.engine.native.runtime.run import execute
from pellucid.engine.native.runtime.stepper import FLUSH, Stepper


def measure_profile(names: list[str], quick: bool = False) -> Iterator[Figure]:
    for name in names:
        yield from profile(CASES[name], 0.05 if quick else 0.4)


def profile(case: TrainCase, seconds: float) -> Iterator[Figure]:
    """Microseconds of a step, and of its parts alone."""
    X, y = data(case)
    trained = model(case, THREADS)
    step = _stepper(lambda: trained.fit(X, y, epochs=1, batch_size=case.batch, verbose=False))
    product, barrier, check = cache.addresses([kernel(case.dtype), BARRIER, check_finite(case.dtype)])
    parts: dict[str, Callable[[int], bool]] = {
        "the whole step, without gathering": lambda f: f != check,  # numbers grow without new data; only time matters
        "products and barriers": lambda f: f in (product, barrier),
        "loops and barriers": lambda f: f not in (product, check),
    }
    for what, chosen in parts.items():
        yield Figure(f"{case.name}: {what}", OURS, 1e6 * _time(step, chosen, seconds), "µs")


def _stepper(fit: Callable[[], Any]) -> Stepper:
    """The stepper that a fit used."""
    found: list[Stepper] = []
    original = native.stepper

    def noted(*args: Any) -> Stepper:
        found.append(original(*args))
        return found[0]

    native.stepper = noted
    try:
        fit()
    finally:
        native.stepper = original
    return found[0]


def _time(step: Stepper, chosen: Callable[[int], bool], seconds: float) -> float:
    """Seconds of one run of the chosen entries: the median of five rounds."""
    jobs, kept = [], []
    for thread in range(step.threads):
        entries = step.binding(step.rows).entries[thread]
        entries = np.ascontiguousarray(entries[[chosen(int(f)) for f in entries[:, 0]]])
        count = len(entries)
        jobs.append(Job(entries=entries.ctypes.data, entry_count=count, float_mode=FLUSH, short=-1, per_epoch=1 << 40))
        kept.append(entries)

    def run(times: int) -> float:
        for job in jobs:
            job.last = times
        begin = time.perf_counter()
        execute(jobs, "profile")
        return (time.perf_counter() - begin) / times

    times = max(1, int(seconds / 5 / run(3)))
    return float(np.median([run(times) for _ in range(5)]))
