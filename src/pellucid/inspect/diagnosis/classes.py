"""Checks of classes and metrics: rare classes that are left out, and metrics that do not notice."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.chance import best_constant
from pellucid.inspect.diagnosis.evidence import Evidence, labels_of
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.nn import LinkKind
from pellucid.train.metrics import Metric, Needs, classes

RARE = 5.0
"""How many times as frequent the largest class is, from which on a class counts as rare."""

MISSED = 0.4
"""The share of a rare class that is found, below which it is left out. Where classes overlap, about half is usual."""

SENSITIVE = ("balanced_accuracy", "f1", "roc_auc", "average_precision")
"""Metrics of the table that rare classes count in."""


def imbalance(e: Evidence) -> list[Finding]:
    """A rare class of which few rows are found, though the scores could tell them apart or nobody asked them to."""
    if not e.classifies or e.labels is None or e.misfit or not e.finite or e.scores_wanted > 50:
        return []
    rows = e.sample if e.held is None else e.held
    labels = e.labels if e.held is None else labels_of(e.model.loss, rows.y)
    counts = np.bincount(e.labels, minlength=2)
    present = np.flatnonzero(counts)
    if labels is None or len(present) < 2:
        return []
    ratio = counts.max() / counts[present].min()
    if ratio < RARE or len(e.labels) < 40:
        return []
    scores = _scores(e, rows.X)
    said = _said(e, scores)
    rare = [int(c) for c in present if counts.max() / counts[c] >= RARE and np.sum(labels == c) >= 3]
    if not rare:
        return []
    recalls = {c: float(np.mean(said[labels == c] == c)) for c in rare}
    worst = min(recalls, key=lambda c: recalls[c])
    count = int(np.sum(labels == worst))
    error = np.sqrt(max(recalls[worst] * (1 - recalls[worst]), 0.25 / count) / count)
    missed = recalls[worst] + error < MISSED
    share = counts[worst] / len(e.labels)
    name = str(e.it.classes[worst]) if e.it.classes is not None and worst < len(e.it.classes) else str(worst)
    return [
        Finding(
            "class-imbalance",
            "warning" if missed else "note",
            {
                "class": name,
                "share": float(share),
                "found of it": recalls[worst],
                "largest over smallest": float(ratio),
            },
            remedy='model.fit(X, y, class_weight="balanced", ...)',
            figure=views.bars(
                {str(c): float(counts[c] / len(e.labels)) for c in present}, "Shares of the classes", "share"
            ),
            weight=0.3 if missed else 0.0,
        )
    ]


def metric(e: Evidence) -> list[Finding]:
    """Metrics that a constant answer serves as well, that point the wrong way, or are of another kind of target."""
    if e.misfit or not e.finite or not e.metrics or not e.trained or len(e.sample) < 8:
        return []
    rows = e.sample
    names = [m.name for m in e.metrics]
    scores = _scores(e, rows.X)
    constant = np.broadcast_to(best_constant(e.model.loss.single, e.sample.y, e.scores_wanted), scores.shape).astype(
        scores.dtype
    )
    found: list[Finding] = []
    for one in e.metrics:
        kind = _foreign(e, one)
        if kind:
            found.append(_finding(e, one, "warning", {"metric": one.name, "target": kind}))
            continue
        values = [_value(e, one, rows.y, each) for each in (scores, constant, _perfect(e, rows.y, scores))]
        if any(value is None or not np.isfinite(value) for value in values) or one.mode not in ("max", "min"):
            continue
        sign = 1.0 if one.mode == "max" else -1.0
        own, blind, perfect = (sign * float(value) for value in values if value is not None)
        measured: dict[str, float | int | str] = {
            "metric": one.name,
            "model": sign * own,
            "best constant": sign * blind,
        }
        if perfect < blind - 1e-9:
            found.append(_finding(e, one, "error", {**measured, "perfect": sign * perfect, "mode": one.mode}))
        elif _blunt(e, one, names, own, blind, perfect):
            found.append(_finding(e, one, "warning", measured))
    return found[:1]


def _blunt(e: Evidence, one: Metric, names: list[str], own: float, blind: float, perfect: float) -> bool:
    """Is a constant answer nearly as good by this metric, and no other metric tells?"""
    if perfect <= blind or any(name in SENSITIVE for name in names):
        return False
    room = (perfect - blind) / max(abs(perfect), 1e-12)
    lift = (own - blind) / (perfect - blind)
    if e.classifies and one.name == "accuracy" and room < 0.2 and lift < 0.5:
        return True
    return lift < 0.05 and e.learned.beyond(0.3)


def _finding(e: Evidence, one: Metric, severity: str, measured: dict[str, float | int | str]) -> Finding:
    better = '"balanced_accuracy", "roc_auc"' if e.classifies else '"r2", "mae"'
    return Finding(
        "wrong-metric", severity, measured, remedy=f"Model(net, loss, optimizer, metrics=[{better}])", weight=0.1
    )


def _foreign(e: Evidence, one: Metric) -> str:
    """Is the metric one of numbers, though the target are classes (or names) without amounts?"""
    if e.classifies and one.needs is Needs.NUMBERS and one.name in ("r2", "mae", "rmse", "mse"):
        return "classes"
    return ""


def _scores(e: Evidence, X: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(e.model.loss.joined(e.model.net.predict(e.model.params, X, e.model.state)))


def _said(e: Evidence, scores: Any) -> Any:
    said = np.asarray(classes(e.model.loss.single, scores)).reshape(len(scores), -1)[:, 0]
    return (said > 0).astype(np.int64) if e.model.loss.link.kind is LinkKind.SIGN else said


def _value(e: Evidence, one: Metric, y: Any, scores: Any) -> float | None:
    """The metric; None for one that these rows do not allow."""
    import warnings

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return one(y, scores, e.model.loss.single)
    except Exception:  # whatever a metric of the user's raises
        return None


def _perfect(e: Evidence, y: Any, scores: Any) -> Any:
    """Scores of somebody who knows the target."""
    y = np.asarray(y)
    kind = e.model.loss.link.kind.for_scores(scores.shape[1])
    if y.ndim == 1:
        return 30.0 * np.eye(scores.shape[1])[y].astype(scores.dtype)
    if kind is LinkKind.PROBABILITY:
        return 60.0 * (y - 0.5)
    if kind is LinkKind.PROBABILITIES:
        return np.log(np.maximum(y, 1e-12))
    if kind is LinkKind.POSITIVE:
        return np.log(np.maximum(y, 1e-12))
    return np.repeat(y, scores.shape[1] // y.shape[1], axis=1)
