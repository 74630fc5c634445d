"""Speelpenning's product in both modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, lab
from pellucid.lab import Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "speelpenning",
    "Speelpenning's product: reverse mode takes d steps, forward mode d²",
    lectures=("waterloo",),
    topic="derivatives",
    claim="For p = w₁ w₂ ⋯ w_d, as a chain v_{j+1} = v_j w_j, forward mode carries dv_j/dw (d numbers) along, reverse "
    "mode goes back once with dp/dv_j. Both give the gradient, the products of all factors but one. The printed "
    "forward algorithm begins with dv₂/dw = e₁ and forgets v₂ = w₁; or it begins at j = 1 with dv₁/dw = 0.",
    setting="Both algorithms as they stand on the slide, by hand, and both modes of the engine; with all factors "
    "different from 0, with one that is 0, and with two. Then arithmetic operations are counted for growing d.",
    criterion="All four gradients are the products without one factor, with zeros too (to 1e-12); the counted "
    "operations grow as d to the power of 2 forward (±0.15) and of 1 in reverse (±0.05).",
    notice=(
        "Dividing p by w_j would be quick and is wrong where w_j = 0; neither mode divides.",
        "With one zero only one component of the gradient is left, with two none.",
        "Reverse mode takes about 3 d operations for d derivatives: the price of a few products.",
    ),
    further=(
        'lab.run("speelpenning", d=8)',
        'lab.run("speelpenning", full=True)',
        'lab.run("which-mode")',
        'lab.run("traces")',
    ),
    knobs={"d": "factors in the check of the gradients", "largest": "factors in the count", "seed": "of the factors"},
    full={"largest": 256},
)
def speelpenning(d: int = 6, largest: int = 128, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    none = rng.uniform(0.5, 2.0, d)
    one, two = none.copy(), none.copy()
    one[d // 2] = two[d // 2] = two[0] = 0.0
    worst, rows = 0.0, []
    for name, w in (("no zero", none), ("one zero", one), ("two zeros", two)):
        exact = np.array([np.prod(np.delete(w, j)) for j in range(d)])
        engine = [pel.jacobian(lab.speelpenning, mode=mode)(w.tolist()) for mode in ("forward", "reverse")]
        ways = (forward(w), reverse(w), *engine)
        worst = max(worst, *(float(np.abs(np.array(way) - exact).max()) for way in ways))
        rows.append((name, tuple(np.round(w, 3).tolist()), tuple(np.round(exact, 3).tolist())))
    sizes = [2**k for k in range(2, int(np.log2(largest)) + 1)]
    costs = lab.speelpenning_costs(sizes)
    grows = abs(costs.forward_exponent - 2) < 0.15 and abs(costs.reverse_exponent - 1) < 0.05
    return Outcome(
        worst < 1e-12 and grows,
        f"By hand and by the engine, with and without zeros, the gradients agree to {worst:.1g}; for {sizes[-1]} "
        f"factors forward mode takes {costs.forward[-1]:,} operations (∼ d^{costs.forward_exponent:.2f}), reverse mode "
        f"{costs.reverse[-1]:,} (∼ d^{costs.reverse_exponent:.2f}).",
        {"apart": worst, "costs": costs},
        (),
        (
            Table("Gradients", ("", "w", "dp/dw"), rows),
            Table(
                "Operations for the whole gradient",
                ("d", "forward", "reverse"),
                list(zip(costs.d, costs.forward, costs.reverse, strict=True)),
            ),
        ),
        (
            Picture(
                "costs",
                "Operations that run for the gradient of a product of d factors, both axes logarithmic: the slope of "
                "forward mode is about 2, that of reverse mode 1.",
                lambda: _draw(costs),
            ),
        ),
    )


def forward(w: Any) -> Any:
    """The slide's forward mode, from v₁ = 1 and dv₁/dw = 0: v_{j+1} = v_j w_j, dv_{j+1}/dw = dv_j/dw w_j + v_j e_j."""
    v, slope = 1.0, np.zeros(len(w))
    for w_j, e_j in zip(w, np.eye(len(w)), strict=True):
        v, slope = v * w_j, slope * w_j + v * e_j
    return slope


def reverse(w: Any) -> Any:
    """The slide's reverse mode: all v_j first, then dp/dv_j = dp/dv_{j+1} w_j and dp/dw_j = dp/dv_{j+1} v_j."""
    v = [1.0]
    for w_j in w:
        v.append(v[-1] * w_j)
    slope, behind = np.zeros(len(w)), 1.0
    for j in range(len(w) - 1, -1, -1):
        slope[j], behind = behind * v[j], behind * w[j]
    return slope


def _draw(costs: Any) -> Figure:
    return figures.figure_of(lab.plot_costs(costs))
