"""Data in, batches out: arrays, data frames, iterables of batches; validation data; weights.

The order of an epoch is a function of the seed and the epoch's number alone, so that a resumed run sees the same
batches.
"""

from __future__ import annotations

import itertools
import math
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_number
from pellucid.errors import DataWarning, ShapeError
from pellucid.nn.losses import Loss, sample_weights
from pellucid.train.inputs import as_inputs, refuse_containers


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: inputs, prepared targets, weights (or None) in some `unit` (1 for those of the user)."""

    X: Any
    y: Any
    weights: Any = None
    unit: float = 1.0

    @property
    def rows(self) -> int:
        return len(self.X)

    @property
    def weight(self) -> float:
        """How much it counts in a mean over batches."""
        return float(self.rows if self.weights is None else np.sum(self.weights)) * self.unit


@dataclass(frozen=True, eq=False)
class Rows:
    """A data set in memory: arrays of one length, the target prepared for the loss; weights as in a batch of it."""

    X: Any
    y: Any
    weights: Any = None
    unit: float = 1.0  # of the weights; all batches share it, so in a mean over them it does not count

    def __len__(self) -> int:
        return len(self.X)

    @property
    def example(self) -> Rows:
        """Rows from which the engine learns what batches will be like."""
        return self

    @property
    def arrays(self) -> tuple[Any, ...]:
        """X, y and the weights, where there are any."""
        return tuple(a for a in (self.X, self.y, self.weights) if a is not None)

    def take(self, index: Any) -> Batch:
        return Batch(self.X[index], self.y[index], None if self.weights is None else self.weights[index])

    def count(self, size: int) -> int | None:
        """The number of batches of an epoch."""
        return -(-len(self) // size)

    def checksum(self) -> str:
        """Which data these are."""
        total = 0
        for array in (self.X, self.y, self.weights):
            total = zlib.crc32(b"" if array is None else np.ascontiguousarray(array).view(np.uint8).data, total)
        return f"{len(self)} rows, {total:08x}"

    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Batch]:
        """The batches of an epoch from number `start` on; shuffled by the seed, in order without one."""
        order = None if seed is None else self.order(seed, epoch)
        for first in range(start * size, len(self), size):
            rows = slice(first, first + size)
            yield self.take(rows if order is None else order[rows])

    def order(self, seed: int | None, epoch: int) -> Any:
        """The numbers of the rows in the order of an epoch."""
        if seed is None:
            return np.arange(len(self))
        return np.random.default_rng([seed, epoch]).permutation(len(self))


@dataclass(frozen=True, eq=False)
class Stream:
    """Batches that come from outside, (X, y) or (X, y, weights), anew for every epoch (larger than memory).

    `example` is the first of them, from which the engine learns what the others will be like. `begun` holds the pass
    that it was taken from, with that batch still in it: the first epoch goes on there, so that nothing is read twice.
    """

    source: Iterable[Any]
    loss: Loss
    outputs: int | None
    dtype: Any
    example: Rows
    begun: list[Iterator[Any]]

    def checksum(self) -> str:
        return "batches from outside"

    def count(self, size: int) -> int | None:
        return len(self.source) if isinstance(self.source, Sized) else None

    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Batch]:
        source = self.begun.pop() if self.begun else iter(self.source)
        if source is self.source:
            raise ShapeError(_read_once(source))
        for number, item in enumerate(source):
            if number >= start:
                rows = rows_of(*parts_of(item), self.loss, self.outputs, self.dtype, part=True)
                batch = Batch(rows.X, rows.y, rows.weights, rows.unit)
                if not math.isfinite(batch.weight):
                    raise ValueError("the sample weights of a batch add up to more than a float64 holds: scale them")
                yield batch


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


def rows_of(X: Any, y: Any, weights: Any, loss: Loss, outputs: int | None, dtype: Any, *, part: bool = False) -> Rows:
    """Arrays checked and prepared, once. The weights of a `part` of the rows may all be 0."""
    inputs = as_inputs(X, dtype)
    if not len(inputs):
        raise ShapeError("there are no rows to learn from: X is empty")
    refuse_containers(y, "y")
    target = loss.prepare(y.to_numpy() if hasattr(y, "to_numpy") else y, outputs)
    if len(target) != len(inputs):
        raise ShapeError(f"X has {len(inputs)} rows and y has {len(target)}: they must be the same samples")
    _refuse_too_large(target, dtype)
    if weights is None:
        return Rows(inputs, target)
    return Rows(inputs, target, *in_reach(sample_weights(weights, len(inputs), part=part), dtype))


def warn_of_one_class(label: Any, stacklevel: int) -> None:
    """There is nothing to tell apart."""
    warnings.warn(
        f"y has one class only, {label!r}: every prediction will be that class. Give rows of another class.",
        DataWarning,
        stacklevel=stacklevel,
    )


def only_class(y: Any) -> int | None:
    """The class of all rows, of a prepared target of one label a row; None where there are others."""
    labels = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    alike = labels.ndim == 1 and bool(np.all(labels == labels[0])) and float(labels[0]).is_integer()
    return int(labels[0]) if alike else None


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


def in_reach(weights: Any, dtype: Any) -> tuple[Any, float]:
    """Weights in another unit, and that unit: in the given precision sums of them and products with losses are numbers.

    Only ratios of weights count. The unit is 1 where nothing has to be done, else the largest weight: equal weights
    are 1 then, whatever they were.

    >>> in_reach(np.array([1.0, 2.0]), np.float32)
    (array([1., 2.], dtype=float32), 1.0)
    >>> in_reach(np.array([0.0, 2e-300, 4e-300]), np.float32)
    (array([0. , 0.5, 1. ], dtype=float32), 4e-300)
    """
    top, limits = float(np.max(weights)), np.finfo(dtype)
    if top == 0 or math.sqrt(limits.tiny) <= top <= math.sqrt(limits.max):
        return np.asarray(weights, dtype), 1.0
    return (np.asarray(weights, np.float64) / top).astype(dtype), top


def class_weights(which: Any, y: Any, weights: Any = None) -> Any:
    """Weights of rows by their classes, times those given: a dict, or "balanced" (n / (classes * count))."""
    by_class = _by_class(which, y)
    if weights is None:
        return by_class
    n = len(by_class)
    factors = (in_reach(sample_weights(each, n), np.float64)[0] for each in (by_class, weights))
    return np.multiply(*factors)


def _by_class(which: Any, y: Any) -> Any:
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.ndim != 1:
        raise ShapeError(f"class_weight needs one label for each row, got y of shape {labels.shape}")
    if which == "balanced":
        classes, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        return (len(labels) / (len(classes) * counts))[inverse]
    if not isinstance(which, dict):
        raise ValueError(f"class_weight is 'balanced' or a dict of class and weight, got {which!r}")
    check_number("a number from 0", **{f"class_weight of {label!r}": weight for label, weight in which.items()})
    missing = sorted(set(np.unique(labels).tolist()) - set(which))
    if missing:
        raise ValueError(f"class_weight has no weight for {missing}: give one for each class")
    return np.array([which[label] for label in labels.tolist()], float)


def split_rows(
    validation: Any, X: Any, y: Any, weights: Any, *, stratify: bool, seed: int
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Training and validation parts of arrays: by a fraction (stratified for classes) or by row numbers."""
    n = len(X)
    for name, other in (("y", y), ("sample_weight", weights)):
        if other is not None and len(other) != n:
            raise ShapeError(f"X has {n} rows and {name} has {len(other)}: they must be the same samples")
    train: Any
    held: Any
    if isinstance(validation, float | np.floating):
        from sklearn.model_selection import train_test_split

        if not 0 < validation < 1:
            raise ValueError(f"validation as a fraction lies between 0 and 1, got {validation}")
        labels = np.asarray(y) if stratify else None
        if labels is not None and min(np.unique(labels, return_counts=True)[1].tolist()) < 2:
            labels = None  # a class of a single row cannot be on both sides
        train, held = train_test_split(np.arange(n), test_size=validation, stratify=labels, random_state=seed)
    else:
        if isinstance(validation, list) and validation and np.ndim(validation[0]):
            raise ShapeError("validation as data is a tuple: write (X, y), not [X, y]")
        held = np.asarray(validation)
        if held.ndim != 1 or held.dtype.kind not in "iub":
            raise ShapeError("validation is (X, y), a fraction such as 0.1, or the numbers of the rows to hold out")
        if held.dtype.kind == "b" and len(held) != n:
            raise ShapeError(f"validation as a mask has {n} entries, one for each row, got {len(held)}")
        held = np.flatnonzero(held) if held.dtype.kind == "b" else np.unique(held)
        if len(held) == n:
            raise ShapeError("validation names all rows: none is left to learn from")
        if len(held) == 0 or held.min() < 0 or held.max() >= n:
            raise ShapeError(f"validation names rows from 0 to {n - 1}, got {held.min() if len(held) else 'none'} ...")
        train = np.setdiff1d(np.arange(n), held)

    def pick(a: Any, rows: Any) -> Any:
        return None if a is None else take_rows(a, rows)

    return (pick(X, train), pick(y, train), pick(weights, train)), (pick(X, held), pick(y, held), pick(weights, held))


def take_rows(data: Any, rows: Any) -> Any:
    """These rows of an array or a data frame."""
    return data.iloc[rows] if hasattr(data, "iloc") else np.asarray(data)[rows]
