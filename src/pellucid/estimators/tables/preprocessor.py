"""TablePreprocessor: data frames and arrays of any kind of column as numbers for a network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    check_is_fitted,
)

from pellucid.amounts import FLOATS, YES_NO, Condition, is_whole, one_of
from pellucid.data.background import ahead
from pellucid.data.dataset import Dataset
from pellucid.data.inputs import all_finite
from pellucid.data.named_columns import without_column
from pellucid.data.parts import Part
from pellucid.data.row_parts import by_parts
from pellucid.data.types import Array, ArrayLike
from pellucid.errors import ColumnWarning
from pellucid.estimators.inputs import checked_weights, groups_column
from pellucid.estimators.parameters import Parameters, check_parameters, parameter
from pellucid.estimators.tables.columns import CATEGORY, EMPTY, Table, read_table
from pellucid.estimators.tables.encoding import Encoding, learn_encoding
from pellucid.estimators.tables.layout import TableError, column_kinds, column_values, learn_layout
from pellucid.estimators.tables.scaling import SCALERS
from pellucid.estimators.tables.table_sample import TableSample, counted_levels, sampled_table, scale_rows
from pellucid.estimators.tables.text_columns import TextUse, read_texts, recognise
from pellucid.markup import listed
from pellucid.notices import notice

MISSING = ("indicator", "median", "error")


class TablePreprocessor(Parameters, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A table as an array of floats: scaled numbers, one-hot categories, and codes for `nn.Embed` last.

    It takes pandas, polars and other data frames, and arrays, also of Python objects. Columns of a frame are known by
    name: their order does not matter, in `fit` or later.

    Dates become the time elapsed, and year, month, weekday and hour where they vary. Texts that hold dates or numbers,
    as a CSV has them, are read as such, unless their column is declared or named as categorical; a column without any
    value is left out. Both are said (`ColumnWarning`). `sample_weight` counts for robust and standard scales.

    Of more than 65,536 rows scales are learned from so many, drawn: the rank of a quantile is off by 1.05 % of the rows
    at most, but for one chance in a million for each column. Kinds and categories are learned from all rows.

    {parameters}

    Examples
    --------
    >>> X = np.array([[1.0, "a"], [np.nan, "b"], [3.0, "b"]], dtype=object)
    >>> pre = TablePreprocessor(scaling="standard").fit(X)
    >>> pre.get_feature_names_out().tolist()
    ['x0', 'x0_missing', 'x1_b']
    >>> pre.transform(X).round(2).tolist()
    [[-1.22, 0.0, -1.0], [0.0, 1.0, 1.0], [1.22, 0.0, 1.0]]
    """

    scaling: str | None = parameter(
        default="robust",
        condition=one_of(*SCALERS, words=f"one of {', '.join(map(repr, SCALERS))}"),
        doc='"robust" (median, quartiles and a smooth clip with a tail; of one-hot columns too), "separate" '
        '(robust, and what nearly equal columns differ by beside it: see `HiddenDirections`), "standard", '
        '"quantile" (to a normal distribution), "pca", "whiten", "centre" or None',
        kw_only=False,
    )
    one_hot_max: int = parameter(
        default=8,
        condition=Condition(lambda value: is_whole(value, 0), "a whole number from 0"),
        doc="columns of up to so many categories are one-hot (two categories: one column of -1 and +1), those of more "
        "become codes 1, 2, ...; unknown and missing ones are all zeros, or code 0",
    )
    missing: str = parameter(
        default="indicator",
        condition=one_of(*MISSING, words=f"one of {', '.join(map(repr, MISSING))}"),
        doc='"indicator" (the median, and a column that says so), "median", or "error"',
    )
    categorical: str | Iterable[str | int] | None = parameter(
        default=(),
        doc="columns (names or places) to take for categories, though they hold numbers, or texts of numbers or dates",
    )
    dtype: DTypeLike = parameter(
        default="float64",
        condition=FLOATS,
        doc='"float64" or "float32"',
    )
    straight: bool = parameter(
        default=False,
        condition=YES_NO,
        doc="put numbers that the scale bends (those with long tails) once more behind the others, standardised: for "
        "models that are straight lines",
    )
    codes: bool = parameter(
        default=False,
        condition=YES_NO,
        doc="put a code behind the others for each column of numbers that are names (of a person, a shop, a postcode), "
        "as `y` tells: rows of one value have answers that are nearer to each other than to those of the values around",
    )

    # fit

    def fit(self, X: ArrayLike, y: ArrayLike = None, sample_weight: ArrayLike = None) -> TablePreprocessor:
        """Learn kinds, categories, medians and scales.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows; or a `pellucid.data.Dataset` (see `fit_dataset`)
        y : array of shape (n,) or (n, k)
            classes or numbers, which `codes` asks for; else they are not looked at
        sample_weight : array of shape (n,)
            counts for robust and standard scales

        Returns
        -------
        TablePreprocessor
            itself
        """
        if isinstance(X, Dataset):
            self.fit_dataset(X)
        else:
            table = read_table(X, type(self).__name__)
            self.fit_table(table, sample_weight, answers=self._answers(y, table.rows) if self.codes is True else None)
        return self

    def fit_dataset(self, data: Dataset) -> tuple[TableSample, Array]:
        """`fit` on a table larger than memory, in passes over it.

        Categories are counted, those of up to 131,072 levels exactly. All else, kinds, medians, scales, is learned from
        a random sample of 131,072 rows (fewer of more than 128 columns): the rank of a quantile is off by 0.74 % of the
        rows at most, but for one chance in a million for each column. A smaller table is learned from all its rows, and
        the result is that of `fit`.

        Parameters
        ----------
        data : Dataset
            the table; its weights count as `sample_weight` does

        Returns
        -------
        tuple
            the sample, and its rows transformed
        """
        who = type(self).__name__
        sample = sampled_table(data, who)
        matrix = self._learn(sample.table, sample.weights, None, None if sample.whole else data)
        return sample, matrix

    def fit_transform(self, X: ArrayLike, y: ArrayLike = None, sample_weight: ArrayLike = None) -> Array:
        """`fit`, and what `transform` makes of the same rows.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows
        y : array of shape (n,) or (n, k)
            as in `fit`
        sample_weight : array of shape (n,)
            counts for robust and standard scales

        Returns
        -------
        array of shape (n, columns)
            floats
        """
        return self.fit(X, y, sample_weight).transform(X)

    def fit_table(
        self,
        table: Table,
        sample_weight: ArrayLike = None,
        rows: Array | None = None,
        answers: Array | None = None,
    ) -> Array:
        """`fit` on a table that has been read; returns its rows transformed, as a plain array.

        Parameters
        ----------
        table : Table
            rows by columns
        sample_weight : array of shape (n,)
            counts for robust and standard scales
        rows : array of int
            numbers of those to learn from, and to transform; the others only tell whether texts are dates or numbers
        answers : array of shape (n,) or (n, k)
            of those to learn from, numbers of classes or floats: they tell which numbers are names, if `codes` asks

        Returns
        -------
        array of shape (n, columns)
            floats
        """
        return self._learn(table, sample_weight, rows, answers=answers)

    def _answers(self, y: ArrayLike, rows: int) -> Array:
        """y as `fit_table` takes it: classes as whole numbers."""
        if y is None:
            raise ValueError(
                "codes=True asks which numbers are names, and y tells it: call fit(X, y), or set codes=False"
            )
        answers = np.asarray(y)
        if answers.ndim not in (1, 2) or len(answers) != rows:
            raise ValueError(f"X has {rows} rows and y the shape {answers.shape}: they must be the same rows")
        if answers.dtype.kind == "f":
            return answers
        return np.asarray(np.unique(answers, return_inverse=True)[1]) if answers.ndim == 1 else answers.astype(float)

    def _learn(
        self,
        table: Table,
        sample_weight: ArrayLike,
        rows: Array | None,
        data: Dataset | None = None,
        answers: Array | None = None,
    ) -> Array:
        """Learn from a table, or from one that is a sample of `data`, whose categories are counted."""
        check_parameters(self)
        chosen = self._chosen(table)
        texts, table, different = recognise(table, chosen)
        if rows is not None:
            table = table.take(rows)
        weights = checked_weights(sample_weight, table.rows)
        kinds = column_kinds(table, chosen)
        values = column_values(table, kinds)
        self._refuse_missing(values)
        empty = [name for name, column in values.items() if _is_missing(column[:1]).all() and _is_missing(column).all()]
        if empty:
            self._leave_out(empty, values)
        if different and len(different.keys() | set(empty)) < len(kinds):
            _leave_out_different(different, values)
            empty += different
        kinds |= dict.fromkeys(empty, EMPTY)
        counted = None
        if data is not None:
            own = dict(zip(table.names, data.columns, strict=True))
            who = type(self).__name__
            counted = counted_levels(data, {name: own[name] for name, kind in kinds.items() if kind == CATEGORY}, who)
        layout = learn_layout(table, kinds, texts, values, self.one_hot_max, counted)
        some = scale_rows(values, layout.categories, table.rows) if data is None else None  # a sample is few enough
        shown = values if some is None else {name: column[some] for name, column in values.items()}
        shown_weights, shown_answers = (one if some is None or one is None else one[some] for one in (weights, answers))
        encoding = learn_encoding(
            layout,
            shown,
            self.scaling,
            marks=self.missing == "indicator",
            straight=self.straight,
            weights=shown_weights,
            answers=shown_answers if self.codes else None,
        )
        matrix = self._rows(encoding, values)
        self._encoding = encoding
        self.n_features_in_ = len(table.names)
        self.__dict__.pop("feature_names_in_", None)
        if table.named:
            self.feature_names_in_ = np.array(table.names, object)
        return matrix

    def _chosen(self, table: Table) -> set[str]:
        """Names of the columns that the user calls categories."""
        columns = [self.categorical] if isinstance(self.categorical, str) else self.categorical
        names = set()
        for one in () if columns is None else columns:
            if isinstance(one, int | np.integer) and -len(table.names) <= one < len(table.names):
                names.add(table.names[one])
            elif one in table.names:
                names.add(str(one))
            else:
                raise ValueError(f"categorical names {one!r}, but the columns are {listed(table.names)}")
        return names

    def _leave_out(self, empty: list[str], values: dict[str, Array]) -> None:
        """Take columns without values out of `values`, and say so."""
        if len(empty) == len(values):
            raise ValueError(
                f"no column has any value: {listed(empty)} {'is' if len(empty) == 1 else 'are'} missing in all "
                f"{len(values[empty[0]])} rows"
            )
        several = len(empty) > 1
        notice(
            f"{'Columns' if several else 'Column'} {listed(empty)} {'have' if several else 'has'} no values at all: "
            "left out, in prediction too",
            ColumnWarning,
        )
        for name in empty:
            del values[name]

    def _refuse_missing(self, values: dict[str, Array]) -> None:
        """Raise for the first missing value, if that is wanted."""
        for name, column in values.items() if self.missing == "error" else ():
            gone = _is_missing(column)
            if gone.any():
                raise ValueError(
                    f"column {name!r} has a missing value (None or NaN) in row {int(np.flatnonzero(gone)[0])}: fill "
                    "it, or set missing='indicator'"
                )

    # transform

    def transform(self, X: ArrayLike) -> Array:
        """Rows as numbers.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, columns)
            the columns of `get_feature_names_out`
        """
        return self.apply_table(self.known_table(X))

    def transform_batches(self, data: Dataset) -> Iterator[Array]:
        """The rows of a table larger than memory as numbers, part by part, made ahead by another thread.

        Parameters
        ----------
        data : Dataset
            the table; a target in it is left alone

        Returns
        -------
        iterator of arrays
            each (rows of a part, columns of `get_feature_names_out`)
        """
        check_is_fitted(self, "kinds_")
        return ahead(map(self.part_rows, data.features_alone().parts()), 2)

    def part_rows(self, part: Part) -> Array:
        """The rows of a part of a data set as numbers; what is wrong with them names the file.

        Parameters
        ----------
        part : Part
            rows as they come

        Returns
        -------
        array of shape (n, columns)
            floats
        """
        try:
            table = self.known_table(part.native)
            table.refuse_infinite(part.row_numbers)
            return self.apply_table(table)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{part.where}: {error}") from None

    def known_table(self, X: ArrayLike) -> Table:
        """X as a table, its columns checked and under the names they had in fit.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows; or a `Table`, which has been read already

        Returns
        -------
        Table
            rows by columns
        """
        check_is_fitted(self, "kinds_")
        who = type(self).__name__
        table = X if isinstance(X, Table) else read_table(without_column(X, groups_column(self)), who)
        layout = self._encoding.layout
        if table.named and layout.named:
            absent = [name for name, kind in layout.kinds.items() if name not in set(table.names) and kind != EMPTY]
            extra = [name for name in table.names if name not in layout.kinds]
            faults = [f"missing now: {listed(absent)}"] * bool(absent)
            faults += [f"not seen in fit: {listed(extra)}"] * bool(extra)
            if faults:
                raise ValueError(f"{who}: the columns are not those of fit; {'; '.join(faults)}")
            return table
        if len(table.names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(table.names)} features, but {who} is expecting {self.n_features_in_} features as input"
            )
        _check_feature_names(self, X, reset=False)  # warns: names on one side only
        return table._replace(names=layout.names)

    def apply_table(self, table: Table) -> Array:
        """The rows of a table whose columns are those of fit, transformed, as a plain array.

        Parameters
        ----------
        table : Table
            rows by columns

        Returns
        -------
        array of shape (n, columns)
            floats
        """
        values = column_values(read_texts(table, self._encoding.layout.texts), self.kinds_)
        self._refuse_missing(values)
        return self._rows(self._encoding, values)

    def _rows(self, encoding: Encoding, values: dict[str, Array]) -> Array:
        """Columns as rows."""

        def part(some: slice) -> Array:
            rows = encoding.rows({name: column[some] for name, column in values.items()})
            return self._as_dtype(rows, encoding, some.start)

        return by_parts(part, len(next(iter(values.values()))))

    def plain_table(self, table: Table) -> tuple[Array, Array]:
        """The rows of a table whose columns are those of fit, ahead of their scales.

        Parameters
        ----------
        table : Table
            rows by columns

        Returns
        -------
        tuple of arrays
            numbers with missing ones filled, marks and one-hot columns (n, columns); codes (n, columns of codes)
        """
        encoding = self._encoding
        values = column_values(read_texts(table, encoding.layout.texts), self.kinds_)
        return encoding.unscaled(encoding.layout.numbers(values), values), encoding.codes(values)

    def _as_dtype(self, rows: Array, encoding: Encoding, first: int = 0) -> Array:
        with np.errstate(over="ignore"):
            floats = rows.astype(self.dtype, copy=False)
        if not all_finite(floats):
            row, place = np.argwhere(~np.isfinite(floats))[0]
            raise ValueError(
                f"column {encoding.names()[place]!r} holds {rows[row, place]:.3g} in row {first + row}, too large for "
                f"{self.dtype}: use scaling='robust' (now {self.scaling!r}), or dtype='float64'"
            )
        return floats

    # what was learned

    @property
    def names_(self) -> list[str]:
        """Names of the columns in the order of fit."""
        return self._encoding.layout.names

    @property
    def encoding(self) -> Encoding:
        """All that was learned, in one value."""
        check_is_fitted(self, "kinds_")
        return self._encoding

    @property
    def kinds_(self) -> dict[str, str]:
        """Kinds of the columns by name: "numeric", "boolean", "category", "datetime", or "empty" (left out)."""
        return self._encoding.layout.kinds

    @property
    def categories_(self) -> dict[str, list[str]]:
        """Categories by name of the column."""
        return self._encoding.layout.categories

    @property
    def texts_(self) -> dict[str, TextUse]:
        """How texts that hold dates or numbers are read, by name of the column."""
        return self._encoding.layout.texts

    def typical_row(self) -> dict[str, Any]:
        """A value for each column that is not empty: the median, the first category, the first date.

        Returns
        -------
        dict[str, Any]
            by name, in the order of fit: numbers, texts, truth values, `datetime64`

        Examples
        --------
        >>> X = np.array([[1.0, "a"], [np.nan, "b"], [3.0, "b"]], dtype=object)
        >>> TablePreprocessor().fit(X).typical_row()
        {'x0': 2.0, 'x1': 'a'}
        """
        return self._encoding.typical_row()

    @property
    def embedding_sizes_(self) -> tuple[int, ...]:
        """How many codes each of the last columns has: the sizes of `nn.Embed`."""
        return self._encoding.code_sizes()

    @property
    def named_numbers_(self) -> list[str]:
        """Numbers that are names, and have a code in the last columns: with `codes=True`, as y told in `fit`."""
        check_is_fitted(self, "kinds_")
        return self._encoding.named_numbers()

    @property
    def n_numbers_(self) -> int:
        """How many of the first columns are numbers (the others are marks, one-hot columns and codes)."""
        check_is_fitted(self, "kinds_")
        return len(self._encoding.components() or self._encoding.layout.number_names())

    @property
    def straight_places_(self) -> dict[int, int]:
        """Where numbers stand that are there once more as they are, by the places of their scaled twins."""
        check_is_fitted(self, "kinds_")
        return self._encoding.straight_places()

    def get_feature_names_out(self, input_features: ArrayLike = None) -> Array:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : array of str
            if given, those of fit

        Returns
        -------
        array of str
            (columns,)
        """
        check_is_fitted(self, "kinds_")
        _check_feature_names_in(self, input_features)
        return np.array(self._encoding.names(), object)

    # as plain data

    def to_dict(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that was learned: what goes into JSON, and arrays of numbers by name. See `from_dict`."""
        from pellucid.estimators.storage import Writer

        check_is_fitted(self, "kinds_")
        writer, params = Writer(), self.get_params(deep=False)
        learned = {name: value for name, value in vars(self).items() if name not in params}
        data = {
            "version": 2,
            "params": {name: writer.write(value, name) for name, value in params.items()},
            "kinds": self.kinds_,
            "learned": {name: writer.write(value, name) for name, value in learned.items()},
        }
        return data, writer.arrays

    @classmethod
    def from_dict(cls, data: dict[str, Any], arrays: dict[str, Array]) -> TablePreprocessor:
        """The preprocessor that `to_dict` described. Nothing is imported or called by a name from the data.

        Parameters
        ----------
        data : dict[str, Any]
            what `to_dict` gave for JSON
        arrays : dict[str, Array]
            and its arrays

        Returns
        -------
        TablePreprocessor
            fitted
        """
        from pellucid.estimators.storage import Reader
        from pellucid.estimators.stored_classes import CLASSES

        try:
            reader = Reader(arrays, {}, "these data", CLASSES)
            preprocessor = cls(**{name: reader.read(value) for name, value in data["params"].items()})
            check_parameters(preprocessor)
            preprocessor.__dict__.update({name: reader.read(value) for name, value in data["learned"].items()})
            if data["kinds"] != preprocessor.kinds_:
                raise TableError("the columns or their kinds are not what pellucid writes")
        except TableError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TableError(f"these data describe no table preprocessor: {type(error).__name__}: {error}") from error
        return preprocessor

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64"] if np.dtype(self.dtype) == np.float64 else []
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _leave_out_different(different: dict[str, str], values: dict[str, Array]) -> None:
    """Take columns of texts of which nearly each is another out of `values`, and say so."""
    several = len(different) > 1
    notice(
        f"Texts of {'columns' if several else 'column'} {listed(list(different))} are nearly all different, and as "
        f"categories tell nothing: left out, in prediction too. An example is {next(iter(different.values()))!r:.60}. "
        "Make numbers or dates of them; to have them as categories, name them in categorical=.",
        ColumnWarning,
    )
    for name in different:
        values.pop(name, None)


def _is_missing(column: Array) -> Array:
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.isnat(column) if column.dtype.kind == "M" else np.asarray(pd.isna(column))
