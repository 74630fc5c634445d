"""Pictures of what goes through the layers: a number over the layers, and a histogram for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, COLOURS, INK, MARKERS, annotate, end_of, figure_of, grid, plain, pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Histogram = tuple[Any, Any]
"""Counts, and the edges of the bins."""


def over_layers(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    ylabel: str,
    *,
    log: bool = False,
    columns: int = 2,
    size: tuple[float, float] = (4.6, 3.2),
) -> Figure:
    """A panel for each title; in it a named curve over the layers.

    >>> over_layers({"tanh": {"sigma 1": (0.9, 0.9)}}, "deviation").axes[0].get_xlabel()
    'layer'
    """
    axes = grid(len(panels), size, columns=columns, who="over_layers")
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        plain(ax)
        ends = []
        for (name, values), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
            layers = np.arange(1, len(values) + 1)
            shown = np.array([v if v > 0 or not log else np.nan for v in values])  # 0 has no logarithm
            ax.plot(layers, shown, marker=marker, markersize=4, color=colour)
            ends.append(end_of(layers, shown, name, colour))
        ax.set(xlabel="layer", ylabel=ylabel, title=title, yscale="log" if log else "linear")
        ax.set_xticks(range(1, len(layers) + 1, -(-len(layers) // 10)))
        annotate(ax, ends, fontsize=9)
    return figure_of(axes)


def histogram_rows(
    rows: Mapping[str, Sequence[Histogram]],
    xlabel: str,
    title: str,
    *,
    log: bool = False,
    colours: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
) -> Figure:
    """A row of histograms for each name, one for each layer; every panel has its own ends on the axis.

    >>> counts = np.array([1, 2]), np.array([0.0, 0.5, 1.0])
    >>> len(histogram_rows({"a": [counts] * 3}, "activation", "three layers").axes)
    3
    """
    count = max(map(len, rows.values()))
    columns = columns or [f"layer {i}" for i in range(1, count + 1)]
    width, height = (1.12 if count > 8 else 1.5) * count + 0.6, 1.25 * len(rows) + 0.95
    across = {"left": 0.45 / width, "right": 1 - 0.1 / width, "wspace": 0.1}
    up = {"bottom": 0.55 / height, "top": 1 - 0.6 / height, "hspace": 0.35}
    room = across | up  # fixed: to reckon with the words of forty panels takes seconds
    figure, axes = pyplot().subplots(len(rows), count, figsize=(width, height), squeeze=False, gridspec_kw=room)
    for row, (name, histograms) in zip(axes, rows.items(), strict=True):
        for ax, (counts, edges), head in zip(row, histograms, columns, strict=True):
            draw_histogram(ax, counts, edges, log=log, colour=(colours or {}).get(name, BLUE))
            if ax in axes[0]:
                ax.set_title(head, fontsize=9, color=INK)
        row[0].set_ylabel(name, fontsize=9)
    figure.supxlabel(xlabel, fontsize=10)
    figure.suptitle(title, fontsize=11)
    return figure  # type: ignore[no-any-return]


def draw_histogram(ax: Any, counts: Any, edges: Any, *, log: bool = False, colour: str = BLUE) -> None:
    """One small histogram with two numbers below it: its ends."""
    if log:
        floor = 0.7  # below a single count: an empty bin has no logarithm
        ax.stairs(np.maximum(counts, floor), edges, baseline=floor, fill=True, color=colour)
        ax.set(yscale="log", ylim=(floor, 2 * max(np.max(counts), 2)))
    else:
        ax.stairs(counts, edges, fill=True, color=colour)
        ax.set_ylim(0, None)
    ax.set_yticks([])
    ax.minorticks_off()
    low, high = float(edges[0]), float(edges[-1])
    ax.set_xlim(low, high)
    ax.set_xticks([low, high], [tick(low), tick(high)], fontsize=7)
    left, right = ax.get_xticklabels()
    left.set_ha("left"), right.set_ha("right")
    ax.spines[["top", "right", "left"]].set_visible(False)


def tick(value: float) -> str:
    """A number in a few characters.

    >>> tick(0.25), tick(-3.1e-9), tick(0.0)
    ('0.25', '-3e-9', '0')
    """
    if value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.2g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"
