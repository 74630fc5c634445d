"""Standardised inputs: round contours instead of a long valley."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import conditioning

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "standardised-inputs",
    "Standardised inputs: round contours instead of a long valley",
    lectures=("book", "cs231n"),
    topic="normalisation",
    claim="If inputs are not normalised, the cost is a long narrow valley and convergence is slow; subtracting the "
    "mean and dividing by the deviation of the training data makes it round. The same μ_j and σ_j are used for "
    "validation and test data.",
    setting="Least squares with two inputs of different mean and size. Gradient descent runs with the largest rate "
    "that is stable, on the raw inputs and on standardised ones; steps are counted until the cost is within 1 % of "
    "its best.",
    criterion="Standardising lowers the condition number of the Hessian at least ten times and the number of steps at "
    "least five times; test data standardised by the training data's numbers are predicted as well as training data, "
    "and worse by at least half when standardised by their own.",
    notice=(
        "The condition number is the ratio of the steepest to the flattest curvature: the rate must suit the steepest, "
        "and the flattest pays.",
        "Standardising by the test data's own numbers moves them to another place than the training data.",
        "Batch normalisation does the same for the inputs of every layer.",
    ),
    further=(
        'lab.run("standardised-inputs", size=10.0)',
        'lab.run("standardised-inputs", size=1.0)',
        'lab.run("batch-norm")',
    ),
    knobs={"size": "deviation of the second input; the first has 1", "rows": "of training data", "seed": "of the data"},
)
def standardised_inputs(size: float = 5.0, rows: int = 200, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal([1.0, 2.0], [1.0, size], (rows, 2))
    X_test = rng.normal([2.0, 2.0 + size], [1.0, size], (rows, 2))  # of other places, as new data may be
    w = np.array([1.0, 1.0 / size])
    y, y_test = (data @ w + 0.1 * rng.normal(size=rows) for data in (X, X_test))
    mean, deviation = X.mean(0), X.std(0)
    standard = (X - mean) / deviation
    before, after = conditioning(X)
    paths = {"raw": _descend(X, y), "standardised": _descend(standard, y)}
    steps = {name: len(path) - 1 for name, path in paths.items()}
    A = np.column_stack([standard, np.ones(rows)])
    fitted = np.linalg.lstsq(A, y, rcond=None)[0]
    error = {
        name: float(np.mean((np.column_stack([data, np.ones(rows)]) @ fitted - target) ** 2))
        for name, data, target in (
            ("training data", standard, y),
            ("test data, training numbers", (X_test - mean) / deviation, y_test),
            ("test data, own numbers", (X_test - X_test.mean(0)) / X_test.std(0), y_test),
        )
    }
    own, shared = error["test data, own numbers"], error["test data, training numbers"]
    passed = (
        before > 10 * after
        and steps["raw"] > 5 * steps["standardised"]
        and shared < 1.5 * error["training data"]
        and own > 1.5 * shared
    )
    return Outcome(
        passed,
        f"The condition number falls from {before:.0f} to {after:.2f}, the steps from {steps['raw']} to "
        f"{steps['standardised']}; squared error on test data {shared:.3f} with the training data's numbers, {own:.3f} "
        "with its own.",
        {"condition": (before, after), "steps": steps, "errors": error},
        (
            Beside("condition number, raw and standardised", "lower", (before, after)),
            Beside("steps of gradient descent, raw and standardised", "fewer", tuple(steps.values())),
        ),
        (Table("Mean squared error", ("data", "error"), list(error.items())),),
        (
            Picture(
                "contours",
                "Contours of the cost over the two weights (the bias at its best), and the way of gradient descent. "
                "Raw inputs make a valley in which steps go to and fro; standardised ones make circles.",
                lambda: _draw({"raw inputs": (X, paths["raw"]), "standardised": (standard, paths["standardised"])}, y),
            ),
        ),
    )


def _descend(X: Any, y: Any, most: int = 5000) -> Any:
    """The weights of each step, from 0, with nine tenths of the largest stable rate, until within 1 % of the best cost.

    -> (steps + 1, 3), the bias last
    """
    A = np.column_stack([X, np.ones(len(X))])
    H, b = A.T @ A / len(A), A.T @ y / len(A)
    rate, best = 1.8 / float(np.linalg.eigvalsh(H)[-1]), np.linalg.solve(H, b)
    lowest = float(np.mean((A @ best - y) ** 2))
    path = [np.zeros(3)]
    while len(path) <= most and np.mean((A @ path[-1] - y) ** 2) > 1.01 * lowest:
        path.append(path[-1] - rate * (H @ path[-1] - b))
    return np.array(path)


def _draw(panels: dict[str, tuple[Any, Any]], y: Any) -> Figure:
    axes = figures.grid(2, (4.6, 3.8), who="standardised-inputs")
    for ax, (title, (X, path)) in zip(axes, panels.items(), strict=True):
        figures.plain(ax)
        centred = X - X.mean(0)  # the best bias for every pair of weights
        best = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
        reach = 1.3 * np.abs(path[:, :2] - best).max()
        a, b = np.meshgrid(*(np.linspace(value - reach, value + reach, 80) for value in best))
        errors = centred @ np.stack([a.ravel(), b.ravel()]) - (y - y.mean())[:, None]
        cost = np.sqrt(np.mean(errors**2, axis=0)).reshape(a.shape)  # the root spreads the contours evenly
        ax.contour(a, b, cost, levels=12, colors=[figures.SKY], linewidths=0.9)
        ax.plot(path[:, 0], path[:, 1], "o-", color=figures.ORANGE, markersize=3, linewidth=1)
        ax.plot(*best, "*", color=figures.INK, markersize=11)
        ax.set(xlabel="weight $w_1$", ylabel="weight $w_2$", aspect="equal")
        ax.set_title(f"{title}: {len(path) - 1} steps")
    return figures.figure_of(axes)
