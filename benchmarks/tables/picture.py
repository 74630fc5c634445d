"""The picture: error and log loss against the time of a fit, all over those of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables.contestants import CONTESTANTS, QUALITIES
from benchmarks.tables.sets import JUDGING
from benchmarks.tables.summary import REFERENCE, Measure, Results

OURS, THEIRS = "#D55E00", "#56606B"  # the first after Okabe and Ito: safe for the colour-blind
TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
TIMES = (0.001, 0.01, 0.1, 1, 10, 100, 1000)
Point = tuple[str, float, float, int]


def points(results: Results, measure: Measure, tables: Sequence[str] = JUDGING) -> list[Point]:
    """(contestant, time ratio, ratio of the measure, tables), geometric means over the tables that have both."""
    shown = []
    for name in results.contestants(CONTESTANTS, tables):
        ratios = results.ratios(tables, name, REFERENCE, measure)
        times = results.time_ratios(ratios.by_table, name, REFERENCE)
        if ratios:
            shown.append((name, times.geometric_mean, ratios.geometric_mean, ratios.seen))
    return shown


def draw(results: Results, path: Path) -> bool:
    """Two panels, a point for each contestant; False if there is nothing to compare with the reference."""
    panels = {"Error": points(results, Measure.ERROR), "Log loss": points(results, Measure.LOG_LOSS)}
    if not any(panels.values()):
        return False
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for ax, (title, shown) in zip(axes, panels.items(), strict=True):
        _panel(ax, shown)
        most = max((tables for *_, tables in shown), default=0)
        ax.set_title(f"{title} on {most} judging tables", loc="left", fontsize=11)
        ax.set_ylabel(f"{title.lower()}, × {REFERENCE}'s")
    figure.canvas.draw()  # the layout is constrained: only now the pixels of points are known
    for ax, shown in zip(axes, panels.values(), strict=True):
        _labels(ax, shown)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _panel(ax: Any, shown: list[Point]) -> None:
    ax.set(xscale="log", yscale="log", xlabel=f"time of a fit, × {REFERENCE}'s")
    ax.axhline(1, color="0.75", lw=1, zorder=0)
    ax.axvline(1, color="0.75", lw=1, zorder=0)
    ours = [(time, ratio) for name, time, ratio, _ in shown if name in QUALITIES]
    ax.plot([time for time, _ in ours], [ratio for _, ratio in ours], color=OURS, lw=1.5, zorder=1)
    most = max((tables for *_, tables in shown), default=0)
    for name, time, ratio, tables in shown:
        colour = OURS if name in QUALITIES else THEIRS
        fill = colour if tables == most else "white"
        ax.plot(time, ratio, "o", ms=8, color=colour, mfc=fill, mew=1.5, zorder=2)
    _room(ax, [(time, ratio) for _, time, ratio, _ in shown])
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.93", lw=0.8)
    ax.set_axisbelow(True)
    ax.annotate("better, faster", (0.02, 0.02), xycoords="axes fraction", fontsize=8, color="0.45", style="italic")


def _label(name: str, tables: int, most: int) -> str:
    shown = f"Pellucid {name}" if name in QUALITIES else name
    return shown if tables == most else f"{shown} ({tables} tables)"


def _room(ax: Any, at: list[tuple[float, float]]) -> None:
    """Limits with a margin for labels, and ticks as plain numbers."""
    times, ratios = ([*values, 1.0] for values in (zip(*at, strict=True) if at else ((), ())))
    ax.set_xlim(min(times) / 2.5, max(times) * 14)
    ax.set_ylim(min(ratios) / 1.12, max(ratios) * 1.12)
    for axis, limits, ticks in ((ax.xaxis, ax.get_xlim(), TIMES), (ax.yaxis, ax.get_ylim(), TICKS)):
        inside = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
        axis.set_ticks(inside, [f"{tick:g}×" for tick in inside])
    ax.minorticks_off()


PLACES = ((9, 0, "left", "center"), (0, 9, "center", "bottom"), (0, -9, "center", "top"), (-9, 0, "right", "center"))
"""Of a label beside its point: right, up (in points), and how the text lies there."""
OUR_PLACES = ((2, -8, "right", "top"), (2, 8, "left", "bottom"), *PLACES)  # first those beside the line between them


def _labels(ax: Any, shown: list[Point]) -> None:
    """Each on the first of the places where it covers no point and no other label; the first if there is none."""
    most = max((tables for *_, tables in shown), default=0)
    dots = [ax.transData.transform((time, ratio)) for _, time, ratio, _ in shown]
    boxes: list[Any] = []
    for (name, time, ratio, tables), dot in zip(shown, dots, strict=True):
        text, ours = _label(name, tables, most), name in QUALITIES
        style = {"fontsize": 9, "color": OURS if ours else "0.2", "fontweight": "bold" if ours else "normal"}
        notes = [
            ax.annotate(text, (time, ratio), (right, up), textcoords="offset points", ha=across, va=along, **style)
            for right, up, across, along in (OUR_PLACES if ours else PLACES)
        ]
        extents = [note.get_window_extent() for note in notes]
        others = [other for other in dots if other is not dot]
        free = [i for i, box in enumerate(extents) if _is_free(box, others, boxes, ax.get_window_extent())]
        chosen = free[0] if free else 0
        boxes.append(extents[chosen])
        for i, note in enumerate(notes):
            if i != chosen:
                note.remove()


def _is_free(box: Any, dots: list[Any], boxes: list[Any], whole: Any) -> bool:
    inside = whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
    return inside and not any(box.padded(8).contains(*dot) for dot in dots) and not any(map(box.overlaps, boxes))
