"""The columns that a fitted estimator wants to predict from: their names, kinds, categories, and an example of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from pellucid.data.types import Array
from pellucid.estimators.inputs import groups_column
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tables.columns import EMPTY, NUMERIC, Table
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.tables.text_columns import TextUse
from pellucid.train import Model


@dataclass(frozen=True)
class Column:
    """A column of X.

    Parameters
    ----------
    name : str
        of the column; x0, x1, ... where fit had none
    kind : str
        "numeric", "boolean", "category", "datetime", or "empty" (left out)
    categories : tuple[str, ...]
        those of fit
    example : Any
        a value that fit may have seen; None for an empty column
    missing : bool
        may values be missing?
    texts : TextUse | None
        how texts that hold its dates or numbers are read
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    example: Any = None
    missing: bool = False
    texts: TextUse | None = None


def columns_of(estimator: BaseEstimator | Model) -> list[Column]:
    """The columns of a fitted estimator or model, in the order of fit.

    Parameters
    ----------
    estimator : estimator | Model
        fitted

    Returns
    -------
    list[Column]
        one for each column of X

    Examples
    --------
    >>> import pellucid, numpy as np
    >>> regressor = pellucid.MLPRegressor(hidden_layer_sizes=(2,), tol=1.0, n_iter_no_change=1)
    >>> regressor = regressor.fit(np.eye(2), [0.0, 1.0])
    >>> [(column.name, column.kind) for column in columns_of(regressor)]
    [('x0', 'numeric'), ('x1', 'numeric')]
    """
    if isinstance(estimator, Model):
        return _numbers([f"x{place}" for place in range(math.prod(estimator.features))])
    parts = [getattr(member, "preprocessor_", member) for member in getattr(estimator, "estimators_", [estimator])]
    preprocessors = [part for part in parts if isinstance(part, TablePreprocessor)]
    if not preprocessors:
        names = getattr(estimator, "feature_names_in_", None)
        return _numbers([f"x{j}" for j in range(estimator.n_features_in_)] if names is None else list(map(str, names)))
    first, *others = map(_of_table, preprocessors)
    for other in others:  # members of an ensemble, each with rows of its own
        first = [
            replace(a, categories=tuple(sorted({*a.categories, *b.categories})))
            for a, b in zip(first, other, strict=True)
        ]
    return first


def optional_columns(estimator: BaseEstimator | Model) -> set[str]:
    """Columns that may be there and are not looked at: that of groups."""
    name = groups_column(estimator)
    return set() if name is None else {name}


def _numbers(names: list[str]) -> list[Column]:
    return [Column(name, NUMERIC, example=0.0) for name in names]


def _of_table(preprocessor: TablePreprocessor) -> list[Column]:
    row, kinds, missing = preprocessor.typical_row(), preprocessor.kinds_, preprocessor.missing != "error"
    return [
        Column(
            name,
            kinds[name],
            tuple(preprocessor.categories_.get(name, ())),
            row.get(name),
            missing or kinds[name] == EMPTY,
            preprocessor.texts_.get(name),
        )
        for name in preprocessor.names_
    ]


def rows_of(estimator: BaseEstimator | Model, columns: Sequence[Column], arrays: Mapping[str, Array]) -> Any:
    """Columns by name as rows that the estimator takes: a `Table` (a frame would be read anew), a frame, or numbers.

    columns: those of the estimator (`columns_of`); of those that are left out in `arrays` all values are missing

    >>> import pellucid
    >>> regressor = pellucid.MLPRegressor(hidden_layer_sizes=(2,), tol=1.0, n_iter_no_change=1)
    >>> columns = columns_of(regressor.fit(np.eye(2), [0.0, 1.0]))
    >>> rows_of(regressor, columns, {"x0": np.zeros(1), "x1": np.ones(1)})
    array([[0., 1.]])
    """
    count = len(next(iter(arrays.values())))
    absent = np.full(count, None)
    values = {column.name: arrays.get(column.name, absent) for column in columns}
    named = hasattr(estimator, "feature_names_in_")
    if isinstance(estimator, BaseTabularMLP):
        texts = [array.dtype == object for array in values.values()]
        return Table(list(values), list(values.values()), texts, named, [False] * len(values))
    if named:
        return pd.DataFrame(values)
    if all(column.kind == NUMERIC for column in columns):
        return np.concatenate(list(values.values()), dtype=np.float64).reshape(len(values), count).T
    return np.column_stack([array.astype(object) for array in values.values()])


def example_arrays(columns: Iterable[Column], rows: int = 1) -> dict[str, Array]:
    """The example of each column, so many times over, as arrays by name; without columns that are empty.

    >>> example_arrays([Column("age", "numeric", example=40.0)], 2)
    {'age': array([40., 40.])}
    """
    frame = pd.DataFrame({column.name: [column.example] * rows for column in columns if column.kind != EMPTY})
    return {str(name): frame[name].to_numpy() for name in frame}
