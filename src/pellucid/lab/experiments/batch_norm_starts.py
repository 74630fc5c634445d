"""Batch normalisation makes the start matter less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.deep_training import attempt, tangled_classes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "batch-norm-starts",
    "Batch normalisation makes the start matter less",
    lectures=("cs231n", "kth"),
    topic="normalisation",
    claim="Batch normalisation reduces the strong dependence on initialisation.",
    setting="A network of six layers (five of 30 ReLU units) learns five tangled classes by plain mini-batch gradient "
    "descent from weights N(0, σ²), with and without batch normalisation, for σ from 0.0001 to 1.",
    criterion="With batch normalisation at least three more of the deviations σ end over 70 % accuracy than without, "
    "and the spread of accuracies over the middle ones (0.001 to 0.3) is at most half as large.",
    notice=(
        "Without it only a σ near He's √(2/30) = 0.26 works: smaller ones lose the signal, σ = 1 overflows.",
        "With it the very smallest σ needs many more epochs: the variance of a layer's sums is then below ε = 1e-5, "
        "which stands under the root to be safe from division by 0. Try eps=1e-12.",
        "Batch normalisation sets the scale of every layer anew; the scale of the weights only sets how fast they "
        "turn.",
    ),
    further=(
        'lab.run("batch-norm-starts", eps=1e-12)',
        'lab.run("batch-norm-starts", rate=0.5)',
        'lab.run("batch-norm-starts", full=True)',
        'lab.run("scale-invariance")',
    ),
    knobs={
        "sigmas": "deviations of the weights at the start",
        "rate": "of gradient descent",
        "eps": "under the root of batch normalisation",
        "epochs": "of training",
        "seed": "of data and weights",
    },
    full={"sigmas": (1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0), "epochs": 40},
)
def batch_norm_starts(
    sigmas: tuple[float, ...] = (1e-4, 1e-3, 0.01, 0.1, 0.3, 1.0),
    rate: float = 0.2,
    eps: float = 1e-5,
    epochs: int = 15,
    seed: int = 0,
) -> Outcome:
    X, y = tangled_classes(seed=seed)
    norms = {"without": None, "with batch norm": nn.BatchNorm(eps=eps)}
    accuracies = {
        name: [
            attempt(X, y, norm=norm, init=nn.normal(s), rate=rate, epochs=epochs, seed=seed).accuracy for s in sigmas
        ]
        for name, norm in norms.items()
    }
    good = {name: sum(a > 0.7 for a in row) for name, row in accuracies.items()}
    middle = [i for i, s in enumerate(sigmas) if 1e-3 <= s <= 0.3]
    spread = {name: float(np.ptp([row[i] for i in middle])) for name, row in accuracies.items()}
    plain, normed = good.values()
    more = 3 if len(sigmas) >= 5 else 1
    return Outcome(
        normed >= plain + more and spread["with batch norm"] <= spread["without"] / 2,
        f"Of {len(sigmas)} deviations {plain} end over 70 % without and {normed} with batch normalisation; from 0.001 "
        f"to 0.3 accuracies spread by {spread['without']:.2f} and {spread['with batch norm']:.2f}.",
        {"sigmas": sigmas, "accuracies": accuracies, "good": good, "spread": spread},
        (Beside("starts over 70 % accuracy, without and with", "more", (plain, normed)),),
        (
            Table(
                "Accuracy on the training rows after the last epoch (0: not finite)",
                ("σ", *accuracies),
                [(f"{s:g}", *(row[i] for row in accuracies.values())) for i, s in enumerate(sigmas)],
            ),
        ),
        (
            Picture(
                "starts",
                "Accuracy over the deviation of the first weights. Without batch normalisation there is a peak, with "
                "it a plateau.",
                lambda: _draw(sigmas, accuracies),
            ),
        ),
    )


def _draw(sigmas: tuple[float, ...], accuracies: dict[str, list[float]]) -> Figure:
    ax = figures.axes(size=(6.8, 3.6))
    ends = []
    for (name, row), colour in zip(accuracies.items(), (figures.ORANGE, figures.BLUE), strict=True):
        ax.plot(sigmas, row, "o-", color=colour)
        ends.append(figures.end_of(sigmas, row, name, colour))
    ax.set(xscale="log", xlabel="deviation σ of the weights at the start", ylabel="accuracy on the training rows")
    ax.set_title("Which starts train?")
    figures.annotate(ax, ends, bottom=-0.03, top=1.03)
    return figures.figure_of(ax)
