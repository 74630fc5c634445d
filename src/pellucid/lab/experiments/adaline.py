"""Adaline: the half squared error, one sample at a time, and how large its steps may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "adaline",
    "Adaline goes to least squares, and beyond 2/λ it goes astray",
    lectures=("kth", "cs231n"),
    topic="models",
    claim="Adaline (Widrow and Hoff, 1960): ŷ = <w, x> + b, loss ½ (y − ŷ)², update w ← w + η (y − ŷ) x. This is "
    "stochastic gradient descent, so with a falling rate η it approaches least squares; and it diverges where η is "
    "larger than 2/λ, λ the largest eigenvalue of the inputs' mean of x xᵀ.",
    setting="A noisy linear target. The update by hand beside the library's gradient step; a falling rate beside a "
    "fixed one; then steps on all samples at once, with rates a little below and a little above 2/λ.",
    criterion="Both updates give the same weights to 1e-12. With the falling rate the weights end within 0.01 of least "
    "squares, and nearer than with the fixed one. Per step the part of the error along the first eigenvector is "
    "multiplied by 1 − ηλ (to 1e-6): 0.99 times the bound converges, 1.01 times diverges.",
    notice=(
        "With a fixed rate the weights never come to rest: each sample pulls them its own way.",
        "At the bound itself the error only changes its sign, again and again: 1 − 2 = −1.",
        "A bias is a weight with the constant input 1, so it is part of λ.",
    ),
    further=(
        'lab.run("adaline", noise=0.0)',
        'lab.run("adaline", close=0.001)',
        'lab.run("delta-rule")',
        'lab.run("formal-neuron")',
    ),
    knobs={
        "samples": "of the data",
        "noise": "deviation of the targets from the line",
        "epochs": "of one sample at a time",
        "close": "how far below and above the bound the two rates are, as a share",
        "seed": "of the data",
    },
)
def adaline(samples: int = 100, noise: float = 0.5, epochs: int = 40, close: float = 0.01, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal([0.5, 0.0], [1.0, 0.6], (samples, 2))
    y = X @ [1.5, -2.0] + 0.7 + noise * rng.normal(size=samples)
    A = np.column_stack([X, np.ones(samples)])
    best = np.linalg.lstsq(A, y, rcond=None)[0]

    few = min(5, epochs)  # epochs are enough to compare the rules
    library = nn.Adaline(lr=0.1).fit(X, y, few)
    fixed, falling = (online(A, y, epochs, rate) for rate in (lambda t: 0.1, lambda t: 1 / (5 + 0.2 * t)))
    same = float(np.abs(fixed[few * samples] - np.append(library.weight, library.bias)).max())
    paths = {name: np.linalg.norm(p - best, axis=1) for name, p in (("fixed", fixed), ("falling", falling))}

    moments = A.T @ A / samples
    eigenvalues, vectors = np.linalg.eigh(moments)
    largest, bound = float(eigenvalues[-1]), 2 / float(eigenvalues[-1])
    shares = (0.75, 1 - close, 1.0, 1 + close)
    descents = {share: at_once(A, y, share * bound, 200) - best for share in shares}
    along = {share: errors @ vectors[:, -1] for share, errors in descents.items()}
    factors = {share: ratio(values) for share, values in along.items()}
    exact = max(abs(factor - (1 - share * bound * largest)) for share, factor in factors.items())
    ends = {share: float(abs(values[-1] / values[0])) for share, values in along.items()}
    turned = ends[1 - close] < 1 < ends[1 + close] and abs(factors[1 - close]) < 1 < abs(factors[1 + close])
    near, off = float(paths["falling"][-1]), float(paths["fixed"][-1])
    return Outcome(
        same < 1e-12 and near < 0.01 and (near < off or noise == 0) and exact < 1e-6 and turned,
        f"The rules agree to {same:.1g}; the falling rate ends {near:.4f} from least squares, the fixed one "
        f"{off:.4f}; with 2/λ = {bound:.4f}, {1 - close:g} of it shrinks the error by "
        f"{abs(factors[1 - close]):.4f} per step and {1 + close:g} of it grows it by {abs(factors[1 + close]):.4f}.",
        {"least_squares": best, "bound": bound, "factors": factors, "ends": ends, "distance": near, "same": same},
        (),
        (
            Table(
                "All samples at once: the error along the first eigenvector, per step",
                ("rate η as a share of 2/λ", "η", "1 − ηλ", "measured", "error after 200 steps, start = 1"),
                [[s, s * bound, 1 - s * bound * largest, factors[s], ends[s]] for s in shares],
            ),
            Table(
                "Weights at the end",
                ("", "w₁", "w₂", "b"),
                [
                    ("least squares", *best),
                    ("falling rate", *falling[-1]),
                    ("fixed rate 0.1", *fixed[-1]),
                    (f"fixed rate 0.1, {few} epochs, by hand", *fixed[few * samples]),
                    (f"fixed rate 0.1, {few} epochs, nn.Adaline", *library.weight, library.bias),
                ],
            ),
        ),
        (
            Picture(
                "steps",
                "Left: one sample at a time; with a fixed rate the weights keep moving about, with a falling one they "
                "come to rest at least squares. Right: all samples at once; the same step a little below the bound "
                "2/λ and a little above it.",
                lambda: _draw(paths, descents),
            ),
        ),
    )


def online(A: Any, y: Any, epochs: int, rate: Callable[[int], float]) -> Any:
    """w ← w + η (y − ŷ) x, sample by sample from w = 0; all weights on the way."""
    weights = [np.zeros(A.shape[1])]
    for t in range(epochs * len(A)):
        x, target = A[t % len(A)], y[t % len(A)]
        weights.append(weights[-1] + rate(t) * (target - x @ weights[-1]) * x)
    return np.array(weights)


def at_once(A: Any, y: Any, rate: float, steps: int) -> Any:
    """w ← w + η mean of (y − ŷ) x over all samples."""
    weights = [np.zeros(A.shape[1])]
    for _ in range(steps):
        weights.append(weights[-1] + rate * A.T @ (y - A @ weights[-1]) / len(A))
    return np.array(weights)


def ratio(values: Any) -> float:
    """The factor from one value to the next, over the first ten."""
    return float(np.mean(values[1:11] / values[:10]))


def _draw(paths: dict[str, Any], descents: dict[float, Any]) -> Figure:
    left, right = figures.grid(2, (4.6, 3.6), who="adaline")
    figures.plain(left), figures.plain(right)
    ends = []
    for name, colour in (("fixed", figures.ORANGE), ("falling", figures.BLUE)):
        t = np.arange(1, len(paths[name]) + 1)  # a logarithm has no 0
        left.loglog(t, paths[name], color=colour, linewidth=1)
        ends.append(figures.end_of(t, paths[name], f"{name}\nrate", colour))
    left.set(xlabel="samples seen", ylabel="distance to least squares", title="One sample at a time")
    figures.annotate(left, ends)
    ends = []
    colours = (figures.GREEN, figures.BLUE, figures.GREY, figures.ORANGE)
    for (share, errors), colour in zip(descents.items(), colours, strict=True):
        size = np.linalg.norm(errors, axis=1)
        right.semilogy(size, color=colour)
        ends.append(figures.end_of(range(len(size)), size, f"{share:g}", colour))
    right.set(xlabel="step", ylabel="distance to least squares", title="All at once: rate as a share of 2/λ")
    figures.annotate(right, ends)
    return figures.figure_of(left)
