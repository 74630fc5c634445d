"""Formulas of derivatives swell; graphs do not."""

from __future__ import annotations

from itertools import pairwise

from pellucid import figures, lab
from pellucid.lab import Beside, Outcome, Picture, Table, experiment


@experiment(
    "expression-swell",
    "Symbolic derivatives swell, the graph of a derivative does not",
    lectures=("book",),
    topic="derivatives",
    claim="The main issue of symbolic derivatives is expression swell: for l₁ = x, l_{n+1} = 4 l_n (1 − l_n) the "
    "formulas of l_n and of its derivative grow out of hand; the slide prints them up to n = 4.",
    setting="The printed formulas are checked by SymPy against the recorded function. Then operations are counted in "
    "the formulas for growing n, and nodes in the graph that reverse mode makes.",
    criterion="All four printed lines are right; the derivative's formula grows by more than a factor of 2 with each n "
    "(from n = 4 on), factored or multiplied out; the graph of the derivative grows by the same number of nodes each "
    "time.",
    notice=(
        "A graph names what it has computed and uses it again; a formula writes it down again.",
        "Multiplied out, the polynomial of l_n has degree 2ⁿ⁻¹: no formula of it can stay short.",
    ),
    further=(
        'lab.run("expression-swell", largest=10)',
        'lab.run("four-ways")',
        'lab.run("speelpenning")',
    ),
    knobs={"largest": "n of the last formula"},
    full={"largest": 10},
)
def expression_swell(largest: int = 7) -> Outcome:
    forms = lab.lecture_forms()
    swell = lab.expression_swell(largest)
    factors = [
        [after / before for before, after in pairwise(sizes[2:])] for sizes in (swell.derivative, swell.expanded)
    ]
    steps = {after - before for before, after in pairwise(swell.graph[1:])}
    right = all(form.agrees for form in forms)
    return Outcome(
        right and min(map(min, factors)) > 2 and len(steps) == 1,
        f"All {len(forms)} printed lines are right; the formula of l_{largest}' has {swell.derivative[-1]:,} "
        f"operations, {swell.expanded[-1]:,} when multiplied out; its graph {swell.graph[-1]} nodes, "
        f"{min(steps)} more for each n.",
        {"swell": swell, "agrees": [form.agrees for form in forms], "growth": factors, "nodes_per_n": sorted(steps)},
        (
            Beside("l₄(0.1), from the printed formula", "0.28901376", f"{lab.logistic_map(4)(0.1):.8f}"),
            *(
                Beside(f"l_{form.n} and l_{form.n}' as printed", "right?", "right" if form.agrees else "wrong")
                for form in forms
            ),
        ),
        (
            Table(
                "The slide's table",
                ("n", "l_n", "its derivative"),
                [(form.n, form.function, form.derivative) for form in forms],
            ),
            Table(
                "Sizes",
                ("n", "operations in l_n", "in its derivative", "multiplied out", "nodes of the graph"),
                list(zip(swell.n, swell.function, swell.derivative, swell.expanded, swell.graph, strict=True)),
            ),
        ),
        (
            Picture(
                "swell",
                "Size of the derivative of l_n on a logarithmic axis: both formulas grow by a factor with each n, the "
                "graph by a few nodes.",
                lambda: figures.figure_of(lab.plot_swell(swell)),
            ),
        ),
    )
