"""Columns of data frames by name: one taken out, or all but one."""

from __future__ import annotations

from typing import Any

from pellucid.data.types import ArrayLike
from pellucid.errors import ShapeError

LISTED = 20
"""Names that an error lists at most."""


def column_named(X: ArrayLike, name: str, what: str) -> Any:
    """A column of a data frame; `what` asks for it.

    >>> import pandas as pd
    >>> column_named(pd.DataFrame({"shop": [1, 2]}), "shop", "groups").tolist()
    [1, 2]
    """
    frame = _frame(X)
    if frame is None:
        raise ShapeError(
            f"{what}={name!r} names a column, but X is a {type(X).__name__} without names: give an array with an entry "
            "for each row"
        )
    if name not in frame.columns:
        names = ", ".join(map(repr, list(frame.columns)[:LISTED]))
        more = f" and {len(frame.columns) - LISTED} more" if len(frame.columns) > LISTED else ""
        raise ShapeError(f"{what}={name!r} names a column that X does not have: its columns are {names}{more}")
    return frame[name].to_native()


def without_column(X: ArrayLike, name: str | None) -> Any:
    """X as it is, or without the column of that name, where it is a data frame that has one.

    >>> import pandas as pd
    >>> list(without_column(pd.DataFrame({"shop": [1], "price": [2.0]}), "shop").columns)
    ['price']
    """
    frame = None if name is None else _frame(X)
    return X if frame is None or name not in frame.columns else frame.drop(name).to_native()


def _frame(X: ArrayLike) -> Any:
    """A data frame, whosever it is; None for everything else."""
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None
