"""SGD, momentum, Nesterov, Adagrad, RMSprop, Adam in one valley; and where ε stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures, optim
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.valley import descend, height

VALLEY, START = (1.0, 20.0), (-4.0, 1.2)


@experiment(
    "optimiser-paths",
    "Six update rules in one valley, and three places for ε",
    lectures=("waterloo",),
    topic="optimisation",
    claim="Adagrad, RMSprop and Adam divide each coordinate by √(s + ε), where s gathers squared gradients: "
    "s + ∇², or (1 - λ)s + λ∇²; Adam averages the gradient, too. The lecture leaves open where ε stands against the "
    "bias correction; three conventions are in use.",
    setting="The valley ½(w₁² + 20w₂²), with a rate for each rule that suits it. The lecture's formulas step by "
    "step, beside the library's rules with eps_inside=True. Then one step of Adam with gradients from large to tiny.",
    criterion="The library's rules follow the lecture's formulas within 1e-12, every rule ends below a tenth of the "
    "first height, and each convention for ε gives the step that its formula says, within 1e-12.",
    notice=(
        "SGD zigzags across the valley. Rules that divide by √s go down diagonally: the steepness cancels.",
        "Adagrad's steps shrink, for its s only grows; RMSprop forgets, and keeps its pace.",
        "ε = 1e-8 inside of the root acts as 1e-4 outside: gradients below 1e-4 hardly move the weight.",
    ),
    further=(
        'lab.run("optimiser-paths", steps=200)',
        'lab.run("optimiser-paths", eps=1e-4)',
        'lab.run("bias-correction")',
    ),
    knobs={"steps": "of each rule", "eps": "ε of the comparison of conventions"},
)
def optimiser_paths(steps: int = 60, eps: float = 1e-8) -> Outcome:
    rules: dict[str, optim.Rule] = {
        "SGD": optim.SGD(0.09),
        "Momentum": optim.Momentum(0.03, beta=0.8),
        "Nesterov": optim.Nesterov(0.03, beta=0.8),
        "Adagrad": optim.Adagrad(1.0, eps_inside=True),
        "RMSprop": optim.RMSprop(0.1, beta=0.9, eps_inside=True),
        "Adam": optim.Adam(0.25, eps_inside=True),
    }
    paths = {name: descend(rule, steps, START, VALLEY) for name, rule in rules.items()}
    heights = {name: height(path, VALLEY) for name, path in paths.items()}
    left = {name: float(values[-1] / values[0]) for name, values in heights.items()}
    apart = {
        "Adagrad": np.abs(paths["Adagrad"] - _lecture(steps, 1.0, 1e-10)).max(),
        "RMSprop": np.abs(paths["RMSprop"] - _lecture(steps, 0.1, 1e-8, lam=0.1)).max(),
        "Adam": np.abs(paths["Adam"] - _lecture(steps, 0.25, 1e-8, lam=0.001, gamma=0.1)).max(),
    }
    gradients = np.geomspace(1.0, 1e-12, 13)
    conventions = _conventions(gradients, eps)
    wrong = max(float(np.abs(ours - formula).max()) for ours, formula in conventions.values())
    return Outcome(
        max(apart.values()) < 1e-12 and max(left.values()) < 0.1 and wrong < 1e-12,
        f"The rules follow the lecture's formulas within {max(apart.values()):.0e}; after {steps} steps "
        f"{max(left.values()):.1%} of the height is left at most; the three places of ε are reproduced within "
        f"{wrong:.0e}.",
        {"left": left, "differences": apart, "conventions": {n: ours for n, (ours, _) in conventions.items()}},
        (),
        (
            Table(
                f"Height left after {steps} steps",
                ("rule", "settings", "share of the first height", "difference from the lecture's formula"),
                [[n, str(rules[n]), v, f"{apart[n]:.0e}" if n in apart else ""] for n, v in left.items()],
            ),
            Table(
                f"First step of Adam with the rate 1 and ε = {eps:g}",
                ("gradient", *conventions),
                [
                    [f"{g:.0e}", *(float(ours[i]) for ours, _ in conventions.values())]
                    for i, g in enumerate(gradients)
                    if i % 2 == 0
                ],
            ),
        ),
        (
            Picture(
                "paths",
                "Where each rule goes; the circle is the start, the cross the bottom.",
                lambda: _paths(paths),
            ),
            Picture(
                "epsilon",
                "The first step of Adam for gradients of many sizes. Until ε matters, the step has the length of the "
                "rate, whatever the gradient. Where it begins to matter depends on where it stands.",
                lambda: _epsilon(gradients, conventions),
            ),
        ),
    )


def _lecture(steps: int, rate: float, eps: float, lam: float | None = None, gamma: float | None = None) -> Any:
    """w - η / √(s + ε) v as the lecture writes it; Adam's s and v with the lecture's bias correction."""
    w, s, v, points = np.array(START), np.zeros(2), np.zeros(2), [np.array(START)]
    for t in range(1, steps + 1):
        g = np.array(VALLEY) * w
        s = s + g * g if lam is None else (1 - lam) * s + lam * g * g
        v = g if gamma is None else (1 - gamma) * v + gamma * g
        scale = (1.0, 1.0) if gamma is None or lam is None else (1 - (1 - lam) ** t, 1 - (1 - gamma) ** t)
        w = w - rate / np.sqrt(s / scale[0] + eps) * v / scale[1]
        points.append(w)
    return np.stack(points)


def _conventions(g: Any, eps: float) -> dict[str, tuple[Any, Any]]:
    """The first step of Adam, by the library and by the formula: ŝ = g², s = 0.001 g², m̂ = g."""
    rules: dict[str, tuple[optim.Rule, Any]] = {
        "√(ŝ + ε), the lecture": (optim.Adam(1.0, eps=eps, eps_inside=True), g / np.sqrt(g**2 + eps)),
        "√ŝ + ε, Kingma & Ba, PyTorch": (optim.Adam(1.0, eps=eps), g / (g + eps)),
        "√s + ε, Keras, scikit-learn": (
            optim.SklearnAdam(1.0, eps=eps),
            np.sqrt(0.001) * g / (np.sqrt(0.001) * g + eps),
        ),
    }
    zero = np.zeros_like(g)
    return {name: (-rule.step(zero, g, rule.init(zero), 1.0, 1)[0], formula) for name, (rule, formula) in rules.items()}


def _paths(paths: dict[str, Any]) -> Any:
    axes = figures.grid(len(paths), (2.9, 2.1), columns=3, who="optimiser-paths")
    x, y = np.linspace(-4.8, 2.2, 120), np.linspace(-1.9, 1.9, 90)
    heights = height(np.stack(np.meshgrid(x, y), axis=-1), VALLEY)
    for i, (ax, (name, path)) in enumerate(zip(axes, paths.items(), strict=True)):
        figures.plain(ax).grid(False)
        ax.contour(x, y, heights, levels=np.geomspace(0.05, 40, 9), colors=["#CFCFCF"], linewidths=0.9)
        ax.plot(*path.T, color=figures.BLUE, lw=1.2, marker="o", ms=2.4)
        ax.plot(*path[0], "o", color=figures.INK, ms=6)
        ax.plot(0, 0, "x", color=figures.ORANGE, ms=8, mew=2.2, zorder=5)
        ax.set(xlim=(-4.8, 2.2), ylim=(-1.9, 1.9), title=name)
        if i % 3 == 0:
            ax.set_ylabel("$w_2$")
        if i >= 3:
            ax.set_xlabel("$w_1$")
    return figures.figure_of(axes)


def _epsilon(gradients: Any, conventions: dict[str, tuple[Any, Any]]) -> Any:
    ax = figures.axes(size=(7.2, 3.8))
    ax.set(xscale="log", xlabel="size of the gradient", ylabel="step, in units of the rate")
    marks, dashes = "os^", ("-", "--", ":")
    for (name, (ours, _)), colour, mark, dash in zip(conventions.items(), figures.COLOURS, marks, dashes, strict=False):
        ax.plot(gradients, ours, mark + dash, color=colour, ms=5, lw=1.5, label=name)
    ax.set_title("The first step of Adam, with ε in three places")
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    return figures.figure_of(ax)
