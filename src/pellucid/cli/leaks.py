"""Columns that give the target away: one alone tells it nearly perfectly on rows that were not learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.cli.target import Target
from pellucid.data.splits import evenly
from pellucid.data.types import Array

if TYPE_CHECKING:
    import polars as pl

ROWS = 4000
FEWEST = 50
"""Rows below which a column may tell all by chance."""

NEARLY_ALL = 0.98
"""Of what there is to tell: of the errors that the best constant answer makes, or of the variance."""


def suspected_leaks(frame: pl.DataFrame, target: Target, training: Array) -> dict[str, float]:
    """Columns that alone tell nearly all of the target, with the share of it that they tell.

    A tree of each column is grown on half of some rows and asked about the other half.   training: numbers of rows
    """
    if len(training) < FEWEST:
        return {}
    rows = training[evenly(len(training), ROWS)]
    truth = target.take(rows)
    mixed = np.random.default_rng(0).permutation(len(rows))
    halves = mixed[::2], mixed[1::2]
    shares = {name: told_by(_codes(frame[name][rows]), truth, target.classes, *halves) for name in frame.columns}
    return {name: share for name, share in shares.items() if share >= NEARLY_ALL}


def told_by(values: Array, truth: Array, classes: bool, learned: Array, tested: Array) -> float:
    """The share of the target that a column tells on the tested rows: 1 is all, 0 no more than a constant answer."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(min_samples_leaf=2, random_state=0)
    tree.fit(values[learned, None], truth[learned])
    answer, wanted = tree.predict(values[tested, None]), truth[tested]
    if classes:
        wrong = np.mean(answer != wanted)
        usual = np.mean(wanted != _most_frequent(truth[learned]))
    else:
        wrong = np.mean((answer - wanted) ** 2)
        usual = np.mean((wanted - truth[learned].mean(axis=0)) ** 2)
    return float(1 - wrong / usual) if usual else 0.0


def _most_frequent(labels: Array) -> Array:
    """The label that most rows have, in each column."""
    columns = labels[:, None] if labels.ndim == 1 else labels
    counted = [np.unique(column, return_counts=True) for column in columns.T]
    return np.array([names[np.argmax(counts)] for names, counts in counted])


def _codes(column: pl.Series) -> Array:
    """A column as numbers that a tree can cut: categories by their place in the alphabet, missing ones apart."""
    import polars as pl

    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        numbers = column.cast(pl.Float64)
    elif column.dtype.is_temporal():
        numbers = column.to_physical().cast(pl.Float64)
    else:
        numbers = column.cast(pl.String).rank("dense").cast(pl.Float64)
    values = np.array(numbers.to_numpy(), np.float64)  # a copy: polars' own may not be written
    values[~np.isfinite(values)] = np.nan
    least = np.nanmin(values) if not np.isnan(values).all() else 0.0
    return np.where(np.isnan(values), least - 1.0, values)
