"""A Dataset as training takes it: pools of rows, prepared for the loss, from which steps gather their batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.background import ahead
from pellucid.data.dataset import Dataset
from pellucid.data.parts import Part
from pellucid.data.rows import Rows, prepared_rows
from pellucid.data.samples import Samples
from pellucid.data.streams import Stream, Stretch
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import Loss

SEEN = 8192
"""Rows, at most, that a run looks at before it begins."""

NUMBER = 2e-8
"""Seconds, about, to read a number of a row and put it in its place."""

HELD = 1 << 17
"""Rows, at most, that are kept in memory to check by."""


@dataclass(frozen=True, eq=False)
class DatasetStream(Stream):
    """Rows of a data set; the order of an epoch is a function of seed and epoch."""

    data: Dataset
    loss: Loss
    outputs: int | None
    dtype: Any
    some: Rows

    @property
    def example(self) -> Rows:
        return self.some

    def checksum(self) -> str:
        return self.data.checksum()

    def count(self, size: int) -> int | None:
        return None if self.data.rows is None else -(-self.data.rows // size)

    @property
    def reading(self) -> float:
        return NUMBER * float(np.prod(self.some.X.shape[1:]))

    def step_rows(self, size: int) -> int:
        return min(size, len(self.some))

    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Rows]:
        for rows, _, order in self.stretches(size, seed=seed, epoch=epoch, start=start, most=1, limit=None):
            for first in range(0, len(order), size):
                yield rows.take(order[first : first + size])

    def stretches(
        self, size: int, *, seed: int | None, epoch: int, start: int, most: int, limit: int | None
    ) -> Iterator[Stretch]:
        with closing(ahead(self._stretches(size, seed, epoch, start))) as stretches:
            yield from stretches

    def _stretches(self, size: int, seed: int | None, epoch: int, start: int) -> Iterator[Stretch]:
        row_bytes = sum(array.nbytes for array in self.some.arrays) // len(self.some)
        pools = self.data.pools(self.data.pool_rows(row_bytes), size, self.dtype, seed=seed, epoch=epoch, start=start)
        with closing(pools):
            for pool in pools:
                rows = prepared(pool.rows, self.loss, self.outputs, self.dtype, part=True)
                whole = len(pool.order) // size * size
                if whole:
                    yield Stretch(rows, size, pool.order[:whole])
                if whole < len(pool.order):  # the last batch of an epoch may ask for a step of its own
                    rest = rows.take(pool.order[whole:])
                    yield Stretch(replace(rest, unit=rows.unit), len(rest), np.arange(len(rest)))


def prepared(samples: Samples, loss: Loss, outputs: int | None, dtype: Any, *, part: bool = False) -> Rows:
    """Samples as rows of a training."""
    return prepared_rows(samples.X, samples.target, samples.weights, loss, outputs, dtype, part=part)


def first_samples(data: Dataset, dtype: Any) -> Samples:
    """Some rows, as the network takes them."""
    if not data.has_target:
        raise ShapeError("the data set has no target: name its column, dataset(..., target='name')")
    return data.encoder(dtype)(data.some(SEEN))


def held_out(
    data: Dataset, share: float, seed: int, *, groups: str | None = None, time: str | None = None
) -> tuple[Dataset, Dataset]:
    """Rows to train on, and a share of the others that fits into memory: about HELD rows at most.

    groups, time: columns, see `Dataset.split`
    """
    rows = data.counted().rows or 1
    return data.split(min(share, HELD / rows), seed=seed, groups=groups, time=time)


def named_column(what: str, column: Any) -> str | None:
    """`groups` or `time` of a data set: the name of a column, or None."""
    if column is None or isinstance(column, str):
        return column
    raise TypeError(
        f"{what} of a Dataset is the name of a column of its source, got a {type(column).__name__}: rows that are not "
        "in memory have no array beside them"
    )


def without_groups(data: Dataset, groups: str | None) -> Dataset:
    """The same without the column of groups among its features."""
    return data if groups is None else data.select([name for name in data.columns if name != groups])


def checking_part(data: Dataset) -> Part:
    """A data set to check by, in memory as it comes: all of it, or HELD of its rows by their hash."""
    rows = data.counted().rows or 1
    return (data if rows <= HELD else data.split(HELD / rows)[1]).in_memory()


def checking_rows(data: Dataset, dtype: Any) -> Samples:
    """The same as floats."""
    return data.encoder(dtype)(checking_part(data))
