"""Streams on the native engine: some rows at a time, each time a small data set for the compiled step."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pellucid.data.rows import Rows
from pellucid.data.streams import Stream, Stretch, joined_batches
from pellucid.data.types import Array
from pellucid.engine.native.fallback import tell
from pellucid.engine.native.lower import CannotCompile
from pellucid.engine.native.stepper import release
from pellucid.engine.native.work import compiled_seconds
from pellucid.graph.core.tree import unflatten
from pellucid.train.loop.native_steps import NativeSteps, graph_of
from pellucid.train.loop.steps import NumpySteps

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

BLOCK, BYTES = 64, 16 << 20
"""Batches from outside that are read before they are run, and their bytes, at most."""

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


class NativeStreamSteps(NativeSteps):
    """The compiled step of a run whose rows are not all in memory.

    The state is kept at the beginning of every stretch of rows, where a replay begins, and at the marks of the run.
    """

    order: Array

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        plan = run.plan
        assert isinstance(plan.data, Stream)
        stretches = plan.data.stretches(
            plan.batch_size,
            seed=plan.seed if plan.shuffle else None,
            epoch=run.epoch - 1,
            start=run.batch,
            most=batches_at_once(run, listening),
            limit=None if plan.steps is None else plan.steps - run.step,
        )
        return self.advance_through(stretches, run, listening)

    def advance_through(self, stretches: Iterable[Stretch], run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        """These rows, stretch by stretch."""
        for stretch in stretches:
            self._take_up(run, stretch)
            yield from super().advance(run, listening)

    def _take_up(self, run: Run, stretch: Stretch) -> None:
        data, rows = stretch.rows, stretch.size
        # a short batch goes through the step for longer ones
        fits = len(data) == rows and rows < self.rows and self.stepper.program.suits({"n": rows})
        if not (fits or rows == self.rows) or len(data.arrays) != len(self.source.arrays):
            state = self.snapshot(run)
            release(self.stepper)
            self._bind(run, data, rows)
            self.load(state, run)
        self.feed(data, len(stretch.order))
        self.order = stretch.order
        self.skipped, self.epoch, self.begin, self.factors = run.batch, run.epoch, run.step, []
        marks = {mark.step for mark in run.begins}
        self.past = {step: old for step, old in self.past.items() if step in marks}
        self.past[run.step] = unflatten(self.tree, self.stepper.read())

    def _nobody_looks(self, run: Run, listening: Mapping[str, bool]) -> bool:
        return False  # the next epoch is not there yet

    def _weights(self, order: Any, first: int, last: int) -> Any:
        return super()._weights(order, first, last) * self.source.unit  # other stretches may have another

    def _order(self, run: Run, epoch: int) -> Array:
        return self.order


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


def batches_at_once(run: Run, listening: Mapping[str, bool]) -> int:
    """Batches from outside that are read before they are run."""
    room = BYTES // max(1, sum(array.nbytes for array in run.plan.data.example.arrays))
    return 1 if listening["batch_end"] else max(1, min(BLOCK, room))


def epoch_of(run: Run) -> Iterator[Rows]:
    """The rest of the batches of an epoch: no more than the run has steps left, for what is read is gone."""
    plan = run.plan
    seed = plan.seed if plan.shuffle else None
    batches = plan.data.batches(plan.batch_size, seed=seed, epoch=run.epoch - 1, start=run.batch)
    return itertools.islice(batches, None if plan.steps is None else plan.steps - run.step)
