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
from pellucid.train.loop.native import Compiled, Position
from pellucid.train.loop.step import Snapshot

if TYPE_CHECKING:
    from pellucid.train.loop.loop import Run

BLOCK, BYTES = 64, 16 << 20
"""Batches that are read before they are run, and their bytes, at most."""


class Streamed(Compiled):
    """The compiled step of a run whose batches come from outside.

    Where nobody knows how many will come, the first `later` steps are made by NumPy: then there were enough of them for
    compiling to pay, or there are enough epochs of the length of those before. The state is kept at the beginning of
    every block of batches, where a replay begins, and at the marks of the run.
    """

    def __init__(self, run: Run, threads: int, later: int) -> None:
        self.begun = False
        self.available, self.later = threads, later
        if not later:
            self._begin(run)

    def _begin(self, run: Run) -> None:
        self.begun = True
        try:
            super().__init__(run, self.available)
        except CannotCompile:
            self.begun = False
            raise

    def _is_time(self, run: Run) -> bool:
        steps = run.step
        if run.epoch > 1 and run.plan.epochs is not None:
            steps = max(steps, (run.step - run.batch) // (run.epoch - 1) * run.plan.epochs)
        return steps >= self.later

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        """The rest of the epoch, block by block. Was the last step of each part made?"""
        left = None if run.plan.steps is None else run.plan.steps - run.step
        batches = run.plan.data.batches(run.plan.batch_size, epoch=run.epoch - 1, start=run.batch)
        batches = itertools.islice(batches, left)
        if not self.begun:
            yield from self._by_numpy(run, batches)
        room = BYTES // max(1, sum(array.nbytes for array in run.plan.data.example.arrays))
        for block in blocks(batches, 1 if listening["batch_end"] else max(1, min(BLOCK, room))):
            self._take_up(run, block)
            yield from super().advance(run, listening)

    def _by_numpy(self, run: Run, batches: Iterator[Batch]) -> Iterator[bool]:
        """Steps by NumPy, until it is time."""
        from pellucid.train.loop.loop import advance

        while not self._is_time(run):
            batch = next(batches, None)
            if batch is None:
                return
            yield advance(run, batch, split=False)
        try:
            self._begin(run)
        except CannotCompile as error:
            tell("the training step", error)
            self.later = sys.maxsize
            yield from self._by_numpy(run, batches)

    # before it has begun, the run has its state itself

    @property
    def threads(self) -> int:
        return super().threads if self.begun else self.available

    def put(self, now: Snapshot, run: Run) -> None:
        if self.begun:
            super().put(now, run)

    def hand_over(self) -> bool:
        return self.begun and super().hand_over()

    def catch_up(self, run: Run) -> None:
        """Nothing is run ahead of time."""

    def close(self) -> None:
        if self.begun:
            super().close()

    # afterwards

    def _take_up(self, run: Run, block: list[Batch]) -> None:
        data, rows = joined(block), block[0].rows
        alone = len(block) == 1 and rows < self.rows  # a short batch goes through the step for longer ones
        if alone and not self.stepper.program.suits({"n": rows}):
            alone = False
        if not (alone or rows == self.rows) or len(data.arrays) != len(self.source.arrays):
            now = self.take(run)
            release(self.stepper)
            self._bind(run, data, rows)
            self.put(now, run)
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
