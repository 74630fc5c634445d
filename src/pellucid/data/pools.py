"""The order of an epoch through blocks: several are read at once, and their rows are shuffled in pools of bounded size.

The order is a function of the seed, the epoch and the blocks alone. Where a pool begins is known from the numbers of
rows, so that an epoch can be taken up in its middle without reading what was before.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pellucid.data.parts import Columns, Part
from pellucid.data.samples import Samples
from pellucid.data.shares import SomeRows, chosen
from pellucid.data.sources import Block
from pellucid.data.types import Array
from pellucid.errors import ShapeError

TURN = 4096
"""Rows that are taken from a block before the next one's turn."""

Encoder = Callable[[Part], Samples]
"""Makes floats of rows, and of their target what a loss takes."""


class Pool(NamedTuple):
    """Rows in memory, and the order in which they are to be used."""

    rows: Samples
    order: Array


@dataclass(eq=False)
class Cursor:
    """A block that is being read. `left` are its rows that have not been taken; None where nobody knows."""

    block: Block
    number: int
    columns: Columns
    shares: tuple[SomeRows, ...]
    encode: Encoder
    left: int | None
    behind: int = 0  # rows that were passed over, to be dropped when it is opened
    parts: Generator[Samples, None, None] | None = None
    rest: list[Samples] = field(default_factory=list)

    def take(self, count: int) -> list[Samples]:
        """The next rows, so many if there are; fewer at the end."""
        if self.parts is None:
            self.parts = self._samples()
        self._drop()
        taken: list[Samples] = []
        while count:
            samples = self.rest.pop() if self.rest else next(self.parts, None)
            if samples is None:
                break
            if len(samples) > count:
                self.rest.append(samples.take(slice(count, None)))
                samples = samples.take(slice(0, count))
            taken.append(samples)
            count -= len(samples)
        if self.left is not None:
            self.left -= sum(map(len, taken))
        return taken

    def skip(self, count: int) -> int:
        """Pass over so many rows, or all that are left; how many that was. Only where `left` is known."""
        assert self.left is not None
        count = min(count, self.left)
        self.behind, self.left = self.behind + count, self.left - count
        return count

    def close(self) -> None:
        """Let go of the file and of all rows."""
        if self.parts is not None:
            self.parts.close()
        self.parts, self.rest = None, []

    def _drop(self) -> None:
        """Leave out the rows that were passed over."""
        assert self.parts is not None
        while self.behind:
            samples = self.rest.pop() if self.rest else next(self.parts)
            gone = min(self.behind, len(samples))
            self.behind -= gone
            if gone < len(samples):
                self.rest.append(samples.take(slice(gone, None)))

    def _samples(self) -> Generator[Samples, None, None]:
        for part in chosen_parts(self.block, self.number, self.columns, self.shares):
            yield self.encode(part)


def chosen_parts(
    block: Block, number: int, columns: Columns, shares: tuple[SomeRows, ...]
) -> Generator[Part, None, None]:
    """The rows of a block that belong to the shares."""
    for part in block.read(columns, number):
        mask = chosen(shares, number, part.first, len(part))
        if mask is None:
            yield part
        elif mask.any():
            yield part.take(np.flatnonzero(mask))


def taken_in_turn(cursors: Sequence[Cursor], ways: int, skipped: int = 0) -> Generator[Samples, None, None]:
    """The rows of all, some of each in turn; so many are open at once. The first `skipped` rows are left out."""
    waiting = iter(cursors)
    lanes = deque(itertools.islice(waiting, ways))
    try:
        yield from _turns(lanes, waiting, skipped)
    finally:
        for cursor in lanes:
            cursor.close()


def _turns(lanes: deque[Cursor], waiting: Iterator[Cursor], skipped: int) -> Iterator[Samples]:
    while lanes:
        cursor = lanes.popleft()
        if cursor.left is not None and min(TURN, cursor.left) <= skipped:
            count = cursor.skip(TURN)
            skipped -= count
        else:
            samples = cursor.take(TURN)
            count = sum(map(len, samples))
            for each in samples:
                dropped = min(skipped, len(each))
                skipped -= dropped
                if dropped < len(each):
                    yield each.take(slice(dropped, None)) if dropped else each
        if count == TURN:
            lanes.append(cursor)
        else:
            cursor.close()
            lanes.extend(itertools.islice(waiting, 1))


def pooled(samples: Iterator[Samples], size: int) -> Iterator[Samples]:
    """The same rows in pools of so many; the last may have fewer."""
    pool: Samples | None = None
    filled = 0
    for each in samples:
        while len(each):
            if pool is None:
                pool, filled = _room(each, size), 0
            count = min(len(each), size - filled)
            for place, array in zip(_arrays(pool), _arrays(each), strict=True):
                if not np.can_cast(array.dtype, place.dtype, "same_kind"):
                    raise ShapeError(f"a batch holds {array.dtype} where others hold {place.dtype}: give all the same")
                there = place[filled : filled + count]
                there[:] = array[:count]
                if array.dtype.kind in "iu" and array.dtype != place.dtype and np.any(there != array[:count]):
                    raise ShapeError(
                        f"a batch holds {array.dtype} where others hold {place.dtype}, which its numbers are too large "
                        "for: give all the same"
                    )
            filled += count
            each = each.take(slice(count, None))
            if filled == size:
                yield pool
                pool = None
    if pool is not None:
        yield pool.take(slice(0, filled))


def _arrays(samples: Samples) -> list[Array]:
    return [array for array in (samples.X, samples.target, samples.weights) if array is not None]


def _room(like: Samples, size: int) -> Samples:
    X, target = (np.empty((size, *one.shape[1:]), one.dtype) for one in (like.X, like.target))
    return Samples(X, target, None if like.weights is None else np.empty(size, like.weights.dtype))


def shuffled(count: int, seed: int, epoch: int, *more: int) -> Array:
    """The numbers from 0 to below count in an order that the other numbers decide on."""
    return np.random.default_rng([seed, epoch, *more]).permutation(count)
