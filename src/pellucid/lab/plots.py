"""The pictures of the lab. Each takes a result and optional matplotlib axes, and returns the axes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.lab.costs import SpeelpenningCosts, speelpenning_costs
from pellucid.lab.derivatives import DifferenceErrors, Swell, difference_errors, expression_swell
from pellucid.lab.xor import X, XorRun, Y, train_xor
from pellucid.train.atomic import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: told apart with every kind of colour vision, and in grey
BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8A8A", "#333333"


def plot_difference_errors(errors: DifferenceErrors, ax: Axes | None = None) -> Axes:
    """Error of difference quotients against the step: truncation falls to the left, rounding rises.

    >>> plot_difference_errors(difference_errors(np.exp, 1.0)).get_xlabel()
    'step $h$'
    """
    ax = _axes(ax)
    rule = float(np.finfo(float).eps)
    lines = (
        ("forward", errors.forward, errors.forward_slope, BLUE, 1 / 2, r"\sqrt{\varepsilon}"),
        ("central", errors.central, errors.central_slope, ORANGE, 1 / 3, r"\sqrt[3]{\varepsilon}"),
    )
    for name, error, slope, colour, power, root in lines:
        shown = np.where(error > 0, error, np.nan)  # an error of exactly 0 has no place on a log axis
        ax.loglog(errors.h, shown, ".", color=colour, markersize=4)
        ax.axvline(rule**power, color=colour, linewidth=1, linestyle=(0, (4, 4)), alpha=0.8)
        top = ax.get_xaxis_transform()
        ax.text(rule**power, 1.02, f"$h = {root}$", color=colour, ha="center", va="bottom", transform=top)
        i = int(np.argmin(np.abs(np.log10(errors.h) + 2)))
        side: dict[str, Any] = {"xytext": (10, -6), "va": "top"}
        if name == "forward":
            side = {"xytext": (-12, 8), "ha": "right"}
        ax.annotate(
            f"{name}\nslope {slope:.2f}", (errors.h[i], error[i]), color=colour, textcoords="offset points", **side
        )
    ax.text(0.03, 0.05, "rounding rules", color=GREY, transform=ax.transAxes)
    ax.text(0.97, 0.05, "truncation rules", color=GREY, ha="right", transform=ax.transAxes)
    ax.set(xlabel="step $h$", ylabel="error of the derivative")
    ax.set_title("Difference quotients: a smaller step is not always better", pad=24)
    return ax


def plot_swell(swell: Swell, ax: Axes | None = None) -> Axes:
    """Size of the derivative of l_n: formulas grow exponentially, the graph by the same few nodes each time.

    >>> plot_swell(expression_swell(3)).get_xlabel()
    '$n$'
    """
    ax = _axes(ax)
    lines = (
        (swell.derivative, ORANGE, "o", "formula from the\nproduct and chain rule"),
        (swell.expanded, BLUE, "s", "formula multiplied out"),
        (swell.graph, GREEN, "D", "graph of reverse mode"),
    )
    for sizes, colour, marker, label in lines:
        n = [i for i, size in zip(swell.n, sizes, strict=True) if size]
        ax.semilogy(n, [size for size in sizes if size], color=colour, marker=marker, markersize=5)
        _label(ax, swell.n[-1], sizes[-1], f"{label}: {sizes[-1]:,}", colour)
    ax.set(xlabel="$n$", ylabel="operations in the formula, nodes of the graph", xticks=swell.n)
    ax.set_title("Size of the derivative of the logistic map $l_n$")
    return ax


def plot_costs(costs: SpeelpenningCosts, ax: Axes | None = None) -> Axes:
    """Operations for the gradient of a product of d factors: forward mode about d², reverse mode about d.

    >>> plot_costs(speelpenning_costs((4, 8))).get_xlabel()
    'number of factors $d$'
    """
    ax = _axes(ax)
    lines = (
        (costs.forward, costs.forward_exponent, ORANGE, "o", "forward mode"),
        (costs.reverse, costs.reverse_exponent, BLUE, "s", "reverse mode"),
    )
    for counts, exponent, colour, marker, label in lines:
        ax.loglog(costs.d, counts, color=colour, marker=marker, markersize=5)
        _label(ax, costs.d[-1], counts[-1], f"{label}\n$\\sim d^{{\\,{exponent:.2f}}}$", colour)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="number of factors $d$", ylabel="operations for the whole gradient")
    ax.set_xticks(costs.d, [str(d) for d in costs.d])
    ax.set_title(r"Gradient of the product $w_1 w_2 \cdots w_d$")
    return ax


def plot_xor(run: XorRun, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """The four points with the trained network's regions and boundary, and the loss of every start that was tried.

    >>> plane, curve = plot_xor(train_xor(steps=20, starts=1))
    >>> curve.get_ylabel()
    'logistic loss'
    """
    if axes is None:
        axes = tuple(_pyplot().subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")[1])
    plane, curve = axes
    _plain(plane), _plain(curve)
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
    return axes


def _draw_losses(run: XorRun, ax: Axes) -> None:
    for i, start in enumerate(run.starts):
        kept = i == run.chosen
        colour = (GREEN if run.solved else ORANGE) if kept else GREY
        ax.semilogy(start.losses, color=colour, linewidth=2.2 if kept else 1.2, zorder=3 if kept else 2)
    stuck = sum(start.errors > 0 for start in run.starts)
    end = len(run.losses) - 1
    if stuck:
        worst = max(float(start.losses[-1]) for start in run.starts if start.errors)
        text = f"{stuck} start{'s' if stuck > 1 else ''} stuck"
        ax.annotate(text, (end, worst), xytext=(0, 6), textcoords="offset points", color=GREY, ha="right")
    if run.solved:
        middle = end // 2
        text = f"start {run.chosen + 1}: solved"
        at = (middle, float(run.losses[middle]))
        ax.annotate(text, at, xytext=(6, 8), textcoords="offset points", color=GREEN, weight="bold")
    ax.set(xlabel="step of gradient descent", ylabel="logistic loss")
    ax.set_title(f"2-2-1 network with {run.activation} units, random starts")


def save_all(folder: str | Path) -> list[Path]:
    """Draw every picture of the page "Four ways to a derivative" with its default settings, as SVG files."""
    plt = _pyplot()
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


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'pellucid[plot]'") from error
    return pyplot


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        ax = _pyplot().subplots(figsize=(6.8, 4.2), layout="constrained")[1]
    return _plain(ax)


def _plain(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#E6E6E6", linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


def _label(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Words at the end of a line, in its colour, instead of a legend."""
    ax.annotate(text, (x, y), xytext=(9, 0), textcoords="offset points", color=colour, va="center")
