"""The rows that trials of a search are trained on, and those they are judged by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from pellucid.amounts import Condition, is_whole
from pellucid.data.dependence import column_of_groups, dependence_of, splitter_folds
from pellucid.data.named_columns import without_column
from pellucid.data.splits import by_fraction, shuffled_folds
from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.inputs import Learner

SHARE = Condition(lambda value: isinstance(value, float) and 0 < value < 1, "a share of the rows in (0, 1), or (X, y)")
SPLITTER = Condition(
    lambda value: is_whole(value, 2) or (hasattr(value, "split") and not isinstance(value, str)),
    "a whole number of folds from 2, or a splitter of scikit-learn",
)


class Part(NamedTuple):
    """Rows as the user has them."""

    X: ArrayLike
    y: ArrayLike
    weights: ArrayLike = None

    def take(self, rows: Array) -> Part:
        """Some of the rows."""
        return Part(*(None if column is None else _safe_indexing(column, rows) for column in self))

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(_num_samples(self.y))


class Fold(NamedTuple):
    """Rows to train on, and rows to judge by."""

    train: Part
    held: Part

    @property
    def rows(self) -> int:
        """How many there are to train on; those of weight 0 do not count."""
        weights = self.train.weights
        return self.train.rows if weights is None else int(np.count_nonzero(np.asarray(weights)))


def folds(
    estimator: Learner,
    everything: Part,
    validation: float | tuple[ArrayLike, ...],
    cv: int | BaseCrossValidator | None,
    seed: int,
    groups: ArrayLike = None,
    time: ArrayLike = None,
) -> list[Fold]:
    """The parts of the data that every trial sees, cut once.

    `validation` is a share of the rows or (X, y); `cv`, in its place, a number of folds or a splitter of scikit-learn.
    `groups` stay together, and what is held out is later by `time`; a column of groups is no feature.
    """
    everything = Part(*indexable(*everything))
    target = np.asarray(everything.y)
    classes = target if is_classifier(estimator) and target.ndim == 1 else None
    dependence, column = dependence_of(everything.X, groups, time), column_of_groups(groups)
    features = everything._replace(X=without_column(everything.X, column))
    if cv is not None:
        SPLITTER.check("cv", cv)
        pairs = (
            splitter_folds(cv, everything.X, everything.y, groups, time)
            if hasattr(cv, "split")
            else shuffled_folds(everything.rows, int(cv), classes, seed, dependence)
        )
    elif isinstance(validation, tuple):
        if len(validation) not in (2, 3):
            raise ValueError(f"validation is (X, y) or (X, y, weights), got {len(validation)} things")
        return [Fold(features, Part(without_column(validation[0], column), *validation[1:]))]
    else:
        SHARE.check("validation", validation)
        pairs = [
            _held_out(everything.rows, classes, validation, seed)
            if dependence is None
            else dependence.hold_out(validation, classes, seed)
        ]
    if classes is not None:  # a class that is not trained on cannot be scored
        pairs = [(inside, outside[np.isin(classes[outside], classes[inside])]) for inside, outside in pairs]
        if not all(len(outside) for _, outside in pairs):
            raise ValueError(
                "tune: held-out rows are all of classes that are not trained on: give fewer folds, or (X, y)"
            )
    return [Fold(features.take(inside), features.take(outside)) for inside, outside in pairs]


def _held_out(count: int, classes: Array | None, share: float, seed: int) -> tuple[Array, Array]:
    """Rows to train on, and a share to judge by; the only row of a class is trained on."""
    rows = np.arange(count)
    if classes is None:
        return by_fraction(rows, share, None, seed)
    _, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    several = counts[codes] > 1
    inside, outside = by_fraction(rows[several], share, codes[several], seed)
    return np.concatenate([inside, rows[~several]]), outside
