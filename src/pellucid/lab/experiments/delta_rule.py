"""Rumelhart's derivation: the delta rule is gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "delta-rule",
    "The delta rule is gradient descent on the squared error",
    lectures=("cs231n", "kth"),
    topic="models",
    claim="For linear units o_pj = Σ_i w_ji i_pi and the error E_p = ½ Σ_j (t_pj − o_pj)² of pattern p, the derivative "
    "by an output is −δ_pj = −(t_pj − o_pj), and −∂E_p/∂w_ji = δ_pj i_pi: what the delta rule adds to a weight. "
    "One print of it has i_ji once; it has to be i_pi, input i of pattern p.",
    setting="Patterns and targets at random, a layer of linear units. Four derivatives of E = Σ_p E_p by the weights: "
    "Σ_p δ_pj i_pi, the two factors of the chain rule, the engine's, difference quotients. Then the rule is followed.",
    criterion="All four agree (the first three to 1e-12, quotients to 1e-6), and the rule brings E down in every step "
    "to the minimum that least squares finds (within 0.1 %).",
    notice=(
        "A weight learns from what it sees alone: the error behind it times the input before it.",
        "The same form, δ times input, is what backpropagation finds for every layer; only δ takes more work there.",
    ),
    further=(
        'lab.run("delta-rule", units=1)',
        'lab.run("delta-rule", rate=0.002, steps=600)',
        'lab.run("backward-passes")',
        'lab.run("adaline")',
    ),
    knobs={
        "patterns": "of the data",
        "inputs": "of each pattern",
        "units": "in the layer",
        "rate": "of the steps",
        "steps": "of the delta rule",
        "seed": "of everything",
    },
)
def delta_rule(
    patterns: int = 30, inputs: int = 4, units: int = 3, rate: float = 0.01, steps: int = 100, seed: int = 0
) -> Outcome:
    rng = np.random.default_rng(seed)
    i, w = rng.normal(size=(patterns, inputs)), rng.normal(size=(units, inputs))
    t = i @ rng.normal(size=(inputs, units)) + 0.3 * rng.normal(size=(patterns, units))

    def error(w: Any) -> Any:
        return np.sum(np.square(t - i @ w.T)) / 2

    delta = t - i @ w.T  # δ_pj
    rule = delta.T @ i  # Σ_p δ_pj i_pi
    by_output = pel.grad(lambda o: np.sum(np.square(t - o)) / 2)(i @ w.T)  # ∂E/∂o = −δ
    chain = -np.einsum("pj,pi->ji", by_output, i)  # times ∂o_pj/∂w_ji = i_pi
    engine, quotients = -pel.grad(error)(w), -pel.numerical_grad(error, w)
    exact = max(float(np.abs(other - rule).max()) for other in (chain, engine))
    near = float(np.abs(quotients - rule).max() / np.abs(rule).max())

    errors = [float(error(w))]
    for _ in range(steps):
        w = w + rate * (t - i @ w.T).T @ i
        errors.append(float(error(w)))
    least = float(error(np.linalg.lstsq(i, t, rcond=None)[0].T))
    falls = bool(np.all(np.diff(errors) < 1e-9 * errors[0])) and errors[-1] < 1.001 * least
    places = [(j, k) for j in range(units) for k in range(inputs)][:6]
    return Outcome(
        exact < 1e-12 * max(1.0, float(np.abs(rule).max())) and near < 1e-6 and falls,
        f"δ times input, the chain rule and the engine agree to {exact:.1g}, quotients to {near:.1g}; E falls in each "
        f"of {steps} steps from {errors[0]:.2f} to {errors[-1]:.4f}, least squares has {least:.4f}.",
        {"rule": rule, "engine": engine, "exact": exact, "quotients": near, "errors": errors, "least": least},
        (),
        (
            Table(
                "−∂E/∂w_ji at the start, for some weights",
                ("weight", "Σ_p δ_pj i_pi", "chain rule", "engine", "quotient"),
                [(f"w_{j + 1}{k + 1}", *(float(g[j, k]) for g in (rule, chain, engine, quotients))) for j, k in places],
            ),
        ),
        (
            Picture(
                "errors",
                "How far the error E is above the least that linear units can reach, over the steps of the delta rule: "
                "down in every step.",
                lambda: _draw(errors, least),
            ),
        ),
    )


def _draw(errors: list[float], least: float) -> Figure:
    ax = figures.axes(size=(6.4, 3.2))
    ax.semilogy(np.maximum(np.array(errors) - least, 1e-16), color=figures.BLUE)
    ax.set(xlabel="step", ylabel="E − its minimum", title="The delta rule on its way to least squares")
    return figures.figure_of(ax)
