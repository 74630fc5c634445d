"""Batches that come from outside, one after the other: data larger than memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any

from pellucid.data.rows import Rows, rows_of
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import Loss


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

    def batches(self, size: int, *, seed: int | None = None, epoch: int = 0, start: int = 0) -> Iterator[Rows]:
        source = self.begun.pop() if self.begun else iter(self.source)
        if source is self.source:
            raise ShapeError(_read_once(source))
        for number, item in enumerate(source):
            if number >= start:
                batch = rows_of(*parts_of(item), self.loss, self.outputs, self.dtype, part=True)
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
