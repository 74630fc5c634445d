"""TablePreprocessor: data frames and arrays of any kind of column as numbers for a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    check_is_fitted,
)

from pellucid.amounts import check_whole
from pellucid.data.inputs import all_finite
from pellucid.estimators.inputs import checked_weights
from pellucid.estimators.tables.categories import code_encoder, one_hot_encoder, paired, stacked
from pellucid.estimators.tables.columns import (
    BOOLEAN,
    CATEGORY,
    NUMERIC,
    TIME,
    Table,
    kind_of,
    numbers,
    read_table,
    times,
    tokens,
    truths,
)
from pellucid.estimators.tables.dates import date_names, date_numbers, useful_parts
from pellucid.estimators.tables.plain import described, listed, rebuilt
from pellucid.estimators.tables.scaling import SCALINGS, fit_scalers, make_scalers

SPANS = {"standard": (1e-150, 1e150), "pca": (1e-150, 1e150), "whiten": (1e-150, 1e150), "quantile": (1e-150, np.inf)}
"""How far columns may reach: squares of less or more are no usual float64."""

MISSING = ("indicator", "median", "error")


class TablePreprocessor(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A table as an array of floats: scaled numbers, one-hot categories, and codes for `nn.Embed` last.

    It takes pandas, polars and other data frames, and arrays, also of Python objects. Columns of a frame are known by
    name: their order does not matter, in `fit` or later.

    scaling : "robust" (median, quartiles and a smooth clip; of one-hot columns too, as in RealMLP), "standard",
        "quantile" (to a normal distribution), "pca", "whiten", "centre" or None
    one_hot_max : columns of up to so many categories are one-hot (two categories: one column of -1 and +1), those of
        more become codes 1, 2, ...; unknown and missing ones are all zeros, or code 0
    missing : "indicator" (the median, and a column that says so), "median", or "error"
    categorical : names (or numbers) of columns to take for categories, though they hold numbers
    dtype : "float64" or "float32"

    Dates become the time elapsed, and year, month, weekday and hour where they vary. `sample_weight` counts for robust
    and standard scales.

    >>> X = np.array([[1.0, "a"], [np.nan, "b"], [3.0, "b"]], dtype=object)
    >>> pre = TablePreprocessor(scaling="standard").fit(X)
    >>> pre.get_feature_names_out().tolist()
    ['x0', 'x0_missing', 'x1_b']
    >>> pre.transform(X).round(2).tolist()
    [[-1.22, 0.0, -1.0], [0.0, 1.0, 1.0], [1.22, 0.0, 1.0]]
    """

    def __init__(
        self,
        scaling: str | None = "robust",
        *,
        one_hot_max: int = 8,
        missing: str = "indicator",
        categorical: Any = (),
        dtype: Any = "float64",
    ) -> None:
        self.scaling = scaling
        self.one_hot_max = one_hot_max
        self.missing = missing
        self.categorical = categorical
        self.dtype = dtype

    # fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TablePreprocessor:
        """Learn kinds, categories, medians and scales.   X: (n, features)"""
        self._fit(read_table(X, type(self).__name__), sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """`fit`, and what `transform` makes of the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def _fit(self, table: Table, sample_weight: Any = None) -> Any:
        """Fit; returns the rows transformed, as a plain array."""
        self._check_parameters()
        self.n_features_in_ = len(table.names)
        self.__dict__.pop("feature_names_in_", None)
        if table.named:
            self.feature_names_in_ = np.array(table.names, object)
        self._names = list(table.names)
        self._named = table.named
        self._order = sorted(table.names) if table.named else list(table.names)
        by_name = dict(zip(table.names, zip(table.columns, table.texts, strict=True), strict=True))
        chosen = self._chosen(table)
        self.kinds_ = {name: CATEGORY if name in chosen else kind_of(name, *by_name[name]) for name in self._order}
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, table.rows)
        values = self._values(table)
        self._find_missing(values)
        self._find_categories(values)
        self._dates = {k: useful_parts(values[k]) for k in self._order if self.kinds_[k] == TIME}
        raw = self._numeric(values)
        self._fit_numbers(raw)
        self._refuse_spans(raw)
        self._make_encoders()
        plain = self._plain(raw, values)
        self._scaled = plain.shape[1] if self.scaling == "robust" else raw.shape[1]
        self._scalers = make_scalers(self.scaling, table.rows)
        scaled = fit_scalers(self._scalers, plain[:, : self._scaled], sample_weight) if self._scaled else plain[:, :0]
        self._n_scaled_out = scaled.shape[1]
        self.embedding_sizes_ = tuple(len(self.categories_[name]) + 1 for name in self._embedded)
        return self._joined(scaled, plain, values)

    def _check_parameters(self) -> None:
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling is one of {', '.join(map(repr, SCALINGS))}, got {self.scaling!r}")
        if self.missing not in MISSING:
            raise ValueError(f"missing is one of {', '.join(map(repr, MISSING))}, got {self.missing!r}")
        check_whole(0, one_hot_max=self.one_hot_max)
        if str(np.dtype(self.dtype)) not in ("float32", "float64"):
            raise ValueError(f"dtype is 'float64' or 'float32', got {self.dtype!r}")

    def _chosen(self, table: Table) -> set[str]:
        """Names of the columns that the user calls categories."""
        found = set()
        for one in listed(self.categorical):
            if isinstance(one, int | np.integer) and -len(table.names) <= one < len(table.names):
                found.add(table.names[one])
            elif one in table.names:
                found.add(one)
            else:
                raise ValueError(f"categorical names {one!r}, but the columns are {_listed(table.names)}")
        return found

    def _find_missing(self, values: dict[str, Any]) -> None:
        for name, column in values.items():
            gone = _is_missing(column)
            if gone.all():
                raise ValueError(
                    f"column {name!r} has no values at all, {len(column)} of {len(column)} are missing: leave it out"
                )
            self._refuse_missing(name, gone)

    def _refuse_missing(self, name: str, gone: Any) -> None:
        if self.missing == "error" and gone.any():
            raise ValueError(
                f"column {name!r} has a missing value (None or NaN) in row {int(np.flatnonzero(gone)[0])}: fill "
                "it, or set missing='indicator'"
            )

    def _find_categories(self, values: dict[str, Any]) -> None:
        self.categories_: dict[str, list[str]] = {}
        for name, kind in self.kinds_.items():
            if kind == BOOLEAN:
                self.categories_[name] = ["False", "True"]
            elif kind == CATEGORY:
                self.categories_[name] = sorted(set(values[name].tolist()) - {None})

    def _fit_numbers(self, raw: Any) -> None:
        self._imputer = SimpleImputer(strategy="median").fit(raw) if raw.shape[1] else None
        first: list[bool] = []  # of a date's columns the first stands for all
        for name, kind in self.kinds_.items():
            width = len(date_names(name, self._dates[name])) if kind == TIME else int(kind == NUMERIC)
            first += [place == 0 for place in range(width)]
        gone = np.isnan(raw).any(axis=0) & np.array(first, bool)
        self._indicated = np.flatnonzero(gone).tolist() if self.missing == "indicator" else []

    def _refuse_spans(self, raw: Any) -> None:
        """Raise for a column whose scale, or the square of it, is no number."""
        low, high = SPANS.get(str(self.scaling), (0.0, np.inf))
        with np.errstate(over="ignore"):
            spans = np.nanmax(raw, axis=0) - np.nanmin(raw, axis=0) if raw.size else np.empty(0)
        for name, span in zip(self._number_names(), spans, strict=True):
            if span > 0 and not low < span < high:
                raise ValueError(
                    f"column {name!r} spans {span:.3g}, which scaling={self.scaling!r} cannot reckon with: multiply it "
                    "by a power of ten, or use scaling='robust'"
                )

    def _make_encoders(self) -> None:
        self._one_hot = [
            name
            for name, found in self.categories_.items()
            if len(found) <= self.one_hot_max or self.kinds_[name] == BOOLEAN
        ]
        self._embedded = [name for name in self.categories_ if name not in self._one_hot]
        self._encoder = one_hot_encoder([self.categories_[name] for name in self._one_hot])
        self._coder = code_encoder([self.categories_[name] for name in self._embedded])

    # transform

    def transform(self, X: Any) -> Any:
        """(n, features) -> (n, columns of `get_feature_names_out`)"""
        check_is_fitted(self, "kinds_")
        return self._apply(self._known_columns(X))

    def _apply(self, table: Table) -> Any:
        """The rows of a table whose columns are known, as a plain array."""
        values = self._values(table)
        for name, column in values.items():
            self._refuse_missing(name, _is_missing(column))
        plain = self._plain(self._numeric(values), values)
        scaled = plain[:, : self._scaled]
        for scaler in self._scalers if self._scaled else ():
            scaled = scaler.transform(scaled)
        return self._joined(scaled, plain, values)

    def _known_columns(self, X: Any) -> Table:
        """The table, its columns checked and under the names they had in fit."""
        table, who = read_table(X, type(self).__name__), type(self).__name__
        if table.named and self._named:
            absent = [name for name in self._order if name not in set(table.names)]
            extra = [name for name in table.names if name not in self.kinds_]
            if absent or extra:
                said = [f"missing now: {_listed(absent)}"] * bool(absent) + [
                    f"not seen in fit: {_listed(extra)}"
                ] * bool(extra)
                raise ValueError(f"{who}: the columns are not those of fit; {'; '.join(said)}")
            return table
        if len(table.names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(table.names)} features, but {who} is expecting {self.n_features_in_} features as input"
            )
        _check_feature_names(self, X, reset=False)  # warns: names on one side only
        return table._replace(names=self._names)

    def _values(self, table: Table) -> dict[str, Any]:
        """Columns by name, in canonical order, as their kind wants them."""
        read = {NUMERIC: numbers, CATEGORY: tokens, BOOLEAN: truths, TIME: times}
        columns = dict(zip(table.names, table.columns, strict=True))
        return {name: read[self.kinds_[name]](name, columns[name]) for name in self._order}

    def _numeric(self, values: dict[str, Any]) -> Any:
        """Numbers and parts of dates, with NaN.   -> (n, numbers)"""
        columns: list[Any] = []
        for name, kind in self.kinds_.items():
            if kind == NUMERIC:
                columns.append(values[name])
            elif kind == TIME:
                columns += date_numbers(values[name], self._dates[name])
        rows = len(next(iter(values.values())))
        return np.column_stack(columns) if columns else np.empty((rows, 0))

    def _plain(self, raw: Any, values: dict[str, Any]) -> Any:
        """Numbers imputed, indicators, one-hot columns, not yet scaled.   -> (n, numbers + ...)"""
        filled = self._imputer.transform(raw) if self._imputer is not None else raw
        gone = np.isnan(raw[:, self._indicated]).astype(float)
        parts = [filled, gone]
        if self._encoder is not None:
            hot = self._encoder.transform(stacked(values, self._one_hot))
            parts.append(paired(hot, [len(self.categories_[name]) for name in self._one_hot]))
        return np.column_stack(parts)

    def _joined(self, scaled: Any, plain: Any, values: dict[str, Any]) -> Any:
        parts = [scaled, plain[:, self._scaled :]]
        if self._coder is not None:
            parts.append(self._coder.transform(stacked(values, self._embedded)) + 1.0)
        joined = np.column_stack(parts)
        with np.errstate(over="ignore"):
            floats = joined.astype(self.dtype, copy=False)
        if not all_finite(floats):
            row, place = np.argwhere(~np.isfinite(floats))[0]
            name, value = self.get_feature_names_out()[place], joined[row, place]
            raise ValueError(
                f"column {name!r} holds {value:.3g} in row {row}, too large for {self.dtype}: use scaling='robust' "
                f"(now {self.scaling!r}), or dtype='float64'"
            )
        return floats

    @property
    def n_numbers_(self) -> int:
        """How many of the first columns are numbers (the others are marks, one-hot columns and codes)."""
        check_is_fitted(self, "kinds_")
        mixed = self.scaling in ("pca", "whiten") and self._scaled
        return int(self._n_scaled_out) if mixed else len(self._number_names())

    # names

    def _number_names(self) -> list[str]:
        names: list[str] = []
        for name, kind in self.kinds_.items():
            names += [name] if kind == NUMERIC else date_names(name, self._dates[name]) if kind == TIME else []
        return names

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of `transform`; `input_features`, if given, are those of fit."""
        check_is_fitted(self, "kinds_")
        _check_feature_names_in(self, input_features)
        names = self._number_names()
        marks = [f"{names[i]}_missing" for i in self._indicated]
        if self.scaling in ("pca", "whiten") and self._scaled:
            names = [f"pca{i}" for i in range(self._n_scaled_out)]
        for name in self._one_hot:
            found = self.categories_[name]
            marks += [f"{name}_{one}" for one in (found[1:] if len(found) == 2 else found)]
        return np.array([*names, *marks, *(f"{name}_code" for name in self._embedded)], object)

    # as plain data

    def to_dict(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that was learned: what goes into JSON, and arrays of numbers by name. See `from_dict`."""
        check_is_fitted(self, "kinds_")
        return described(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any], arrays: dict[str, Any]) -> TablePreprocessor:
        """The preprocessor that `to_dict` described. Nothing is imported or called by a name from the data."""
        made: TablePreprocessor = rebuilt(cls, data, arrays)
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64"] if np.dtype(self.dtype) == np.float64 else []
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _is_missing(column: Any) -> Any:
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.isnat(column) if column.dtype.kind == "M" else np.array([value is None for value in column], bool)


def _listed(names: list[str]) -> str:
    text = ", ".join(map(repr, names[:20]))
    return text if len(names) <= 20 else f"{text} and {len(names) - 20} more"
