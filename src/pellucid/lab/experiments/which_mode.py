"""Forward or reverse, when?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, lab
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.costs import evaluated

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "which-mode",
    "Forward mode for few inputs, reverse mode for few outputs",
    lectures=("book", "waterloo"),
    topic="derivatives",
    claim="Forward mode takes one pass for R → Rᵐ and n passes for Rⁿ → R; reverse mode one pass for Rⁿ → R. So "
    "reverse mode is preferred for n ≫ m, and for the loss of a network. When to use which?",
    setting="Passes and arithmetic operations are counted while Jacobians of both kinds of functions are computed in "
    "both modes. Then a function Rⁿ → Rᵐ whose size moves from one end to the other. Both modes are checked against "
    "each other by <u, Jv> = <Jᵀu, v> and against difference quotients.",
    criterion="Passes are 1 and m, n and 1; in the sweep forward mode takes fewer operations where n < m and reverse "
    "mode where n > m; the two sides of the identity agree to 1e-12, quotients to 1e-6.",
    notice=(
        "A pass costs a small multiple of the function itself, whatever it is.",
        "A network has millions of inputs (its weights) and one output (its loss): one reverse pass.",
        "The identity <u, Jv> = <Jᵀu, v> checks one mode by the other without a step size.",
    ),
    further=(
        'lab.run("which-mode", n=1000)',
        'lab.run("which-mode", m=1)',
        'lab.run("speelpenning")',
        'lab.run("traces")',
    ),
    knobs={"n": "inputs", "m": "outputs", "seed": "of the checks"},
)
def which_mode(n: int = 100, m: int = 50, seed: int = 0) -> Outcome:
    costs = lab.direction_costs(n, m)
    passes = {(c.function, c.mode): c.passes for c in costs.costs}
    counted = passes == {
        ("R -> R^m", "forward"): 1,
        ("R -> R^m", "reverse"): m,
        ("R^n -> R", "forward"): n,
        ("R^n -> R", "reverse"): 1,
    }
    sweep = [(inputs, 32 // inputs, *counts(inputs, 32 // inputs)) for inputs in (1, 2, 4, 8, 16, 32)]
    turns = all((forward < reverse) == (a < b) for a, b, forward, reverse in sweep if a != b)

    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 6))
    f: Callable[[Any], Any] = lambda x: np.tanh(A @ x) * np.sum(x * x)
    x, v, u = rng.normal(size=6), rng.normal(size=6), rng.normal(size=4)
    pushed, pulled = pel.jvp(f, (x,), (v,))[1], pel.vjp(f, x)[1](u)[0]
    identity = abs(float(u @ pushed - pulled @ v))
    h = 1e-5
    quotient = float(np.abs((f(x + h * v) - f(x - h * v)) / (2 * h) - pushed).max() / np.abs(pushed).max())
    return Outcome(
        counted and turns and identity < 1e-12 * max(1, abs(float(u @ pushed))) and quotient < 1e-6,
        f"R → R^{m}: {passes['R -> R^m', 'forward']} pass forward, {passes['R -> R^m', 'reverse']} in reverse; "
        f"R^{n} → R: {passes['R^n -> R', 'forward']} forward, {passes['R^n -> R', 'reverse']} in reverse; <u, Jv> and "
        f"<Jᵀu, v> are apart by {identity:.1g}, quotients by {quotient:.1g}.",
        {"passes": passes, "sweep": sweep, "identity": identity, "quotient": quotient, "costs": costs},
        (
            Beside("passes of forward mode, R → Rᵐ", 1, passes["R -> R^m", "forward"]),
            Beside("passes of forward mode, Rⁿ → R", f"n = {n}", passes["R^n -> R", "forward"]),
            Beside("passes of reverse mode, Rⁿ → R", 1, passes["R^n -> R", "reverse"]),
        ),
        (
            Table(
                f"n = {n} inputs, m = {m} outputs; one NumPy call counts as one operation",
                ("function", "mode", "passes", "operations"),
                [(c.function.replace("->", "→"), c.mode, c.passes, c.operations) for c in costs.costs],
            ),
            Table("From few inputs to few outputs", ("n", "m", "operations forward", "operations in reverse"), sweep),
        ),
        (
            Picture(
                "sweep",
                "Operations for the whole Jacobian of a function with n inputs and 32/n outputs. Left, with few "
                "inputs, forward mode is cheaper; right, with few outputs, reverse mode.",
                lambda: _draw(sweep),
            ),
        ),
    )


def counts(n: int, m: int) -> tuple[int, int]:
    """Operations on numbers for the Jacobian of y_k = sin(k sin(... sin(Σ_i i x_i))), k = 1 ... m, by both modes."""

    def f(x: list[Any]) -> list[Any]:
        total = x[0] * 1.0
        for i in range(1, n):
            total = total + x[i] * (i + 1.0)
        for _ in range(20):  # most of the work is in the middle
            total = np.sin(total)
        return [np.sin(total * (k + 1.0)) for k in range(m)]

    x = [0.1 * i for i in range(1, n + 1)]
    forward, reverse = (evaluated(pel.record(pel.jacobian(f, mode=mode), x), x) for mode in ("forward", "reverse"))
    return forward, reverse


def _draw(sweep: list[tuple[int, int, int, int]]) -> Figure:
    ax = figures.axes(size=(6.4, 3.6))
    n = [row[0] for row in sweep]
    lines = ((2, "forward", figures.ORANGE, "o"), (3, "reverse", figures.BLUE, "s"))
    ends = []
    for column, name, colour, marker in lines:
        values = [row[column] for row in sweep]
        ax.loglog(n, values, color=colour, marker=marker)
        ends.append(figures.end_of(n, values, name, colour))
    ax.set_xscale("log", base=2)
    ax.set_xticks(n, [f"{a}\n{b}" for a, b, *_ in sweep])
    ax.set(xlabel="inputs n, and below them outputs m", ylabel="operations", title="Operations for a Jacobian")
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
