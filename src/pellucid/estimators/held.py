"""Rows that are not trained on: given, named by number, or a random part; and what they are scored by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from pellucid.data.sparse import dense
from pellucid.estimators.inputs import checked, checked_weights
from pellucid.train import METRICS, Metric
from pellucid.train.metrics import metric as find_metric


@dataclass(frozen=True)
class Part:
    """Rows with their encoded target, and weights or None."""

    X: Any
    target: Any
    weights: Any = None

    @property
    def total(self) -> float:
        """The sum of weights: how many rows they are."""
        return float(self.X.shape[0] if self.weights is None else np.sum(self.weights))

    def take(self, rows: Any) -> Part:
        return Part(self.X[rows], self.target[rows], None if self.weights is None else self.weights[rows])

    def dense(self) -> tuple[Any, Any, Any]:
        return dense(self.X), self.target, self.weights


@dataclass(frozen=True)
class Given:
    """Validation data as handed to `fit`."""

    X: Any = None
    y: Any = None
    weights: Any = None
    rows: Any = None

    def part(self, estimator: Any) -> Part | None:
        """X_val and y_val, checked and encoded like the training data; None where there are none."""
        if self.X is None and self.y is None:
            if self.weights is not None:
                raise ValueError("sample_weight_val belongs to X_val and y_val: give them too")
            return None
        if self.X is None or self.y is None:
            raise ValueError(
                f"validation data are X_val and y_val together, got {'y_val' if self.X is None else 'X_val'} alone"
            )
        if self.rows is not None:
            raise ValueError("validation data are X_val and y_val, or val_rows: got both")
        try:
            X, y = checked(estimator, self.X, self.y, reset=False, numeric=estimator._numeric_target)
        except ValueError as error:
            raise ValueError(f"X_val, y_val: {error}") from None
        weights = self.weights
        if weights is not None:
            weights = checked_weights(weights, X.shape[0])
        return Part(X, estimator._encode(y, False, True), weights)


def parted(estimator: Any, everything: Part, given: Given, rng: Any, split: bool) -> tuple[Part, Part | None]:
    """What is trained on, and the validation rows or None. `split` allows a random part for early stopping."""
    count = everything.X.shape[0]
    held = given.part(estimator)
    if held is not None:
        return everything, held
    if given.rows is not None:
        inside, outside = by_number(given.rows, count)
    elif split:
        inside, outside = at_random(estimator, everything.target, count, rng)
    else:
        return everything, None
    parts = everything.take(inside), everything.take(outside)
    for part, what in zip(parts, ("train on", "check"), strict=True):
        if not part.total:
            raise ValueError(f"all sample weights of the {part.X.shape[0]} rows to {what} are 0: leave such rows out")
    return parts


def by_number(rows: Any, count: int) -> tuple[Any, Any]:
    """Row numbers to train on, and those of `val_rows` (numbers or a mask)."""
    rows = np.asarray(rows)
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


def at_random(estimator: Any, target: Any, count: int, rng: Any) -> tuple[Any, Any]:
    """The random split of early stopping; for one label a row it keeps the shares of the classes."""
    share = estimator.validation_fraction
    inside, outside = train_test_split(
        np.arange(count), random_state=rng, test_size=share, stratify=estimator._strata(target)
    )
    if len(outside) < 2:
        raise ValueError(
            "The validation set is too small. Increase 'validation_fraction' or the size of your dataset: "
            f"{share:g} of {count} rows is {len(outside)}. Or give rows of your own as X_val and y_val."
        )
    return inside, outside


def scorer(which: Any) -> Metric:
    """A metric of ours by name, a scorer of scikit-learn by name or object, or a function (y, prediction)."""
    if isinstance(which, str) and which not in METRICS:
        from sklearn.metrics import get_scorer, get_scorer_names

        if which not in get_scorer_names():
            raise ValueError(
                f"monitor is 'loss', a metric ({', '.join(METRICS)}), a scorer of scikit-learn by name or object, or a "
                f"function (y, prediction), got {which!r}"
            )
        return find_metric(get_scorer(which))
    try:
        return find_metric(which)
    except TypeError as error:
        raise ValueError(f"monitor: {error}") from None
