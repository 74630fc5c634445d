"""What every layer showed: histograms at one look, and numbers over the looks."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, COLOURS, GREY, axes, grid, plain
from pellucid.markup import short
from pellucid.report.numbers.layers import FORWARD, QUANTITIES, Inside
from pellucid.report.plots.records import looked

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def histograms(
    thing: Any, quantity: str = "a", look: int = -1, *, X: Any = None, y: Any = None, axes: Any = None
) -> Any:
    """A histogram of one quantity for each layer, at one of the looks; grey: at the first. Exact zeros are counted.

    `quantity` is "a" (activations), "z", "weight", "dz", "dweight" or "update".
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity is one of {', '.join(QUANTITIES)}, got {quantity!r}")
    record = looked(thing, X, y)
    layers = [layer for layer in record.layers if quantity in layer.frames]
    if not layers:
        raise ValueError(f"the looks have no {QUANTITIES[quantity]}: gradients need y")
    flat = grid(len(layers), (2.8, 2.2), axes, columns=4, who="histograms", what="layers")
    for ax, layer in zip(flat, layers, strict=True):
        frames = layer.frames[quantity]
        plain(ax)
        ax.stairs(frames.densities(look), frames.edges(look), fill=True, color=BLUE, alpha=0.75)
        if record.moving:
            ax.stairs(frames.densities(0), frames.edges(0), color=GREY)
        if quantity in FORWARD:
            ax.set_xlim(*frames.limits)
        else:  # gradients shrink: each look has its own scale
            ax.set_xlim(frames.low[look], frames.high[look])
        ax.set_yscale("function", functions=(np.sqrt, np.square))  # so that tails are seen
        ax.set_ylim(0.0, 1.1 * (float(frames.densities(look).max()) or 1.0))
        zeros = float(frames.zeros[look])
        ax.set_title(f"{layer.name}{f', {zeros:.0%} zeros' if zeros > 0 else ''}", fontsize=10, loc="left")
        ax.set_yticks([])
    words = f"{QUANTITIES[quantity]}, step {record.steps[look]:,}"
    if axes is None:
        flat[0].figure.supxlabel(words, fontsize=10)
    else:  # the figure is somebody else's
        flat[0].set_xlabel(words)
    return flat


def dead_units(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The share of units of each layer through which no gradient passes, over the steps."""
    return _series(looked(thing), "dead", "dead units", ax, share=True)


def saturation(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The share of rows and units where the activation is flat, over the steps."""
    return _series(looked(thing), "saturated", "saturated", ax, share=True)


def spreads(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The deviation of the activations of each layer, over the steps."""
    return _series(looked(thing), "spread", "deviation of activations", ax)


def gradient_sizes(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The root mean square of the gradient at each layer, over the steps."""
    return _series(looked(thing), "gradient", "size of the gradient", ax, log=True)


def update_sizes(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The size of a step over that of the weights, with the usual pace of one in a thousand."""
    ax = _series(looked(thing), "update", "step / weights", ax, log=True)
    ax.axhline(1e-3, color=GREY, lw=1, ls="--")
    return ax


def ranks(thing: Any, *, ax: Axes | None = None) -> Axes:
    """The effective rank of the activations of each layer, over the steps."""
    return _series(looked(thing), "rank", "effective rank", ax)


def units(thing: Any, layer: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Every unit of a layer (the first with an activation) over the looks: for how many rows it passes gradients on."""
    record = looked(thing)
    fitting = [each for each in record.layers if each.open is not None and layer in (None, each.name)]
    if not fitting:
        raise ValueError(f"there is no layer {layer!r} with an activation" if layer else "no layer has an activation")
    chosen = fitting[0]
    ax = axes(ax, (6.4, 2.4))
    ax.grid(False)
    ax.imshow(chosen.open[:, chosen.order], aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    ticks = np.unique(np.linspace(0, len(record.steps) - 1, 4).astype(int))
    ax.set_yticks(ticks, [f"{record.steps[k]:,}" for k in ticks])
    ax.set(xlabel=f"units of {chosen.name}", ylabel="step")
    return ax


def _series(record: Inside, what: str, label: str, ax: Axes | None, *, share: bool = False, log: bool = False) -> Axes:
    ax = axes(ax, (6.4, 3.0))
    styles = cycle((colour, style) for style in ("-", "--", ":") for colour in COLOURS)
    for layer, (colour, style) in zip(record.layers, styles, strict=False):
        values = getattr(layer, what)
        if np.isfinite(values).any():
            last = short(float(values[-1]))
            ax.plot(record.steps, values, color=colour, ls=style, lw=2, label=f"{layer.name} ({last})")
    ax.set(xlabel="step", ylabel=label)
    if log:
        ax.set_yscale("log")
    if share:
        from matplotlib.ticker import PercentFormatter

        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylim(bottom=0.0)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            frameon=False,
            fontsize=9,
            title="at the end",
            title_fontsize=9,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
        )
    return ax
