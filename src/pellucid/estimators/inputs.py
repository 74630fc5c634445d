"""What users hand in: rows, weights and validation data, checked by scikit-learn's rules; errors name the place.

And what is asked of an estimator that they hand in, ours or another in scikit-learn's way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_sample_weight, validate_data

from pellucid.data.dependence import Dependence
from pellucid.data.inputs import all_finite, refuse_containers, refuse_other_than_numbers
from pellucid.data.named_columns import without_column
from pellucid.data.sparse import is_sparse
from pellucid.data.types import Array, ArrayLike, Matrix


def checked(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool, numeric: bool
) -> tuple[Matrix, Array]:
    """X (n, features) as floats or a sparse matrix, y as an array; features are counted and named, or compared."""
    X = without_column(X, groups_column(estimator))
    refuse_what_is_no_table(estimator, X)
    try:
        matrix, target = validate_data(
            estimator,
            X,
            y,
            accept_sparse=["csr", "csc"],
            multi_output=True,
            y_numeric=numeric,
            dtype=(np.float64, np.float32),
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
    X = without_column(X, groups_column(estimator))
    refuse_what_is_no_table(estimator, X)
    matrix: Matrix = validate_data(estimator, X, accept_sparse=["csr", "csc"], ensure_all_finite=False, reset=False)
    if finite:
        must_be_finite(estimator, matrix)
    return matrix


def note_groups(estimator: object, name: str | None, *, reset: bool = True) -> None:
    """Note the column that names groups, in `groups_column_`: it is no feature. `reset` forgets an earlier one."""
    if reset:
        vars(estimator).pop("groups_column_", None)
    if name is not None:
        vars(estimator)["groups_column_"] = name


def groups_column(estimator: object) -> str | None:
    """The name of that column, if there is one."""
    return getattr(estimator, "groups_column_", None)


def refuse_what_is_no_table(estimator: BaseEstimator, X: ArrayLike) -> None:
    """Raise for a dict, and for columns of dates, texts or complex numbers; scikit-learn lets some of them through."""
    who = type(estimator).__name__
    if not is_sparse(X):
        refuse_containers(X, f"{who}: X")
        tables = "TabularMLPRegressor" if is_regressor(estimator) else "TabularMLPClassifier"
        refuse_other_than_numbers(X, f"{who}: X", f"Use {tables}, which takes tables with such columns as they are.")


def checked_weights(sample_weight: ArrayLike, rows: int) -> Array | None:
    """Sample weights as floats (rows,), finite and from 0, not all of them 0; None where there are none."""
    if sample_weight is None:
        return None
    refuse_other_than_numbers(np.asarray(sample_weight), "sample_weight")
    weights: Array = _check_sample_weight(sample_weight, np.empty((rows, 1)), ensure_non_negative=True)
    if not weights.any():
        raise ValueError("all sample weights are 0: nothing is left to learn from")
    return weights


def must_be_finite(estimator: BaseEstimator, X: Matrix) -> None:
    """Raise for the first NaN or infinity, with its row and column."""
    values = X if isinstance(X, np.ndarray) else X.data
    if values.dtype.kind != "f" or all_finite(values):
        return
    if isinstance(X, np.ndarray):
        places = np.argwhere(~np.isfinite(X))
    else:
        entries = X.tocsr().sorted_indices().tocoo()
        places = np.column_stack([entries.row, entries.col])[~np.isfinite(entries.data)]
    row, column = places[0]
    names = getattr(estimator, "feature_names_in_", None)
    where = f"column {column}" if names is None else f"column {column} ({names[column]!r})"
    what = "NaN" if np.isnan(X[row, column]) else "infinity"
    raise ValueError(
        f"Input X contains {what}: row {row}, {where}; {len(places)} such numbers in all. "
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
    if not len(rows):
        return error
    return ValueError(f"{error} First in row {rows[0]}, {len(rows)} rows in all: leave out the rows without a target.")


# validation data


@dataclass(frozen=True)
class Validation:
    """What `fit` is given: rows of their own, or row numbers, not both; else how rows are to be drawn."""

    X: ArrayLike = None
    y: ArrayLike = None
    weights: ArrayLike = None
    rows: ArrayLike = None
    dependence: Dependence | None = None  # of the rows of X, where some of them are to be drawn

    @property
    def separate(self) -> bool:
        """Are there rows of their own? An error where they are incomplete, or named twice."""
        if self.X is None and self.y is None:
            if self.weights is not None:
                raise ValueError("sample_weight_val belongs to X_val and y_val: give X_val and y_val too")
            return False
        if self.X is None or self.y is None:
            alone = "y_val" if self.X is None else "X_val"
            raise ValueError(f"validation data are X_val and y_val together, got {alone} alone")
        if self.rows is not None:
            raise ValueError("validation data are X_val and y_val, or val_rows: got both")
        return True


def by_number(val_rows: ArrayLike, count: int) -> tuple[Array, Array]:
    """Row numbers to train on, and those of `val_rows` (numbers or a mask)."""
    rows = np.asarray(val_rows)
    numbers = rows.ndim == 1 and rows.dtype.kind in "iu" and rows.size and -count <= rows.min() <= rows.max() < count
    if not numbers and not (rows.dtype.kind == "b" and rows.shape == (count,)):
        raise ValueError(f"val_rows are numbers of rows of X, 0 to {count - 1}, or a mask of {count}, got {rows!r:.80}")
    mask = np.zeros(count, bool)
    mask[rows] = True
    if mask.all() or not mask.any():
        raise ValueError(
            f"val_rows leaves {int((~mask).sum())} rows to train on and {int(mask.sum())} to check: name some"
        )
    return np.flatnonzero(~mask), np.flatnonzero(mask)


# estimators, for ensembles and searches


class Predictor(Protocol):
    """`fit` and `predict`, no more."""

    def fit(self, X: ArrayLike, y: ArrayLike, /, *args: Any, **more: Any) -> Any: ...

    def predict(self, X: ArrayLike, /) -> Any: ...


class Learner(Predictor, Protocol):
    """Parameters by name, too."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def set_params(self, **params: object) -> Self: ...
