"""Products as sums of functions of one number, and what Riemann has to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment


@dataclass(frozen=True)
class Surd:
    """The number a + b√2 with fractions a and b, exactly: rational if b = 0."""

    a: Fraction
    b: Fraction = Fraction(0)

    def affine(self, w: Fraction, c: Fraction) -> Surd:
        return Surd(w * self.a + c, w * self.b)


def indicator(x: Surd) -> int:
    """1 for rational numbers, 0 for all others."""
    return int(x.b == 0)


@experiment(
    "kolmogorov",
    "Only addition has two arguments: x₁x₂ from functions of one number",
    lectures=("waterloo",),
    topic="approximation",
    claim="Addition is the only continuous function of several variables that one needs (Kolmogorov, Arnold, Kahane): "
    "f(x) = Σₖ σ(Σⱼ λⱼ φₖ(xⱼ)) with 2d + 1 terms. Try x₁x₂. And: a function is Riemann integrable if it is bounded and "
    "continuous almost everywhere; the indicator of the rational numbers is not.",
    setting="Two ways to write x₁x₂ with sums and functions of one number, compared with the product on a grid. The "
    "theorem says that increasing φₖ exist which serve all f; they are not constructed here. Then Riemann sums of the "
    "indicator, in exact arithmetic with numbers a + b√2.",
    criterion="Both ways agree with the product to 1e-12; Riemann sums of the indicator are 1 with rational points and "
    "0 with irrational ones, however fine; and a network of such units gives 0 at every irrational point tried.",
    notice=(
        "x₁x₂ = ((x₁+x₂)² - (x₁-x₂)²)/4 works everywhere: two squares, as in the multiplication gate.",
        "exp(log x₁ + log x₂) works for positive numbers only: log 0 does not exist.",
        "These use functions made for the product. The theorem has φₖ that do not depend on f; all that depends on f "
        "is one function σ. It is no recipe for training.",
        "The lecture calls the indicator a counterexample: it is one to Riemann integrability. It does not speak "
        "against the theorem on approximation, for almost everywhere it equals the polynomial 0.",
    ),
    further=(
        'lab.run("kolmogorov", pieces=1000)',
        'lab.run("multiplication-gate")',
        'lab.run("polynomial-activations")',
    ),
    knobs={"pieces": "of the interval [0, 1] in the Riemann sums", "seed": "of the weights and points"},
)
def kolmogorov(pieces: int = 100, seed: int = 0) -> Outcome:
    x1, x2 = np.meshgrid(np.linspace(0.01, 1.0, 100), np.linspace(0.01, 1.0, 100))
    squares = float(np.max(np.abs(((x1 + x2) ** 2 - (x1 - x2) ** 2) / 4 - x1 * x2)))
    logs = float(np.max(np.abs(np.exp(np.log(x1) + np.log(x2)) - x1 * x2)))
    sums = {n: riemann(n) for n in (pieces // 10, pieces, 10 * pieces)}
    rational, irrational = network_outputs(seed)

    passed = (
        max(squares, logs) < 1e-12
        and all(high == 1 and low == 0 for high, low in sums.values())
        and not any(irrational)
        and any(rational)
    )
    return Outcome(
        passed,
        f"Both ways give the product, to {max(squares, logs):.0e}; Riemann sums of the indicator are 1 or 0, depending "
        f"on the points, with {', '.join(map(str, sums))} pieces alike; of {len(irrational)} irrational inputs of a "
        f"network of indicators {sum(map(bool, irrational))} give anything but 0.",
        {"squares": squares, "logarithms": logs, "riemann": sums, "irrational_outputs": irrational},
        (),
        (
            Table(
                "x₁x₂ with functions of one number",
                ("way", "functions of one number", "for", "off by"),
                [
                    ("((x₁+x₂)² - (x₁-x₂)²)/4", "the square, times a number", "all numbers", squares),
                    ("exp(log x₁ + log x₂)", "exp, log", "positive numbers", logs),
                    ("Kahane's form", "σ and φ₁, ..., φ₅ (2d + 1 = 5)", "[0, 1]²", "exists"),
                ],
            ),
            Table(
                "Riemann sums of the indicator of the rational numbers on [0, 1]",
                ("pieces", "rational points", "irrational points"),
                [(n, float(high), float(low)) for n, (high, low) in sums.items()],
            ),
        ),
        (
            Picture(
                "squares",
                "A quarter of the square of the sum, minus a quarter of the square of the difference, is the product: "
                "each of the first two is constant along straight lines, as functions of one number are.",
                _draw,
            ),
        ),
    )


def riemann(pieces: int) -> tuple[Fraction, Fraction]:
    """Riemann sums of the indicator with a rational, and with an irrational, point in each piece of [0, 1]."""
    width = Fraction(1, pieces)
    sums = []
    for shift in (Fraction(0), width / 2):  # k/n, and k/n + √2/(2n): √2/2 < 1, so it is inside the piece
        points = [Surd(k * width, shift) for k in range(pieces)]
        sums.append(sum((width * indicator(p) for p in points), Fraction(0)))
    return sums[0], sums[1]


def network_outputs(seed: int, units: int = 5, count: int = 50) -> tuple[list[float], list[float]]:
    """Outputs Σ v 1[wx + c rational] at rational and at irrational x, with rational w ≠ 0 and c."""
    rng = np.random.default_rng(seed)
    fractions = [[Fraction(int(n), 16) for n in rng.integers(1, 64, units)] for _ in range(2)]
    v = rng.normal(size=units)

    def output(x: Surd) -> float:
        return float(sum(v[i] * indicator(x.affine(fractions[0][i], fractions[1][i])) for i in range(units)))

    at = [Fraction(int(n), 997) for n in rng.integers(1, 997, count)]
    return [output(Surd(a)) for a in at], [output(Surd(a, Fraction(1, 7))) for a in at]


def _draw() -> Any:
    x1, x2 = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
    parts = {
        "(x₁ + x₂)² / 4": (x1 + x2) ** 2 / 4,
        "(x₁ - x₂)² / 4": (x1 - x2) ** 2 / 4,
        "their difference: x₁x₂": x1 * x2,
    }
    axes = figures.grid(3, (3.3, 3.2), columns=3, who="kolmogorov")
    for ax, (title, values) in zip(axes, parts.items(), strict=True):
        drawn = ax.contourf(x1, x2, values, levels=np.linspace(0, 1, 11), cmap="cividis")
        ax.contour(x1, x2, values, levels=np.linspace(0, 1, 11), colors="white", linewidths=0.5)
        ax.set(title=title, xlabel="x₁", aspect="equal")
    axes[0].set_ylabel("x₂")
    figures.figure_of(axes).colorbar(drawn, ax=list(axes), shrink=0.75)
    return figures.figure_of(axes)
