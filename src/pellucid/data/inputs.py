"""What users hand in as X: an array of floats of it, or an error that names the column and says what to do."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import numpy as np

from pellucid.errors import ShapeError

FEW = 10_000
"""Numbers up to which BLAS computes a product of vectors on one thread."""

TABLES = (
    "Tables with such columns are for TabularMLPClassifier and TabularMLPRegressor, or for TablePreprocessor of "
    "pellucid.estimators, which makes numbers of them."
)
REMEDIES = {
    "dates": "{tables}",
    "periods": "Make dates of them by .dt.to_timestamp(). {tables}",
    "times of day": "Take hours, such as t.hour + t.minute / 60.",
    "durations": "Take seconds, column / np.timedelta64(1, 's'). {tables}",
    "texts": "{tables} Or encode categories as numbers (one-hot, for example), and convert digits by astype(float).",
    "complex numbers": "Complex data not supported: give real and imaginary parts as columns of their own.",
}
BY_KIND = {"M": "dates", "m": "durations", "U": "texts", "S": "texts", "T": "texts", "c": "complex numbers"}
PLAIN = "fiub"
"""The kinds of dtypes that hold numbers."""


def as_inputs(X: Any, dtype: Any, first: int = 0) -> Any:
    """An array of floats (n, ...) from an array, a data frame or lists; `first` is the number of its first row.

    >>> as_inputs([[1, 2], [3, 4]], np.float32).dtype
    dtype('float32')
    """
    refuse_containers(X)
    refuse_other_than_numbers(X)
    with np.errstate(over="ignore"):  # what becomes infinite is looked for below
        array = _plain(X, dtype)
        if array.dtype.kind not in PLAIN:
            raise ShapeError(f"X has dtype {array.dtype}: a network takes numbers; X.astype(float) makes them of such")
        if array.ndim < 2:
            raise ShapeError(
                f"X has shape {array.shape}: give one row for each sample, (n, features); use X.reshape(-1, 1)"
            )
        floats = np.ascontiguousarray(array, dtype)
    if not all_finite(floats):
        place = np.argwhere(~np.isfinite(floats))[0]
        value, where = _plain(X, np.float64)[tuple(place)], f"row {first + place[0]}, {named_column(X, place[1])}"
        if np.isfinite(value):
            raise ValueError(
                f"X holds {value:.3g} in {where}, too large for {np.dtype(dtype)}: scale it, or use dtype='float64'"
            )
        raise ValueError(f"X holds NaN or infinity, first at {where}: fill or drop missing values")
    return floats


def all_finite(array: Any) -> bool:
    """No NaN, no infinity? A sum tells in most cases, without an array of answers."""
    if array.size <= FEW:
        total = np.vdot(array, array)
    else:  # products of long vectors would wake the threads of BLAS
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.sum(array)
    return math.isfinite(total) or bool(np.isfinite(array).all())


def refuse_containers(X: Any, who: str = "X") -> None:
    """Raise for what holds columns or rows in a way that has no order: dicts, sets, texts; and for sparse matrices."""
    if isinstance(X, Mapping):
        raise TypeError(
            f"{who} is a dict of {', '.join(map(repr, list(X)[:5])) or 'nothing'}: give an array (n, features) or a "
            "data frame; pandas.DataFrame(X) makes one of a dict of columns"
        )
    if isinstance(X, str | bytes | set | frozenset):
        raise TypeError(f"{who} is a {type(X).__name__}: give an array (n, features), a data frame, or lists of rows")
    if hasattr(X, "tocsr") and hasattr(X, "toarray"):
        raise TypeError(f"{who} is a sparse matrix: give X.toarray(), or batches; MLPClassifier takes it as it is")


def refuse_other_than_numbers(X: Any, who: str = "X", tables: str = TABLES) -> None:
    """Raise for the first column that holds dates, durations, texts or complex numbers, by its name.

    `tables` says what takes such columns.

    NumPy turns dates into numbers of some 10¹⁸ and texts such as "3" into 3.0 without a word.
    """
    for place, name, column in _suspects(X):
        what = _what(column)
        if what is not None:
            where = f"column {place}" if name is None else f"column {place} ({name!r})"
            example = next((value for value in np.asarray(column) if isinstance(value, str | bytes)), None)
            quote = "" if example is None else f" (could not convert string to float: {_bare(example)!r:.40})"
            raise ShapeError(
                f"{who}, {where}, has dtype {column.dtype}: a network takes numbers, not {what}{quote}. "
                f"{REMEDIES[what].format(tables=tables)}"
            )


def named_column(X: Any, place: int) -> str:
    """Which column that is: by name, too, where X has names."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # the columns of Arrow's tables are arrays
    if names is None or callable(names):
        return f"column {place}"
    return f"column {place} ({list(names)[place]!r})"


