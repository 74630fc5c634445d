"""Who holds which rows: the rows of one data set, numbered once for all, in the memories of several processes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Holdings:
    """Pieces of consecutive rows in the order of their numbers, each with the process that holds it.

    A process holds its pieces one behind the other. `chosen` are the numbers of the rows that count, in their order;
    None is all of them.

    Examples
    --------
    >>> holdings = Holdings(owners=(0, 1, 0), lengths=(2, 3, 1), processes=2)
    >>> holdings.shares
    (3, 3)
    >>> [places.tolist() for places in holdings.located(np.arange(6))]
    [[0, 0, 1, 1, 1, 0], [0, 1, 0, 1, 2, 2]]
    """

    owners: tuple[int, ...]
    lengths: tuple[int, ...]
    processes: int
    chosen: Array | None = None

    def __len__(self) -> int:
        return sum(self.lengths) if self.chosen is None else len(self.chosen)

    @property
    def shares(self) -> tuple[int, ...]:
        """How many rows each process holds."""
        counts = np.zeros(self.processes, np.int64)
        np.add.at(counts, list(self.owners), self.lengths)
        return tuple(counts.tolist())

    def located(self, rows: Array) -> tuple[Array, Array]:
        """The process that holds each row, and the row's place there.   (n,) -> (n,), (n,)"""
        rows = rows if self.chosen is None else self.chosen[rows]
        ends = np.cumsum(self.lengths)
        piece = np.searchsorted(ends, rows, side="right")
        return np.asarray(self.owners)[piece], rows - (ends - self.lengths - self._starts)[piece]

    def held_by(self, process: int) -> Array:
        """The numbers of the rows of a process, in the order in which it holds them."""
        ends = np.cumsum((0, *self.lengths))
        own = [np.arange(ends[i], ends[i + 1]) for i, owner in enumerate(self.owners) if owner == process]
        return np.concatenate([np.arange(0), *own])

    def joined(self, parts: Sequence[Array]) -> Array:
        """What each process has for its rows, in the order of the rows."""
        process, place = self.located(np.arange(len(self)))
        starts = np.cumsum((0, *map(len, parts[:-1])))
        return np.asarray(np.concatenate(list(parts))[starts[process] + place])

    def taken(self, rows: Array) -> Holdings:
        """Some of the rows, in this order."""
        return replace(self, chosen=rows if self.chosen is None else self.chosen[rows])

    @property
    def _starts(self) -> Array:
        """Where each piece begins among the rows of its process."""
        filled, starts = [0] * self.processes, []
        for owner, length in zip(self.owners, self.lengths, strict=True):
            starts.append(filled[owner])
            filled[owner] += length
        return np.array(starts, np.int64)


def side_by_side(shares: Sequence[int]) -> Holdings:
    """Process 0 holds the first rows, and so on."""
    return Holdings(tuple(range(len(shares))), tuple(shares), len(shares))


def even(rows: int, processes: int) -> Holdings:
    """Equal shares of so many rows, side by side.

    >>> even(5, 2).shares
    (2, 3)
    """
    ends = [rows * index // processes for index in range(processes + 1)]
    return side_by_side([end - begin for begin, end in itertools.pairwise(ends)])
