"""Where 1/√n comes from: the variance of a sum of products, with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.deep_signals import activations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RULES = {"lecun": "1/n_in", "xavier": "1/n_in", "glorot": "2/(n_in + n_out)", "he": "2/n_in"}
UNIFORM = {"lecun_uniform": "1/n_in", "glorot_uniform": "2/(n_in + n_out)", "he_uniform": "2/n_in"}
GAINS = ("identity", "tanh", "sigmoid", "relu", "leaky_relu", "elu", "selu", "gelu", "silu")


@experiment(
    "variance-derivation",
    "Where 1/√n comes from, and the 2 of He",
    lectures=("cs231n", "kth", "book"),
    topic="initialisation",
    claim="A sum of n products w·x of independent numbers with mean 0 has variance n·Var(w)·Var(x), so Var(w) = 1/n "
    "keeps the variance (the derivation assumes linear units). ReLU halves the second moment, so He takes 2/n. The "
    "rule 1/n_in, which the lectures call Xavier, is LeCun's; Glorot and Bengio's is 2/(n_in + n_out).",
    setting="Sums of n products are drawn for several n; a linear and a ReLU network of ten layers of 500 units are "
    "run with 1/n and 2/n; matrices of 400 × 100 weights are drawn by every rule.",
    criterion="Variances of sums are within 10 % of n·Var(w)·Var(x); the linear network keeps its deviation within 5 % "
    "over all layers (more, as the root of the depth over the width, for other sizes); ReLU keeps half of the second "
    "moment of a normal number within 2 %; the sampled variances are within 3 % of the rules.",
    notice=(
        "Deviations add by squares: n terms of size 1 make a sum of size √n, not n. That is the root in 1/√n.",
        "He's argument speaks of the second moment E[h²], not of the variance: the next sum adds up squares of h, and "
        "the mean of h is not 0.",
        "The gain of an activation is 1/√E[f(z)²] for a standard normal z; tanh gets 5/3 (about 1.6) and not 1.",
    ),
    further=(
        'lab.run("variance-derivation", depth=50)',
        'lab.run("variance-derivation", width=50)',
        'lab.run("initialisation")',
    ),
    knobs={
        "width": "units in each layer of the two networks",
        "depth": "number of layers",
        "rows": "of random input",
        "seed": "of all draws",
    },
)
def variance_derivation(width: int = 500, depth: int = 10, rows: int = 300, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    sizes = (1, 4, 16, 64, 256, 1024)
    sums = {n: float(np.var(np.sum(rng.normal(0, 0.5, (4000, n)) * rng.uniform(-3, 3, (4000, n)), 1))) for n in sizes}
    asked = {n: n * 0.5**2 * 3.0 for n in sizes}  # Var of U(-3, 3) is 3
    draws = [rng.normal(size=(width, width)) for _ in range(depth)]
    X = rng.normal(size=(rows, width))
    linear = activations("identity", width**-0.5, draws, X).stds
    z = rng.normal(size=1_000_000)
    half = float(np.mean(np.maximum(z, 0) ** 2))
    layers = activations("relu", (2 / width) ** 0.5, draws, X)
    moments = [m**2 + s**2 for m, s in zip(layers.means, layers.stds, strict=True)]
    fans = 400, 100
    rule = {"1/n_in": 1 / fans[0], "2/(n_in + n_out)": 2 / sum(fans), "2/n_in": 2 / fans[0]}
    sampled = {
        name: float(np.var(nn.initializer(name)(np.random.default_rng(seed), fans, *fans, 1.0)))
        for name in (*RULES, *UNIFORM)
    }
    wanted = {name: rule[formula] for name, formula in (RULES | UNIFORM).items()}

    off = max(abs(sums[n] / asked[n] - 1) for n in sizes)
    sample_off = max(abs(sampled[name] / wanted[name] - 1) for name in sampled)
    kept = max(abs(std - 1) for std in linear)
    tolerance = 0.05 * np.sqrt(max(depth / 10, 1) * max(500 / width, 1))
    passed = off < 0.1 and kept < tolerance and abs(half - 0.5) < 0.01 and sample_off < 0.03
    return Outcome(
        passed,
        f"Sums of n products have n·Var(w)·Var(x) within {off:.1%}; the linear network's deviation after {depth} "
        f"layers is {linear[-1]:.3f}; ReLU keeps {half:.3f} of the second moment; rules hold within {sample_off:.1%}.",
        {
            "sums": sums,
            "linear_stds": linear,
            "relu_half": half,
            "relu_second_moments": tuple(moments),
            "sampled_variances": sampled,
            "gains": {name: nn.gain_of(nn.activation(name)) for name in GAINS},
        },
        (
            Beside("deviation of a linear network behind its last layer", 1, linear[-1]),
            Beside("share of the second moment that ReLU keeps", 0.5, half),
            Beside("k of the rule k/n for ReLU", 2, nn.activation("relu").gain ** 2),
            Beside("k of the rule k/n for tanh (ours by default)", 1, nn.activation("tanh").gain ** 2),
        ),
        (
            Table(
                "The variance of a sum of n products",
                ("n", "n·Var(w)·Var(x)", "sampled"),
                [(n, asked[n], sums[n]) for n in sizes],
            ),
            Table(
                f"The rules by name, for {fans[0]} inputs and {fans[1]} outputs",
                ("name", "variance", "that is", "sampled"),
                [(name, formula, wanted[name], sampled[name]) for name, formula in (RULES | UNIFORM).items()],
            ),
            Table(
                "Gains: the variance of weights is gain²/n_in",
                ("activation", "gain by default", "1/√E[f(z)²]"),
                [(name, nn.activation(name).gain, nn.gain_of(nn.activation(name))) for name in GAINS],
            ),
        ),
        (
            Picture(
                "steps",
                "Left: variances of sums of n products lie on the line n·Var(w)·Var(x). Right: the deviation of a "
                "linear network with weights of variance 1/n, and the second moment behind ReLU with 2/n, layer by "
                "layer.",
                lambda: _draw(sums, asked, linear, moments),
            ),
        ),
    )


def _draw(sums: dict[int, float], asked: dict[int, float], linear: tuple[float, ...], moments: list[float]) -> Figure:
    left, right = figures.grid(2, (4.6, 3.3), who="variance-derivation")
    figures.plain(left), figures.plain(right)
    left.loglog(list(asked), list(asked.values()), color=figures.GREY)
    left.loglog(list(sums), list(sums.values()), "o", color=figures.BLUE)
    left.set(xlabel="number of products $n$", ylabel="variance of the sum", title="Variance of a sum of products")
    left.annotate("n · Var(w) · Var(x)", (64, asked[64]), (8, -12), textcoords="offset points", color=figures.GREY)
    layers = range(1, len(linear) + 1)
    ends = []
    for values, name, colour in (
        (linear, "linear:\ndeviation", figures.BLUE),
        (moments, "ReLU:\nsecond\nmoment", figures.ORANGE),
    ):
        right.plot(layers, values, "o-", markersize=4, color=colour)
        ends.append(figures.end_of(layers, values, name, colour))
    right.set(xlabel="layer", ylabel="size", title="Kept through the layers")
    figures.annotate(right, ends, bottom=0, top=1.6)
    return figures.figure_of(left)
