"""Pictures of signals: mean and deviation layer by layer, and a histogram for each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.figures import BLUE, INK, ORANGE, annotate, end_of, grid, plain
from pellucid.nn.signal_flow import BINS, Signal, Signals


def plot_layer_stats(signals: Signals, axes: Any = None) -> Any:
    """Mean and deviation of the activations, and the size of adjoints and weight gradients, over the layers.

    Parameters
    ----------
    signals : Signals
        of `nn.signals`
    axes : pair of matplotlib axes
        to draw on; None makes new ones

    Returns
    -------
    pair of matplotlib axes
        those drawn on

    Examples
    --------
    >>> from pellucid import nn
    >>> net = nn.mlp((8, 8), 1)
    >>> left, right = plot_layer_stats(nn.signals(net, net.initialize(3), np.eye(3)))
    >>> left.get_xlabel()
    'layer'
    """
    left, right = grid(2, (4.5, 3.4), axes, who="plot_layer_stats")
    layers = range(1, len(signals.activations) + 1)
    left.set(title="activations", xlabel="layer")
    right.set(title="gradients (root mean square)", xlabel="layer")
    curves = {
        left: (("mean", [s.mean for s in signals.activations]), ("deviation", [s.std for s in signals.activations])),
        right: (
            ("weights", [s.rms for s in signals.weight_gradients]),
            ("adjoint", [s.rms for s in signals.adjoints]),
        ),
    }
    if any(s.rms > 0 for s in (*signals.adjoints, *signals.weight_gradients)):  # else nothing has a logarithm
        right.set_yscale("log")
    for ax, named in curves.items():
        plain(ax)
        for (_, values), colour in zip(named, (ORANGE, BLUE), strict=True):
            ax.plot(layers, values, "o-", color=colour)
        ax.set_xticks(_whole(len(layers)))
        names = [end_of(layers, values, name, c) for (name, values), c in zip(named, (ORANGE, BLUE), strict=True)]
        annotate(ax, names, weight="bold")
    return left, right


def _whole(count: int) -> range:
    """About ten of the layers' numbers."""
    return range(1, count + 1, -(-count // 10))


def plot_layer_histograms(signals: Signals, of: str = "activations", axes: Any = None, *, share: bool = True) -> Any:
    """One histogram for each layer.

    Parameters
    ----------
    signals : Signals
        of `nn.signals`
    of : str
        "activations", "adjoints" or "weight_gradients"
    axes : matplotlib axes
        one for each layer; None makes new ones
    share : bool
        one axis and one set of bins for all, so that a deviation that shrinks or grows from layer to layer is seen;
        with False each has its own

    Returns
    -------
    matplotlib axes
        one for each layer

    Examples
    --------
    >>> from pellucid import nn
    >>> net = nn.mlp((8, 8), 1)
    >>> pictures = plot_layer_histograms(nn.signals(net, net.initialize(3), np.eye(3)))
    >>> len({ax.get_xlim() for ax in pictures})
    1
    """
    kinds = ("activations", "adjoints", "weight_gradients")
    if of not in kinds:
        raise ValueError(f"plot_layer_histograms: of is one of {', '.join(map(repr, kinds))}, got {of!r}")
    parts: tuple[Signal, ...] = getattr(signals, of)
    pictures = grid(len(parts), (1.5, 1.9), axes, columns=10, who="plot_layer_histograms")
    common = np.linspace(*_reach(parts), BINS + 1)
    for ax, signal in zip(pictures, parts, strict=True):
        counts, edges = signal.histogram if not share else (_rebinned(signal, common), common)
        ax.bar(edges[:-1], counts, width=edges[1] - edges[0], align="edge", color=BLUE)
        ax.set_title(signal.name, fontsize=9, color=INK)
        ax.set_yticks([])
        ax.tick_params(labelsize=7)
        ax.locator_params(axis="x", nbins=3)
        ax.set_xlim(edges[0], edges[-1])
        if of != "activations":
            ax.set_yscale("symlog", linthresh=1.0)  # bins of one and of a million are seen; an empty one is at 0
            ax.set(ylim=(0, None), yticks=[])
            ax.minorticks_off()
        ax.spines[["top", "right", "left"]].set_visible(False)
    return pictures


def _reach(parts: Sequence[Signal]) -> tuple[float, float]:
    """From the smallest value of all layers to the largest. A layer that is constant has no width of its own."""
    ends = []
    for part in parts:
        counts, edges = np.asarray(part.histogram[0]), np.asarray(part.histogram[1])
        filled = np.flatnonzero(counts)
        if part.std == 0 or not len(filled):
            ends += [part.mean, part.mean] if np.isfinite(part.mean) else []
        else:
            ends += [edges[filled[0]], edges[filled[-1] + 1]]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _rebinned(signal: Signal, edges: Any) -> Any:
    """Counts in wider bins: those of the layer's own, shared out by how much they overlap."""
    counts, own = np.asarray(signal.histogram[0], float), np.asarray(signal.histogram[1])
    if signal.std == 0:
        return np.histogram([signal.mean], edges, weights=[counts.sum()])[0]
    below = np.concatenate([[0.0], np.cumsum(counts)])
    return np.diff(np.interp(edges, own, below))
