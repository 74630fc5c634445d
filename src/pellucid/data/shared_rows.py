"""Rows of which each process of a run holds a share: one data set, whoever has which part of it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.data import chunks
from pellucid.data.dataset import Dataset
from pellucid.data.rows import Rows, prepared_rows
from pellucid.data.samples import joined
from pellucid.data.sharing import told
from pellucid.data.splits import split_numbers
from pellucid.data.types import Array
from pellucid.data.weights import class_weights, in_reach
from pellucid.engine.jax.holdings import Holdings, side_by_side
from pellucid.errors import ShapeError
from pellucid.graph.primitives.random import mix
from pellucid.nn.losses.loss import Loss


@dataclass(frozen=True, eq=False)
class SharedRows(Rows):
    """X and y are the rows that this process holds; numbers of rows, and weights, are those of all processes.

    What needs rows of others (`take`) is asked for by all processes at once.
    """

    holdings: Holdings = field(default_factory=lambda: side_by_side([0]))
    index: int = 0
    mark: int = 0  # of all rows: other rows have another

    def __len__(self) -> int:
        return len(self.holdings)

    @property
    def own(self) -> Rows:
        """The rows that this process holds, at their places."""
        if self.weights is None:
            return Rows(self.X, self.y)
        process, place = self.holdings.located(np.arange(len(self)))
        mine = process == self.index
        weights = np.zeros(len(self.X), self.weights.dtype)
        weights[place[mine]] = self.weights[mine]
        return Rows(self.X, self.y, weights, self.unit)

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.own.arrays

    def take(self, index: Any) -> Rows:
        """Rows by their numbers, from whoever has them."""
        from pellucid.engine.jax.processes import gathered

        numbers = np.arange(len(self))[index]
        process, place = self.holdings.located(numbers)
        mine = process == self.index
        parts = []
        for array in (self.X, self.y):
            part = np.zeros((len(numbers), *array.shape[1:]), array.dtype)
            part[mine] = array[place[mine]]
            parts.append(gathered(part)[process, np.arange(len(numbers))])
        X, y = parts
        return Rows(X, y, None if self.weights is None else self.weights[numbers])

    def taken(self, numbers: Array) -> SharedRows:
        """Some of the rows, which stay where they are."""
        weights = None if self.weights is None else self.weights[numbers]
        return replace(self, weights=weights, holdings=self.holdings.taken(numbers))

    def chunks(self) -> Iterator[Rows]:
        for first in range(0, len(self), chunks.CHUNK):
            yield self.take(np.arange(first, min(first + chunks.CHUNK, len(self))))

    def checksum(self) -> str:
        """The same for the same rows, however many processes share them."""
        total = 0
        for array in (self.weights, self.holdings.chosen):
            total = zlib.crc32(b"" if array is None else np.ascontiguousarray(array).view(np.uint8).data, total)
        return f"{len(self)} shared rows, {self.mark:016x}, {total:08x}"


def shared(data: Rows, holdings: Holdings | None = None) -> SharedRows:
    """The rows of this process as a share of those of all: side by side, if nothing else is said."""
    from pellucid.engine.jax.processes import count, gathered, index

    kinds = gathered(np.array([len(data), data.X.shape[1], data.weights is not None, data.unit != 1.0]))
    if kinds[:, 3].any():
        raise ValueError("the sample weights are too large or too small to be shared: scale them, w / w.mean()")
    full = kinds[kinds[:, 0] > 0]
    if not len(full):
        raise ShapeError("there are no rows to learn from: no process has any")
    if (full[:, 1:3] != full[0, 1:3]).any():
        raise ShapeError(
            f"the processes have rows of {sorted({int(k) for k in full[:, 1]})} columns, "
            f"{int(full[:, 2].sum())} of {count()} with weights: all must be alike"
        )
    holdings = side_by_side([int(rows) for rows in kinds[:, 0]]) if holdings is None else holdings
    parts = told(data.weights, count())
    weighed = [part for part in parts if part is not None]
    weights = holdings.joined([weighed[0][:0] if part is None else part for part in parts]) if weighed else None
    marks = gathered(np.uint64(_mark(data, holdings.held_by(index()))))
    mark = sum(int(part) for part in marks) % (1 << 64)
    return SharedRows(data.X, data.y, weights, holdings=holdings, index=index(), mark=mark)


def read_into_memories(data: Dataset, loss: Loss, outputs: int | None, dtype: Any, example: Rows) -> Rows:
    """The rows of a data set that processes share: each reads its own, and holds them."""
    assert data.sharing is not None
    parts = data.own_samples(dtype)
    own = example.take(slice(0, 0))
    if parts:
        samples = joined(parts)
        own = prepared_rows(samples.X, samples.target, samples.weights, loss, outputs, dtype, part=True)
    return own if data.sharing.processes == 1 else shared(own, data.sharing.holdings(data.shares))


def shared_parts(
    data: SharedRows, y: Any, validation: Any, class_weight: Any, *, stratify: bool, seed: int
) -> tuple[SharedRows, Rows | None]:
    """What is trained on, and what checks: a share of the rows or their numbers, those of one process.

    y: the labels of the rows of this process; each process is told those of all
    """
    if validation is None and class_weight is None:
        return data, None
    held = None
    own = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    labels = data.holdings.joined(told(own, data.holdings.processes))
    if validation is not None:
        inside, outside = split_numbers(validation, len(data), labels if stratify and labels.ndim == 1 else None, seed)
        held, data, labels = data.take(outside), data.taken(inside), labels[inside]
    if class_weight is not None:  # of the training rows alone
        weights, unit = in_reach(class_weights(class_weight, labels, data.weights), data.X.dtype)
        data = replace(data, weights=weights, unit=unit)
    return data, held


def _mark(rows: Rows, numbers: Array) -> int:
    """A number for these rows at these places, to be added to that of others."""
    total = np.uint64(0)
    places = mix(numbers.astype(np.uint64))
    with np.errstate(over="ignore"):
        for place, array in enumerate((rows.X, rows.y), 1):
            flat = np.ascontiguousarray(array, np.float64).reshape(len(array), -1).view(np.uint64)
            columns = mix(np.arange(1, flat.shape[1] + 1, dtype=np.uint64) * np.uint64(place))
            total += np.sum(mix(np.sum(mix(flat) * columns, axis=1, dtype=np.uint64) + places), dtype=np.uint64)
    return int(total)
