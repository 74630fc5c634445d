"""Pictures of the experiments on normalisation; each takes and returns axes."""

from __future__ import annotations

from typing import Any

from pellucid.lab.normalization import BatchSizes, Boundary, Drift, rings

BLUE, ORANGE = "#0072b2", "#d55e00"


def plot_batch_sizes(found: BatchSizes, ax: Any) -> Any:
    for values, name, colour in ((found.batch, "batch norm", BLUE), (found.layer, "layer norm", ORANGE)):
        ax.plot(found.sizes, values, "o-", color=colour)
        ax.annotate(f"  {name}", (found.sizes[0], values[0]), color=colour, va="bottom")
    ax.set(xscale="log", xlabel="batch size", ylabel="validation loss", title="Small batches hurt batch norm")
    return ax


def plot_drift(without: Drift, with_norm: Drift, axes: Any) -> Any:
    for ax, what in zip(axes, ("shift", "roughness"), strict=True):
        for drift, name, colour in ((without, "without", ORANGE), (with_norm, "with batch norm", BLUE)):
            values = getattr(drift, what)
            ax.plot(values, color=colour)
            peak = max(range(len(values)), key=values.__getitem__)
            ax.annotate(f"  {name}", (peak, values[peak]), color=colour, va="bottom")
        ax.set(xlabel="step", title={"shift": "drift of a layer's input", "roughness": "change of the gradient"}[what])
    return axes


def plot_boundary(found: Boundary, ax: Any) -> Any:
    ax.contourf(
        found.grid[..., 0], found.grid[..., 1], found.probability, levels=11, cmap="RdBu_r", vmin=0, vmax=1, alpha=0.6
    )
    ax.contour(found.grid[..., 0], found.grid[..., 1], found.probability, levels=[0.5], colors="0.2")
    X, y = rings()
    for label, colour, mark in ((0, BLUE, "o"), (1, ORANGE, "s")):
        ax.plot(*X[y == label].T, mark, color=colour, ms=3)
    ax.set(title=f"accuracy {found.accuracy:.0%}", xticks=[], yticks=[], aspect="equal")
    return ax
