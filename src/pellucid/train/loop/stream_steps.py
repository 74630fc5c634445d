"""Streams on an engine that compiles: some rows at a time, each time a small data set for the compiled step."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pellucid.data.rows import Rows
from pellucid.data.streams import Stream, Stretch
from pellucid.data.types import Array
from pellucid.graph.core.tree import unflatten
from pellucid.train.loop.compiled_steps import CompiledSteps

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

BLOCK, BYTES = 64, 16 << 20
"""Batches from outside that are read before they are run, and their bytes, at most."""


class StreamedSteps(CompiledSteps):
    """The compiled step of a run whose rows are not all in memory. Goes ahead of the class that binds the step.

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
        fits = len(data) == rows and rows < self.rows and self._suits(rows)
        if not (fits or rows == self.rows) or len(data.arrays) != len(self.source.arrays):
            state = self.snapshot(run)
            self._release()
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

    def _orders(self, run: Run, first: int, count: int) -> Array:
        return self.order[None]


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
