"""Streams of unknown length on the native engine: NumPy first, compiled steps once they pay; and threads for them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pellucid.data.streams import Stream, joined_batches
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime.fallback import tell
from pellucid.engine.native.runtime.work import compiled_seconds
from pellucid.train.loop.compiled_steps import graph_of
from pellucid.train.loop.native_steps import NativeStreamSteps
from pellucid.train.loop.steps import NumpySteps
from pellucid.train.loop.stream_steps import batches_at_once, epoch_of

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

SELDOM = 4.0
"""Times the seconds for reading a row that a step takes for it, from which reading needs no processor of its own."""


class LateSteps(NumpySteps):
    """The steps of a run that may go on for long, where nobody knows how many batches will come.

    The first `later` steps are made by NumPy: then there were enough of them for compiling to pay, or there are enough
    epochs of the length of those before; and the run goes on with compiled steps.
    """

    def __init__(self, run: Run, threads: int, later: int) -> None:
        super().__init__(run.trainer, run.now)
        self.threads, self.later = threads, later

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        batches = epoch_of(run)
        most = batches_at_once(run, listening)
        for batch in batches:
            if self._is_time(run):
                try:
                    run.steps = steps = NativeStreamSteps(run, self.threads)
                except CannotCompile as error:
                    tell("the training step", error)
                    self.later = sys.maxsize
                else:
                    rest = joined_batches(itertools.chain([batch], batches), most)
                    yield from steps.advance_through(rest, run, listening)
                    return
            yield self.step(run, batch)

    def _is_time(self, run: Run) -> bool:
        steps = run.step
        if run.epoch > 1 and run.plan.epochs is not None:
            steps = max(steps, (run.step - run.batch) // (run.epoch - 1) * run.plan.epochs)
        return steps >= self.later


def threads_beside_reading(run: Run, processors: int) -> int:
    """Threads of the steps: one processor is left to the thread that reads, unless that is seldom busy.

    Threads wait for each other many times in a step: one that has to share its processor would hold up all.
    """
    data = run.plan.data
    if not isinstance(data, Stream) or not data.reading or processors == 1:
        return processors
    rows = data.step_rows(run.plan.batch_size)
    each = compiled_seconds(graph_of(run, data.example), {"n": rows}) / rows
    return processors if each > SELDOM * data.reading else processors - 1
