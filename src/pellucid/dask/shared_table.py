"""Partitions that several processes hold, as one data set: each reads its own, and knows how long the others are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.data.dataset import Dataset
from pellucid.data.parts import Columns, Part
from pellucid.data.sharing import Segment, Sharing, told
from pellucid.data.sources import BatchSource, Block
from pellucid.errors import ShapeError


@dataclass(frozen=True)
class HeldElsewhere:
    """A partition of another process."""

    rows: int
    process: int

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        raise RuntimeError(f"partition {number} is held by process {self.process}, and is not read here")

    def count(self) -> int:
        return self.rows


class PartitionSource:
    """All partitions in their order; rows of others are not here."""

    ways, has_target = 1, True

    def __init__(self, own: BatchSource, blocks: list[Block]) -> None:
        self.names, self.named, self.blocks = own.names, own.named, blocks
        self.identity = f"{len(blocks)} partitions of {[block.rows for block in blocks]} rows"


def shared_table(partitions: Mapping[int, tuple[Any, ...]], processes: int, index: int) -> Dataset:
    """The data set of all processes.

    partitions: those of this one, by their numbers: (X, y) or (X, y, weights)
    """
    own = BatchSource(list(partitions.values()))
    here = dict(zip(partitions, own.blocks, strict=True))
    everyones = told(({number: block.count() for number, block in here.items()}, own.names), processes)
    names = {columns for _, columns in everyones}
    if len(names) > 1:
        first, second = sorted(names)[:2]
        raise ShapeError(
            f"partitions have the columns {', '.join(first[:20])} and {', '.join(second[:20])}: all must have the same"
        )
    holders = {
        number: (process, rows) for process, (lengths, _) in enumerate(everyones) for number, rows in lengths.items()
    }
    blocks: list[Block] = []
    segments = []
    for number in sorted(holders):
        process, rows = holders[number]
        blocks.append(here[number] if process == index else HeldElsewhere(rows, process))
        if rows:
            segments.append(Segment(number, 0, rows, process))
    sharing = Sharing(tuple(segments), processes, index)
    return Dataset(PartitionSource(own, blocks), Columns(own.names), sharing=sharing)
