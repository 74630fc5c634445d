"""A richer model or a richer input map: the same thing, through a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings
from pellucid.lab.xor import X, Y

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "kernel-map",
    "A richer model and a richer input map are one, through a kernel",
    lectures=("waterloo",),
    topic="models",
    claim="What a hyperplane cannot separate is mended by a richer model (an ellipsoid) or by a richer representation "
    "of the input with a hyperplane. The two are equivalent, through a reproducing kernel.",
    setting="XOR and two rings. One perceptron sees the input map φ(x) = (1, √2 x₁, √2 x₂, x₁², x₂², √2 x₁x₂) and "
    "learns a hyperplane there. Another one never computes φ: it keeps a number for each sample and compares samples "
    "by the kernel k(x, x') = (1 + <x, x'>)², which makes a quadratic model in the plane.",
    criterion="k is the scalar product of φ (to 1e-12); after every epoch both have the same scores on all samples (to "
    "1e-9, relative) and the same mistakes; both end without a mistake on XOR and on the rings.",
    notice=(
        "The boundary is a hyperplane in the six coordinates of φ, and an ellipse or the like in the plane.",
        "The second perceptron's weights would be Σ α_i y_i φ(x_i): it never needs them, only scalar products.",
        "A neural network learns the map φ instead of choosing it.",
    ),
    further=(
        'lab.run("kernel-map", samples=60)',
        'lab.run("xor")',
        'lab.run("formal-neuron")',
    ),
    knobs={"samples": "of the rings", "epochs": "of both perceptrons, at most", "seed": "of the rings"},
)
def kernel_map(samples: int = 100, epochs: int = 300, seed: int = 0) -> Outcome:
    points, _ = rings(samples, seed)
    radius = np.linalg.norm(points, axis=1)
    clear = np.abs(radius - 1.6) > 0.15  # a gap, so that there is something to find
    problems = {"XOR": (X, Y), "rings": (points[clear], np.where(radius[clear] > 1.6, 1.0, -1.0))}
    kernels, apart, rows, solved = 0.0, 0.0, [], True
    for name, (A, y) in problems.items():
        kernels = max(kernels, float(np.abs(phi(A) @ phi(A).T - kernel(A, A)).max()))
        by_map, by_kernel = primal(A, y, epochs), dual(A, y, epochs)
        for one, other in zip(by_map, by_kernel, strict=True):
            apart = max(apart, float(np.abs(one[0] - other[0]).max() / np.abs(one[0]).max()), abs(one[1] - other[1]))
        solved = solved and by_map[-1][1] == by_kernel[-1][1] == 0
        rows.append((name, len(y), len(by_map), sum(one[1] for one in by_map), sum(one[1] for one in by_kernel)))
    return Outcome(
        kernels < 1e-12 and apart < 1e-9 and solved,
        f"The kernel is <φ(x), φ(x')> to {kernels:.1g}; scores and mistakes of both perceptrons differ by at most "
        f"{apart:.1g}; both separate XOR and the rings.",
        {"kernel": kernels, "apart": apart, "rows": rows},
        (),
        (Table("Both perceptrons", ("data", "samples", "epochs", "mistakes with φ", "mistakes with k"), rows),),
        (
            Picture(
                "boundaries",
                "The boundary of both perceptrons in the plane (they are the same): a curve of second degree, where a "
                "line would fail.",
                lambda: _draw(problems, epochs),
            ),
        ),
    )


def phi(A: Any) -> Any:
    """(1, √2 x₁, √2 x₂, x₁², x₂², √2 x₁x₂).   (n, 2) -> (n, 6)"""
    a, b = A.T
    return np.column_stack([np.ones(len(A)), 2**0.5 * a, 2**0.5 * b, a * a, b * b, 2**0.5 * a * b])


def kernel(A: Any, B: Any) -> Any:
    return (1.0 + A @ B.T) ** 2


def primal(A: Any, y: Any, epochs: int) -> list[tuple[Any, int]]:
    """Scores on all samples and mistakes after each epoch: w ← w + y φ(x) on a mistake."""
    features, w, history = phi(A), np.zeros(6), []
    for _ in range(epochs):
        mistakes = 0
        for f, sign in zip(features, y, strict=True):
            if sign * (f @ w) <= 0:
                w, mistakes = w + sign * f, mistakes + 1
        history.append((features @ w, mistakes))
        if mistakes == 0:
            break
    return history


def dual(A: Any, y: Any, epochs: int) -> list[tuple[Any, int]]:
    """The same by counts of mistakes alone: score(x) = Σ α_i y_i k(x_i, x)."""
    table, alpha, history = kernel(A, A), np.zeros(len(y)), []
    for _ in range(epochs):
        mistakes = 0
        for i, sign in enumerate(y):
            if sign * (table[i] @ (alpha * y)) <= 0:
                alpha[i], mistakes = alpha[i] + 1, mistakes + 1
        history.append((table @ (alpha * y), mistakes))
        if mistakes == 0:
            break
    return history


def _draw(problems: dict[str, tuple[Any, Any]], epochs: int) -> Figure:
    axes = figures.grid(len(problems), (4.2, 4.0), who="kernel-map")
    for ax, (name, (A, y)) in zip(axes, problems.items(), strict=True):
        edge = 0.25 * np.ptp(A)
        t = np.linspace(A.min() - edge, A.max() + edge, 201)
        plane = np.column_stack([part.ravel() for part in np.meshgrid(t, t)])
        w = np.linalg.lstsq(phi(A), primal(A, y, epochs)[-1][0], rcond=None)[0]
        score = (phi(plane) @ w).reshape(201, 201)
        ax.contourf(t, t, score, [-np.inf, 0, np.inf], colors=[figures.ORANGE, figures.BLUE], alpha=0.18)
        ax.contour(t, t, score, [0], colors=[figures.INK], linewidths=2)
        for sign, colour, marker in ((1, figures.BLUE, "o"), (-1, figures.ORANGE, "s")):
            ax.plot(*A[y == sign].T, marker, color=colour, markersize=5 if len(y) > 4 else 11)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", title=name, aspect="equal")
    return figures.figure_of(axes)
