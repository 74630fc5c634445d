"""What an exponential costs: activations timed, and counted."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

CHEAP = ("relu", "leaky_relu")
DEAR = ("elu", "sigmoid", "tanh", "softplus", "silu", "gelu", "mish")
EASY = {"maximum", "minimum", "where", "multiply", "add", "subtract", "negative", "greater", "less", "less_equal"}


@experiment(
    "cost-of-exp",
    "What an exponential costs",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="exp() is a bit expensive to compute: a disadvantage of sigmoid, tanh and ELU; ReLU is very efficient.",
    setting="Each activation is recorded as a graph, and its operations are looked at. Then it is timed on an array, "
    "the best of several runs. Times depend on the machine and on what else it does, so nothing is judged by them: "
    "they are measured and shown.",
    criterion="ReLU and leaky ReLU need comparisons, sums and products only, each of the others at least one function "
    "of the kind of exp; and every measured time is a finite number above 0.",
    notice=(
        "In NumPy an exponential takes some times as long as a maximum; the ratios of your machine are in the table.",
        "A formula of several NumPy operations makes an array for each of them, which costs more than its arithmetic: "
        "leaky ReLU needs no exponential, and yet takes much longer than ReLU.",
        "The last column compares with the product of the layer before. That one grows with the width of the layer, an "
        "activation does not: in wide networks its cost hardly matters.",
    ),
    further=(
        'lab.run("cost-of-exp", size=10_000)',
        'lab.run("cost-of-exp", repeats=50)',
        'lab.run("relu-speed")',
    ),
    knobs={
        "size": "numbers in the array",
        "repeats": "of which the best counts",
        "width": "of a layer to compare with",
    },
    full={"size": 1_000_000, "repeats": 20},
)
def cost_of_exp(size: int = 100_000, repeats: int = 7, width: int = 256) -> Outcome:
    x = np.random.default_rng(0).normal(size=size)
    operations = {name: operations_of(name) for name in (*CHEAP, *DEAR)}
    costly = {name: sorted(ops - EASY) for name, ops in operations.items()}
    seconds = {name: best_time(nn.activation(name), x, repeats) for name in operations}
    A, W = np.ones((max(size // width, 1), width)), np.ones((width, width))
    product = best_time(lambda a: a @ W, A, repeats)

    measured = all(math.isfinite(t) and t > 0 for t in (*seconds.values(), product))
    passed = measured and not any(costly[name] for name in CHEAP) and all(costly[name] for name in DEAR)
    ratios = {name: t / seconds["relu"] for name, t in seconds.items()}
    return Outcome(
        passed,
        f"ReLU and leaky ReLU need no exponential, the other {len(DEAR)} do. On this machine, now, the sigmoid takes "
        f"{ratios['sigmoid']:.1f} times as long as ReLU, tanh {ratios['tanh']:.1f} times, ELU {ratios['elu']:.1f} "
        f"times; a product with a {width} x {width} matrix takes {product / seconds['relu']:.0f} times as long.",
        {"seconds": seconds, "ratios": ratios, "product": product, "costly_operations": costly},
        (),
        (
            Table(
                f"Time for {size:,} numbers (measured here and now; it will differ)",
                ("activation", "microseconds", "times ReLU", "more than sums and products", "share of the product"),
                [
                    (name, 1e6 * t, ratios[name], ", ".join(costly[name]) or "nothing", t / product)
                    for name, t in seconds.items()
                ],
            ),
        ),
        (
            Picture(
                "times",
                "Time of each activation over that of ReLU, as measured on this machine; orange: those that need an "
                "exponential or the like.",
                lambda: _draw(ratios),
            ),
        ),
    )


def operations_of(name: str) -> set[str]:
    """The names of the operations in the graph of an activation."""
    return set(pel.record(nn.activation(name), np.zeros(3)).simplify().count())


def best_time(f: Any, x: Any, repeats: int) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        f(x)
        times.append(time.perf_counter() - start)
    return min(times)


def _draw(ratios: dict[str, float]) -> Any:
    ax = figures.axes(size=(6.8, 3.6))
    names = sorted(ratios, key=lambda name: -ratios[name])
    bars = ax.barh(
        names, [ratios[n] for n in names], color=[figures.ORANGE if n in DEAR else figures.BLUE for n in names]
    )
    ax.bar_label(bars, fmt="%.1f", padding=3)
    ax.set(xlabel="time over that of ReLU", title="What an activation costs, here and now")
    ax.grid(False, axis="y")
    ax.margins(x=0.1)
    return figures.figure_of(ax)
