"""The schedules and the rules in pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, GREY, GRID, INK, ORANGE, grid
from pellucid.optim.optimizer import optimizer
from pellucid.optim.rules import adam, adaptive, descent, momentum
from pellucid.optim.rules.rule import Rule
from pellucid.optim.schedules import cycles, decays
from pellucid.optim.schedules.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN: dict[str, Schedule] = {
    "ExpSteps(1, c=0.5, k=20)": decays.ExpSteps(1.0, c=0.5, k=20),
    "InverseTime(1, c=0.05)": decays.InverseTime(1.0, c=0.05),
    "InverseSqrt(1, c=0.05)": decays.InverseSqrt(1.0, c=0.05),
    "InverseScaling(1)": decays.InverseScaling(1.0),
    "Step(1, every=30, factor=0.5)": decays.Step(1.0, every=30, factor=0.5),
    "Exponential(1, factor=0.97)": decays.Exponential(1.0, factor=0.97),
    "Polynomial(1, power=2)": decays.Polynomial(1.0, power=2.0),
    "Piecewise((1, 0.5, 0.2), at=(30, 60))": decays.Piecewise((1.0, 0.5, 0.2), at=(30, 60)),
    "Cosine(1)": cycles.Cosine(1.0),
    "Cosine(1, restarts=2, multiplier=2)": cycles.Cosine(1.0, restarts=2, multiplier=2.0),
    "CosLog(1)": cycles.CosLog(1.0),
    "FlatCos(1)": cycles.FlatCos(1.0),
    "OneCycle(1)": cycles.OneCycle(1.0),
    "Warmup(10, Cosine(1))": decays.Warmup(10, cycles.Cosine(1.0)),
    "Warmup(10, InverseSqrt(1, c=0.05))": decays.Warmup(10, decays.InverseSqrt(1.0, c=0.05)),
    "Constant(1)": decays.Constant(1.0),
}
"""One schedule of each kind, for a run of 100 steps."""

PATHS: dict[str, Rule] = {
    "SGD(0.09)": descent.SGD(0.09),
    "Momentum(0.03, beta=0.8)": momentum.Momentum(0.03, beta=0.8),
    "Nesterov(0.03, beta=0.8)": momentum.Nesterov(0.03, beta=0.8),
    "Adagrad(1.0)": adaptive.Adagrad(1.0),
    "RMSprop(0.1, beta=0.9)": adaptive.RMSprop(0.1, beta=0.9),
    "Adam(0.25)": adam.Adam(0.25),
    "NAdam(0.25)": adam.NAdam(0.25),
    "Lion(0.11)": adaptive.Lion(0.11),
}
"""Rules on the valley of `plot_trajectories`, each with a rate that suits it."""

CURVATURE, START = np.array([1.0, 20.0]), np.array([-4.0, 1.2])


def plot_schedules(schedules: Mapping[str, Schedule] = SHOWN, steps: int = 100, axes: Any = None) -> Any:
    """Small pictures of schedules over a run.

    Parameters
    ----------
    schedules : Mapping[str, Schedule]
        by name
    steps : int
        of the run
    axes : matplotlib axes
        one for each; None makes new ones

    Returns
    -------
    matplotlib axes
        one for each
    """
    axes = grid(len(schedules), (2.6, 1.7), axes, who="plot_schedules")
    t = np.arange(steps)
    for ax, (name, one) in zip(axes, schedules.items(), strict=True):
        run = one.fit(steps, steps_per_epoch=steps / 10)
        rates = [run(int(i)) for i in t]
        peak = max(rates) or 1.0
        ax.step(t, rates, where="post", color=BLUE, linewidth=1.5)
        ax.grid(True, color=GRID, linewidth=0.6)
        ax.set(xlim=(0, steps), ylim=(-0.04 * peak, 1.08 * peak), xticks=(0, steps // 2, steps))
        ax.set_yticks((0, peak / 2, peak), [f"{tick:.3g}" for tick in (0, peak / 2, peak)])
        _finish(ax, name)
    return axes


def trajectory(rule: Rule, steps: int) -> Any:
    """The points of a rule on the valley ½ (x² + 20 y²).   (steps + 1, 2)

    >>> trajectory(descent.SGD(0.025), 2).round(3).tolist()
    [[-4.0, 1.2], [-3.9, 0.6], [-3.802, 0.3]]
    """
    opt, params = optimizer(rule), {"w": START}
    state, points = opt.init(params), [START]
    for t in range(steps):
        params, state = opt.update(params, {"w": CURVATURE * params["w"]}, state, t + 1, opt.numbers(t))
        points.append(params["w"])
    return np.stack(points)


def plot_trajectories(rules: Mapping[str, Rule] = PATHS, steps: int = 40, axes: Any = None) -> Any:
    """Where rules go on an ill-conditioned quadratic, ½ (x² + 20 y²).

    Parameters
    ----------
    rules : Mapping[str, Rule]
        by name
    steps : int
        of each
    axes : matplotlib axes
        one for each; None makes new ones

    Returns
    -------
    matplotlib axes
        one for each
    """
    axes = grid(len(rules), (2.6, 2.0), axes, who="plot_trajectories")
    x, y = np.meshgrid(np.linspace(-4.6, 1.6, 120), np.linspace(-1.75, 1.75, 90))
    height = 0.5 * (CURVATURE[0] * x**2 + CURVATURE[1] * y**2)
    for ax, (name, rule) in zip(axes, rules.items(), strict=True):
        points = trajectory(rule, steps)
        ax.contour(x, y, height, levels=np.geomspace(0.05, 40, 9), colors=["#CFCFCF"], linewidths=0.9)
        ax.plot(*points.T, color=BLUE, linewidth=1.3, marker="o", markersize=2.4)
        ax.plot(*points[0], "o", color=INK, markersize=5)
        ax.plot(0, 0, "x", color=ORANGE, markersize=8, markeredgewidth=2.2, zorder=5)
        left = 0.5 * float(np.sum(CURVATURE * points[-1] ** 2))
        ax.set_xlabel(f"{left:.1g} left", color=GREY, fontsize=8, loc="right", labelpad=1)
        ax.set(xlim=(-4.6, 1.6), ylim=(-1.75, 1.75), xticks=(), yticks=())
        _finish(ax, name)
    return axes


def _finish(ax: Axes, title: str) -> None:
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(length=0, labelsize=8, labelcolor=INK)
    ax.set_axisbelow(True)
    ax.set_title(title, fontsize=min(8.0, 270 / max(len(title), 1)), color=INK, family="monospace")  # all of it fits
