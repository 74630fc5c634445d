"""Wider and wider networks come as near to a continuous function as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": np.tanh,
    "logistic": nn.activation("logistic"),
    "ReLU": nn.activation("relu"),
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
}
WIDTHS = (2, 4, 8, 16, 32, 64)


@experiment(
    "universal-approximation",
    "Universal approximation: six activations, wider and wider",
    lectures=("waterloo", "book"),
    topic="approximation",
    claim="For every continuous f on a compact set and every ε > 0 there are N units with |F(x) - f(x)| < ε everywhere "
    "(the book prints > ε by mistake), F(x) = Σ vᵢ ψ(wᵢx + bᵢ), if ψ is not a polynomial: tanh, logistic, ReLU, sin, "
    "cos and exp all work.",
    setting="f(x) = sin 3x + |x|/2 on [-1, 1]. Slopes and places of N hidden units are drawn at random, the output "
    "weights are found by least squares on 401 points; the largest error is measured on a grid ten times finer.",
    criterion="For each of the six activations the largest error falls below ε at some width and is at most a tenth of "
    "that with two units at the end.",
    notice=(
        "The theorem says that such weights exist. It does not say how many units are needed, nor that training finds "
        "the weights.",
        "The kink at 0 is what costs most: for the smooth activations the error falls slowly once the rest is fitted.",
        "sin, cos and exp level off: with these slopes few of their units are independent to twelve digits (last row "
        "of the table), so rounding ends the progress, and ε = 0.02 is missed by exp. The theorem has exact numbers "
        "and slopes of any size.",
        "ReLU makes a broken line with a corner for each unit: it starts slowly, and goes on.",
    ),
    further=(
        'lab.run("universal-approximation", epsilon=0.02)',
        'lab.run("universal-approximation", seed=1)',
        'lab.run("polynomial-activations")',
    ),
    knobs={
        "epsilon": "the error to be undercut everywhere",
        "slopes": "of the hidden units lie between minus and plus this",
        "seed": "of the hidden units",
    },
)
def universal_approximation(epsilon: float = 0.03, slopes: float = 8.0, seed: int = 0) -> Outcome:
    errors = {name: [fit(psi, width, slopes, seed)[1] for width in WIDTHS] for name, psi in ACTIVATIONS.items()}
    first = {
        name: next((n for n, e in zip(WIDTHS, row, strict=True) if e < epsilon), None) for name, row in errors.items()
    }
    x = np.linspace(-1, 1, 401)
    independent = {name: _independent(hidden(psi, WIDTHS[-1], slopes, seed)(x)) for name, psi in ACTIVATIONS.items()}
    passed = all(first.values()) and all(row[-1] <= row[0] / 10 for row in errors.values())
    return Outcome(
        passed,
        f"The largest error falls below {epsilon:g} with "
        + ", ".join(f"{n or 'more'} units of {name}" for name, n in first.items())
        + f"; with {WIDTHS[-1]} units it is at most {max(row[-1] for row in errors.values()):.3f}.",
        {"widths": WIDTHS, "errors": errors, "first": first, "independent": independent},
        (),
        (
            Table(
                "Largest error on [-1, 1]",
                ("units", *ACTIVATIONS),
                [
                    *((width, *(errors[name][i] for name in ACTIVATIONS)) for i, width in enumerate(WIDTHS)),
                    (f"independent, of {WIDTHS[-1]}", *independent.values()),
                ],
            ),
        ),
        (
            Picture(
                "errors",
                f"Largest error over the number of hidden units; the dashed line is ε = {epsilon:g}. All six fall "
                "below it.",
                lambda: _errors(errors, epsilon),
            ),
            Picture(
                "fits",
                "The function (grey, wide) and networks with 8 units of four activations (blue).",
                lambda: _fits(slopes, seed),
            ),
        ),
    )


def f(x: Any) -> Any:
    """What is to be approximated: smooth but for a kink at 0."""
    return np.sin(3 * x) + np.abs(x) / 2


def hidden(psi: Callable[[Any], Any], width: int, slopes: float, seed: int) -> Callable[[Any], Any]:
    """The outputs of so many random units.   x: (n,) -> (n, width)"""
    rng = np.random.default_rng(seed)
    w, place = rng.uniform(-slopes, slopes, WIDTHS[-1])[:width], rng.uniform(-1.0, 1.0, WIDTHS[-1])[:width]
    return lambda x: psi(np.outer(x, w) - w * place)


def _independent(outputs: Any) -> int:
    """How many units are independent to twelve digits."""
    singular = np.linalg.svd(outputs, compute_uv=False)
    return int(np.sum(singular > 1e-12 * singular[0]))


def fit(psi: Callable[[Any], Any], width: int, slopes: float, seed: int) -> tuple[Callable[[Any], Any], float]:
    """F with so many random units and the best output weights, and its largest error."""
    units = hidden(psi, width, slopes, seed)
    x, fine = np.linspace(-1, 1, 401), np.linspace(-1, 1, 4001)
    v = np.linalg.lstsq(units(x), f(x), rcond=1e-12)[0]
    return lambda x: units(x) @ v, float(np.max(np.abs(units(fine) @ v - f(fine))))


def _errors(errors: dict[str, list[float]], epsilon: float) -> Any:
    ax = figures.axes(size=(7.0, 4.0))
    ends = []
    for (name, row), colour, mark in zip(errors.items(), figures.COLOURS, figures.MARKERS, strict=True):
        ax.plot(WIDTHS, row, f"{mark}-", color=colour, markersize=5)
        ends.append(figures.end_of(WIDTHS, row, name, colour))
    ax.plot(WIDTHS[:: len(WIDTHS) - 1], [epsilon, epsilon], color=figures.INK, linewidth=1, linestyle="--")
    ax.set(xscale="log", yscale="log", xlabel="hidden units", ylabel="largest error", title="Wider is nearer")
    ax.set_xticks(WIDTHS, [str(width) for width in WIDTHS])
    ax.minorticks_off()
    figures.annotate(ax, ends)
    return figures.figure_of(ax)


def _fits(slopes: float, seed: int) -> Any:
    axes = figures.grid(4, (2.9, 2.8), who="universal-approximation")
    x = np.linspace(-1, 1, 401)
    for ax, name in zip(axes, ("tanh", "ReLU", "sin", "exp"), strict=True):
        figures.plain(ax)
        F, error = fit(ACTIVATIONS[name], 8, slopes, seed)
        ax.plot(x, f(x), color=figures.GREY, linewidth=5, alpha=0.5)
        ax.plot(x, F(x), color=figures.BLUE, linewidth=1.8)
        ax.set(title=f"8 units, {name}: {error:.2f}", xlabel="x", ylim=(-1.2, 2.0))
    axes[0].set_ylabel("f(x) and F(x)")
    return figures.figure_of(axes)
