"""Four ways to a derivative, on one function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid import figures, lab
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.derivatives import FourWays

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "four-ways",
    "By hand, symbolic, numerical, automatic: four ways to a derivative",
    lectures=("book",),
    topic="derivatives",
    claim="Derivatives are found by hand with the rules, symbolically by a program (Mathematica, Maple, Theano), "
    "numerically by difference quotients, or automatically. The first two give long formulas, the third never loses "
    "its error; automatic differentiation is exact and cheap.",
    setting="The logistic map l₁ = x, l_{n+1} = 4 l_n (1 − l_n): the derivative of l₄ at 0.1. By hand with the formula "
    "of the slide, symbolically by SymPy, forward and central differences, both modes. Exact value: a ratio "
    "of integers.",
    criterion="By hand, symbolic and automatic agree with the exact value to rounding (1e-12 relative), differences to "
    "1e-5 and are the only ones with an error; both modes take fewer operations than the formula by hand, and that "
    "one fewer than the symbolic one.",
    notice=(
        "Automatic differentiation is no formula and no quotient: it applies the rules to numbers, step by step.",
        "Quotients need the fewest operations for one derivative, and pay with half of the digits.",
    ),
    further=(
        'lab.run("four-ways", n=6)',
        'lab.run("expression-swell")',
        'lab.run("difference-steps")',
        'lab.run("traces")',
    ),
    knobs={"n": "which l_n", "x": "where"},
)
def four_ways(n: int = 4, x: float = 0.1) -> Outcome:
    ways = lab.four_ways(n, x)
    scale = max(abs(ways.exact), 1e-300)
    errors = {way.name: way.error / scale for way in ways.ways}
    quotients = {name: error for name, error in errors.items() if "numerical" in name}
    others = max(error for name, error in errors.items() if name not in quotients)
    counts = {way.name: way.operations for way in ways.ways}
    cheap = max(counts["automatic, forward"], counts["automatic, reverse"]) < counts["by hand"] < counts["symbolic"]
    value = float(lab.logistic_map(n)(x))
    return Outcome(
        others < 1e-12 and others < min(quotients.values()) and max(quotients.values()) < 1e-5 and (cheap or n != 4),
        f"l_{n}'({x:g}) = {ways.exact:.7f}: by hand, symbolic and automatic are right to {others:.1g}, central "
        f"differences to {errors['numerical, central']:.1g}, forward ones to {errors['numerical, forward']:.1g}.",
        {"exact": ways.exact, "value": value, "errors": errors, "operations": counts},
        (
            Beside("l₄(0.1), from the slide's formula", 0.28901376, f"{value:.8f}"),
            Beside("l₄'(0.1), from the slide's formula", "-12.0881152", f"{ways.exact:.7f}"),
        )
        if (n, x) == (4, 0.1)
        else (),
        (
            Table(
                f"The derivative of l_{n} at {x:g}",
                ("way", "value", "relative error", "operations"),
                [(way.name, f"{way.value:.10f}", errors[way.name], way.operations) for way in ways.ways],
            ),
        ),
        (
            Picture(
                "errors",
                "Relative error (left) and arithmetic operations (right) of each way. All but the quotients are right "
                "to the last digits of double precision, 2e-16; the symbolic formula is the longest.",
                lambda: _draw(ways, errors),
            ),
        ),
    )


def _draw(ways: FourWays, errors: dict[str, float]) -> Figure:
    left, right = figures.grid(2, (4.6, 2.9), who="four-ways")
    figures.plain(left), figures.plain(right)
    names = [way.name for way in ways.ways][::-1]
    colours = {"by": figures.GREEN, "sy": figures.PINK, "nu": figures.ORANGE, "au": figures.BLUE}
    shades = [colours[name[:2]] for name in names]
    left.barh(names, [np.log10(max(errors[name], 1e-17)) + 17 for name in names], left=-17, color=shades)
    left.set_xticks([-16, -12, -8], ["1e-16", "1e-12", "1e-8"])
    left.set(xlabel="relative error", title="How wrong")
    right.barh(names, [ways[name].operations for name in names], color=shades)
    right.set(xlabel="arithmetic operations", title="How much work")
    right.set_yticks([])
    return figures.figure_of(left)
