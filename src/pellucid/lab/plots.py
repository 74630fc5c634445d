"""The pictures of the lab. Each takes a result and optional matplotlib axes, and returns the axes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    Mark,
    annotate,
    end_of,
    footer,
    grid,
    plain,
    pyplot,
)
from pellucid.figures import (
    axes as axes_or_new,
)
from pellucid.lab.costs import SpeelpenningCosts, speelpenning_costs
from pellucid.lab.derivatives import DifferenceErrors, Swell, difference_errors, expression_swell
from pellucid.lab.xor import X, XorRun, Y, train_xor
from pellucid.whole_files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.8, 4.2)
"""Of a picture by itself, in inches."""


def plot_difference_errors(errors: DifferenceErrors, ax: Axes | None = None) -> Axes:
    """Error of difference quotients against the step: truncation falls to the left, rounding rises.

    Parameters
    ----------
    errors : DifferenceErrors
        of `difference_errors`
    ax : Axes | None
        axes to draw on; None makes new ones

    Returns
    -------
    matplotlib axes
        those drawn on

    Examples
    --------
    >>> plot_difference_errors(difference_errors(np.exp, 1.0)).get_xlabel()
    'step $h$'
    """
    ax = axes_or_new(ax, SIZE)
    rule = float(np.finfo(float).eps)
    lines = (
        ("forward", errors.forward, errors.forward_slope, BLUE, 1 / 2, r"\sqrt{\varepsilon}"),
        ("central", errors.central, errors.central_slope, ORANGE, 1 / 3, r"\sqrt[3]{\varepsilon}"),
    )
    names, marks = [], []
    order = np.argsort(errors.h)
    for name, error, slope, colour, power, root in lines:
        visible = np.where(error > 0, error, np.nan)  # an error of exactly 0 has no place on a log axis
        ax.loglog(errors.h, visible, ".", color=colour, markersize=4)
        names.append(end_of(errors.h[order], visible[order], f"{name}\nslope {slope:.2f}", colour))
        marks.append(Mark(rule**power, f"$h = {root}$", colour, (0, (4, 4))))
    ax.set(xlabel="step $h$", ylabel="error of the derivative")
    ax.set_title("Difference quotients: a smaller step is not always better")
    annotate(ax, names, marks)
    footer(ax, "rounding rules", "truncation rules")
    return ax


def plot_swell(swell: Swell, ax: Axes | None = None) -> Axes:
    """Size of the derivative of l_n: formulas grow exponentially, the graph by the same few nodes each time.

    Parameters
    ----------
    swell : Swell
        of `expression_swell`
    ax : Axes | None
        axes to draw on; None makes new ones

    Returns
    -------
    matplotlib axes
        those drawn on

    Examples
    --------
    >>> plot_swell(expression_swell(3)).get_xlabel()
    '$n$'
    """
    ax = axes_or_new(ax, SIZE)
    lines = (
        (swell.derivative, ORANGE, "o", "formula from the\nproduct and chain rule"),
        (swell.expanded, BLUE, "s", "formula multiplied out"),
        (swell.graph, GREEN, "D", "graph of reverse mode"),
    )
    names = []
    for sizes, colour, marker, label in lines:
        n = [i for i, size in zip(swell.n, sizes, strict=True) if size]
        ax.semilogy(n, [size for size in sizes if size], color=colour, marker=marker, markersize=5)
        names.append(end_of(swell.n, sizes, f"{label}: {sizes[-1]:,}", colour))
    ax.set(xlabel="$n$", ylabel="operations in the formula, nodes of the graph", xticks=swell.n)
    ax.set_title("Size of the derivative of the logistic map $l_n$")
    annotate(ax, names)
    return ax


def plot_costs(costs: SpeelpenningCosts, ax: Axes | None = None) -> Axes:
    """Operations for the gradient of a product of d factors: forward mode about d², reverse mode about d.

    Parameters
    ----------
    costs : SpeelpenningCosts
        of `speelpenning_costs`
    ax : Axes | None
        axes to draw on; None makes new ones

    Returns
    -------
    matplotlib axes
        those drawn on

    Examples
    --------
    >>> plot_costs(speelpenning_costs((4, 8))).get_xlabel()
    'number of factors $d$'
    """
    ax = axes_or_new(ax, SIZE)
    lines = (
        (costs.forward, costs.forward_exponent, ORANGE, "o", "forward mode"),
        (costs.reverse, costs.reverse_exponent, BLUE, "s", "reverse mode"),
    )
    names = []
    for counts, exponent, colour, marker, label in lines:
        ax.loglog(costs.d, counts, color=colour, marker=marker, markersize=5)
        names.append(end_of(costs.d, counts, f"{label}\n$\\sim d^{{\\,{exponent:.2f}}}$", colour))
    ax.set_xscale("log", base=2)
    ax.set(xlabel="number of factors $d$", ylabel="operations for the whole gradient")
    ax.set_xticks(costs.d, [str(d) for d in costs.d])
    ax.set_title(r"Gradient of the product $w_1 w_2 \cdots w_d$")
    annotate(ax, names)
    return ax


def plot_xor(run: XorRun, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """The four points with the trained network's regions and boundary, and the loss of every start that was tried.

    Parameters
    ----------
    run : XorRun
        of `train_xor`
    axes : tuple[Axes, Axes] | None
        a pair to draw on; None makes new ones

    Returns
    -------
    pair of matplotlib axes
        those drawn on

    Examples
    --------
    >>> plane, curve = plot_xor(train_xor(steps=20, starts=1))
    >>> curve.get_ylabel()
    'logistic loss'
    """
    plane, curve = grid(2, (4.5, 4.0), axes, who="plot_xor")
    plain(plane), plain(curve)
    t = np.linspace(-0.5, 1.5, 161)
    a, b = np.meshgrid(t, t)
    score = run.score(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
    plane.contourf(a, b, score, levels=[-np.inf, 0, np.inf], colors=[ORANGE, BLUE], alpha=0.18)
    plane.contour(a, b, score, levels=[0.0], colors=[INK], linewidths=2)
    for sign, colour, marker, name in ((1.0, BLUE, "o", "+1"), (-1.0, ORANGE, "s", "−1")):
        plane.plot(*X[sign == Y].T, marker, color=colour, markersize=12, markeredgecolor="white")
        for point in X[sign == Y]:
            plane.annotate(name, point, xytext=(12, 6), textcoords="offset points", color=colour, weight="bold")
    plane.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xticks=[0, 1], yticks=[0, 1])
    plane.set_title("XOR: sign of the trained score")
    _draw_losses(run, curve)
    return plane, curve


def _draw_losses(run: XorRun, ax: Axes) -> None:
    names = []
    for i, start in enumerate(run.starts):
        is_best = i == run.chosen
        colour = (GREEN if run.solved else ORANGE) if is_best else GREY
        ax.semilogy(start.losses, color=colour, linewidth=2.2 if is_best else 1.2, zorder=3 if is_best else 2)
        if is_best and run.solved:
            names.append(end_of(range(len(start.losses)), start.losses, f"start {i + 1}:\nsolved", colour))
    stuck = [start for start in run.starts if start.errors > 0]
    if stuck:
        worst = max(stuck, key=lambda start: float(start.losses[-1]))
        text = f"{len(stuck)} start{'s' if len(stuck) > 1 else ''} stuck"
        names.append(end_of(range(len(worst.losses)), worst.losses, text, GREY))
    ax.set(xlabel="step of gradient descent", ylabel="logistic loss")
    ax.set_title(f"2-2-1 network, {run.activation} units")
    ax.margins(x=0)
    annotate(ax, names)


def save_all(folder: str | Path) -> list[Path]:
    """Draw every picture of the page "Four ways to a derivative" with its default settings, as SVG files."""
    plt = pyplot()
    runge: Callable[[Any], Any] = lambda x: 1 / (1 + x * x)
    pictures: dict[str, Callable[[], Any]] = {
        "difference_errors": lambda: plot_difference_errors(difference_errors(runge, 0.7)),
        "expression_swell": lambda: plot_swell(expression_swell(10)),
        "speelpenning_costs": lambda: plot_costs(speelpenning_costs()),
        "xor": lambda: plot_xor(train_xor())[0],
    }
    paths = []
    for name, draw in pictures.items():
        figure = draw().figure
        paths.append(Path(folder) / f"{name}.svg")
        with plt.rc_context({"svg.hashsalt": name}):  # the same picture gives the same file
            picture = io.BytesIO()
            figure.savefig(picture, format="svg", metadata={"Date": None})
        write_atomically(paths[-1], picture.getvalue())
        plt.close(figure)
    return paths
