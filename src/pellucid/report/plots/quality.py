"""How good it is: pictures of classes and of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, COLOURS, GREY, INK, ORANGE, axes
from pellucid.report.numbers.confusion import Confusion
from pellucid.report.numbers.confusion import confusion as confusion_of
from pellucid.report.numbers.ranking import Curve, Ranking, ranking
from pellucid.report.numbers.reliability import Reliability
from pellucid.report.numbers.reliability import reliability as reliability_of
from pellucid.report.numbers.residuals import Residuals
from pellucid.report.numbers.residuals import residuals as residuals_of
from pellucid.report.plots.records import measured
from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERED = 20
"""Classes up to which every cell has its count."""


def confusion(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """The confusion matrix; shades are shares of the true class, blue right and orange wrong."""
    record = measured(Confusion, thing, X, y, confusion_of, "confusion")
    count = len(record.labels)
    side = float(np.clip(1.6 + 0.5 * count, 3.4, 9.0))
    ax = axes(ax, (side + 0.4, side))
    ax.grid(False)
    from matplotlib.colors import to_rgb

    shares = np.sqrt(record.shares)[..., None] * 0.85
    hues = np.where(np.eye(count, dtype=bool)[..., None], to_rgb(BLUE), to_rgb(ORANGE))
    ax.imshow(1.0 - shares * (1.0 - hues), interpolation="nearest", aspect="auto")
    if count <= NUMBERED:
        for i, j in np.argwhere(record.matrix > 0):
            dark = record.shares[i, j] > 0.5
            ax.text(j, i, f"{record.matrix[i, j]:,}", ha="center", va="center", color="white" if dark else INK)
    slanted = max(map(len, record.labels)) * count > 40
    ax.set_xticks(range(count), record.labels, rotation=45 if slanted else 0, ha="right" if slanted else "center")
    ax.set_yticks(range(count), record.labels)
    ax.set(xlabel="predicted", ylabel="true")
    return ax


def reliability(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Predicted probabilities against how often they came true, with 95 % limits."""
    record = measured(Reliability, thing, X, y, reliability_of, "reliability")
    ax = axes(ax, (4.6, 4.2))
    ax.plot([0, 1], [0, 1], "--", color=GREY, lw=1)
    limits = [np.maximum(record.observed - record.low, 0), np.maximum(record.high - record.observed, 0)]
    ax.errorbar(record.predicted, record.observed, limits, color=BLUE, marker="o", lw=2, elinewidth=1.5, ecolor=BLUE)
    ax.set(xlabel=f"predicted probability of {record.what}", ylabel="came true", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_title(f"mean distance {record.error:.1%}", fontsize=10, loc="left")
    return ax


def roc(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """ROC curves, one class against the rest, with their areas."""
    record = measured(Ranking, thing, X, y, ranking, "roc")
    ax = axes(ax, (4.8, 4.2))
    ax.plot([0, 1], [0, 1], "--", color=GREY, lw=1)
    return _ranked(ax, record.roc, "false positive rate", "true positive rate", "AUC", "default")


def precision_recall(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Precision against recall, one class against the rest; dashed is guessing."""
    record = measured(Ranking, thing, X, y, ranking, "precision_recall")
    ax = axes(ax, (4.8, 4.2))
    for curve, colour in zip(record.precision_recall, COLOURS, strict=False):
        ax.axhline(curve.base, color=colour, lw=1, ls="--", alpha=0.6)
    return _ranked(ax, record.precision_recall, "recall", "precision", "AP", "steps-pre")


def _ranked(ax: Axes, curves: tuple[Curve, ...], x: str, y: str, word: str, style: str) -> Axes:
    for curve, colour in zip(curves, COLOURS, strict=False):
        ax.plot(curve.x, curve.y, color=colour, lw=2, drawstyle=style, label=f"{curve.label} ({word} {curve.area:.3f})")
    ax.set(xlabel=x, ylabel=y, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(frameon=False, fontsize=9)
    return ax


def predictions(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Predicted against true numbers of the first output."""
    record = measured(Residuals, thing, X, y, _first, "predictions")
    ax = axes(ax, (4.6, 4.2))
    ends = [min(record.truth.min(), record.predicted.min()), max(record.truth.max(), record.predicted.max())]
    ax.plot(record.truth, record.predicted, "o", color=BLUE, ms=4, mec="none", alpha=0.5)
    ax.plot(ends, ends, "--", color=INK, lw=1)
    ax.set(xlabel="true", ylabel="predicted")
    ax.set_title(f"R² {record.r2:.3f}, mean error {record.mae:.3g}", fontsize=10, loc="left")
    return ax


def residuals(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Truth − prediction against the prediction, of the first output."""
    record = measured(Residuals, thing, X, y, _first, "residuals")
    ax = axes(ax)
    ax.plot(record.predicted, record.truth - record.predicted, "o", color=BLUE, ms=4, mec="none", alpha=0.5)
    ax.axhline(0.0, color=INK, lw=1, ls="--")
    ax.set(xlabel="predicted", ylabel="truth − prediction")
    return ax


def _first(asked: Predictor, rows: Sample) -> Residuals | None:
    return next(iter(residuals_of(asked, rows)), None)
