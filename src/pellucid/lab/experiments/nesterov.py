"""Nesterov's momentum: look ahead, then measure. Three forms of it, and a steep valley."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.valley import descend, height
from pellucid.optim import SGD, Momentum, Nesterov, Rule, VelocityNesterov

START = np.array([-4.0, 1.2])


@experiment(
    "nesterov",
    "Nesterov's momentum: gradients looked ahead, and a steep valley",
    lectures=("waterloo",),
    topic="optimisation",
    claim="Nesterov's momentum takes the gradient at z, a point looked ahead: w_new = z - η∇g(z), "
    "z_new = w_new + β(w_new - w). It is an average of such gradients with α = α_before β_before + η, γ = η/α and "
    "z = w - α(1 - γ)v.",
    setting="The form with z, the form with a velocity and the form with an average, with rates and betas that change "
    "at every step; then descent, heavy ball and Nesterov in the valley ½(w₁² + κw₂²) with the same rate 1/κ and the "
    "same β = (√κ - 1)/(√κ + 1), from 12 points around the bottom.",
    criterion="The forms and the library's rule agree within 1e-12; after a sixth, a third, two thirds and all of the "
    "steps Nesterov is less than a fifth as high as heavy ball with the same rate and β (mean over the starts and over "
    "the last ten steps); both end below plain descent.",
    notice=(
        "With the same rate and β heavy ball swings across the valley; the look ahead damps that.",
        "Heavy ball with the rate and β that are best for exactly this valley is as fast or faster: on a quadratic "
        "they can be computed. On other functions they may make it diverge, which Nesterov's method does not.",
        "Much later both fall at the same pace, and the advantage of the first steps fades.",
        "A descent with the rate 1/κ needs about κ steps where momentum needs about √κ.",
    ),
    further=(
        'lab.run("nesterov", curvature=2000.0)',
        'lab.run("nesterov", steps=150)',
        'lab.run("momentum-forms")',
    ),
    knobs={
        "curvature": "κ, the condition number: how much steeper the valley is across than along",
        "steps": "of the descents",
        "seed": "of the changing rates and betas of the first part",
    },
)
def nesterov(curvature: float = 1000.0, steps: int = 300, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    rates, betas = rng.uniform(0.01, 0.09, 20), rng.uniform(0.3, 0.9, 20)
    forms = _forms(rates, betas)
    apart = {name: float(np.abs(path - forms["look ahead"]).max()) for name, path in forms.items()}

    valley = (1.0, curvature)
    beta = (np.sqrt(curvature) - 1) / (np.sqrt(curvature) + 1)
    best_rate = 4 / (np.sqrt(curvature) + 1) ** 2
    rules = {
        "descent": SGD(1 / curvature),
        "heavy ball": Momentum(1 / curvature, beta=beta),
        "Nesterov": Nesterov(1 / curvature, beta=beta),
        "heavy ball, best rate for this valley": Momentum(best_rate, beta=beta**2),
    }
    heights = {name: _mean_height(rule, steps, valley) for name, rule in rules.items()}
    left = {name: float(values[-1]) for name, values in heights.items()}
    looks = [steps // 6, steps // 3, 2 * steps // 3, steps]
    recent = {name: [float(values[t - 9 : t + 1].mean()) for t in looks] for name, values in heights.items()}
    ratios = np.array(recent["Nesterov"]) / recent["heavy ball"]
    faster = bool(ratios.max() < 0.2 and left["heavy ball"] < left["descent"])
    return Outcome(
        max(apart.values()) < 1e-12 and faster,
        f"The forms differ by {max(apart.values()):.1e} at most; after {steps} steps the mean height is "
        f"{left['descent']:.2g} with descent, {left['heavy ball']:.2g} with heavy ball and {left['Nesterov']:.2g} with "
        f"Nesterov, which was at most {ratios.max():.2g} times as high as heavy ball at every look.",
        {"differences": apart, "left": left, "ratios": ratios, "heights": heights},
        (Beside("largest difference between the lecture's forms", 0, max(apart.values())),),
        (
            Table(
                "The forms, 20 steps with changing rates",
                ("form", "difference from the first"),
                [[name, f"{value:.1e}"] for name, value in apart.items()],
            ),
            Table(
                f"Valley with κ = {curvature:g}, mean height over the ten steps up to each look",
                ("method", *(f"height after {t} steps" for t in looks)),
                [[name, *values] for name, values in recent.items()],
            ),
        ),
        (
            Picture(
                "heights",
                "Height above the bottom over the steps, mean of 12 starts, on a logarithmic scale. Heavy ball falls "
                "in waves, Nesterov steadily; with the same rate plain descent hardly moves along the valley.",
                lambda: _heights(heights),
            ),
        ),
    )


def _forms(rates: Any, betas: Any) -> dict[str, Any]:
    """The points z where gradients are taken, by each of the lecture's forms and by the library."""
    curvatures = np.array([1.0, 10.0])
    ahead, velocity, average, rule = [START], [START], [START], [START]
    w = z = START
    for rate, beta in zip(rates, betas, strict=True):
        new = z - rate * curvatures * z
        z, w = new + beta * (new - w), new
        ahead.append(z)

    w, v, before = START, np.zeros(2), 0.0
    for rate, beta in zip(rates, betas, strict=True):
        v = before * v + rate * curvatures * (w - before * v)
        w, before = w - v, beta
        velocity.append(w - before * v)

    w, v, alpha, before = START, np.zeros(2), 0.0, 0.0
    for i, (rate, beta) in enumerate(zip(rates, betas, strict=True)):
        alpha = alpha * before + rate
        gamma = rate / alpha
        z = w - alpha * (1 - gamma) * v
        if i:
            average.append(z)
        v = (1 - gamma) * v + gamma * curvatures * z
        w, before = w - alpha * v, beta
    average.append(w - before * alpha * v)

    z, state = START, VelocityNesterov().init(START)
    for t, (rate, beta) in enumerate(zip(rates, betas, strict=True), start=1):
        z, state = VelocityNesterov(beta=beta).step(z, curvatures * z, state, rate, t)
        rule.append(z)
    names = ("look ahead", "velocity", "average of gradients looked ahead", "the library's VelocityNesterov")
    return {name: np.stack(path) for name, path in zip(names, (ahead, velocity, average, rule), strict=True)}


def _mean_height(rule: Rule, steps: int, valley: tuple[float, float]) -> Any:
    """The height after each step, averaged over starts on a circle around the bottom."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False) + 0.1
    starts = np.column_stack([np.cos(angles), np.sin(angles)]).tolist()
    return np.mean([height(descend(rule, steps, start, valley), valley) for start in starts], axis=0)


def _heights(heights: dict[str, Any]) -> Any:
    ax = figures.axes(size=(7.2, 4.0))
    ax.set(yscale="log", xlabel="step", ylabel="mean height above the bottom", title="Down a steep valley")
    ends = []
    short = ("descent", "heavy ball", "Nesterov", "heavy ball,\nbest rate")
    for values, name, colour in zip(heights.values(), short, figures.COLOURS, strict=False):
        ax.plot(values, color=colour, lw=1.6)
        ends.append(figures.end_of(range(len(values)), values, name, colour))
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
