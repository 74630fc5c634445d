"""Predictions from sixteen threads at once: the bits that one thread alone gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from soak.part import Failures, Figure, Part
from soak.samples import predictors, rows_of, same_bits, some_rows

CALLERS = 16


def run(cases: range, seed: int, advance: Callable[[], None]) -> Iterable[Figure]:
    """A case is one batch of rows, predicted by every model from every thread."""
    models = predictors(np.random.default_rng(seed))
    rows = {case: some_rows(np.random.default_rng([seed, case])) for case in cases}
    alone = {
        (case, name): predict(rows_of(inputs, rows[case]))
        for case in cases
        for name, (predict, inputs) in models.items()
    }
    failures = Failures()

    def call(caller: int) -> int:
        order = list(alone)
        np.random.default_rng([seed, caller]).shuffle(order)
        for case, name in order:
            predict, inputs = models[name]
            try:
                if not same_bits(predict(rows_of(inputs, rows[case])), alone[case, name]):
                    failures.add(case, f"{name}: other bits in thread {caller} (rows {rows[case]})")
            except Exception as error:
                failures.add(case, f"{name}: {error!r} in thread {caller}")
            if caller == 0 and name == order[0][1]:
                advance()
        return len(order)

    with ThreadPoolExecutor(CALLERS) as pool:
        predictions = sum(pool.map(call, range(CALLERS)))
    yield Figure(f"predictions from {CALLERS} threads", f"{predictions:,}")
    yield from failures.figures("batches with the bits of one thread", len(cases))


THREADS = Part("threads", run, cases=300, quick=10)
