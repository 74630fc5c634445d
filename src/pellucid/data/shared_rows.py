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
        numbers = np.arange(len(self))[index]
        process, place = self.holdings.located(numbers)
        mine = process == self.index
        parts = told((self.X[place[mine]], self.y[place[mine]]), self.holdings.processes)
        among = np.zeros(len(numbers), np.int64)  # a row's place among those that its process gives
        for each in range(self.holdings.processes):
            among[process == each] = np.arange(np.sum(process == each))
        starts = np.cumsum((0, *(len(X) for X, _ in parts[:-1])))
        X, y = (np.concatenate(arrays)[starts[process] + among] for arrays in zip(*parts, strict=True))
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


def shared(data: Rows, holdings: Holdings, index: int) -> SharedRows:
    """The rows of this process as a share of those of all."""
    held = data.X.shape[1], data.weights is not None
    mark = _mark(data, holdings.held_by(index)) if len(data) else 0
    everyones = told((len(data), held, data.unit, data.weights, mark), holdings.processes)
    if any(unit != 1.0 for _, _, unit, _, _ in everyones):
        raise ValueError("the sample weights are too large or too small to be shared: scale them, w / w.mean()")
    kinds = {held for rows, held, *_ in everyones if rows}
    if not kinds:
        raise ShapeError("there are no rows to learn from: no process has any")
    if len(kinds) > 1:
        raise ShapeError(
            f"processes have rows of {sorted({columns for columns, _ in kinds})} columns, some with weights: "
            f"{sorted({weighed for _, weighed in kinds})}: all must be alike"
        )
    parts = [weights for *_, weights, _ in everyones]
    weights = None if any(part is None for part in parts) else holdings.joined(parts)
    total = sum(mark for *_, mark in everyones) % (1 << 64)
    return SharedRows(data.X, data.y, weights, holdings=holdings, index=index, mark=total)


def read_into_memories(data: Dataset, loss: Loss, outputs: int | None, dtype: Any, example: Rows) -> SharedRows:
    """The rows of a data set that processes share: each reads its own, and holds them."""
    assert data.sharing is not None
    parts = data.own_samples(dtype)
    own = example.take(slice(0, 0))
    if parts:
        samples = joined(parts)
        own = prepared_rows(samples.X, samples.target, samples.weights, loss, outputs, dtype, part=True)
    return shared(own, data.sharing.holdings(data.shares), data.sharing.index)


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
