"""A data set that several processes read together: each its own segments of the rows, and nobody those of others.

What is learned of all rows is learned in parts: each process goes over its own, and `told` gives the findings of all
to each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from pellucid.data.parts import Columns, Part
from pellucid.data.pools import chosen_parts
from pellucid.data.shares import SomeRows, count_chosen
from pellucid.data.sources import Block
from pellucid.engine.jax.holdings import Holdings

T = TypeVar("T")


class Segment(NamedTuple):
    """Consecutive rows of a block, and the process that reads them."""

    block: int
    first: int
    rows: int
    process: int

    def parts(self, block: Block, columns: Columns, shares: tuple[SomeRows, ...]) -> Iterator[Part]:
        """Those of its rows that belong to the shares."""
        end = self.first + self.rows
        for part in chosen_parts(block, self.block, columns, shares):
            numbers = part.row_numbers
            inside = (numbers >= self.first) & (numbers < end)
            if inside.all():
                yield part
            elif inside.any():
                yield part.take(np.flatnonzero(inside))
            if numbers[-1] >= end - 1:
                return


@dataclass(frozen=True, eq=False)
class Sharing:
    """The segments of all rows, in their order; how many processes there are, and which one this is."""

    segments: tuple[Segment, ...]
    processes: int
    index: int

    @property
    def own(self) -> list[tuple[int, Segment]]:
        """What this process reads: segments with their numbers."""
        return [(number, each) for number, each in enumerate(self.segments) if each.process == self.index]

    def counts(self, shares: tuple[SomeRows, ...]) -> list[int]:
        """How many rows of each segment belong to the shares."""
        return [count_chosen(shares, each.block, each.rows, each.first) for each in self.segments]

    def holdings(self, shares: tuple[SomeRows, ...]) -> Holdings:
        """Who holds which of these rows, when each process has read its own."""
        owners = tuple(each.process for each in self.segments)
        return Holdings(owners, tuple(self.counts(shares)), self.processes)

    def told(self, own: T) -> list[T]:
        """What each process has to tell, in their order. All of them must ask."""
        return told(own, self.processes)


def told(own: T, processes: int) -> list[T]:
    """What each of so many processes has to tell, in their order."""
    if processes == 1:
        return [own]
    from pellucid.engine.jax.processes import exchanged

    return exchanged(own)


def even_sharing(blocks: Sequence[Block], processes: int, index: int) -> Sharing:
    """Equal shares of the rows of blocks that every process can read, side by side in the order of processes.

    Where a block does not say how many rows it has, one of the processes counts them.
    """
    counted = {
        number: block.count()
        for number, block in enumerate(blocks)
        if block.rows is None and number % processes == index
    }
    by_number = {number: rows for each in told(counted, processes) for number, rows in each.items()}
    lengths = [by_number[number] if block.rows is None else block.rows for number, block in enumerate(blocks)]
    total = sum(lengths)
    cuts = [total * process // processes for process in range(processes + 1)]
    segments, start = [], 0
    for number, length in enumerate(lengths):
        for process in range(processes):
            first, end = max(cuts[process], start), min(cuts[process + 1], start + length)
            if first < end:
                segments.append(Segment(number, first - start, end - first, process))
        start += length
    return Sharing(tuple(segments), processes, index)
