"""Mean outputs of activations: ELU comes closer to 0 than ReLU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

NAMES = ("sigmoid", "relu", "leaky_relu", "gelu", "silu", "elu", "selu", "tanh")


@experiment(
    "elu-mean",
    "Mean outputs: ELU is closer to zero than ReLU",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="The outputs of ReLU are not zero-centred; those of an ELU are closer to zero mean.",
    setting="Inputs from the normal distribution with mean 0 and variance 1. The mean of the outputs is computed by "
    "numerical integration, in closed form for ReLU and ELU, and from a sample.",
    criterion="Integration agrees with the closed forms 1/√(2π) for ReLU and 1/√(2π) + √e Φ(-1) - 1/2 for ELU to 1e-9 "
    "(Φ: distribution function of the normal distribution), with the sample within five standard errors, and the mean "
    "of ELU is below half of that of ReLU.",
    notice=(
        "The left side of the ELU is negative and so draws the mean towards 0; it does not reach 0.",
        "SELU was made so that the mean is 0, and the variance 1.",
        "A leaky ReLU with slope 0.01 is no better centred than a ReLU.",
        "The mean of a sigmoid is 0.5: the worst of all.",
    ),
    further=(
        'lab.run("elu-mean", alpha=1.67)',
        'lab.run("elu-mean", samples=1000)',
        'lab.run("zig-zag")',
    ),
    knobs={"alpha": "of the ELU: its lower bound is -alpha", "samples": "drawn", "seed": "of the sample"},
)
def elu_mean(alpha: float = 1.0, samples: int = 100_000, seed: int = 0) -> Outcome:
    records = {name: nn.activation(name) for name in NAMES}
    records["elu"] = records["elu"].with_(alpha=alpha)
    z = np.random.default_rng(seed).normal(size=samples)
    means = {name: float(normal_mean(record)) for name, record in records.items()}
    sampled = {name: float(record(z).mean()) for name, record in records.items()}
    errors = {name: float(record(z).std() / np.sqrt(samples)) for name, record in records.items()}
    half = 1 / np.sqrt(2 * np.pi)
    exact = {"relu": half, "elu": half + alpha * (np.sqrt(np.e) * special.ndtr(-1.0) - 0.5)}

    passed = (
        all(abs(means[name] - value) < 1e-9 for name, value in exact.items())
        and all(abs(sampled[name] - means[name]) < 5 * errors[name] for name in NAMES)
        and abs(means["elu"]) < 0.5 * means["relu"]
    )
    return Outcome(
        passed,
        f"On standard normal inputs the mean output is {means['elu']:.4f} for ELU and {means['relu']:.4f} for ReLU "
        f"(in a sample of {samples:,}: {sampled['elu']:.3f} and {sampled['relu']:.3f}).",
        {"means": means, "sampled": sampled, "exact": exact},
        (),
        (
            Table(
                "Means of outputs for inputs N(0, 1)",
                ("activation", "mean", "of the sample", "standard error"),
                [(name, means[name], sampled[name], errors[name]) for name in NAMES],
            ),
        ),
        (
            Picture(
                "means",
                "Mean outputs for standard normal inputs: those of tanh and SELU are 0, that of ELU lies between them "
                "and ReLU.",
                lambda: _draw(means),
            ),
        ),
    )


def normal_mean(f: Any) -> Any:
    """The mean of f(z), z standard normal: Gauss's rule on each side of the kink."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    sides = [f(side * 6 * (nodes + 1)) * np.exp(-((6 * (nodes + 1)) ** 2) / 2) for side in (-1, 1)]
    return sum(6 * weights @ side for side in sides) / np.sqrt(2 * np.pi)


def _draw(means: dict[str, float]) -> Any:
    ax = figures.axes(size=(6.8, 3.4))
    names = list(means)[::-1]
    values = [means[name] for name in names]
    colours = [figures.ORANGE if name in ("relu", "elu") else figures.SKY for name in names]
    ax.barh(names, values, color=colours)
    for i, value in enumerate(values):
        ax.text(max(value, 0.0) + 0.008, i, f"{value + 0.0:.3f}".replace("-0.000", "0.000"), va="center")
    ax.set(xlabel="mean output", xlim=(0, 0.58), title="How far from zero-centred?")
    ax.grid(False, axis="y")
    return figures.figure_of(ax)
