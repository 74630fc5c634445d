"""Are probabilities what they say? Of the rows that were given 80 %, do 80 % come true?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample, word

BINS = 10
"""Bins of probabilities; half as many for few rows."""

FEW = 300


@dataclass(frozen=True, eq=False)
class Reliability:
    """For each bin of predicted probability: its mean, the share that came true (with 95 % limits), how many rows.

    `what` says which probability it is: that of the second of two classes, or that of the most likely class.
    """

    what: str
    predicted: Any
    observed: Any
    low: Any
    high: Any
    rows: Any
    error: float  # expected calibration error: the mean distance, weighted by rows

    @property
    def caption(self) -> str:
        """What to notice."""
        gap = float(np.average(self.predicted - self.observed, weights=self.rows))
        if self.error < 0.02:
            verdict = "They are: take them at their word."
        elif abs(gap) < 0.5 * self.error:
            verdict = "On average they are right, but not at every level."
        elif gap > 0:
            verdict = "They say too much: it comes true less often than they promise (below the diagonal)."
        else:
            verdict = "They say too little: it comes true more often than they promise (above the diagonal)."
        return (
            f"Are probabilities of {self.what} what they say? {verdict} Mean distance {self.error:.1%}; bars are 95 % "
            "limits, the columns below count the rows."
        )


def reliability(asked: Predictor, rows: Sample) -> Reliability | None:
    """The reliability of the probabilities; None where there are none, or several labels."""
    likely = None if asked.several else asked.probabilities(rows.X)
    if likely is None or likely.shape[1] < 2:
        return None
    truth = asked.targets(rows.y)
    if likely.shape[1] == 2:
        what, probability, came_true = f"“{word(asked.classes[1])}”", likely[:, 1], truth == asked.classes[1]
    else:
        what, probability = "the most likely class", likely.max(axis=1)
        came_true = truth == np.array(asked.classes)[likely.argmax(axis=1)]
    probability = np.clip(np.asarray(probability, float), 0.0, 1.0)
    bins = BINS if len(probability) > FEW else BINS // 2
    observed, predicted = calibration_curve(came_true, probability, n_bins=bins)
    places = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], probability)  # as scikit-learn's function has them
    counts = np.bincount(places, minlength=bins)
    counts = counts[counts > 0]
    hits = np.rint(observed * counts).astype(int)
    limits = [binomtest(int(k), int(n)).proportion_ci(method="wilson") for k, n in zip(hits, counts, strict=True)]
    low, high = (np.array([getattr(limit, end) for limit in limits]) for end in ("low", "high"))
    error = float(np.average(np.abs(predicted - observed), weights=counts))
    return Reliability(what, predicted, observed, low, high, counts, error)
