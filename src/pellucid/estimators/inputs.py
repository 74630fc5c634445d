"""What users hand in: checked by scikit-learn's rules, with the place of each number that is not finite."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_sample_weight, validate_data

from pellucid.data.inputs import all_finite, refuse_containers, refuse_other_than_numbers
from pellucid.data.sparse import is_sparse
from pellucid.data.types import Array, ArrayLike, Matrix

FLOATS = (np.float64, np.float32)


def checked(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool, numeric: bool
) -> tuple[Matrix, Array]:
    """X (n, features) as floats or a sparse matrix, y as an array; features are counted and named, or compared."""
    refuse_what_is_no_table(estimator, X)
    try:
        matrix, target = validate_data(
            estimator,
            X,
            y,
            accept_sparse=["csr", "csc"],
            multi_output=True,
            y_numeric=numeric,
            dtype=FLOATS,
            ensure_all_finite=False,
            reset=reset,
        )
    except ValueError as error:
        raise _with_row(error, y) from None
    must_be_finite(estimator, matrix)
    if target.ndim == 2 and target.shape[1] == 1:
        target = column_or_1d(target, warn=True)
    return matrix, target


def checked_rows(estimator: BaseEstimator, X: ArrayLike, *, finite: bool = True) -> Matrix:
    """New rows for a fitted estimator; `finite=False` leaves it to others to look for numbers that are not."""
    refuse_what_is_no_table(estimator, X)
    matrix: Matrix = validate_data(estimator, X, accept_sparse=["csr", "csc"], ensure_all_finite=False, reset=False)
    if finite:
        must_be_finite(estimator, matrix)
    return matrix


def refuse_what_is_no_table(estimator: BaseEstimator, X: ArrayLike) -> None:
    """Raise for a dict, and for columns of dates, texts or complex numbers; scikit-learn lets some of them through."""
    who = type(estimator).__name__
    if not is_sparse(X):
        refuse_containers(X, f"{who}: X")
        refuse_other_than_numbers(X, f"{who}: X")


def checked_weights(sample_weight: ArrayLike, rows: int) -> Array:
    """Sample weights as floats (rows,), finite and from 0."""
    refuse_other_than_numbers(np.asarray(sample_weight), "sample_weight")
    weights: Array = _check_sample_weight(sample_weight, np.empty((rows, 1)), ensure_non_negative=True)
    return weights


def must_be_finite(estimator: BaseEstimator, X: Matrix) -> None:
    """Raise for the first NaN or infinity, with its row and column."""
    values = X if isinstance(X, np.ndarray) else X.data
    if values.dtype.kind != "f" or all_finite(values):
        return
    if not isinstance(X, np.ndarray):
        entries = X.tocoo()
        wrong = ~np.isfinite(entries.data)
        places = np.column_stack([entries.row, entries.col])[wrong]
        first = np.lexsort((places[:, 1], places[:, 0]))[0]
        (row, column), value = places[first], entries.data[wrong][first]
    else:
        wrong = ~np.isfinite(X)
        row, column = np.argwhere(wrong)[0]
        value = X[row, column]
    names = getattr(estimator, "feature_names_in_", None)
    where = f"column {column}" if names is None else f"column {column} ({names[column]!r})"
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"Input X contains {what}: row {row}, {where}; {int(wrong.sum())} such numbers in all. "
        f"{type(estimator).__name__} does not accept missing or infinite values: fill them (SimpleImputer), or drop "
        "the rows."
    )


def _with_row(error: ValueError, y: ArrayLike) -> ValueError:
    """scikit-learn's error about y, and the row that it is about."""
    if not str(error).startswith("Input y contains"):
        return error
    try:
        numbers = np.asarray(y, float)
    except (TypeError, ValueError):
        return error
    rows = np.flatnonzero(~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1))
    return ValueError(
        f"{error} First in row {rows[0]}, {len(rows)} rows in all: leave out the rows without a target."
        if len(rows)
        else str(error)
    )
