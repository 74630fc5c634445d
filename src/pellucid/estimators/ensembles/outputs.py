"""What members say, as columns to average: probabilities or numbers; and what they say of rows not seen in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels

from pellucid.data.types import Array, ArrayLike, Matrix
from pellucid.errors import DataWarning
from pellucid.estimators.ensembles.resampling import Share
from pellucid.estimators.inputs import Learner
from pellucid.estimators.number_target import shaped
from pellucid.notices import notice

NEVER_OUT = 0.1
"""Share of rows without an out-of-bag prediction from which on there is a warning."""


@dataclass(frozen=True)
class ClassOutputs:
    """Probabilities of classes, or of several labels; votes of members that have no probabilities."""

    classes: Array
    multilabel: bool

    @classmethod
    def learn(cls, y: Array) -> ClassOutputs:
        """From the target of fit."""
        check_classification_targets(y)
        multilabel = type_of_target(y).startswith("multilabel")
        return cls(np.arange(y.shape[1]) if multilabel else unique_labels(y), multilabel)

    def labels(self, y: Array) -> Array | None:
        """The class of each row as a number, (n,); None for several labels."""
        return None if self.multilabel else np.searchsorted(self.classes, y)

    def of(self, member: Learner, X: ArrayLike) -> Array:
        """What is averaged.   -> (n, classes)"""
        if not hasattr(member, "predict_proba"):
            return self.truth(member.predict(X), len(self.classes))
        probabilities = np.asarray(member.predict_proba(X))
        classes = self.classes if self.multilabel else np.asarray(getattr(member, "classes_", self.classes))
        columns = np.zeros((len(probabilities), len(self.classes)), probabilities.dtype)
        columns[:, np.searchsorted(self.classes, classes)] = probabilities
        return columns

    def truth(self, y: Array, columns: int) -> Array:
        """The target as outputs would be if they were perfect.   -> (n, columns)"""
        if self.multilabel:
            return np.asarray(y, float)
        return np.asarray(np.asarray(y)[:, None] == self.classes, float)

    def decided(self, outputs: Array) -> Array:
        """The most likely class, (n,); zeros and ones for several labels, (n, labels)."""
        places = self.places(outputs)
        return places if self.multilabel else np.asarray(self.classes[places])

    def places(self, outputs: Array) -> Array:
        """Numbers of the most likely classes, (n,); zeros and ones for several labels, (n, labels)."""
        return (outputs > 0.5).astype(int) if self.multilabel else np.argmax(outputs, axis=1)

    def unseen(self, outputs: Array, y: Array, rows: Array) -> dict[str, Array]:
        """What an ensemble keeps of outputs for rows that members have not seen."""
        return {"oob_decision_function_": outputs}

    def score(self, outputs: Array, y: Array, weights: Array | None = None) -> float:
        """Accuracy of (averaged) outputs."""
        return float(accuracy_score(y, self.decided(outputs), sample_weight=weights))


@dataclass(frozen=True)
class NumberOutputs:
    """Predictions of so many `targets`, each a number or several quantiles."""

    targets: int

    @classmethod
    def learn(cls, y: Array) -> NumberOutputs:
        """From the target of fit."""
        return cls(1 if y.ndim == 1 else y.shape[1])

    def labels(self, y: Array) -> None:
        """Numbers have none."""

    def of(self, member: Learner, X: ArrayLike) -> Array:
        """What is averaged.   -> (n, numbers)"""
        predictions = np.asarray(member.predict(X))
        return predictions.reshape(len(predictions), -1)

    def truth(self, y: Array, columns: int) -> Array:
        """The target as outputs would be if they were perfect: several quantiles have the same truth."""
        numbers = _numbers(y)
        return np.repeat(numbers, columns // numbers.shape[1], axis=1)

    def ends(self, outputs: Array) -> tuple[Array, Array]:
        """The outer quantiles of each target; both are the prediction where there is one number only."""
        quantiles = outputs.reshape(len(outputs), self.targets, outputs.shape[1] // self.targets)
        return quantiles[:, :, 0], quantiles[:, :, -1]

    def unseen(self, outputs: Array, y: Array, rows: Array) -> dict[str, Array]:
        """What an ensemble keeps of outputs for rows that members have not seen.

        With the errors, sorted: how far the truth of the `rows` that count lies outside of the ends.
        """
        (low, high), numbers = self.ends(outputs[rows]), _numbers(y)[rows]
        errors = np.sort(np.maximum(low - numbers, numbers - high), axis=0)
        return {"oob_prediction_": shaped(outputs), "_errors": errors}

    def score(self, outputs: Array, y: Array, weights: Array | None = None) -> float:
        """R²; of several quantiles there is none (NaN)."""
        numbers = _numbers(y)
        return float(r2_score(numbers, outputs, sample_weight=weights)) if outputs.shape == numbers.shape else np.nan


Outputs = ClassOutputs | NumberOutputs


OF_UNSEEN = ("oob_score_", "oob_prediction_", "oob_decision_function_", "_errors")
"""What `out_of_bag` may give."""


def out_of_bag(
    reading: Outputs,
    members: Sequence[Learner],
    shares: Sequence[Share],
    X: Matrix,
    y: Array,
    weights: Array | None,
    *,
    warns: bool = True,
) -> dict[str, Array | float]:
    """What an ensemble keeps of the mean output, for each row, of members that have not seen it: NaN where all have.

    The score is of rows that have an output, and count; NaN for less than two. `warns` if many rows have none.
    """
    columns = reading.of(members[0], _safe_indexing(X, [0])).shape[1]
    total, votes = np.zeros((X.shape[0], columns)), np.zeros(X.shape[0])
    for member, share in zip(members, shares, strict=True):
        if len(share.held):
            total[share.held] += reading.of(member, _safe_indexing(X, share.held))
            votes[share.held] += 1
    never_out = 1 - np.mean(votes > 0)
    if warns and never_out > NEVER_OUT:
        notice(
            f"{never_out:.0%} of the rows were in the bags of all {len(shares)} members: they have no out-of-bag "
            "prediction (NaN), and oob_score_ is of the others. More members (n_estimators) leave fewer.",
            DataWarning,
        )
    with np.errstate(invalid="ignore"):
        outputs = total / votes[:, None]  # 0 / 0 is NaN
    rows = votes > 0 if weights is None else (votes > 0) & (weights > 0)
    row_weights = None if weights is None else weights[rows]
    score = reading.score(outputs[rows], y[rows], row_weights) if np.sum(rows) >= 2 else np.nan
    return {"oob_score_": score, **reading.unseen(outputs, y, rows)}


def _numbers(y: Array) -> Array:
    """The target with a column for each output.   -> (n, targets)"""
    return np.asarray(y, float).reshape(len(y), -1)
