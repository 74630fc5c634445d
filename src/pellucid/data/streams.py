"""Streams: rows that are not all in memory, as training takes them: in batches, or in stretches for many steps."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.data.rows import Rows, rows_of
from pellucid.data.types import Array
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import Loss


class Stretch(NamedTuple):
    """Rows of consecutive steps: step k takes order[k * size : (k + 1) * size]."""

    rows: Rows
    size: int
    order: Array


class Stream(ABC):
    """Rows that come from elsewhere, anew for every epoch (larger than memory)."""

    @property
    @abstractmethod
    def example(self) -> Rows:
        """Some rows, from which the engine learns what the others will be like."""

    @abstractmethod
    def checksum(self) -> str:
        """Which data these are, as far as that can be told."""

    @abstractmethod
    def count(self, size: int) -> int | None:
        """The number of batches of an epoch, where it is known."""

    @abstractmethod
    def step_rows(self, size: int) -> int:
        """The rows of a step, where so many are asked for."""

    @property
    def reading(self) -> float:
        """Seconds for a row, about, that a thread beside the training is busy with; 0 where there is none."""
        return 0.0

    @abstractmethod
    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Rows]:
        """The batches of an epoch from number `start` on; shuffled by the seed, in order without one."""

    @abstractmethod
    def stretches(
        self, size: int, *, seed: int | None, epoch: int, start: int, most: int, limit: int | None
    ) -> Iterator[Stretch]:
        """The same for many steps at a time: `most` batches where they come one by one, and no more than `limit`."""


@dataclass(frozen=True, eq=False)
class OutsideBatches(Stream):
    """Batches of the user's, (X, y) or (X, y, weights).

    `begun` holds the pass that the example was taken from, with that batch still in it: the first epoch goes on there,
    so that nothing is read twice.
    """

    source: Iterable[Any]
    loss: Loss
    outputs: int | None
    dtype: Any
    first: Rows
    begun: list[Iterator[Any]]

    @property
    def example(self) -> Rows:
        return self.first

    def checksum(self) -> str:
        return "batches from outside"

    def count(self, size: int) -> int | None:
        return len(self.source) if isinstance(self.source, Sized) else None

    def step_rows(self, size: int) -> int:
        return len(self.first)

    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Rows]:
        source = self.begun.pop() if self.begun else iter(self.source)
        if source is self.source:
            raise ShapeError(_read_once(source))
        for number, item in enumerate(source):
            if number >= start:
                batch = rows_of(*parts_of(item), self.loss, self.outputs, self.dtype, part=True)
                if not math.isfinite(batch.weight):
                    raise ValueError("the sample weights of a batch add up to more than a float64 holds: scale them")
                yield batch

    def stretches(
        self, size: int, *, seed: int | None, epoch: int, start: int, most: int, limit: int | None
    ) -> Iterator[Stretch]:
        # no more than there are steps left: what is read is gone
        return joined_batches(itertools.islice(self.batches(size, epoch=epoch, start=start), limit), most)


def joined_batches(batches: Iterable[Rows], most: int) -> Iterator[Stretch]:
    """Batches of the same number of rows, with weights (of one unit) or without, at most so many at a time."""
    for _, alike in itertools.groupby(batches, key=lambda batch: (len(batch), batch.weights is None, batch.unit)):
        while block := list(itertools.islice(alike, most)):
            rows = joined(block)
            yield Stretch(rows, len(block[0]), np.arange(len(rows)))


def joined(block: list[Rows]) -> Rows:
    """The rows of some batches as one data set."""
    if len(block) == 1:
        return block[0]
    X, y, *weights = map(np.concatenate, zip(*(batch.arrays for batch in block), strict=True))
    return Rows(X, y, weights[0] if weights else None, block[0].unit)


def parts_of(item: Any) -> tuple[Any, Any, Any]:
    """X, y and weights (or None) of a batch from outside."""
    if not isinstance(item, tuple | list) or len(item) not in (2, 3):
        raise ShapeError(f"a batch is a tuple (X, y) or (X, y, weights), got {type(item).__name__}")
    X, y, *weights = item
    return X, y, weights[0] if weights else None


def _read_once(source: Any) -> str:
    return (
        f"a {type(source).__name__} of batches can be read only once, and every epoch reads them all: for several "
        "epochs give a list, or an object whose __iter__ starts anew (a class, not a generator), or say epochs=1"
    )


def first_of(source: Any, several: bool) -> tuple[Any, Iterator[Any]]:
    """The first batch of a source, and a pass through all of them; `several` epochs need more than one pass."""
    batches = iter(source)
    if batches is source and several:
        raise ShapeError(_read_once(source))
    first = next(batches, None)
    if first is None:
        raise ShapeError("an epoch had no batches: the source of batches is empty")
    return first, itertools.chain([first], batches)


def is_stream(X: Any) -> bool:
    """Batches from outside, rather than an array, a data frame or nested lists of numbers?"""
    if hasattr(X, "shape") or hasattr(X, "to_numpy"):
        return False
    if isinstance(X, list | tuple):
        return bool(X) and isinstance(X[0], tuple) and hasattr(X[0][0], "shape")
    return isinstance(X, Iterable)
