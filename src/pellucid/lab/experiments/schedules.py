"""Learning rates that fall: the lecture's three, in numbers, and all others as curves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid import figures, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment


@experiment(
    "schedules",
    "Learning rate schedules: the lecture's three in numbers, and others",
    lectures=("waterloo",),
    topic="optimisation",
    claim="Decrease every few epochs, η₀ exp(-c⌈t/k⌉), or sublinearly, η₀/(1 + ct) or η₀/√(1 + ct). With the ceiling "
    "⌈t/k⌉ the rate falls already at t = 1; customary is the floor ⌊t/k⌋, which keeps η₀ for k steps.",
    setting="The library's ExpSteps, InverseTime and InverseSqrt beside the formulas, for t = 0, 1, 2, ...",
    criterion="All tabulated values agree with the formulas within 1e-15. Ceiling and floor agree at multiples of k "
    "and differ by the factor exp(-c) in between.",
    notice=(
        "t counts the updates made so far: the first update has t = 0 and the rate η₀ with every schedule.",
        "1/(1 + ct) is the rate of Robbins and Monro: its sum is infinite, the sum of its squares is finite.",
        "The root falls so slowly that the sum of its squares is infinite, too: it goes further, and settles later.",
    ),
    further=(
        'lab.run("schedules", k=5)',
        'lab.run("schedules", c=0.05)',
        'lab.run("rate-and-search")',
    ),
    knobs={"start": "the first rate, η₀", "c": "how fast it falls", "k": "steps from one decrease to the next"},
)
def schedules(start: float = 0.1, c: float = 0.2, k: int = 10) -> Outcome:
    every: dict[str, optim.Schedule] = {
        "η₀ exp(-c⌈t/k⌉)": optim.ExpSteps(start, c=c, k=k),
        "η₀ exp(-c⌊t/k⌋)": optim.ExpSteps(start, c=c, k=k, rounding="floor"),
        "η₀/(1 + ct)": optim.InverseTime(start, c=c),
        "η₀/√(1 + ct)": optim.InverseSqrt(start, c=c),
    }
    formulas: dict[str, Callable[[int], float]] = {
        "η₀ exp(-c⌈t/k⌉)": lambda t: start * math.exp(-c * math.ceil(t / k)),
        "η₀ exp(-c⌊t/k⌋)": lambda t: start * math.exp(-c * math.floor(t / k)),
        "η₀/(1 + ct)": lambda t: start / (1 + c * t),
        "η₀/√(1 + ct)": lambda t: start / math.sqrt(1 + c * t),
    }
    times = np.arange(10 * k + 1)
    values = {name: np.array([one(int(t)) for t in times]) for name, one in every.items()}
    apart = max(float(np.abs(values[name] - [f(t) for t in times.tolist()]).max()) for name, f in formulas.items())
    ceiling, floor = values["η₀ exp(-c⌈t/k⌉)"], values["η₀ exp(-c⌊t/k⌋)"]
    between = times % k > 0
    rounding = np.allclose(ceiling[~between], floor[~between], rtol=1e-14) and np.allclose(
        ceiling[between], floor[between] * math.exp(-c), rtol=1e-14
    )
    shown = sorted({0, 1, 2, k - 1, k, k + 1, 2 * k, 5 * k, 10 * k})
    return Outcome(
        apart < 1e-15 and rounding,
        f"The values agree with the formulas within {apart:.0e}; at t = 1 the ceiling has {ceiling[1]:.4g} and the "
        f"floor still {floor[1]:.4g}.",
        {"times": times, "values": values, "difference": apart},
        tuple(Beside(f"{name} at t = {k}", formulas[name](k), float(values[name][k])) for name in formulas),
        (
            Table(
                f"η₀ = {start:g}, c = {c:g}, k = {k}",
                ("t", *every),
                [[int(t), *(float(values[name][t]) for name in every)] for t in shown],
            ),
        ),
        (
            Picture(
                "lecture",
                "The lecture's schedules. The ceiling (full line) is one decrease ahead of the floor (dashes), but "
                "for the points where they meet.",
                lambda: _curves(times, values, k),
            ),
            Picture(
                "others",
                "One schedule of each kind that the library has, over a run of 100 steps; the first three are the "
                "lecture's.",
                _gallery,
            ),
        ),
    )


def _curves(times: Any, values: dict[str, Any], k: int) -> Any:
    ax = figures.axes(size=(7.2, 3.8))
    shown, ends = times[: 5 * k + 1], []
    short = ("exp, ceiling", "exp, floor", "1/(1 + ct)", "1/√(1 + ct)")
    for (_, rates), name, colour, dash in zip(
        values.items(), short, figures.COLOURS, ("-", "--", "-", "-"), strict=False
    ):
        rates = rates[: len(shown)]
        ax.step(shown, rates, where="post", color=colour, lw=1.7, ls=dash)
        ends.append(figures.end_of(shown, rates, name, colour))
    ax.set(xlabel="updates made so far, t", ylabel="learning rate", title="The lecture's schedules")
    figures.annotate(ax, ends, bottom=0)
    return figures.figure_of(ax)


def _gallery() -> Any:
    axes = optim.plot_schedules()
    for ax in axes[-4:]:
        ax.set_xlabel("step", fontsize=9)
    for ax in axes[::4]:
        ax.set_ylabel("rate", fontsize=9)
    return figures.figure_of(axes)
