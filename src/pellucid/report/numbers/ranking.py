"""How well scores put rows in order: ROC and precision-recall curves, one class against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample, word

SHOWN = 6
"""Classes with curves of their own: the most frequent ones."""

POINTS = 160
"""Points of a curve on the page."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of one class against the rest; `area` below it, `base` what guessing gives."""

    label: str
    x: Any
    y: Any
    area: float
    base: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """ROC: false positive rate and true positive rate. Precision-recall: recall and precision."""

    roc: tuple[Curve, ...]
    precision_recall: tuple[Curve, ...]
    classes: int

    @property
    def _which(self) -> str:
        if len(self.roc) == 1:
            return f"For “{self.roc[0].label}”"
        return "Each class against the rest" + (
            f", the {len(self.roc)} most frequent of {self.classes}" if self.classes > len(self.roc) else ""
        )

    @property
    def roc_caption(self) -> str:
        """What to notice."""
        worst = min(self.roc, key=lambda curve: curve.area)
        lead = "A" if len(self.roc) == 1 else f"The hardest is “{worst.label}”: a"
        return (
            f"{self._which}. {lead} row of the class is ranked above a row of another in {worst.area:.1%} of pairs "
            "(the area). The upper left corner is perfect, the diagonal is guessing."
        )

    @property
    def precision_recall_caption(self) -> str:
        """What to notice."""
        worst = min(self.precision_recall, key=lambda curve: curve.area)
        return (
            f"{self._which}. How clean the found rows are as more of them are to be found; "
            f"average precision {worst.area:.3f} for “{worst.label}”, where guessing gives {worst.base:.3f} (dashed). "
            "Tells more than ROC where the class is rare."
        )


def ranking(asked: Predictor, rows: Sample) -> Ranking | None:
    """Both curves for the classes; None for numbers, or where a class is missing on every row."""
    scores = asked.ranks(rows.X)
    if scores is None:
        return None
    truth = asked.targets(rows.y)
    is_class = truth.astype(bool) if asked.several else truth[:, None] == np.array(asked.classes)[None, :]
    there = [k for k in range(scores.shape[1]) if 0 < is_class[:, k].sum() < len(truth)]
    if scores.shape[1] == 2 and not asked.several:
        there = [k for k in there if k == 1]
    chosen = sorted(sorted(there, key=lambda k: -int(is_class[:, k].sum()))[:SHOWN])
    if not chosen:
        return None
    roc, precision_recall = [], []
    for k in chosen:
        label = asked.output(k, "label") if asked.several else word(asked.classes[k])
        member, score = is_class[:, k], scores[:, k]
        false, true, _ = roc_curve(member, score)
        area = float(roc_auc_score(member, score))
        roc.append(Curve(label, *_thinned(false, true), area, 0.5))
        precision, recall, _ = precision_recall_curve(member, score, drop_intermediate=True)
        average = float(average_precision_score(member, score))
        precision_recall.append(Curve(label, *_thinned(recall[::-1], precision[::-1]), average, float(np.mean(member))))
    return Ranking(tuple(roc), tuple(precision_recall), len(there))


def _thinned(x: Any, y: Any) -> tuple[Any, Any]:
    """At most `POINTS` of the points, evenly along the curve, with both ends."""
    if len(x) <= POINTS:
        return x, y
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    places = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], POINTS)).clip(0, len(x) - 1))
    places = np.unique(np.concatenate([[0], places, [len(x) - 1]]))
    return x[places], y[places]
