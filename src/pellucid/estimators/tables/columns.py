"""What is in a table: columns of data frames and arrays, their kinds, and their values as numbers, texts or times."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array

from pellucid.data.dataset import Dataset
from pellucid.data.inputs import refuse_containers
from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.tables.coded_texts import Column, as_objects, coded, is_coded
from pellucid.processors import default_threads

NUMERIC, BOOLEAN, CATEGORY, TIME, EMPTY = "numeric", "boolean", "category", "datetime", "empty"
KINDS = (NUMERIC, BOOLEAN, CATEGORY, TIME, EMPTY)

MANY = 1 << 16
"""Rows from which columns are copied by several threads."""

REPEATED = 10
"""Rows for each kind of text, on average, from which a column is told by its kinds."""


class Table(NamedTuple):
    """Columns as arrays, or texts as codes. `named`: the names are the user's; else they are x0, x1, ... in order."""

    names: list[str]
    columns: list[Column]
    texts: list[bool]  # columns declared as categories or texts, whatever their values look like
    named: bool
    declared: list[bool]  # columns of the dtype of categories: their texts are not looked into

    @property
    def rows(self) -> int:
        return len(self.columns[0])

    def take(self, rows: Array) -> Table:
        """Some of the rows."""
        return self._replace(columns=[column[rows] for column in self.columns])

    def columns_at(self, places: list[int]) -> Table:
        """Some of the columns, in this order."""
        return Table(
            [self.names[place] for place in places],
            [self.columns[place] for place in places],
            [self.texts[place] for place in places],
            self.named,
            [self.declared[place] for place in places],
        )

    def refuse_infinite(self, rows: Array | None = None) -> None:
        """Raise for the first infinite number; `rows` are the numbers of the rows, where they are some of others."""
        for name, column in zip(self.names, self.columns, strict=True):
            if column.dtype.kind == "f":
                _refuse_infinite(name, column, rows)


def read_table(X: ArrayLike, who: str) -> Table:
    """The columns of a data frame or of an array (n, features).

    >>> read_table(np.array([[1.0, 2.0], [3.0, 4.0]]), "doc").names
    ['x0', 'x1']
    """
    if sparse.issparse(X):
        raise TypeError(f"{who} takes dense tables, got a sparse matrix: pass X.toarray(), or use MLPClassifier")
    refuse_containers(X, f"{who}: X")
    if isinstance(X, Dataset):
        raise TypeError(f"{who}: here rows are wanted that are in memory, got a Dataset: see predict_batches")
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        raise TypeError(f"{who}: X is a list of dicts: give a data frame; pandas.DataFrame(X) makes one of it")
    _refuse_equal_names(X, who)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, who)
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(
            f"{who} takes data frames that are in memory, got a lazy one: pass X.collect(), or pellucid.data.dataset(X)"
        )
    if isinstance(X, list | tuple) and np.asarray(X, object).dtype == object and np.asarray(X).dtype.kind in "US":
        X = np.asarray(X, object)  # NumPy would make texts of the numbers too
    array = check_array(X, dtype=None, ensure_all_finite=False, estimator=who, input_name="X")
    columns = [array[:, j] for j in range(array.shape[1])]
    return Table([f"x{j}" for j in range(len(columns))], columns, [False] * len(columns), False, [False] * len(columns))


def _from_frame(frame: nw.DataFrame[Any], who: str) -> Table:
    if not frame.columns or not len(frame):
        raise ValueError(
            f"Found array with {len(frame)} sample(s) and {len(frame.columns)} feature(s) (shape={frame.shape}) while "
            f"a minimum of 1 is required by {who}."
        )
    declared = [isinstance(dtype, nw.Categorical | nw.Enum) for dtype in frame.schema.values()]
    texts = [isinstance(dtype, nw.Categorical | nw.Enum | nw.String) for dtype in frame.schema.values()]
    columns = _side_by_side([frame[:, place] for place in range(len(texts))])
    texts_only = {isinstance(name, str) for name in frame.columns}
    if len(texts_only) == 2:
        strange = next(name for name in frame.columns if not isinstance(name, str))
        raise TypeError(
            f"{who}: some names of columns are texts, but {strange!r} is a {type(strange).__name__}: make all texts, "
            "X.columns = X.columns.astype(str)"
        )
    named = texts_only == {True}
    names = list(frame.columns) if named else [f"x{j}" for j in range(len(columns))]
    return Table(names, columns, texts, named, declared)


