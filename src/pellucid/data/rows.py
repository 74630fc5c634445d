"""Rows of a data set in memory, prepared for a loss, and the batches that an epoch makes of them.

The order of an epoch is a function of the seed and the epoch's number alone, so that a resumed run sees the same
batches.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data import chunks
from pellucid.data.inputs import as_inputs, refuse_containers
from pellucid.data.sparse import dense, is_sparse, sparse_inputs
from pellucid.data.splits import evenly
from pellucid.data.weights import in_reach
from pellucid.errors import DataWarning, ShapeError
from pellucid.graph.primitives.sparse import SparseMatrix
from pellucid.nn.losses.loss import Loss, sample_weights
from pellucid.notices import notice


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in memory, a data set or a batch of one: inputs, targets prepared for the loss, weights or None.

    Inputs are an array, or a sparse matrix (a `csr_array` of SciPy's) where the network takes such rows.
    The weights are in some `unit` (1 for those of the user). All batches of a data set share it, so in a mean over them
    it does not count.
    """

    X: Any
    y: Any
    weights: Any = None
    unit: float = 1.0

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def example(self) -> Rows:
        """Rows from which the engine learns what batches will be like."""
        return self

    @property
    def arrays(self) -> tuple[Any, ...]:
        """X, y and the weights, where there are any: arguments of a graph."""
        X = SparseMatrix.of(self.X) if self.sparse else self.X
        return tuple(a for a in (X, self.y, self.weights) if a is not None)

    @property
    def sparse(self) -> bool:
        """Are the inputs a sparse matrix?"""
        return is_sparse(self.X)

    def dense(self) -> Rows:
        """The same with an array of inputs."""
        return replace(self, X=dense(self.X))

    @property
    def weight(self) -> float:
        """How much they count in a mean over batches."""
        return float(len(self) if self.weights is None else np.sum(self.weights)) * self.unit

    def take(self, index: Any) -> Rows:
        return Rows(self.X[index], self.y[index], None if self.weights is None else self.weights[index])

    def some(self, most: int) -> Rows:
        """At most so many rows, evenly taken."""
        return self if len(self) <= most else self.take(evenly(len(self), most))

    def count(self, size: int) -> int | None:
        """The number of batches of an epoch."""
        return -(-len(self) // size)

    def step_rows(self, size: int) -> int:
        """The rows of a step, where so many are asked for."""
        return min(size, len(self))

    def checksum(self) -> str:
        """Which data these are."""
        total = 0
        X = (self.X.data, self.X.indices, self.X.indptr) if self.sparse else (self.X,)
        for array in (*X, self.y, self.weights):
            total = zlib.crc32(b"" if array is None else np.ascontiguousarray(array).view(np.uint8).data, total)
        return f"{len(self)} rows, {total:08x}"

    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Rows]:
        """The batches of an epoch from number `start` on; shuffled by the seed, in order without one."""
        order = None if seed is None else self.order(seed, epoch)
        for first in range(start * size, len(self), size):
            rows = slice(first, first + size)
            yield self.take(rows if order is None else order[rows])

    def chunks(self) -> Iterator[Rows]:
        """All rows, in order, in batches of bounded size."""
        return self.batches(chunks.CHUNK)

    def order(self, seed: int | None, epoch: int) -> Any:
        """The numbers of the rows in the order of an epoch."""
        if seed is None:
            return np.arange(len(self))
        return np.random.default_rng([seed, epoch]).permutation(len(self))


def rows_of(
    X: Any,
    y: Any,
    weights: Any,
    loss: Loss,
    outputs: int | None,
    dtype: Any,
    *,
    part: bool = False,
    sparse: bool = False,
) -> Rows:
    """Arrays checked and prepared, once. The weights of a `part` of the rows may all be 0; X may be `sparse`."""
    inputs = sparse_inputs(X, dtype) if sparse and is_sparse(X) else as_inputs(X, dtype)
    return prepared_rows(inputs, y, weights, loss, outputs, dtype, part=part)


def prepared_rows(
    inputs: Any, y: Any, weights: Any, loss: Loss, outputs: int | None, dtype: Any, *, part: bool = False
) -> Rows:
    """The same, of inputs that `as_inputs` has looked at."""
    count = int(inputs.shape[0])
    if not count:
        raise ShapeError("there are no rows to learn from: X is empty")
    refuse_containers(y, "y")
    target = loss.prepare(y.to_numpy() if hasattr(y, "to_numpy") else y, outputs)
    if len(target) != count:
        raise ShapeError(f"X has {count} rows and y has {len(target)}: they must be the same samples")
    _refuse_too_large(target, dtype)
    if weights is None:
        return Rows(inputs, target)
    return Rows(inputs, target, *in_reach(sample_weights(weights, count, part=part), dtype))


def _refuse_too_large(target: Any, dtype: Any) -> None:
    """Raise for the first target that is infinite in the precision of the network."""
    if target.dtype.kind != "f" or target.dtype.itemsize <= np.dtype(dtype).itemsize:
        return
    large = np.abs(target) > np.finfo(dtype).max
    if large.any():
        place = np.argwhere(large)[0]
        raise ValueError(
            f"y holds {target[tuple(place)]:.3g} in row {place[0]}, too large for {np.dtype(dtype)}: standardise the "
            "target ((y - y.mean()) / y.std()), or use dtype='float64'"
        )


def warn_if_one_class(y: Any) -> None:
    """Of a prepared target with one label a row."""
    labels = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if labels.ndim == 1 and np.all(labels == labels[0]) and float(labels[0]).is_integer():
        warn_of_one_class(int(labels[0]))


def warn_of_one_class(label: Any) -> None:
    """There is nothing to tell apart."""
    notice(
        f"y has one class only, {label!r}: every prediction will be that class. Give rows of another class.",
        DataWarning,
    )
