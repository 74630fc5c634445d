"""How far predicted numbers are from the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from pellucid.report.numbers.bins import histogram
from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample

SHOWN = 800
"""Points of a scatter."""

OUTPUTS = 3
"""Outputs with charts of their own."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """One output: truth and prediction of some rows, a histogram of all residuals (truth - prediction), scores."""

    output: str
    truth: Any
    predicted: Any
    counts: Any
    edges: Any
    mean: float
    r2: float
    mae: float
    rmse: float
    spread: float  # rank correlation of |residual| with the prediction

    @property
    def prediction_caption(self) -> str:
        """What to notice."""
        return (
            f"On the line is right. R² {self.r2:.3f}; the mean distance is {self.mae:.4g}, its root mean "
            f"square {self.rmse:.4g}{' (much larger: a few rows are far off).' if self.rmse > 2 * self.mae else '.'}"
        )

    @property
    def residual_caption(self) -> str:
        """What to notice."""
        bias = abs(self.mean) > 0.1 * self.rmse
        side = "too low" if self.mean > 0 else "too high"
        words = [f"Predictions are {side} by {abs(self.mean):.3g} on average." if bias else "No side is favoured."]
        if self.spread > 0.3:
            words.append("Errors grow with the prediction (the fan opens): try a logarithm of the target.")
        elif self.spread < -0.3:
            words.append("Errors shrink as the prediction grows.")
        return f"Truth − prediction. {' '.join(words)} A bend would be something not learned."

    @property
    def of_output(self) -> str:
        return f" of {self.output}" if self.output else ""


def residuals(asked: Predictor, rows: Sample) -> tuple[Residuals, ...]:
    """For each of the first outputs; of several quantiles the middle one. () for classes."""
    if asked.classes:
        return ()
    truth, answer = np.asarray(asked.targets(rows.y), float), np.asarray(asked.predict(rows.X), float)
    if truth.ndim == 1:
        middle = answer if answer.ndim == 1 else answer[:, answer.shape[1] // 2]
        return (_of_one("", truth, middle),)
    if answer.shape != truth.shape:
        return ()
    return tuple(_of_one(asked.output(j), truth[:, j], answer[:, j]) for j in range(min(OUTPUTS, truth.shape[1])))


def _of_one(output: str, truth: Any, answer: Any) -> Residuals:
    errors = truth - answer
    fine = np.isfinite(errors)
    truth, answer, errors = truth[fine], answer[fine], errors[fine]
    low, high = np.quantile(errors, [0.005, 0.995])
    counts, edges = histogram(errors, 40, float(low), float(high))
    chosen = np.random.default_rng(0).permutation(len(truth))[:SHOWN]
    spread = float(spearmanr(answer, np.abs(errors)).statistic) if np.ptp(answer) and np.ptp(errors) else 0.0
    return Residuals(
        output,
        truth[chosen],
        answer[chosen],
        counts,
        edges,
        float(errors.mean()),
        float(r2_score(truth, answer)) if len(truth) > 1 else float("nan"),
        float(mean_absolute_error(truth, answer)),
        float(root_mean_squared_error(truth, answer)),
        spread,
    )