def _side_by_side(series: list[nw.Series[Any]]) -> list[Column]:
    """Columns as arrays: of many rows on all processors, for most of it is copying."""
    if len(series[0]) < MANY:
        return list(map(_values, series))
    with ThreadPoolExecutor(default_threads()) as pool:
        return list(pool.map(_values, series))


def _refuse_equal_names(X: ArrayLike, who: str) -> None:
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()][0]
        raise ValueError(
            f"{who}: {(X.columns == name).sum()} columns are called {name!r}, and each needs a name of its own: leave "
            "out copies, X.loc[:, ~X.columns.duplicated()], or set X.columns"
        )


def _values(series: nw.Series[Any]) -> Column:
    """As an array. Times are those on the wall, where hours mean what they say; a period is when it begins."""
    dtype = series.dtype
    if dtype == nw.String:
        return _texts(series)
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), pd.PeriodDtype):
        return np.asarray(native.dt.to_timestamp().to_numpy())
    values = np.asarray(series.to_numpy())
    first = next((value for value in values if not is_missing(value)), None) if values.dtype == object else None
    return _since_midnight(values) if isinstance(first, datetime.time) else values


def _since_midnight(column: Array) -> Array:
    """Times of the day, or missing ones, as spans; a column that has something else too stays as it is."""
    if not all(isinstance(value, datetime.time) or is_missing(value) for value in column):
        return column
    day = datetime.date.min
    moments = [
        None if is_missing(value) else datetime.datetime.combine(day, value.replace(tzinfo=None)) for value in column
    ]
    return np.array(moments, "datetime64[us]") - np.datetime64(day, "us")


def _texts(series: nw.Series[Any]) -> Column:
    """Texts of few kinds that are not Python's yet become codes."""
    levels = [] if series.implementation.is_pandas_like() else series.unique().to_list()
    if not 0 < len(levels) <= len(series) // REPEATED:
        return np.asarray(series.to_numpy())
    places = series.replace_strict(levels, range(len(levels)), return_dtype=nw.Int32)
    return coded(levels, places.to_numpy())


