"""Curves over the epochs, of one run or of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle, zip_longest
from typing import TYPE_CHECKING, Any

from pellucid.figures import COLOURS, GREY, INK, Mark, annotate, axes, end_of

if TYPE_CHECKING:
    from pellucid.train.history import History


def plot_histories(
    histories: Sequence[History],
    names: Sequence[str] = ("loss", "val_loss"),
    *,
    best: str | None = None,
    kept: Sequence[int | None] = (),
    ax: Any = None,
) -> Any:
    """Curves of some quantities, named at their ends; of several runs a thin line each, named once.

    best: marks the epoch where that quantity was best.   kept: the epoch of each run whose parameters were kept
    """
    drawn = [(history, epoch) for history, epoch in zip_longest(histories, kept) if history.epochs]
    runs = [history for history, _ in drawn]
    if not runs:
        raise ValueError("the history has no epochs yet: there is nothing to draw")
    ax, alone = axes(ax), len(runs) == 1
    shown = [name for name in names if any(name in row for history in runs for row in history.epochs)]
    style = {"lw": 2.0} if alone else {"lw": 1.0, "alpha": 0.7}
    ends = []
    for name, colour in zip(shown, cycle(COLOURS), strict=False):
        curves = [_curve(history, name) for history in runs if any(name in row for row in history.epochs)]
        for epochs, values in curves:
            ax.plot(epochs, values, color=colour, marker="o" if len(epochs) == 1 else None, **style)
        ends.append(max(end_of(epochs, values, name, colour) for epochs, values in curves))
    marks = []
    for history, epoch in drawn:
        heights = dict(zip(*_curve(history, shown[-1]), strict=True)) if epoch is not None and shown else {}
        if epoch not in heights:
            continue
        ax.plot([epoch], [heights[epoch]], "o", color=INK, ms=6 if alone else 4, zorder=3)
        if alone:
            marks.append(Mark(epoch, f"kept\nepoch {epoch}", INK))
    if best is not None:
        row = runs[0].best(best)
        if best in shown:
            ax.plot([row["epoch"]], [row[best]], "o", color=INK, zorder=3)
        marks.append(Mark(row["epoch"], f"best {best}\n{row[best]:.4g}, epoch {row['epoch']}", INK))
    ending = runs[0].ending
    if alone and ending is not None and not ending.complete:
        marks.append(Mark(runs[0].epochs[-1]["epoch"], "stopped", GREY, ":"))
    ax.set(xlabel="epoch", ylabel="loss" if all("loss" in name for name in shown) else "")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.margins(x=0)
    annotate(ax, ends, marks, weight="bold")
    return ax


def _curve(history: History, name: str) -> tuple[list[int], list[float]]:
    """Epochs, and the values of a quantity in them."""
    values = [math.nan if value is None else value for value in history[name]]
    return [row["epoch"] for row in history.epochs], values
