"""Batches from outside on the native engine: some at a time, each time a small data set for the compiled step."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data.rows import Rows
from pellucid.engine.native.fallback import tell
from pellucid.engine.native.lower import CannotCompile
from pellucid.engine.native.stepper import release
from pellucid.graph.core.tree import unflatten
from pellucid.train.loop.native_steps import NativeSteps
from pellucid.train.loop.steps import NumpySteps

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

BLOCK, BYTES = 64, 16 << 20
"""Batches that are read before they are run, and their bytes, at most."""


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
        for batch in batches:
            if self._is_time(run):
                try:
                    run.steps = steps = NativeStreamSteps(run, self.threads)
                except CannotCompile as error:
                    tell("the training step", error)
                    self.later = sys.maxsize
                else:
                    yield from steps.advance_through(itertools.chain([batch], batches), run, listening)
                    return
            yield self.step(run, batch)

    def _is_time(self, run: Run) -> bool:
        steps = run.step
        if run.epoch > 1 and run.plan.epochs is not None:
            steps = max(steps, (run.step - run.batch) // (run.epoch - 1) * run.plan.epochs)
        return steps >= self.later


class NativeStreamSteps(NativeSteps):
    """The compiled step of a run whose batches come from outside.

    The state is kept at the beginning of every block of batches, where a replay begins, and at the marks of the run.
    """

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        return self.advance_through(epoch_of(run), run, listening)

    def advance_through(self, batches: Iterable[Rows], run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        """These batches, block by block."""
        room = BYTES // max(1, sum(array.nbytes for array in run.plan.data.example.arrays))
        for block in blocks(batches, 1 if listening["batch_end"] else max(1, min(BLOCK, room))):
            self._take_up(run, block)
            yield from super().advance(run, listening)

    def _take_up(self, run: Run, block: list[Rows]) -> None:
        data, rows = joined(block), len(block[0])
        # a short batch goes through the step for longer ones
        fits = len(block) == 1 and rows < self.rows and self.stepper.program.suits({"n": rows})
        if not (fits or rows == self.rows) or len(data.arrays) != len(self.source.arrays):
            state = self.snapshot(run)
            release(self.stepper)
            self._bind(run, data, rows)
            self.load(state, run)
        self.feed(data)
        self.skipped, self.epoch, self.begin, self.factors = run.batch, run.epoch, run.step, []
        marks = {mark.step for mark in run.begins}
        self.past = {step: old for step, old in self.past.items() if step in marks}
        self.past[run.step] = unflatten(self.tree, self.stepper.read())

    def _nobody_looks(self, run: Run, listening: Mapping[str, bool]) -> bool:
        return False  # the next epoch is not there yet

    def _weights(self, order: Any, first: int, last: int) -> Any:
        return super()._weights(order, first, last) * self.source.unit  # other blocks may have another

    def _order(self, run: Run, epoch: int) -> np.ndarray:
        return np.arange(len(self.source))


def epoch_of(run: Run) -> Iterator[Rows]:
    """The rest of the batches of an epoch: no more than the run has steps left, for what is read is gone."""
    steps_left = None if run.plan.steps is None else run.plan.steps - run.step
    return itertools.islice(
        run.plan.data.batches(run.plan.batch_size, epoch=run.epoch - 1, start=run.batch), steps_left
    )


def blocks(batches: Iterable[Rows], most: int) -> Iterator[list[Rows]]:
    """Batches of the same number of rows, with weights (of one unit) or without, in groups of at most so many."""
    for _, alike in itertools.groupby(batches, key=lambda batch: (len(batch), batch.weights is None, batch.unit)):
        while block := list(itertools.islice(alike, most)):
            yield block


def joined(block: list[Rows]) -> Rows:
    """The rows of some batches as one data set."""
    if len(block) == 1:
        return block[0]
    X, y, *weights = map(np.concatenate, zip(*(batch.arrays for batch in block), strict=True))
    return Rows(X, y, weights[0] if weights else None, block[0].unit)
