"""The columns that a fitted estimator wants to predict from: their names, kinds, categories, and an example of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from pellucid.estimators.inputs import groups_column
from pellucid.estimators.tables.columns import EMPTY, NUMERIC
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
    >>> regressor = pellucid.MLPRegressor((2,), tol=1.0, n_iter_no_change=1).fit(np.eye(2), [0.0, 1.0])
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


def example_rows(columns: list[Column], rows: int = 1) -> pd.DataFrame:
    """Rows of examples, as a frame that the estimator takes.

    >>> example_rows([Column("age", "numeric", example=40.0), Column("town", "category", example="Bern")])
        age  town
    0  40.0  Bern
    """
    return pd.DataFrame({column.name: [column.example] * rows for column in columns})
