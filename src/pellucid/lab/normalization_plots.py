"""Pictures of the experiments on normalisation; each takes and returns axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pellucid.figures import BLUE, ORANGE, annotate, axes, end_of, grid, plain
from pellucid.lab.normalization import BatchSizes, Drift

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_batch_sizes(sweep: BatchSizes, ax: Axes | None = None) -> Axes:
    """The validation loss over the batch size.

    >>> plot_batch_sizes(BatchSizes((2, 4), (0.5, 0.4), (0.3, 0.3))).get_xlabel()
    'batch size'
    """
    ax = axes(ax)
    names = []
    for values, name, colour in ((sweep.batch, "batch norm", BLUE), (sweep.layer, "layer norm", ORANGE)):
        ax.plot(sweep.sizes, values, "o-", color=colour)
        names.append(end_of(sweep.sizes, values, name, colour))
    ax.set(xscale="log", xlabel="batch size", ylabel="validation loss", title="Small batches hurt batch norm")
    ax.set_xticks(sweep.sizes, [str(size) for size in sweep.sizes])
    ax.minorticks_off()
    annotate(ax, names)
    return ax


def plot_drift(without: Drift, with_norm: Drift, axes: Any = None) -> Any:
    """Over the steps, how far a layer's input drifts and how much the gradient changes. Takes and returns two axes.

    >>> drift = Drift((0.0, 0.1), (1.0, 0.5))
    >>> [ax.get_xlabel() for ax in plot_drift(drift, drift)]
    ['step', 'step']
    """
    titles = {"shift": "drift of a layer's input", "roughness": "change of the gradient"}
    pictures = grid(2, (4.5, 3.4), axes, who="plot_drift")
    for ax, (what, title) in zip(pictures, titles.items(), strict=True):
        plain(ax)
        names = []
        for drift, name, colour in ((without, "without", ORANGE), (with_norm, "with\nbatch norm", BLUE)):
            values = getattr(drift, what)
            ax.plot(values, color=colour)
            names.append(end_of(range(len(values)), values, name, colour))
        ax.set(xlabel="step", title=title)
        ax.margins(x=0)
        annotate(ax, names)
    return pictures