def _suspects(X: Any) -> Iterator[tuple[int, Any, Any]]:
    """(place, name, values) of the columns whose dtype does not say that they hold numbers."""
    if isinstance(X, list | tuple):
        X = _of_lists(X)
    if isinstance(X, np.ndarray):
        if X.dtype.kind in PLAIN or X.dtype.kind not in f"{''.join(BY_KIND)}O":
            return
        columns = X.reshape(len(X), -1) if X.ndim > 1 and X.size else X.reshape(-1, 1)
        for place in range(columns.shape[1]):
            yield place, None, columns[:, place]
    elif hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas: names may be numbers, or come twice
        for place, name in enumerate(X.columns):
            column = X.iloc[:, place]
            if column.dtype.kind not in PLAIN:
                yield place, name, column
    elif hasattr(X, "columns") or hasattr(X, "column_names"):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            for place, (name, dtype) in enumerate(frame.schema.items()):
                if not dtype.is_numeric() and dtype != nw.Boolean:
                    yield place, name, frame[:, place].to_numpy()


def _what(column: Any) -> str | None:
    """What a column holds that is not a number; None for numbers, and for what nobody knows."""
    if column.dtype.kind in BY_KIND:
        return BY_KIND[column.dtype.kind]
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return BY_KIND.get(values.dtype.kind)
    for kind in {type(value) for value in values}:
        if kind.__name__ == "NaTType":  # a missing value, of dates or of others
            continue
        if issubclass(kind, datetime.date | np.datetime64):
            return "dates"
        if kind.__name__ == "Period":
            return "periods"
        if issubclass(kind, datetime.time):
            return "times of day"
        if issubclass(kind, datetime.timedelta | np.timedelta64):
            return "durations"
        if issubclass(kind, str | bytes):
            return "texts"
        if issubclass(kind, Complex) and not issubclass(kind, Real):
            return "complex numbers"
    return None


def _bare(text: str | bytes) -> str | bytes:
    """Without NumPy's type around it."""
    return str(text) if isinstance(text, str) else bytes(text)


def _of_lists(rows: Any) -> Any:
    """Nested lists as an array; objects where NumPy would make texts of numbers."""
    array = np.asarray(rows)
    return np.asarray(rows, object) if array.dtype.kind in "US" else array


def _plain(X: Any, dtype: Any) -> Any:
    """An array of what X holds: of floats, where its columns are of several kinds of numbers."""
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        return np.asarray(X)
    try:
        return np.asarray(X.to_numpy(dtype=dtype))
    except (AttributeError, TypeError, ValueError):  # not pandas, or missing values among whole numbers
        import narwhals as nw

        array = np.asarray(nw.from_native(X, eager_only=True).to_numpy())
        return array if array.dtype.kind != "O" else np.array([[_number(v) for v in row] for row in array], float)


def _number(value: Any) -> float:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    if not missing and not isinstance(value, Real | Decimal | np.bool_):
        raise ShapeError(f"X holds {value!r:.80}, a {type(value).__name__}: a network takes numbers")
    return math.nan if missing else float(value)
