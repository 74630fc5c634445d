"""How a history shows itself: in a line, as a small table, as curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from pellucid.figures import COLOURS, GREY, INK, Mark, annotate, axes, end_of
from pellucid.markup import plural, short, table

if TYPE_CHECKING:
    from pellucid.train.history import History

COUNTS = ("epoch", "step")
"""What tells when, not how well."""

NAMED = 4
"""Quantities in the line."""


def quantities(epochs: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """Of everything measured, the epochs in which it was, and its values."""
    names = dict.fromkeys(name for row in epochs for name in row if name not in COUNTS)
    values = {
        name: [(row["epoch"], row[name]) for row in epochs if isinstance(row.get(name), int | float)] for name in names
    }
    return {name: pairs for name, pairs in values.items() if pairs}


def last_of(epochs: Sequence[Mapping[str, Any]]) -> str:
    """How it was at the end: the loss on validation rows, or else on training rows.

    >>> last_of([{"epoch": 1, "loss": 0.7, "val_loss": 0.8}])
    'val_loss 0.8'
    """
    measured = quantities(epochs)
    name = next((n for n in ("val_loss", "loss") if n in measured), next(iter(measured), ""))
    return f"{name} {short(measured[name][-1][1])}" if name else ""


def line(history: History) -> str:
    """Epochs, what was measured at the beginning and at the end, and why it ended."""
    measured = {name: pairs for name, pairs in quantities(history.epochs).items() if name != "lr"}
    parts = [f"{name} {short(pairs[0][1])} → {short(pairs[-1][1])}" for name, pairs in list(measured.items())[:NAMED]]
    if len(measured) > NAMED:
        parts.append(f"{len(measured) - NAMED} more")
    about = f"{plural(len(history), 'epoch')}: {', '.join(parts)}" if len(history) else "no epochs"
    ending = history.stopped if len(history.stopped) <= 100 else f"{history.stopped[:100]}..."
    return f"History({about}{f'; {ending}' if ending else ''})"


def html(history: History) -> str:
    """A row for each quantity: the first epoch, the last one, the best one."""
    rows = []
    for name, pairs in quantities(history.epochs).items():
        best = ""
        if name != "lr" and history.modes.get(name, "min" if "loss" in name else "") in ("min", "max"):
            epoch, value = _best(pairs, history.modes.get(name, "min"))
            best = f"{short(value)} (epoch {epoch})"
        rows.append([name, short(pairs[0][1]), short(pairs[-1][1]), best])
    caption = f"{plural(len(history), 'epoch')}{f': {history.stopped}' if history.stopped else ''}"
    return table(rows, ["", "first", "last", "best"], caption=caption, numbers=(1, 2, 3))


def _best(pairs: Sequence[tuple[int, float]], mode: str) -> tuple[int, float]:
    worst = math.inf if mode == "min" else -math.inf
    return (min if mode == "min" else max)(pairs, key=lambda pair: worst if math.isnan(pair[1]) else pair[1])


def plot(history: History, names: Sequence[str], best: str | None, ax: Any) -> Any:
    """Curves over the epochs, each named at its end; lines at the best epoch, and where the run was stopped."""
    if not history.epochs:
        raise ValueError("the history has no epochs yet: there is nothing to draw")
    ax = axes(ax)
    epochs = [row["epoch"] for row in history.epochs]
    quantity_names = [name for name in names if any(name in row for row in history.epochs)]
    ends, marks = [], []
    for name, colour in zip(quantity_names, cycle(COLOURS), strict=False):
        values = [math.nan if value is None else value for value in history[name]]
        ax.plot(epochs, values, color=colour, lw=2, marker="o" if len(epochs) == 1 else None)
        ends.append(end_of(epochs, values, name, colour))
    if best is not None:
        row = history.best(best)
        if best in quantity_names:
            ax.plot([row["epoch"]], [row[best]], "o", color=INK, zorder=3)
        marks.append(Mark(row["epoch"], f"best {best}\n{row[best]:.4g}, epoch {row['epoch']}", INK))
    if history.ending is not None and not history.ending.complete:
        marks.append(Mark(epochs[-1], "stopped", GREY, ":"))
    ax.set(xlabel="epoch", ylabel="loss" if all("loss" in name for name in quantity_names) else "")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.margins(x=0)
    annotate(ax, ends, marks, weight="bold")
    return ax
