"""What users hand in: checked by scikit-learn's rules, with the place of each number that is not finite.

And the way back: an estimator whose `fit` fails is as it was before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_sample_weight, validate_data

from pellucid.data.inputs import all_finite, refuse_containers, refuse_other_than_numbers
from pellucid.data.sparse import is_sparse

FLOATS = (np.float64, np.float32)


def checked(estimator: Any, X: Any, y: Any, *, reset: bool, numeric: bool) -> tuple[Any, Any]:
    """X (n, features) as floats or a sparse matrix, y as an array; features are counted and named, or compared."""
    refuse_what_is_no_table(estimator, X)
    try:
        X, y = validate_data(
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
    must_be_finite(estimator, X)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    return X, y


def checked_rows(estimator: Any, X: Any) -> Any:
    """New rows for a fitted estimator."""
    refuse_what_is_no_table(estimator, X)
    X = validate_data(estimator, X, accept_sparse=["csr", "csc"], ensure_all_finite=False, reset=False)
    must_be_finite(estimator, X)
    return X


def refuse_what_is_no_table(estimator: Any, X: Any) -> None:
    """Raise for a dict, and for columns of dates, texts or complex numbers; scikit-learn lets some of them through."""
    who = type(estimator).__name__
    if not is_sparse(X):
        refuse_containers(X, f"{who}: X")
        refuse_other_than_numbers(X, f"{who}: X")


def checked_weights(given: Any, rows: int) -> Any:
    """Sample weights as floats (rows,), finite and from 0."""
    refuse_other_than_numbers(np.asarray(given), "sample_weight")
    return _check_sample_weight(given, np.empty((rows, 1)), ensure_non_negative=True)


def must_be_finite(estimator: Any, X: Any) -> None:
    """Raise for the first NaN or infinity, with its row and column."""
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f" or all_finite(values):
        return
    if is_sparse(X):
        X = X.tocoo()
        wrong = ~np.isfinite(X.data)
        places = np.column_stack([X.row, X.col])[wrong]
        first = np.lexsort((places[:, 1], places[:, 0]))[0]
        (row, column), value = places[first], X.data[wrong][first]
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


def _with_row(error: ValueError, y: Any) -> ValueError:
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


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """If what happens inside fails, the estimator has all it had before: a failed fit loses nothing."""
    before = dict(vars(estimator))
    model, curves = before.get("model_"), before.get("_curves")
    inner = dict(vars(model)) if model is not None else {}
    noted = {k: v.copy() if isinstance(v, list) else v for k, v in vars(curves).items()} if curves is not None else {}
    try:
        yield
    except BaseException:
        _put_back(estimator, before)
        for part, state in ((model, inner), (curves, noted)):
            if part is not None:
                _put_back(part, state)
        raise


def _put_back(thing: Any, attributes: dict[str, Any]) -> None:
    thing.__dict__.clear()
    thing.__dict__.update(attributes)
