"""Pictures of signals: mean and deviation layer by layer, and a histogram for each layer."""

from __future__ import annotations

from typing import Any

from pellucid.nn.flow import Signals

BLUE, ORANGE = "#0072b2", "#d55e00"


def plot_layer_stats(signals: Signals, axes: Any = None) -> Any:
    """Mean and deviation of the activations, and the size of adjoints and weight gradients, over the layers.

    Takes and returns a pair of axes.
    """
    left, right = _plt().subplots(1, 2, figsize=(9, 3.4), layout="constrained")[1] if axes is None else axes
    layers = range(1, len(signals.activations) + 1)
    for values, name, colour in (
        ([s.mean for s in signals.activations], "mean", ORANGE),
        ([s.std for s in signals.activations], "deviation", BLUE),
    ):
        left.plot(layers, values, "o-", color=colour)
        left.annotate(f" {name}", (layers[-1], values[-1]), color=colour, va="center", fontweight="bold")
    for values, name, colour in (
        ([s.rms for s in signals.adjoints], "adjoint", BLUE),
        ([s.rms for s in signals.weight_gradients], "weights", ORANGE),
    ):
        right.plot(layers, values, "o-", color=colour)
        right.annotate(f" {name}", (layers[-1], values[-1]), color=colour, va="center", fontweight="bold")
    left.set(title="activations", xlabel="layer")
    right.set(title="gradients (root mean square)", xlabel="layer", yscale="log")
    for ax in (left, right):
        _clean(ax)
        ax.set_xlim(0.7, len(layers) * 1.25)
    return left, right


def plot_layer_histograms(signals: Signals, of: str = "activations", axes: Any = None) -> Any:
    """One histogram for each layer, of "activations", "adjoints" or "weight_gradients". Takes and returns axes."""
    parts = getattr(signals, of)
    if axes is None:
        size = (1.5 * len(parts), 1.9)
        axes = _plt().subplots(1, len(parts), figsize=size, layout="constrained", squeeze=False)[1][0]
    for ax, signal in zip(axes, parts, strict=True):
        counts, edges = signal.histogram
        ax.bar(edges[:-1], counts, width=edges[1] - edges[0], align="edge", color=BLUE)
        ax.set_title(signal.name, fontsize=9)
        ax.set_yticks([])
        ax.tick_params(labelsize=7)
        if of != "activations":
            ax.set_yscale("log")
        ax.spines[["top", "right", "left"]].set_visible(False)
    return axes


def _clean(ax: Any) -> None:
    ax.grid(color="0.92", lw=0.8)
    ax.spines[["top", "right"]].set_visible(False)


def _plt() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'pellucid[plot]'") from error
    return plt
