"""Which classes are taken for which: the confusion matrix, and precision and recall of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample, word


@dataclass(frozen=True, eq=False)
class Confusion:
    """Rows of `matrix` are true classes, columns predicted ones; the rest is one number for each class."""

    labels: tuple[str, ...]
    matrix: Any
    precision: Any
    recall: Any
    f1: Any
    support: Any

    @property
    def shares(self) -> Any:
        """Of each true class, the share that was taken for each class."""
        totals = self.matrix.sum(axis=1, keepdims=True)
        return self.matrix / np.maximum(totals, 1)

    @property
    def caption(self) -> str:
        """What to notice."""
        matrix = np.array(self.matrix)
        right, total = int(np.trace(matrix)), int(matrix.sum())
        np.fill_diagonal(matrix, 0)
        start = f"{right:,} of {total:,} rows are right (the diagonal)."
        if not matrix.any():
            return f"{start} No class is taken for another."
        true, taken = np.unravel_index(int(matrix.argmax()), matrix.shape)
        wrong = int(matrix[true, taken])
        share = wrong / max(int(self.support[true]), 1)
        return (
            f"{start} Most often “{self.labels[true]}” is taken for “{self.labels[taken]}”: {wrong:,} times, "
            f"{share:.0%} of its rows. Shades are shares of the true class, so that rare classes can be seen, too."
        )


def confusion(asked: Predictor, rows: Sample) -> Confusion | None:
    """The confusion matrix on these rows; None for numbers and for several labels."""
    if not asked.classes or asked.several:
        return None
    labels = list(asked.classes)
    truth, answer = asked.targets(rows.y), asked.predict(rows.X)
    each = precision_recall_fscore_support(truth, answer, labels=labels, zero_division=0)
    return Confusion(tuple(map(word, labels)), confusion_matrix(truth, answer, labels=labels), *each)
