"""Where the rows of a data set come from: blocks that can be read again and again, each from its beginning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pellucid.data.parts import Columns, Part, frame_of, part_of
from pellucid.errors import ShapeError

if TYPE_CHECKING:
    import narwhals as nw

BLOCK = 1 << 16
"""Rows of a block of a frame in memory, and of what is asked of a lazy frame at a time."""

WAYS = 8
"""Blocks that are read at once, at most, so that shuffled rows are of several places."""


class Block(Protocol):
    """Rows that are stored together: a row group of a file, a file, a part of a frame."""

    @property
    def rows(self) -> int | None:
        """How many; None where that is known only by reading them."""

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        """The rows from the first on, in parts; `number` is the block's in its source."""

    def count(self) -> int:
        """How many rows, whatever it takes."""


class Source(Protocol):
    """Blocks with the same columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""

    @property
    def blocks(self) -> Sequence[Block]:
        """In the order of the rows."""

    @property
    def ways(self) -> int:
        """How many blocks may be read at once, with regard to memory."""

    @property
    def identity(self) -> str:
        """What tells it from others, without reading it: a resumed run compares it."""

    @property
    def named(self) -> bool:
        """Are the names of the columns the user's?"""

    @property
    def has_target(self) -> bool:
        """Do batches bring a target beside the columns?"""


def names_of(item: Any) -> tuple[str, ...]:
    """The names of the columns of a frame, an array, or of the X of a tuple (X, y)."""
    X = item[0] if isinstance(item, tuple) else item
    frame = frame_of(X)
    if frame is not None:
        return text_names(frame.columns)
    if np.ndim(X) != 2:
        raise ShapeError(
            f"a batch is a data frame, an array (n, features), or a tuple (X, y) or (X, y, weights), got a "
            f"{type(X).__name__}"
        )
    return tuple(f"x{place}" for place in range(np.shape(X)[1]))


def text_names(names: Sequence[Any]) -> tuple[str, ...]:
    """The names of the columns of a frame, which are texts."""
    strange = next((name for name in names if not isinstance(name, str)), None)
    if strange is not None:
        raise ShapeError(
            f"the columns of a frame are named by texts, got {strange!r}: frame.columns = frame.columns.astype(str)"
        )
    return tuple(names)


def arrays_of(item: Any) -> int:
    """How many a batch holds: rows, and with them a target, and weights."""
    return sum(one is not None for one in item) if isinstance(item, tuple) else 1


BATCHES = {1: "rows alone", 2: "a tuple (X, y)", 3: "a tuple (X, y, weights)"}
"""What batches are called in messages, by how much they hold."""

# a frame in memory


@dataclass(frozen=True, eq=False)
class FrameBlock:
    """Some rows of a frame."""

    frame: Any
    start: int
    rows: int

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        yield part_of(self.frame[self.start : self.start + self.rows], columns, f"rows from {self.start} on", number)

    def count(self) -> int:
        return self.rows


class FrameSource:
    """A data frame of any library, or a table of Arrow's, in parts."""

    ways, named, has_target = WAYS, True, False

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.names = text_names(frame.columns)
        starts = range(0, len(frame), BLOCK)
        self.blocks = [FrameBlock(frame, start, min(BLOCK, len(frame) - start)) for start in starts]
        self.identity = f"a frame of {len(frame)} rows"


# a frame that is not in memory


@dataclass(frozen=True, eq=False)
class LazyBlock:
    """All rows of a lazy frame of polars."""

    frame: Any
    rows: int | None = None

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        first = 0
        for batch in self.frame.select(columns.names).collect_batches(chunk_size=BLOCK, maintain_order=True):
            yield part_of(batch, columns, "the lazy frame", number, first)
            first += len(batch)

    def count(self) -> int:
        import polars as pl

        return int(self.frame.select(pl.len()).collect().item())


class LazySource:
    """A lazy frame of polars: its plan is executed in every pass."""

    ways, named, has_target = 1, True, False

    def __init__(self, frame: Any) -> None:
        self.names = tuple(frame.collect_schema().names())
        self.blocks = [LazyBlock(frame)]
        self.identity = "a lazy frame"


# batches of the user's


@dataclass(frozen=True, eq=False)
class BatchBlock:
    """A batch, or all that an iterable gives."""

    items: Iterable[Any]
    names: tuple[str, ...]
    arrays: int  # of a batch: 1 for rows alone, 2 with a target, 3 with weights
    rows: int | None = None

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        first = 0
        for place, item in enumerate(self.items):
            where = f"batch {max(number, place)}"
            if names_of(item) != self.names:
                raise ShapeError(
                    f"{where} has the columns {', '.join(names_of(item)[:20])}, the first one had "
                    f"{', '.join(self.names[:20])}: all batches have the same columns"
                )
            if arrays_of(item) != self.arrays:
                raise ShapeError(
                    f"{where} is {BATCHES[arrays_of(item)]}, the first one was {BATCHES[self.arrays]}: all batches "
                    "have the same"
                )
            part = part_of(item, columns, where, number, first)
            first += len(part)
            yield part

    def count(self) -> int:
        return sum(_rows_of(item) for item in self.items) if self.rows is None else self.rows


class BatchSource:
    """Any object whose __iter__ starts anew and gives frames, arrays, or tuples (X, y) or (X, y, weights).

    Of a list each batch is a block of its own; what else can be iterated over is one, and read in its order.
    """

    def __init__(self, items: Iterable[Any]) -> None:
        passes = iter(items)
        if passes is items:
            raise ShapeError(
                f"a {type(items).__name__} of batches can be read only once, and a data set is read again and again: "
                "give a list, or an object whose __iter__ starts anew (a class, not a generator)"
            )
        first = next(passes, None)
        if first is None:
            raise ShapeError("the data set is empty: there are no batches")
        self.names = names_of(first)
        self.named = frame_of(first[0] if isinstance(first, tuple) else first) is not None
        self.has_target = isinstance(first, tuple) and len(first) > 1
        self.ways = WAYS if isinstance(items, list) else 1
        arrays = arrays_of(first)
        self.blocks: list[BatchBlock] = (
            [BatchBlock([item], self.names, arrays, _rows_of(item)) for item in items]
            if isinstance(items, list)
            else [BatchBlock(items, self.names, arrays)]
        )
        self.identity = "batches from outside"


def _rows_of(item: Any) -> int:
    X = item[0] if isinstance(item, tuple) else item
    frame = frame_of(X)
    return int((X if frame is None else frame).shape[0])
