"""A polynomial activation of degree k makes polynomials of degree k, however wide the network is."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment

OTHERS: dict[str, Callable[[Any], Any]] = {"tanh": np.tanh, "ReLU": lambda z: np.maximum(z, 0.0)}


@experiment(
    "polynomial-activations",
    "Why not a polynomial: the rank stops growing",
    lectures=("waterloo", "book"),
    topic="approximation",
    claim="Networks with one hidden layer are dense in the continuous functions if and only if the activation is not a "
    "polynomial (almost everywhere).",
    setting="Hidden units (wx + b)^k with random w and b, on random points; the rank of the matrix of their outputs "
    "says how many different functions they can be combined to. Then the best output weights for |x|, with more and "
    "more units.",
    criterion="For each degree k and each number d of inputs the rank is C(d+k, k), the number of monomials of degree "
    "up to k, with 50 as with 100 units, while that of tanh and ReLU is larger; and no width makes the error for |x| "
    "smaller than that of the best polynomial of degree k.",
    notice=(
        "A sum of polynomials of degree k is a polynomial of degree k: the rest is counting.",
        "Wider does not help here, but deeper does: two layers of degree k give degree k². Still, every such network "
        "is a polynomial of a fixed degree.",
        "Almost everywhere matters: a polynomial that is changed in single points is still no good.",
    ),
    further=(
        'lab.run("polynomial-activations", degrees=(2, 4))',
        'lab.run("polynomial-activations", inputs=(1, 4))',
        'lab.run("universal-approximation")',
    ),
    knobs={
        "degrees": "k of the activations",
        "inputs": "numbers d of inputs",
        "width": "hidden units; also tried with twice as many",
        "seed": "of weights and points",
    },
)
def polynomial_activations(
    degrees: tuple[int, ...] = (1, 2, 3), inputs: tuple[int, ...] = (1, 2, 3), width: int = 50, seed: int = 0
) -> Outcome:
    rows: list[tuple[Any, ...]] = []
    right = True
    for d in inputs:
        for k in degrees:
            ranks = [rank(lambda z, k=k: z**k, d, n, seed) for n in (width, 2 * width)]
            right = right and ranks == [min(comb(d + k, k), n) for n in (width, 2 * width)]
            rows.append((f"z^{k}", d, comb(d + k, k), *ranks))
        for name, psi in OTHERS.items():
            rows.append((name, d, "all", *(rank(psi, d, n, seed) for n in (width, 2 * width))))
    bound = max(comb(d + k, k) for d in inputs for k in degrees)
    free = [row for row in rows if row[0] in OTHERS and row[1] > 1]
    larger = all(row[3] > comb(row[1] + max(degrees), max(degrees)) for row in rows if row[0] in OTHERS)

    widths = (1, 2, 4, 8, 16, 32)
    k = max(degrees)
    errors = {name: [rms(psi, n, seed) for n in widths] for name, psi in {f"z^{k}": lambda z: z**k, **OTHERS}.items()}
    x = np.linspace(-1, 1, 201)
    floor = float(np.sqrt(np.mean((np.polyval(np.polyfit(x, np.abs(x), k), x) - np.abs(x)) ** 2)))
    stuck = min(errors[f"z^{k}"]) > floor - 1e-9 and abs(errors[f"z^{k}"][-1] - floor) < 1e-9
    passed = right and larger and stuck and max(errors[name][-1] for name in OTHERS) < floor / 2
    return Outcome(
        passed,
        f"The rank is C(d+k, k) in all {len(degrees) * len(inputs)} cases (at most {bound}), while tanh and ReLU with "
        f"several inputs reach {min(row[4] for row in free) if free else 'more'} or more; for |x| the units z^{k} stop "
        f"at an error of {errors[f'z^{k}'][-1]:.4f}, that of the best polynomial ({floor:.4f}).",
        {"ranks": rows, "errors": errors, "floor": floor},
        (),
        (
            Table(
                "Rank of the outputs of the hidden units",
                ("activation", "inputs d", "monomials C(d+k, k)", f"rank, {width} units", f"rank, {2 * width} units"),
                rows,
            ),
        ),
        (
            Picture(
                "floor",
                f"Error of the best fit to |x| over the number of hidden units. With z^{k} it stops at that of the "
                "best polynomial (dashed), with tanh and ReLU it goes on falling.",
                lambda: _draw(widths, errors, floor),
            ),
        ),
    )


def rank(psi: Any, d: int, width: int, seed: int) -> int:
    """How many independent functions random units make, on 400 points of [-1, 1]^d."""
    rng = np.random.default_rng(seed)
    X, W, b = rng.uniform(-1, 1, (400, d)), rng.normal(size=(d, width)), rng.uniform(-1, 1, width)
    singular = np.linalg.svd(psi(2 * (X @ W + b)), compute_uv=False)
    return int(np.sum(singular > 1e-10 * singular[0]))


def rms(psi: Any, width: int, seed: int) -> float:
    """Error of the best combination of random units and a constant for |x| (root of the mean square)."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-1, 1, 201)
    w, place = rng.uniform(-8, 8, width), rng.uniform(-1, 1, width)
    A = np.column_stack([psi(np.outer(x, w) - w * place), np.ones_like(x)])
    v = np.linalg.lstsq(A / np.abs(A).max(axis=0), np.abs(x), rcond=1e-12)[0]
    return float(np.sqrt(np.mean((A / np.abs(A).max(axis=0) @ v - np.abs(x)) ** 2)))


def _draw(widths: tuple[int, ...], errors: dict[str, list[float]], floor: float) -> Any:
    ax = figures.axes(size=(6.8, 3.8))
    ends = []
    for (name, row), colour, mark in zip(errors.items(), figures.COLOURS, figures.MARKERS, strict=False):
        ax.plot(widths, row, f"{mark}-", color=colour, markersize=5)
        ends.append(figures.end_of(widths, row, name, colour))
    ax.plot(widths[:: len(widths) - 1], [floor, floor], color=figures.INK, linewidth=1, linestyle="--")
    ax.set(xscale="log", yscale="log", xlabel="hidden units", ylabel="error (RMS)", title="Fitting |x|")
    ax.set_xticks(widths, [str(width) for width in widths])
    ax.minorticks_off()
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
