"""The door to data sets: files, frames and batches, whatever they are, as a `Dataset`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pellucid.amounts import check_whole
from pellucid.data.arrow_files import arrow_source
from pellucid.data.dataset import LISTED, Dataset
from pellucid.data.parts import Columns, frame_of
from pellucid.data.sources import BatchSource, FrameSource, LazySource, Source
from pellucid.errors import ShapeError

Names = str | Sequence[str]
"""One column, or several."""


def dataset(
    source: Any,
    target: Names | None = None,
    *,
    weight: str | None = None,
    columns: Names | None = None,
    drop: Names = (),
    buffer: int | None = None,
) -> Dataset:
    """A table that need not fit into memory, for `Model.fit` and the `fit` of estimators.

    Parameters
    ----------
    source : path, list of paths, frame or batches
        files (Parquet, Feather or Arrow, CSV, TSV) by a path, a folder, a glob such as "data/*.parquet", or a list; a
        data set or table of pyarrow's, a lazy frame of polars, any data frame; or batches: a list, or an object whose
        `__iter__` starts anew, of frames, arrays, or tuples (X, y) or (X, y, weights)
    target : str, list of str or None
        the column, or columns, to be predicted; None where there is none, or batches bring their own
    weight : str | None
        the column that says how much each row counts
    columns : str, list of str or None
        the features; None is all other columns
    drop : str or list of str
        columns that are not read
    buffer : int | None
        rows that are shuffled together; None is 32 MB of them. Up to three times so many are in memory

    Returns
    -------
    Dataset
        nothing has been read but names, and what files say of themselves

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": range(6), "b": range(6), "price": range(6)})
    >>> data = dataset(table, target="price")
    >>> data.columns, data.rows
    (('a', 'b'), 6)
    >>> [X.shape for X, y in data.batches(4, seed=0)]
    [(4, 2), (2, 2)]
    """
    if buffer is not None:
        check_whole(buffer=buffer)
    if isinstance(source, Dataset):
        raise TypeError("this is a Dataset already: give it as it is")
    targets, dropped = _names(target), _names(drop)
    origin = _source(source, targets)
    listed = None if columns is None else _names(columns)
    weights = _names(weight)
    for what, names in (("target", targets), ("weight", weights), ("columns", listed or ()), ("drop", dropped)):
        _check_names(what, names, origin.names)
    both = [name for name in listed or () if name in (*targets, *weights)]
    if both:
        raise ShapeError(f"{both[0]!r} is among columns, and is the target or the weight: it cannot be both")
    left_out = {*targets, *weights, *dropped}
    features = tuple(name for name in (origin.names if listed is None else listed) if name not in left_out)
    if not features:
        raise ShapeError(f"no columns are left for the features beside {', '.join(map(repr, sorted(left_out)))}")
    if not origin.blocks:
        raise ShapeError("the data set is empty: it has columns, but no rows")
    return Dataset(origin, Columns(features, targets, weight), buffer=buffer)


def _names(columns: Names | None) -> tuple[str, ...]:
    return () if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)


def _check_names(what: str, names: Sequence[str], present: Sequence[str]) -> None:
    """Raise where a name is none of those that are there, or comes twice."""
    absent = [name for name in names if name not in present]
    if absent:
        more = f" and {len(present) - LISTED} more" if len(present) > LISTED else ""
        raise ShapeError(
            f"{what}={absent[0]!r} names a column that is not there: the columns are "
            f"{', '.join(map(repr, present[:LISTED]))}{more}"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ShapeError(f"{what} names {twice[0]!r} twice: name each column once")


def _source(source: Any, targets: tuple[str, ...]) -> Source:
    if isinstance(source, str) or hasattr(source, "__fspath__") or _are_paths(source):
        return arrow_source(source, targets)
    if type(source).__module__.startswith("pyarrow") and hasattr(source, "get_fragments"):
        return arrow_source(source)
    frame = frame_of(source)
    if frame is not None:
        return FrameSource(frame)
    import narwhals as nw

    if isinstance(nw.from_native(source, pass_through=True), nw.LazyFrame):
        if not hasattr(source, "collect_batches"):
            raise TypeError(
                f"of lazy frames those of polars from 1.34 on are read, got a {type(source).__module__} one"
            )
        return LazySource(source)
    if not isinstance(source, Iterable) or isinstance(source, np.ndarray | dict) or _is_batch(source):
        raise TypeError(
            f"a data set is made of files, a data set or table of pyarrow's, a frame, or batches, got a "
            f"{type(source).__name__}; arrays X, y as one batch are [(X, y)]"
        )
    return BatchSource(source)


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(isinstance(one, str) or hasattr(one, "__fspath__") for one in source)
    )


def _is_batch(source: Any) -> bool:
    """A tuple (X, y) or (X, y, weights), and not one of batches?"""
    return isinstance(source, tuple) and len(source) in (2, 3) and np.ndim(source[1]) == 1 and np.ndim(source[0]) == 2
