"""What members say, as columns that can be averaged: probabilities of classes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels

from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.protocols import Learner


class Outputs(Protocol):
    """How the outputs of members are read for one kind of target."""

    def labels(self, y: Array) -> Array | None:
        """The class of each row as a number, (n,), or None where there are none."""

    def of(self, member: Learner, X: ArrayLike) -> Array:
        """What is averaged.   -> (n, columns)"""

    def truth(self, y: Array, columns: int) -> Array:
        """The target as outputs would be if they were perfect.   -> (n, columns)"""

    def score(self, outputs: Array, y: Array, weights: Array | None = None) -> float:
        """Accuracy or R² of (averaged) outputs."""


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
        return None if self.multilabel else np.searchsorted(self.classes, y)

    def of(self, member: Learner, X: ArrayLike) -> Array:
        if not hasattr(member, "predict_proba"):
            return self.truth(member.predict(X), len(self.classes))
        probabilities = np.asarray(member.predict_proba(X))
        classes = self.classes if self.multilabel else np.asarray(getattr(member, "classes_", self.classes))
        if len(classes) == len(self.classes):
            return probabilities
        aligned = np.zeros((len(probabilities), len(self.classes)), probabilities.dtype)
        aligned[:, np.searchsorted(self.classes, classes)] = probabilities
        return aligned

    def truth(self, y: Array, columns: int) -> Array:
        if self.multilabel:
            return np.asarray(y, float)
        return np.asarray(np.asarray(y)[:, None] == self.classes, float)

    def decided(self, outputs: Array) -> Array:
        """The most likely class, (n,); zeros and ones for several labels, (n, labels)."""
        if self.multilabel:
            return (outputs > 0.5).astype(int)
        return np.asarray(self.classes[np.argmax(outputs, axis=1)])

    def score(self, outputs: Array, y: Array, weights: Array | None = None) -> float:
        return float(accuracy_score(y, self.decided(outputs), sample_weight=weights))


@dataclass(frozen=True)
class NumberOutputs:
    """Predictions of so many `targets`, each a number or several quantiles."""

    targets: int

    @classmethod
    def learn(cls, y: Array) -> NumberOutputs:
        """From the target of fit."""
        return cls(1 if y.ndim == 1 else y.shape[1])

    def labels(self, y: Array) -> Array | None:
        return None

    def of(self, member: Learner, X: ArrayLike) -> Array:
        predictions = np.asarray(member.predict(X))
        return predictions.reshape(len(predictions), -1)

    def truth(self, y: Array, columns: int) -> Array:
        """Several quantiles of an output have the same truth."""
        numbers = _numbers(y)
        return np.repeat(numbers, columns // numbers.shape[1], axis=1)

    def ends(self, outputs: Array) -> tuple[Array, Array]:
        """The outer quantiles of each target; both are the prediction where there is one number only."""
        grouped = outputs.reshape(len(outputs), self.targets, outputs.shape[1] // self.targets)
        return grouped[:, :, 0], grouped[:, :, -1]

    def errors(self, outputs: Array, y: Array, rows: Array) -> Array:
        """How far the truth of some rows lies outside of the ends, sorted.   -> (rows, targets)"""
        (low, high), numbers = self.ends(outputs[rows]), _numbers(y)[rows]
        return np.sort(np.maximum(low - numbers, numbers - high), axis=0)

    def score(self, outputs: Array, y: Array, weights: Array | None = None) -> float:
        """R²; of several quantiles there is none (NaN)."""
        numbers = _numbers(y)
        return float(r2_score(numbers, outputs, sample_weight=weights)) if outputs.shape == numbers.shape else np.nan


def _numbers(y: Array) -> Array:
    """The target with a column for each output.   -> (n, targets)"""
    return np.asarray(y, float).reshape(len(y), -1)
