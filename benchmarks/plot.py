"""The picture of the training cases: how many times faster than each peer, and how near to the limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.targets import FASTER, OVER_LIMIT
from benchmarks.timing import Result

COLOURS = {
    "PyTorch": "#D55E00",
    "JAX": "#0072B2",
    "scikit-learn": "#009E73",
}  # Okabe and Ito: safe for the colour-blind
GREY = "#7F7F7F"


def plot_training(results: list[Result], path: Path) -> bool:
    """Two panels of bars with quartiles; a black tick is the target. False if there is nothing of ours to show."""
    shown = [result for result in results if result.ratios()]
    if not shown:
        return False
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    height = 1.4 + 0.62 * len(shown)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, height), sharey=True, layout="constrained", width_ratios=(2.4, 1)
    )
    _peers(left, shown)
    _limit(right, shown)
    left.set_yticks(range(len(shown)), [result.name.replace("_", "\n") for result in shown])
    left.set_ylim(len(shown) - 0.5, -0.5)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_axisbelow(True)
        ax.grid(axis="x", color="0.9", lw=0.8)
        ax.axvline(1, color="0.3", lw=1)
    left.plot([], [], color="black", lw=2.2, label="target")
    left.plot([], [], color="0.25", lw=1, label="quartiles")
    names = [*COLOURS, "target", "quartiles"]
    handles = dict(zip(*reversed(left.get_legend_handles_labels()), strict=True))
    figure.legend([handles[n] for n in names], names, loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _peers(ax: Any, results: list[Result]) -> None:
    """Bars from 1: faster to the right."""
    thick = 0.8 / len(COLOURS)
    ends = [0.8]
    for k, (peer, colour) in enumerate(COLOURS.items()):
        found = [(i, result.ratios()[peer]) for i, result in enumerate(results) if peer in result.ratios()]
        aims = [FASTER.get(results[i].name, {}).get(peer) for i, _ in found]
        at = [i + (k - 1) * thick for i, _ in found]
        _bars(ax, at, [ratio for _, ratio in found], aims, thick, start=1.0, color=colour, label=peer)
        ends += [edge for _, (low, _, high) in found for edge in (low, high)] + [aim for aim in aims if aim]
    ax.set_xscale("log")
    ax.set_xlim(0.85 * min(ends), 1.6 * max(ends))
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200) if ax.get_xlim()[0] <= t <= ax.get_xlim()[1]]
    ax.set_xticks(ticks, [f"{t:g}×" for t in ticks])
    ax.minorticks_off()
    ax.set_title("A training step: how many times faster than …", loc="left", fontsize=11)


def _limit(ax: Any, results: list[Result]) -> None:
    found = [(i, result.ratios()["limit"]) for i, result in enumerate(results) if "limit" in result.ratios()]
    ratios = [(1 / high, 1 / middle, 1 / low) for _, (low, middle, high) in found]
    aims = [OVER_LIMIT.get(results[i].name) for i, _ in found]
    _bars(ax, [i for i, _ in found], ratios, aims, 0.4, start=0.0, color=GREY)
    ax.set_xlim(0, 1.25 * max([high for *_, high in ratios] + [1.4]))
    ax.set_title("… and its time over the limit:\nits products' arithmetic at the peak", loc="left", fontsize=11)


def _bars(
    ax: Any,
    at: list[float],
    ratios: list[tuple[float, float, float]],
    aims: list[float | None],
    thick: float,
    start: float,
    **style: Any,
) -> None:
    """A bar to each median, a line over its quartiles, the number, and a tick at the target."""
    ax.barh(at, [middle - start for _, middle, _ in ratios], 0.92 * thick, left=start, **style)
    ax.hlines(at, [low for low, *_ in ratios], [high for *_, high in ratios], color="0.25", lw=1)
    for y, (_, middle, high), aim in zip(at, ratios, aims, strict=True):
        end = max(high, start)
        if aim is not None:
            ax.vlines(aim, y - thick / 2, y + thick / 2, color="black", lw=2.2, zorder=4)
            end = aim if end < aim < 1.35 * end else end  # the number behind the tick, not under it
        text = f"{middle:.0f}" if middle >= 20 else f"{middle:.1f}" if middle >= 3 else f"{middle:.2f}"
        ax.annotate(text, (end, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8, color="0.2")
