"""The rows that trials of a search are trained on, and those they are judged by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from pellucid.amounts import Condition, is_whole
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
) -> list[Fold]:
    """The parts of the data that every trial sees, cut once.

    `validation` is a share of the rows or (X, y); `cv`, in its place, a number of folds or a splitter of scikit-learn.
    """
    everything = Part(*indexable(*everything))
    target = np.asarray(everything.y)
    classes = target if is_classifier(estimator) and target.ndim == 1 else None
    if cv is not None:
        SPLITTER.check("cv", cv)
        pairs = (
            list(cv.split(everything.X, everything.y))
            if hasattr(cv, "split")
            else shuffled_folds(everything.rows, int(cv), classes, seed)
        )
        if classes is not None:  # a class that is not trained on cannot be scored
            pairs = [(inside, outside[np.isin(classes[outside], classes[inside])]) for inside, outside in pairs]
    elif isinstance(validation, tuple):
        if len(validation) not in (2, 3):
            raise ValueError(f"validation is (X, y) or (X, y, weights), got {len(validation)} things")
        return [Fold(everything, Part(*validation))]
    else:
        SHARE.check("validation", validation)
        pairs = [_held_out(everything.rows, classes, validation, seed)]
    return [Fold(everything.take(inside), everything.take(outside)) for inside, outside in pairs]


def _held_out(count: int, classes: Array | None, share: float, seed: int) -> tuple[Array, Array]:
    """Rows to train on, and a share to judge by; the only row of a class is trained on."""
    rows = np.arange(count)
    if classes is None:
        return by_fraction(rows, share, None, seed)
    _, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    several = counts[codes] > 1
    inside, outside = by_fraction(rows[several], share, codes[several], seed)
    return np.concatenate([inside, rows[~several]]), outside
