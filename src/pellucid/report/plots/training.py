"""Curves of a training."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, COLOURS, GREEN, GREY, INK, Mark, annotate, axes, end_of
from pellucid.markup import short
from pellucid.report.plots.records import curves, looked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {"loss": "training", "val_loss": "validation"}


def learning_curves(thing: Any, *, ax: Axes | None = None) -> Axes:
    """Losses over the epochs, with the best epoch; `thing` is a history, a fitted model, or a record."""
    record = curves(thing)
    ax = axes(ax)
    ends, marks = [], []
    for line, colour in zip(record.losses, cycle(COLOURS), strict=False):
        ax.plot(line.x, line.y, color=colour, lw=2, marker="o" if len(line.x) == 1 else None)
        ends.append(end_of(line.x, line.y, NAMES.get(line.name, line.name), colour))
    if record.best is not None:
        ax.plot([record.best], [record.best_value], "o", color=INK, zorder=3)
        marks.append(Mark(record.best, f"best epoch {record.best}\n{record.best_of} {short(record.best_value)}", INK))
    if record.kept not in (None, record.best):
        marks.append(Mark(float(record.kept or 0), f"kept: epoch {record.kept}", GREEN))
    if not record.complete:
        marks.append(Mark(record.losses[0].x[-1], "stopped", GREY, ":"))
    ax.set(xlabel="epoch", ylabel="loss")
    locator: Any = ax.xaxis.get_major_locator()
    locator.set_params(integer=True)
    annotate(ax, ends, marks, weight="bold")
    return ax


def rates(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The learning rate at the end of each epoch."""
    record = curves(thing)
    if record.rates is None:
        raise ValueError("the history has no learning rates: L-BFGS has none")
    ax = axes(ax, (6.4, 2.8))
    ax.plot(record.rates.x, record.rates.y, color=BLUE, lw=2)
    ax.set(xlabel="epoch", ylabel="learning rate")
    _log_where_wide(ax, record.rates.y)
    return ax


def gradient_norms(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The norm of the whole gradient at every look of a watch."""
    record = looked(thing)
    ax = axes(ax, (6.4, 2.8))
    ax.plot(record.steps, record.gradient_norm, color=BLUE, lw=2)
    ax.set(xlabel="step", ylabel="norm of the gradient")
    _log_where_wide(ax, record.gradient_norm)
    return ax


def _log_where_wide(ax: Axes, values: Any) -> None:
    fine = np.asarray(values, float)
    fine = fine[np.isfinite(fine)]
    if len(fine) and fine.min() > 0 and fine.max() > 30 * fine.min():
        ax.set_yscale("log")
