"""Parts of a data set on the way: some rows as they come from a file, their target and weights, and as floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.inputs import PLAIN, all_finite, as_inputs
from pellucid.data.samples import Samples
from pellucid.data.types import Array
from pellucid.errors import ShapeError

STRIP = 8192
"""Rows that are turned from columns into rows at a time: they stay in the processor's cache."""


@dataclass(frozen=True)
class Columns:
    """What is read: the features, the target (none, one or several columns), the weight of rows."""

    features: tuple[str, ...]
    target: tuple[str, ...] = ()
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys((*self.features, *self.target, *([] if self.weight is None else [self.weight]))))


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a block. X: a data frame (of narwhals) or an array (n, features); `where` they are from, for messages.

    `block` and `first` are the number of the block, and that of the first row in it. Of rows that are not consecutive
    `numbers` has that of each, and of joined ones `sections` where each part of them begins.
    """

    X: Any
    target: Array | None = None
    weights: Array | None = None
    where: str = ""
    block: int = 0
    first: int = 0
    numbers: Array | None = None
    sections: tuple[tuple[int, str], ...] = ()

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def native(self) -> Any:
        """The rows as a data frame of the library that read them, or as an array."""
        return self.X if isinstance(self.X, np.ndarray) else self.X.to_native()

    @property
    def row_numbers(self) -> Array:
        """The number of each row in its block."""
        return np.arange(self.first, self.first + len(self)) if self.numbers is None else self.numbers

    def take(self, rows: slice | Array) -> Part:
        """Some of the rows, all of them of one block."""
        X, numbers = self.X[rows], self.row_numbers[rows]
        target, weights = (None if one is None else one[rows] for one in (self.target, self.weights))
        return replace(self, X=X, target=target, weights=weights, numbers=numbers)

    def place(self, row: int) -> tuple[str, int]:
        """Where a row is from, and its number there."""
        where = next((where for start, where in reversed(self.sections) if start <= row), self.where)
        return where, int(self.row_numbers[row])

    def samples(self, dtype: Any) -> Samples:
        """The rows as floats, with their target. A part without one has an empty target."""
        target = np.empty((len(self), 0)) if self.target is None else self.target
        return Samples(self.floats(dtype), target, self.weights)

    def floats(self, dtype: Any) -> Array:
        """The rows as floats; an error for texts, dates, and numbers that are missing or infinite."""
        if not self._holds_numbers():
            return self._looked_at(slice(None), dtype)
        array = isinstance(self.X, np.ndarray)
        columns = self.X.T if array else [self.X[name].to_numpy() for name in self.X.columns]
        rows = np.empty((len(self), len(columns)), dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(self), STRIP):
                strip = slice(start, start + STRIP)
                for place, column in enumerate(columns):
                    rows[strip, place] = column[strip]
        if not all_finite(rows):
            bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            self._looked_at(slice(bad, bad + 1), dtype)
        return rows

    def _holds_numbers(self) -> bool:
        """Do the dtypes say so?"""
        if isinstance(self.X, np.ndarray):
            return self.X.dtype.kind in PLAIN
        import narwhals as nw

        return all(kind.is_numeric() or kind == nw.Boolean for kind in self.X.schema.values())

    def _looked_at(self, rows: slice, dtype: Any) -> Array:
        """Some rows as floats, slower, with an error that names the place."""
        where, number = self.place(rows.start or 0)
        try:
            return np.asarray(as_inputs(self.take(rows).native, dtype, number))
        except (ShapeError, ValueError) as error:
            raise type(error)(f"{where}: {error}") from None


def part_of(item: Any, columns: Columns, where: str, block: int = 0, first: int = 0) -> Part:
    """A data frame that has the columns, or a tuple (X, y) or (X, y, weights), or rows alone, as a part."""
    if isinstance(item, tuple):
        X, y, weights = (*item, None, None)[:3]
        inner = part_of(X, replace(columns, target=(), weight=None), where, block, first)
        part = replace(inner, target=None if y is None else _values(y), weights=_weights(weights))
        return _complete(part, columns)
    frame = frame_of(item)
    if frame is None:
        array = np.asarray(item)
        places = [int(name[1:]) for name in columns.features]  # arrays have the names x0, x1, ...
        if places != list(range(array.shape[1])):
            array = array[:, places]
        return Part(array, where=where, block=block, first=first)
    absent = [name for name in columns.names if name not in frame.columns]
    if absent:
        raise ShapeError(
            f"{where}: a batch has no column {', '.join(map(repr, absent[:5]))}; it has {', '.join(frame.columns[:20])}"
        )
    target = [_values(frame[name].to_native()) for name in columns.target]
    joined = None if not target else target[0] if len(target) == 1 else np.column_stack(target)
    weights = None if columns.weight is None else _weights(frame[columns.weight].to_native())
    X = frame.select(*columns.features)
    return _complete(Part(X, joined, weights, where, block, first), columns)


def frame_of(item: Any) -> Any:
    """A data frame in memory, whosever it is (a record batch of Arrow's too); None for everything else."""
    if type(item).__module__.startswith("pyarrow") and type(item).__name__ == "RecordBatch":
        import pyarrow as pa

        item = pa.Table.from_batches([item])
    import narwhals as nw

    frame = nw.from_native(item, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def joined_parts(parts: Sequence[Part]) -> Part:
    """Parts one below the other, as one."""
    if not parts:
        raise ShapeError("the data set is empty: it has columns, but no rows")
    import narwhals as nw

    first, X = parts[0], [part.X for part in parts]
    starts = np.cumsum([0, *map(len, parts[:-1])]).tolist()
    target, weights = (
        None if getattr(first, name) is None else np.concatenate([getattr(part, name) for part in parts])
        for name in ("target", "weights")
    )
    return replace(
        first,
        X=np.concatenate(X) if isinstance(first.X, np.ndarray) else nw.concat(X),
        target=target,
        weights=weights,
        numbers=np.concatenate([part.row_numbers for part in parts]),
        sections=tuple((start, part.where) for start, part in zip(starts, parts, strict=True)),
    )


def _values(column: Any) -> Array:
    """A column as an array; texts as objects, for their lengths differ from part to part."""
    if hasattr(column, "to_numpy"):
        import narwhals as nw

        column = nw.from_native(column, series_only=True, pass_through=True).to_numpy()
    array = np.asarray(column)
    return array.astype(object) if array.dtype.kind in "UST" else array


def _weights(column: Any) -> Array | None:
    return None if column is None else _values(column).astype(np.float64)


def _complete(part: Part, columns: Columns) -> Part:
    """The part, if no row lacks its target or weight."""
    named = {"target": (part.target, ", ".join(columns.target)), "weight": (part.weights, columns.weight)}
    for what, (values, name) in named.items():
        if values is None:
            continue
        if len(values) != len(part):
            raise ShapeError(f"{part.where}: {len(part)} rows, but {len(values)} of the {what}: they must be the same")
        gone = _gone(values)
        if gone is not None:
            row, value = gone
            called = f" {name!r}" if name else ""
            raise ValueError(
                f"{part.where}: the {what}{called} is {value} in row {part.first + row}: leave such rows out"
            )
    return part


def _gone(values: Array) -> tuple[int, str] | None:
    """The first row whose value is missing or infinite, and which of both."""
    if values.dtype.kind in "iub" or (values.dtype.kind == "f" and all_finite(values)):
        return None
    import pandas as pd

    missing = np.asarray(pd.isna(values)).reshape(len(values), -1).any(axis=1)
    if missing.any():
        return int(np.flatnonzero(missing)[0]), "missing"
    if values.dtype.kind != "f":
        return None
    endless = np.isinf(values).reshape(len(values), -1).any(axis=1)
    return (int(np.flatnonzero(endless)[0]), "infinite") if endless.any() else None
