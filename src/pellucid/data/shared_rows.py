"""Rows of which each process of a run holds a share: one data set, whoever has which part of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.data import chunks
from pellucid.data.rows import Rows
from pellucid.errors import ShapeError
from pellucid.graph.primitives.random import mix


@dataclass(frozen=True, eq=False)
class SharedRows(Rows):
    """X and y are the rows of this process; numbers of rows, and weights, are those of all processes.

    The rows of process 0 are the first ones, and so on. What needs rows of others (`take`) is asked for by all
    processes at once.
    """

    shares: tuple[int, ...] = field(default=(0,))  # rows of each process
    index: int = 0
    mark: int = 0  # of all rows: other rows have another

    def __len__(self) -> int:
        return sum(self.shares)

    @property
    def first(self) -> int:
        """The number of the first row of this process."""
        return sum(self.shares[: self.index])

    @property
    def own(self) -> Rows:
        """The rows of this process."""
        weights = None if self.weights is None else self.weights[self.first : self.first + self.shares[self.index]]
        return Rows(self.X, self.y, weights, self.unit)

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.own.arrays

    def take(self, index: Any) -> Rows:
        """Rows by their numbers, from whoever has them."""
        from pellucid.engine.jax.processes import gathered

        numbers = np.arange(len(self))[index]
        mine = numbers - self.first
        held = (mine >= 0) & (mine < self.shares[self.index])
        owner = np.searchsorted(np.cumsum(self.shares), numbers, side="right")
        parts = []
        for array in (self.X, self.y):
            part = np.zeros((len(numbers), *array.shape[1:]), array.dtype)
            part[held] = array[mine[held]]
            parts.append(gathered(part)[owner, np.arange(len(numbers))])
        X, y = parts
        return Rows(X, y, None if self.weights is None else self.weights[numbers])

    def chunks(self) -> Iterator[Rows]:
        for first in range(0, len(self), chunks.CHUNK):
            yield self.take(np.arange(first, min(first + chunks.CHUNK, len(self))))

    def checksum(self) -> str:
        """The same for the same rows, however many processes share them."""
        return f"{len(self)} shared rows, {self.mark:016x}"


def _mark(rows: Rows, first: int) -> int:
    """A number for these rows at these places, to be added to that of others."""
    total = np.uint64(0)
    numbers = mix(np.arange(first, first + len(rows), dtype=np.uint64))
    with np.errstate(over="ignore"):
        for place, array in enumerate(rows.arrays, 1):
            flat = np.ascontiguousarray(array, np.float64).reshape(len(array), -1).view(np.uint64)
            columns = mix(np.arange(1, flat.shape[1] + 1, dtype=np.uint64) * np.uint64(place))
            total += np.sum(mix(np.sum(mix(flat) * columns, axis=1, dtype=np.uint64) + numbers), dtype=np.uint64)
    return int(total)


def shared(data: Rows) -> SharedRows:
    """The rows of this process as a share of those of all."""
    from pellucid.engine.jax.processes import count, gathered, index

    kinds = gathered(np.array([len(data), data.X.shape[1], data.weights is not None, data.unit != 1.0]))
    if kinds[:, 3].any():
        raise ValueError("the sample weights are too large or too small to be shared: scale them, w / w.mean()")
    if (kinds[:, 1:3] != kinds[0, 1:3]).any():
        raise ShapeError(
            f"the processes have rows of {sorted({int(k) for k in kinds[:, 1]})} columns, "
            f"{int(kinds[:, 2].sum())} of {count()} with weights: all must be alike"
        )
    shares = tuple(int(rows) for rows in kinds[:, 0])
    weights = None
    if data.weights is not None:
        filled = np.zeros(max(shares), data.weights.dtype)
        filled[: len(data)] = data.weights
        weights = np.concatenate([part[:rows] for part, rows in zip(gathered(filled), shares, strict=True)])
    first = sum(shares[: index()])
    mark = sum(int(part) for part in gathered(np.uint64(_mark(data, first)))) % (1 << 64)
    return SharedRows(data.X, data.y, weights, shares=shares, index=index(), mark=mark)
