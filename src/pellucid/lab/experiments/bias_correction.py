"""Moving averages that begin at 0 are too small at first; the lecture's correction mends it exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import figures, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

GRADIENT = np.array([3.0, -0.25])


@dataclass(frozen=True)
class Drawn(optim.Schedule):
    """Numbers that are given, one for each step."""

    values: tuple[float, ...]

    def __call__(self, t: int) -> float:
        return self.values[t]


@experiment(
    "bias-correction",
    "Bias correction retains a constant gradient, whatever λ does",
    lectures=("waterloo",),
    topic="optimisation",
    claim="Adam's averages begin at 0 and are biased towards it. Divided by Σ_k λ_k Π_{l>k}(1 - λ_l), they retain a "
    "constant gradient. Here λ is the share of the newest gradient, 1 - β in most libraries (the lecture has λ for the "
    "squares, γ for the gradients); after t steps with a constant λ the divisor is 1 - (1 - λ)^t.",
    setting="A constant gradient (3, -0.25); the state of the library's Adam after each step, with constant λ, and "
    "with a λ that is drawn anew for every step. The ε of Adam is 0.",
    criterion="Average divided by correction is the gradient at every step within 1e-12, for both λ; the correction is "
    "the lecture's sum, and 1 - (1 - λ)^t for the constant one; every step of Adam moves each weight by exactly the "
    "rate.",
    notice=(
        "Without the correction the first average is only λ times the gradient.",
        "The average of squares has λ = 0.001: without correction it is too small for thousands of steps, and the "
        "first steps are too long by far.",
        "With both corrections a step is the rate times g/√g², so only the sign of a constant gradient g counts: 3 and "
        "-0.25 move their weights equally far.",
        "The library gathers the correction along with the average, so that it is right for schedules, too.",
    ),
    further=(
        'lab.run("bias-correction", steps=500)',
        'lab.run("bias-correction", share=0.01)',
        'lab.run("optimiser-paths")',
    ),
    knobs={
        "steps": "of Adam",
        "share": "λ of the average of gradients, where it is constant",
        "seed": "of the λ that change",
    },
)
def bias_correction(steps: int = 60, share: float = 0.1, seed: int = 0) -> Outcome:
    drawn = np.random.default_rng(seed).uniform(0.01, 0.4, steps)
    constant = np.full(steps, share)
    runs = {name: _run(values) for name, values in (("constant λ", constant), ("changing λ", drawn))}
    sums = {name: _sums(values) for name, values in (("constant λ", constant), ("changing λ", drawn))}
    retained = max(float(np.abs(m / c[:, None] - GRADIENT).max()) for m, c, _ in runs.values())
    divisors = max(float(np.abs(runs[name][1] - sums[name]).max()) for name in runs)
    closed = float(np.abs(runs["constant λ"][1] - (1 - (1 - share) ** np.arange(1, steps + 1))).max())
    lengths = max(float(np.abs(np.abs(moves) - 0.1).max()) for _, _, moves in runs.values())
    m, c, _ = runs["constant λ"]
    t = np.arange(1, steps + 1)
    shown = sorted({i for i in (0, 1, 2, 4, 9) if i < steps} | {steps - 1})
    naive = np.sqrt(1 / (1 - 0.999**t)) * (1 - (1 - share) ** t)  # length of a step without any correction
    return Outcome(
        max(retained, divisors, closed, lengths) < 1e-12,
        f"The corrected average is the gradient within {retained:.0e} at each of {steps} steps, the divisor is the "
        f"lecture's sum within {divisors:.0e}, and each step moves each weight by the rate within {lengths:.0e}.",
        {"retained": retained, "divisor": divisors, "closed_form": closed, "corrections": c, "averages": m},
        (
            Beside("corrected average of the gradient 3, step 1", 3.0, float(m[0, 0] / c[0])),
            Beside(f"divisor at step {steps}, 1 - (1 - λ)^t", 1 - (1 - share) ** steps, float(c[-1])),
        ),
        (
            Table(
                f"The average of the gradient 3 with λ = {share:g}",
                ("step", "average", "divisor", "average / divisor"),
                [[i + 1, float(m[i, 0]), float(c[i]), float(m[i, 0] / c[i])] for i in shown],
            ),
        ),
        (
            Picture(
                "averages",
                "The average as it is (lower curves) and divided by its correction (the line at 3), for a constant λ "
                "and for one that changes at every step.",
                lambda: _averages(runs),
            ),
            Picture(
                "lengths",
                "How long Adam's steps are for a constant gradient, in units of the rate. Without the corrections the "
                "average of squares is far too small at first, and steps are too long.",
                lambda: _lengths(t, naive),
            ),
        ),
    )


def _run(shares: Any) -> tuple[Any, Any, Any]:
    """Adam's averages, its corrections and its steps under the constant gradient."""
    rule = optim.Adam(0.1, beta1=Drawn(tuple((1 - shares).tolist())), eps=0.0)
    opt, params = optim.chain(rule), {"w": np.zeros(2)}
    state = opt.init(params)
    averages, corrections, moves = [], [], []
    for t in range(len(shares)):
        new, state = opt.update(params, {"w": GRADIENT}, state, t + 1, opt.numbers(t))
        averages.append(state["rule.w.m"])
        corrections.append(float(state["rule.w.c1"]))
        moves.append(new["w"] - params["w"])
        params = new
    return np.stack(averages), np.array(corrections), np.stack(moves)


def _sums(shares: Any) -> Any:
    """The lecture's Σ_k λ_k Π_{l>k} (1 - λ_l) for each number of steps."""
    return np.array(
        [sum(shares[k] * math.prod(1 - shares[k + 1 : t]) for k in range(t)) for t in range(1, len(shares) + 1)]
    )


def _averages(runs: dict[str, Any]) -> Any:
    ax = figures.axes()
    for (name, (m, c, _)), colour in zip(runs.items(), (figures.BLUE, figures.ORANGE), strict=True):
        t = np.arange(1, len(c) + 1)
        ax.plot(t, m[:, 0], color=colour, lw=1.6, label=name)
        ax.plot(t, m[:, 0] / c, color=colour, lw=3 if colour == figures.BLUE else 1.2)
    ax.set(xlabel="step", ylabel="average of the gradient 3", title="An average that begins at 0")
    figures.annotate(ax, [figures.End(float(t[-1]), 3.0, "corrected", figures.INK)], bottom=0)
    ax.legend(frameon=False, loc="lower right", title="as it is")
    return figures.figure_of(ax)


def _lengths(t: Any, naive: Any) -> Any:
    ax = figures.axes(size=(6.4, 3.2))
    ax.plot(t, naive, color=figures.ORANGE, lw=1.8)
    ax.plot(t, np.ones(len(t)), color=figures.BLUE, lw=1.8)
    ax.set(xlabel="step", ylabel="step, in units of the rate", title="Adam under a constant gradient")
    ends = [
        figures.end_of(t, naive, "without corrections", figures.ORANGE),
        figures.End(float(t[-1]), 1.0, "with them", figures.BLUE),
    ]
    figures.annotate(ax, ends, bottom=0)
    return figures.figure_of(ax)
