"""The rows that a report is made with: names of columns, kinds, parts of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.utils import resample

from pellucid.data.sparse import is_sparse


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their targets, and what they are called in sentences. `new`: nothing was trained on them.

    Where they are some of others, `whole` says how many those are.
    """

    X: Any
    y: Any
    name: str = "these rows"
    new: bool = False
    whole: int = 0

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; x0, x1, ... where they have none; () where rows are no vectors."""
        if isinstance(self.X, pd.DataFrame):
            return tuple(map(str, self.X.columns))
        return tuple(f"x{j}" for j in range(self.X.shape[1])) if len(self.X.shape) == 2 else ()

    @property
    def sparse(self) -> bool:
        return bool(is_sparse(self.X))

    def some(self, count: int, seed: int = 0) -> Sample:
        """At most so many of them, drawn at random."""
        if len(self) <= count:
            return self
        X, y = resample(self.X, self.y, replace=False, n_samples=count, random_state=seed)
        return Sample(X, y, self.name, self.new, self.whole or len(self))

    @property
    def counted(self) -> str:
        """How many they are, and of how many: "5,000 test rows", "a sample of 5,000 of 20,000 test rows"."""
        some = f"a sample of {len(self):,} of {self.whole:,}" if self.whole > len(self) else f"{len(self):,}"
        return f"{some} {self.name if max(self.whole, len(self)) != 1 else self.name.removesuffix('s')}"


def sample(X: Any, y: Any, name: str = "these rows", *, new: bool = False, whole: int = 0) -> Sample | None:
    """Rows as the report keeps them: frames of any kind as pandas', the rest as arrays. None without both.

    whole: how many rows they are drawn from, if they are
    """
    if X is None or y is None:
        return None
    rows = Sample(readable(X), _target(y), name, new, whole)
    if len(rows) != len(rows.y):
        raise ValueError(f"report: {name}: X has {len(rows)} rows, y has {len(rows.y)}")
    return rows


def readable(X: Any) -> Any:
    """A table with pandas' columns, an array, or a sparse matrix."""
    if isinstance(X, pd.DataFrame) or is_sparse(X):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    return np.asarray(X)


def target_names(y: Any) -> tuple[str, ...]:
    """Names of several columns of a target that is a data frame; else ()."""
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    return tuple(map(str, frame.columns)) if isinstance(frame, nw.DataFrame) and frame.shape[1] > 1 else ()


def _target(y: Any) -> Any:
    if is_sparse(y):
        return y.toarray()
    array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def column(X: Any, place: int) -> Any:
    """One column as an array; whole numbers with holes are floats."""
    if not isinstance(X, pd.DataFrame):
        return X[:, place]
    series = X.iloc[:, place]
    if pd.api.types.is_extension_array_dtype(series.dtype) and pd.api.types.is_numeric_dtype(series.dtype):
        return series.to_numpy(dtype=float, na_value=np.nan)
    return series.to_numpy()


def with_floats(X: Any, place: int) -> Any:
    """The same rows with one column of floats, so that it can be given any number."""
    if not isinstance(X, pd.DataFrame):
        return np.asarray(X, float)
    copy = X.copy()
    copy.isetitem(place, column(X, place).astype(float))
    return copy


def numeric(values: Any) -> bool:
    """Numbers, not categories, truths or dates?"""
    return bool(np.asarray(values).dtype.kind in "iuf")


def missing(values: Any) -> Any:
    """Which values are not there.   (n,)"""
    return np.asarray(pd.isna(values))


def word(value: Any) -> str:
    """A label or a category as text."""
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
