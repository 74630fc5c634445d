"""The headline numbers of a report: scores on rows, by scikit-learn's metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics

from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample


@dataclass(frozen=True)
class Score:
    """A number with its name, and what it is to be compared with."""

    name: str
    value: float
    beside: str = ""
    share: bool = True  # is it on a scale of its own, up to 1?
    first: bool = False  # is it one of the two that come first?


def scores(asked: Predictor, rows: Sample) -> tuple[Score, ...]:
    """Accuracy and log-loss, or R² and mean errors."""
    truth, answer = asked.targets(rows.y), asked.predict(rows.X)
    return _of_classes(asked, rows, truth, answer) if asked.classes else _of_numbers(truth, answer)


def _of_classes(asked: Predictor, rows: Sample, truth: Any, answer: Any) -> tuple[Score, ...]:
    common = ""
    if not asked.several:
        _, counts = np.unique(truth, return_counts=True)
        common = f"the most frequent class alone: {counts.max() / counts.sum():.3f}"
    found = [Score("accuracy", float(metrics.accuracy_score(truth, answer)), common, first=True)]
    if not asked.several and len(asked.classes) > 1:
        balanced = float(metrics.recall_score(truth, answer, average="macro", zero_division=0))
        found.append(Score("mean recall", balanced, f"guessing: {1 / len(asked.classes):.3f}"))
    likely = asked.probabilities(rows.X)
    if likely is None:
        return tuple(found)
    if not asked.several:
        likely = np.asarray(likely, float)
        likely = likely / likely.sum(axis=1, keepdims=True)
        chance = f"the classes' shares: {float(-(counts / counts.sum() * np.log(counts / counts.sum())).sum()):.3f}"
        found.append(
            Score("log-loss", float(metrics.log_loss(truth, likely, labels=list(asked.classes))), chance, share=False)
        )
    area = _area(asked, truth, likely)
    if area is not None:
        found.append(Score("ROC AUC", area, "guessing: 0.5", first=True))
    return tuple(found)


def _area(asked: Predictor, truth: Any, likely: Any) -> float | None:
    """The area under the ROC curve; the mean over classes that are there."""
    is_class = truth.astype(bool) if asked.several else truth[:, None] == np.array(asked.classes)[None, :]
    there = [k for k in range(is_class.shape[1]) if 0 < is_class[:, k].sum() < len(is_class)]
    if is_class.shape[1] == 2 and not asked.several:
        there = there[-1:]
    areas = [metrics.roc_auc_score(is_class[:, k], likely[:, k]) for k in there]
    return float(np.mean(areas)) if areas else None


def _of_numbers(truth: Any, answer: Any) -> tuple[Score, ...]:
    if truth.ndim == 1 and answer.ndim == 2:
        answer = answer[:, answer.shape[1] // 2]  # of several quantiles the middle one
    if truth.shape != answer.shape or len(truth) < 2:
        return ()
    spread = float(np.sqrt(np.mean(np.var(truth, axis=0))))
    return (
        Score("R²", float(metrics.r2_score(truth, answer)), "the mean alone: 0", first=True),
        Score(
            "mean error",
            float(metrics.mean_absolute_error(truth, answer)),
            "mean of |truth − prediction|",
            share=False,
            first=True,
        ),
        Score(
            "root mean square error",
            float(metrics.root_mean_squared_error(truth, answer)),
            f"the mean alone: {spread:.4g}",
            share=False,
        ),
    )