def is_missing(value: object) -> bool:
    """None, NaN, NaT, pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and value != value


def kind_of(name: str, column: Column, text: bool) -> str:
    """One of KINDS, but EMPTY. A column of Python objects is what all its values are; of mixed ones, categories."""
    if text or column.dtype.kind in "UST":
        return CATEGORY
    by_dtype = {"b": BOOLEAN, "i": NUMERIC, "u": NUMERIC, "f": NUMERIC, "m": NUMERIC, "M": TIME}
    if column.dtype.kind in by_dtype:
        return by_dtype[column.dtype.kind]
    present = [value for value in column if not is_missing(value)]
    for kind, types in (
        (BOOLEAN, (bool, np.bool_)),
        (NUMERIC, (Real, Decimal, np.timedelta64, datetime.timedelta)),
        (TIME, (datetime.date, np.datetime64)),
        (CATEGORY, (str, Real, Decimal, datetime.date, np.bool_)),
    ):
        if all(isinstance(value, types) for value in present):
            return kind
    strange = next(v for v in present if not isinstance(v, str | Real | Decimal | datetime.date | np.bool_))
    raise TypeError(
        f"column {name!r}: an argument must be a string or a number (or a date, or missing), got a "
        f"{type(strange).__name__}: {strange!r:.80}. Make such values of the column, or leave it out"
    )


def numbers(name: str, column: Array) -> Array:
    """float64, missing ones NaN. Durations are seconds. Infinite values are refused."""
    if column.dtype.kind == "m":
        values = np.where(np.isnat(column), np.nan, column / np.timedelta64(1, "s"))
    elif column.dtype.kind in "biuf":
        values = column.astype(np.float64, copy=False)
    else:
        values = np.array([_number(name, row, value) for row, value in enumerate(column)], np.float64)
    _refuse_infinite(name, values)
    return values


def _refuse_infinite(name: str, values: Array, rows: Array | None = None) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):  # as nearly always, and quicker than an array of answers
            return
    endless = np.isinf(values)
    if endless.any():
        row = int(np.flatnonzero(endless)[0])
        raise ValueError(
            f"column {name!r} has an infinite value in row {row if rows is None else rows[row]} ({values[row]}): "
            "replace it, by NaN if it is unknown"
        )


def _number(name: str, row: int, value: object) -> float:
    if is_missing(value):
        return np.nan
    match value:
        case datetime.timedelta():
            return value.total_seconds()
        case np.timedelta64():
            return float(value / np.timedelta64(1, "s"))
        case Real() | Decimal() | np.bool_():
            return float(value)
    raise TypeError(
        f"column {name!r} holds numbers, got {value!r:.80} in row {row}: if it is to be a category, name it in "
        "categorical= and fit anew"
    )


def tokens(name: str, column: Column) -> Column:
    """Categories as texts, missing ones None; 3, 3.0 and "3" are the same category. Codes of texts stay codes."""
    if is_coded(column):
        return column
    if column.dtype.kind in "biuf":
        values, places = np.unique(column, return_inverse=True)
        return np.array([*map(_token, values), None], object)[:-1][places]
    if are_texts(column):
        words = column.astype(object)
        words[pd.isna(column)] = None
        return words
    texts: dict[tuple[type, object], str | None] = {}
    categories = np.empty(len(column), object)
    for row, value in enumerate(column):
        if type(value) is str:
            categories[row] = value
            continue
        try:
            key = (type(value), value)  # True and 1 are equal, but not the same category
            categories[row] = texts[key] if key in texts else texts.setdefault(key, _token(value))
        except TypeError:
            if not is_missing(value):
                raise TypeError(
                    f"column {name!r}: an argument must be a string or a number, got a {type(value).__name__} in row "
                    f"{row}: {value!r:.80}"
                ) from None
            categories[row] = None
    return categories


def are_texts(column: Column) -> bool:
    """Does a column hold nothing but texts and missing values? Told without a look at each by Python."""
    return is_coded(column) or (column.dtype.kind in "OU" and pd.api.types.infer_dtype(column, skipna=True) == "string")


def _token(value: object) -> str | None:
    if is_missing(value):
        return None
    match value:
        case bool() | np.bool_():
            return str(bool(value))
        case Integral():
            return str(int(value))  # not by way of a float: identifiers have up to 20 digits
        case np.datetime64():
            return str(value.astype("datetime64[us]").item())  # as Python's and pandas' own objects say it
        case Real() | Decimal():
            number = float(value)
            return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def truths(name: str, column: Column) -> Array:
    """Texts "True" and "False", missing ones None; 1 and 0 are taken for them."""
    texts = as_objects(tokens(name, column))
    texts[texts == "1"], texts[texts == "0"] = "True", "False"
    return texts


def times(name: str, column: Array) -> Array:
    """datetime64[us], missing ones NaT."""
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]")
    moments = np.full(len(column), np.datetime64("NaT", "us"))
    for row, value in enumerate(column):
        if is_missing(value):
            continue
        if not isinstance(value, datetime.date | np.datetime64):
            raise TypeError(f"column {name!r} holds dates or times, got {value!r:.80} in row {row}")
        zoneless: Any = value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
        moments[row] = np.datetime64(zoneless, "us")
    return moments
