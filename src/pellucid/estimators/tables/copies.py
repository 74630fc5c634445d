"""Rows that are copies of others, as joins and oversampling leave them: they are trained on or held out together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pellucid.data.types import Array
from pellucid.estimators.tables.coded_texts import Column, is_coded
from pellucid.estimators.tables.columns import Table

FEW = 0.05
"""Share of the rows: so few copies tell a network nothing that it should not know."""

NEARLY_ALL = 0.95
"""Of the copies: so many have the target of the first. Else they are measured again, and no copies."""

IDENTIFYING = 0.9
"""Different values of a column for each different row: rows that agree in such a column do so by no chance."""


def copies_of(table: Table, y: Array) -> Array | None:
    """Which different row each row is; None where rows are not copied.   -> (n,) numbers from 0

    Rows of few different values are often the same by chance, and are no copies: one column of numbers with fractions,
    or two columns of whatever, must have about as many different values as there are different rows.

    >>> x = np.array([0.5, 1.5, 2.5, 0.5, 1.5, 2.5])
    >>> copies_of(Table(["x"], [x], [False], True, [False]), x > 1)
    array([0, 1, 2, 0, 1, 2])
    >>> copies_of(Table(["x"], [np.round(x)], [False], True, [False]), x > 1) is None
    True
    """
    most = (1.0 - FEW) * table.rows
    row_of = np.zeros(table.rows, np.int64)
    values = []
    for column in sorted(table.columns, key=lambda column: column.dtype.kind != "f"):  # quickly told, as a rule
        codes = _codes(column)
        row_of = np.asarray(pd.factorize(row_of * (codes.max() + 1) + codes)[0])
        if row_of.max() + 1 > most:
            return None
        values.append((codes.max() + 1, _has_fractions(column)))
    different = int(row_of.max()) + 1
    identifying = sum(2 if fractions else 1 for count, fractions in values if count >= IDENTIFYING * different)
    if identifying < 2:
        return None
    first = np.unique(row_of, return_index=True)[1]
    copied = np.ones(table.rows, bool)
    copied[first] = False
    same = np.asarray(np.reshape(np.equal(y, y[first][row_of]), (table.rows, -1)).all(axis=1))
    return row_of if np.mean(same[copied]) >= NEARLY_ALL else None


def rows_of(part: Array, row_of: Array) -> Array:
    """The numbers of all rows that are one of these different rows.

    >>> rows_of(np.array([0, 2]), np.array([0, 1, 2, 0, 1]))
    array([0, 2, 3])
    """
    chosen = np.zeros(row_of.max() + 1, bool)
    chosen[part] = True
    return np.flatnonzero(chosen[row_of])


def _codes(column: Column) -> Array:
    """A number from 0 for each different value; missing ones are 0."""
    if is_coded(column):
        return np.asarray(column.codes, np.int64) + 1
    plain = column.astype(object) if column.dtype.kind in "UST" else column
    return np.asarray(pd.factorize(plain)[0], np.int64) + 1


def _has_fractions(column: Column) -> bool:
    if column.dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.any(np.mod(column[np.isfinite(column)], 1)))
