"""Why batch normalisation helps: drift of a layer's input, and smoothness."""

from __future__ import annotations

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import drift
from pellucid.lab.normalization_plots import plot_drift


@experiment(
    "covariate-shift",
    "Why batch normalisation helps: drift of inputs, or smoothness?",
    lectures=("notes", "book"),
    topic="normalisation",
    claim="Ioffe and Szegedy (2015): batch normalisation reduces the internal covariate shift, the change of the "
    "distribution of a layer's inputs while the layers below learn. Santurkar et al. (2018): it makes the landscape of "
    "the loss smoother. The first is measured here; the second depends on the task, and is only shown.",
    setting="Networks of two hidden tanh layers learn two rings by full-batch gradient descent, with and without batch "
    "normalisation. In every step: how far the mean input of the second activation has moved from the start (in its "
    "deviations there), and how much the gradient changes along the step, relative to the step's length.",
    criterion="For every seed that is tried the largest drift with batch normalisation is below half of that without. "
    "The change of the gradient is shown, not judged.",
    notice=(
        "The drift with batch normalisation is that of the learned scale and shift alone: mean and deviation are taken "
        "away in every step.",
        "In this small example the landscape is not smoother with batch normalisation: the second explanation is a "
        "statement about deep networks and large rates, and does not hold everywhere.",
        "Both are explanations after the fact; that it helps is seen in the experiments on rates and starts.",
    ),
    further=(
        'lab.run("covariate-shift", rate=2.0)',
        'lab.run("covariate-shift", steps=300)',
        'lab.run("batch-norm-rates")',
    ),
    knobs={
        "steps": "of gradient descent",
        "rate": "of these steps",
        "seed": "of data and weights; the figure shows this one",
        "repeats": "how many seeds are tried",
    },
    full={"steps": 300, "repeats": 8},
)
def covariate_shift(steps: int = 40, rate: float = 0.5, seed: int = 0, repeats: int = 3) -> Outcome:
    pairs = [
        tuple(drift(norm, steps=steps, lr=rate, seed=s) for norm in (None, "batch"))
        for s in range(seed, seed + repeats)
    ]
    shares = tuple(max(with_norm.shift) / max(plain.shift) for plain, with_norm in pairs)
    without, normed = pairs[0]
    share = shares[0]
    rough = {name: float(np.median(it.roughness)) for name, it in (("without", without), ("with", normed))}
    return Outcome(
        max(shares) < 0.5,
        f"The input drifts by up to {max(without.shift):.2f} deviations without and {max(normed.shift):.2f} with batch "
        f"normalisation ({share:.0%}; at most {max(shares):.0%} over {repeats} seeds); the gradient changes by "
        f"{rough['without']:.2f} without and {rough['with']:.2f} with it per unit of the step (medians).",
        {
            "largest_drift": {"without": max(without.shift), "with": max(normed.shift)},
            "shares": shares,
            "median_roughness": rough,
        },
        (
            Beside(f"drift of a layer's input, with over without, {repeats} seeds", "reduced", shares),
            Beside("change of the gradient, with over without", "smoother", rough["with"] / rough["without"]),
        ),
        (
            Table(
                "Over the steps",
                ("measure", "without", "with batch normalisation"),
                [
                    ("largest drift, in deviations", max(without.shift), max(normed.shift)),
                    ("change of the gradient over the step, median", rough["without"], rough["with"]),
                    ("the same, largest", max(without.roughness), max(normed.roughness)),
                ],
            ),
        ),
        (
            Picture(
                "drift",
                "Left: how far the mean input of the second activation has moved, in deviations at the start. Right: "
                "change of the gradient along a step, divided by the length of the step (smaller is smoother).",
                lambda: figures.figure_of(plot_drift(without, normed)),
            ),
        ),
    )
