"""Batches from outside on the native engine: some at a time, each time a small data set for the compiled step."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data.rows import Batch, Rows
from pellucid.engine.native.fallback import tell
from pellucid.engine.native.lower import CannotCompile
from pellucid.engine.native.stepper import release
from pellucid.train.loop.native_steps import NativeSteps, Position
from pellucid.train.loop.numpy_steps import NumpySteps

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
        while not self._is_time(run):
            batch = next(batches, None)
            if batch is None:
                return
            yield self.step(run, batch)
        try:
            run.steps = steps = NativeStreamSteps(run, self.threads)
        except CannotCompile as error:
            tell("the training step", error)
            self.later = sys.maxsize
            for batch in batches:
                yield self.step(run, batch)
        else:
            yield from steps.advance_through(batches, run, listening)

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

    def advance_through(self, batches: Iterable[Batch], run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        """These batches, block by block."""
        room = BYTES // max(1, sum(array.nbytes for array in run.plan.data.example.arrays))
        for block in blocks(batches, 1 if listening["batch_end"] else max(1, min(BLOCK, room))):
            self._take_up(run, block)
            yield from super().advance(run, listening)

    def catch_up(self, run: Run) -> None:
        """Nothing is run ahead of time."""

    def _take_up(self, run: Run, block: list[Batch]) -> None:
        data, rows = joined(block), block[0].rows
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
        here = Position(self._nest(self.stepper.read()), run.step)
        self.past = [*(position for position in self.past if position.step in marks), here]

    def _nobody_looks(self, run: Run, listening: Mapping[str, bool]) -> bool:
        return False  # the next epoch is not there yet

    def _weights(self, order: Any, first: int, last: int) -> Any:
        return super()._weights(order, first, last) * self.source.unit  # other blocks may have another

    def _order(self, run: Run, epoch: int) -> np.ndarray:
        return np.arange(len(self.source))


def epoch_of(run: Run) -> Iterator[Batch]:
    """The rest of the batches of an epoch: no more than the run has steps left, for what is read is gone."""
    steps_left = None if run.plan.steps is None else run.plan.steps - run.step
    return itertools.islice(
        run.plan.data.batches(run.plan.batch_size, epoch=run.epoch - 1, start=run.batch), steps_left
    )


def blocks(batches: Iterable[Batch], most: int) -> Iterator[list[Batch]]:
    """Batches of the same number of rows, with weights (of one unit) or without, in groups of at most so many."""
    for _, alike in itertools.groupby(batches, key=lambda batch: (batch.rows, batch.weights is None, batch.unit)):
        while block := list(itertools.islice(alike, most)):
            yield block


def joined(block: list[Batch]) -> Rows:
    """The rows of some batches as one data set."""
    first = block[0]
    if len(block) == 1:
        return Rows(first.X, first.y, first.weights, first.unit)
    names = ("X", "y") if first.weights is None else ("X", "y", "weights")
    arrays = {name: np.concatenate([getattr(batch, name) for batch in block]) for name in names}
    return Rows(**arrays, unit=first.unit)
