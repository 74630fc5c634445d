"""Four functions fitted by three tanh units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from pellucid import Model, figures, nn, train
from pellucid.lab import Outcome, Picture, Table, experiment

TARGETS: dict[str, Callable[[Any], Any]] = {
    "x²": np.square,
    "sin x": np.sin,
    "|x|": np.abs,
    "1{x > 0}": lambda x: (x > 0).astype(float),
}
LIMITS = {"x²": 0.005, "sin x": 0.005, "|x|": 0.04, "1{x > 0}": 0.01}
"""Errors (RMSE) that count as a fit."""


@dataclass(frozen=True)
class Fit:
    """A trained network, and its error (RMSE) on the points."""

    model: Any
    rmse: float

    def hidden(self, x: Any) -> Any:
        """The outputs of the hidden units.   (n, units)"""
        p = self.model.params
        return np.tanh(x @ p["hidden1.weight"] + p["hidden1.bias"])


@experiment(
    "four-fits",
    "Three tanh units fit x², sin x, |x| and a step",
    lectures=("book",),
    topic="approximation",
    claim="A network with one hidden layer of three tanh units and a linear output fits |x|, x², sin x and the step "
    "1{x > 0} from 50 points in [-1, 1] (after Bishop; |x| is shown twice in the lecture, x² is the fourth).",
    setting="50 points at equal distances. Each network is trained by L-BFGS on all points, from several random "
    "starts; the best is kept.",
    criterion="The root mean square error is below 0.005 for x² and sin x, 0.04 for |x| and 0.01 for the step.",
    notice=(
        "The dashed curves are the three hidden units: the output is a weighted sum of them and a constant.",
        "For the step one unit is enough, if it is steep; the corner of |x| is hardest, for all units are smooth.",
        "Different starts give different hidden units and nearly the same sum. Some starts get stuck: the table has "
        "the worst.",
    ),
    further=(
        'lab.run("four-fits", units=1)',
        'lab.run("four-fits", units=6, iterations=400)',
        'lab.run("universal-approximation")',
    ),
    knobs={
        "units": "of the hidden layer",
        "points": "in [-1, 1]",
        "starts": "of which the best is kept",
        "iterations": "of L-BFGS at most",
    },
    full={"starts": 10, "iterations": 1000},
)
def four_fits(units: int = 3, points: int = 50, starts: int = 3, iterations: int = 120) -> Outcome:
    x = np.linspace(-1.0, 1.0, points)[:, None]
    with threadpool_limits(1):  # matrices are tiny: several threads would only wait for each other
        fits = {
            name: sorted((fit(x, f(x), units, seed, iterations) for seed in range(starts)), key=lambda one: one.rmse)
            for name, f in TARGETS.items()
        }
    best = {name: found[0] for name, found in fits.items()}
    passed = all(best[name].rmse < LIMITS[name] for name in TARGETS)
    return Outcome(
        passed,
        f"With {units} tanh units the errors are "
        + ", ".join(f"{one.rmse:.2g} for {name}" for name, one in best.items())
        + ".",
        {"rmse": {name: one.rmse for name, one in best.items()}, "worst": {n: f[-1].rmse for n, f in fits.items()}},
        (),
        (
            Table(
                "Error (RMSE) on the points",
                ("function", f"best of {starts} starts", "worst", "largest error of the best"),
                [
                    (
                        name,
                        one.rmse,
                        fits[name][-1].rmse,
                        float(np.max(np.abs(one.model.predict(x) - TARGETS[name](x)))),
                    )
                    for name, one in best.items()
                ],
            ),
        ),
        (
            Picture(
                "fits",
                "Points (blue), the network (orange) and its hidden units (dashed) for each of the four functions.",
                lambda: _draw(x, best),
            ),
        ),
    )


def fit(x: Any, y: Any, units: int, seed: int, iterations: int) -> Fit:
    model = Model(nn.mlp((units,), 1, activation="tanh"), "squared_error", dtype="float64")
    train.fit_lbfgs(model, x, y, max_iter=iterations, seed=seed)
    return Fit(model, float(np.sqrt(np.mean(np.square(model.predict(x) - y)))))


def _draw(x: Any, best: dict[str, Fit]) -> Any:
    axes = figures.grid(4, (3.4, 2.9), columns=2, who="four-fits")
    fine = np.linspace(-1, 1, 401)[:, None]
    for ax, (name, one) in zip(axes, best.items(), strict=True):
        figures.plain(ax)
        ax.plot(fine, one.hidden(fine), color=figures.GREY, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.plot(x, TARGETS[name](x), "o", color=figures.BLUE, markersize=4)
        ax.plot(fine, one.model.predict(fine), color=figures.ORANGE, linewidth=2)
        ax.set(title=f"{name}: RMSE {one.rmse:.2g}", ylim=(-1.15, 1.25))
    for ax in axes[2:]:
        ax.set_xlabel("x")
    for ax in axes[::2]:
        ax.set_ylabel("output")
    return figures.figure_of(axes)
