"""Four hidden units multiply two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.multiplication import multiplication_gate as gate_of
from pellucid.lab.multiplication import product

LAMBDAS = (1.0, 0.1, 0.01)
SOFTPLUS, TANH = (3.3869, 5.93606, 5.99935), (None, 5.4988, 5.9948)
REFERENCES = {("softplus", 0.0): SOFTPLUS, ("tanh", 0.6585): TANH}
SMOOTH = ("softplus", "gelu", "silu", "exp")
REFUSED = ("tanh", "sigmoid", "relu")


@experiment(
    "multiplication-gate",
    "Four hidden units multiply two numbers",
    lectures=("book",),
    topic="approximation",
    claim="A network with four hidden units models the product of two numbers as well as one likes (Lin and Tegmark, "
    "2016): with μ = 1/(4λ²f''(0)), its output tends to x₁x₂ as λ tends to 0. It needs f''(0) ≠ 0, so not every "
    "activation will do: tanh and the logistic function have f''(0) = 0, and ReLU has no second derivative there.",
    setting="A 2-4-1 network with activation f, its weights set by hand: with u = x₁ + x₂ and v = x₁ - x₂ the output "
    "is μ[f(b + λu) + f(b - λu) - f(b + λv) - f(b - λv)]. With softplus b = 0; tanh is shifted by a bias b to where it "
    "is curved, and μ has f''(b) in place of f''(0). Gates of gates multiply more numbers, two by two.",
    criterion="For 2 and 3 the outputs are the reference values (kept in the program) to four decimals; ten times "
    "smaller λ makes the error a hundred times smaller (within a factor of 1.5) for softplus; tanh, sigmoid and ReLU "
    "without a shift are refused; gates of gates give the product of eight numbers to 0.1 %.",
    notice=(
        "By Taylor's formula f(b + λu) + f(b - λu) = 2f(b) + λ²u²f''(b) + …: odd powers cancel, 2f(b) goes away with "
        "the units of v, and u² - v² = 4x₁x₂ remains. The next term makes the error, which falls with λ².",
        "λ may not be made too small: differences of nearly equal numbers are then divided by λ², and rounding shows.",
        "A product of eight numbers takes three layers of gates: depth makes high powers cheap.",
        "The shift 0.6585 is where tanh is curved most: there tanh is 1/√3.",
    ),
    further=(
        'lab.run("multiplication-gate", x1=-7.0, x2=0.5)',
        'lab.run("multiplication-gate", shift=0.3)',
        'lab.run("parameter-counts")',
    ),
    knobs={"x1": "first factor", "x2": "second factor", "shift": "b, the bias for tanh: where it is curved"},
)
def multiplication_gate(x1: float = 2.0, x2: float = 3.0, shift: float = 0.6585) -> Outcome:
    cases = {"softplus": 0.0, "tanh": shift}
    outputs = {name: [float(gate_of(name, lam, at)(x1, x2)) for lam in LAMBDAS] for name, at in cases.items()}
    reasons = {name: refusal(name) for name in REFUSED}
    curvature = {name: gate_of(np.exp if name == "exp" else name).curvature for name in SMOOTH}
    numbers = np.array([1.0, 2.0, 3.0, 0.5, 1.5, 2.0, 1.0, 4.0])
    deep = product(gate_of("softplus", 1e-3), numbers)
    true = x1 * x2
    errors = [abs(y - true) for y in outputs["softplus"]]

    references = REFERENCES if (x1, x2) == (2.0, 3.0) else {}
    digits = all(
        abs(y - reference) < 5e-5
        for name, at in cases.items()
        for y, reference in zip(outputs[name], references.get((name, at), ()), strict=False)
        if reference is not None
    )
    quadratic = 100 / 1.5 < errors[1] / errors[2] < 100 * 1.5
    passed = digits and quadratic and all(reasons.values()) and abs(deep / numbers.prod() - 1) < 1e-3
    return Outcome(
        passed,
        f"For {x1:g} and {x2:g} softplus gives {', '.join(f'{y:.6g}' for y in outputs['softplus'])} as λ falls from 1 "
        f"to 0.01, tanh shifted by {shift:g} gives {', '.join(f'{y:.6g}' for y in outputs['tanh'])}; {len(reasons)} "
        f"activations are refused; gates of gates give {deep:.4f} for eight numbers of product {numbers.prod():g}.",
        {"outputs": outputs, "refused": reasons, "curvature": curvature, "deep_product": deep},
        tuple(
            Beside(
                f"{name}{f' shifted by {at:g}' if at else ''}, λ = 0.01: tends to x₁x₂",
                f"{true:g}",
                f"{outputs[name][-1]:.6g}",
            )
            for name, at in cases.items()
        ),
        (
            Table(
                f"Outputs for {x1:g} and {x2:g}",
                ("activation", "λ", "output", "reference value"),
                [
                    (name, lam, f"{y:.6g}", _shown(reference))
                    for name, at in cases.items()
                    for lam, reference, y in zip(
                        LAMBDAS, references.get((name, at), (None,) * 3), outputs[name], strict=True
                    )
                ],
            ),
            Table("Refused without a shift", ("activation", "why"), list(reasons.items())),
            Table("f''(0) of activations that need no shift", ("activation", "f''(0)"), list(curvature.items())),
        ),
        (
            Picture(
                "errors",
                "Error of the gate over λ, for both activations: it falls with λ² (dotted) until rounding takes over "
                "at the left.",
                lambda: _draw(x1, x2, cases),
            ),
        ),
    )


def refusal(name: str) -> str:
    """Why a gate of this activation cannot be made without a shift; empty, if it can."""
    try:
        gate_of(name)
    except ValueError as error:
        return str(error)
    return ""


def _shown(reference: float | None) -> str:
    return "" if reference is None else f"{reference:.6g}"


def _draw(x1: float, x2: float, cases: dict[str, float]) -> Any:
    ax = figures.axes(size=(6.8, 3.8))
    lambdas = np.logspace(0, -7, 36)
    for (name, at), colour, mark in zip(cases.items(), figures.COLOURS, figures.MARKERS, strict=False):
        errors = [abs(float(gate_of(name, lam, at)(x1, x2)) - x1 * x2) for lam in lambdas]
        label = name if not at else f"{name}, shifted by {at:g}"
        ax.plot(lambdas, np.maximum(errors, 1e-12), f"{mark}-", color=colour, markersize=4, label=label)
    falling = lambdas[lambdas > 1e-4]
    ax.plot(falling, 3 * falling**2, ":", color=figures.INK, label="falls with λ²")
    ax.set(xscale="log", yscale="log", xlabel="λ", ylabel="|output - product|", title="The multiplication gate")
    ax.legend(frameon=False, loc="upper center")
    return figures.figure_of(ax)
