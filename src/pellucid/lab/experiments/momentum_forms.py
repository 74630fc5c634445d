"""Momentum written in four ways: memory, extrapolation, velocity, average of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.heavy_ball import heavy_ball
from pellucid.lab.valley import plot_valley
from pellucid.optim import AverageMomentum, Momentum, Rule

START = np.array([-4.0, 1.2])


@experiment(
    "momentum-forms",
    "Momentum in four forms: the same path, also with changing rates",
    lectures=("waterloo",),
    topic="optimisation",
    claim="Heavy ball momentum, w - η∇ + β(w - w_before), is an extrapolation and a gradient step, "
    "(1 + β)w - βw_before - η∇; it is a step by a velocity, ṽ = βṽ_before + η∇; and it is a step α along an average of "
    "gradients v = (1 - γ)v_before + γ∇, with α = α_before β + η and γ = η/α between 0 and 1. All hold with η and β "
    "that change at every step.",
    setting="A valley ½(w₁² + κw₂²), its gradient ∇ at w, and rates and betas drawn anew for every step. Each form as "
    "the lecture writes it, and the library's rules VelocityMomentum and AverageMomentum.",
    criterion="All paths agree within 1e-12, every γ lies in [0, 1], and PyTorch's form (a rate outside of the "
    "velocity) leaves them by more than 0.01 while the rate changes.",
    notice=(
        "Averaging needs no new idea: v is a weighted mean of all gradients so far, and α takes the place of the rate.",
        "PyTorch's v ← βv + ∇, w ← w - ηv is the same method while η is constant, and another one when it changes.",
        "Momentum overshoots the bottom of the valley, and comes back: the ball is heavy.",
    ),
    further=(
        'lab.run("momentum-forms", steps=60)',
        'lab.run("momentum-forms", curvature=20.0)',
        'lab.run("momentum-forms", changing=False)',
        'lab.run("nesterov")',
    ),
    knobs={
        "steps": "of the descent",
        "curvature": "κ, how much steeper the valley is across than along",
        "changing": "draw rates and betas anew for each step, or keep them (PyTorch's form is then the same)",
        "seed": "of the rates and betas",
    },
)
def momentum_forms(steps: int = 20, curvature: float = 10.0, changing: bool = True, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.02, 0.12, steps) if changing else np.full(steps, 0.08)
    betas = rng.uniform(0.5, 0.9, steps) if changing else np.full(steps, 0.8)
    curvatures = np.array([1.0, curvature])

    def slope(w: Any) -> Any:
        return curvatures * w

    ball = heavy_ball(slope, START, rates.tolist(), betas.tolist())
    averaged, alphas, gammas = _average(slope, rates, betas)
    paths = {
        "memory": ball.momentum,
        "extrapolation": ball.extrapolation,
        "velocity": ball.velocity,
        "average": averaged,
        "VelocityMomentum": ball.rule,
        "AverageMomentum": _rule(AverageMomentum, slope, rates, betas),
    }
    torch = _rule(Momentum, slope, rates, betas)
    apart = {name: float(np.abs(path - ball.momentum).max()) for name, path in paths.items()}
    away = float(np.abs(torch - ball.momentum).max())
    proper = bool(gammas.min() >= 0 and gammas.max() <= 1)
    formulas = {
        "memory": "w - η∇ + β(w - w_before)",
        "extrapolation": "(1 + β)w - βw_before - η∇",
        "velocity": "ṽ ← βṽ + η∇;  w ← w - ṽ",
        "average": "v ← (1 - γ)v + γ∇;  w ← w - αv",
        "VelocityMomentum": "the library's rule",
        "AverageMomentum": "the library's rule",
    }
    return Outcome(
        max(apart.values()) < 1e-12 and proper and (away > 0.01) == changing,
        f"Over {steps} steps the six paths differ by {max(apart.values()):.1e} at most, γ lies between "
        f"{gammas.min():.2f} and {gammas.max():.2f}, and PyTorch's form is {away:.2g} away.",
        {"differences": apart, "pytorch": away, "path": ball.momentum, "alphas": alphas, "gammas": gammas},
        (Beside("first γ: the first average is the first gradient", 1, float(gammas[0])),),
        (
            Table(
                "Largest difference from the first form",
                ("form", "step", "difference"),
                [[name, formulas[name], f"{value:.1e}"] for name, value in apart.items()]
                + [["PyTorch", "v ← βv + ∇;  w ← w - ηv", f"{away:.1e}"]],
            ),
        ),
        (
            Picture(
                "path",
                "The path in the valley: the forms lie on each other. PyTorch's form goes elsewhere as soon as the "
                "rate changes.",
                lambda: _path({"the four forms": ball.momentum, "PyTorch's form": torch}, curvatures),
            ),
            Picture(
                "numbers",
                "Above, the rate η that was drawn and the rate α of the averaging form; below, β and the "
                "share γ of the newest gradient in the average.",
                lambda: _numbers(rates, betas, alphas, gammas),
            ),
        ),
    )


def _average(slope: Any, rates: Any, betas: Any) -> tuple[Any, Any, Any]:
    """Momentum as an average of gradients, as the lecture writes it."""
    w, v, alpha = START, np.zeros(2), 0.0
    points, alphas, gammas = [w], [], []
    for rate, beta in zip(rates, betas, strict=True):
        alpha = alpha * beta + rate
        gamma = rate / alpha
        v = (1 - gamma) * v + gamma * slope(w)
        w = w - alpha * v
        points.append(w)
        alphas.append(alpha)
        gammas.append(gamma)
    return np.stack(points), np.array(alphas), np.array(gammas)


def _rule(kind: Any, slope: Any, rates: Any, betas: Any) -> Any:
    """A rule of the library with the rates and betas of each step."""
    w, points = START, [START]
    state = kind().init(w)
    for t, (rate, beta) in enumerate(zip(rates, betas, strict=True), start=1):
        rule: Rule = kind(beta=beta)
        w, state = rule.step(w, slope(w), state, rate, t)
        points.append(w)
    return np.stack(points)


def _path(paths: dict[str, Any], curvatures: Any) -> Any:
    ax = plot_valley(paths, curvatures.tolist())
    ax.set_title("Heavy ball momentum in a valley")
    return figures.figure_of(ax)


def _numbers(rates: Any, betas: Any, alphas: Any, gammas: Any) -> Any:
    above, below = figures.grid(2, (6.4, 2.1), columns=1, who="momentum-forms")
    steps = np.arange(1, len(rates) + 1)
    for ax, first, second, names, label in (
        (above, rates, alphas, ("rate η", "rate α"), "η and α"),
        (below, betas, gammas, ("β", "share γ"), "β and γ"),
    ):
        figures.plain(ax)
        ends = []
        for values, name, colour, mark in zip((first, second), names, figures.COLOURS, "os", strict=False):
            ax.plot(steps, values, mark + "-", color=colour, ms=4, lw=1.2)
            ends.append(figures.end_of(steps, values, name, colour))
        ax.set_ylabel(label)
        figures.annotate(ax, ends, bottom=0)
    above.set_title("Numbers of each step")
    below.set_xlabel("step")
    return figures.figure_of(above)
