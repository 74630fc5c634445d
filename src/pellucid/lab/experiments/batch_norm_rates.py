"""Batch normalisation stands higher learning rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.deep_training import Attempt, attempt, tangled_classes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"without": None, "with batch norm": "batch"}


@experiment(
    "batch-norm-rates",
    "Batch normalisation stands higher learning rates",
    lectures=("cs231n", "notes", "kth", "book"),
    topic="normalisation",
    claim="Batch normalisation allows higher learning rates without the risk of divergence.",
    setting="A network of nine layers (eight of 30 ReLU units, He's start) learns five tangled classes by plain "
    "mini-batch gradient descent, with and without batch normalisation, for a row of rates. A run fails when numbers "
    "stop being finite or when it ends no better than guessing.",
    criterion="The lowest rate that fails is at least three times as high with batch normalisation, and at the lowest "
    "rate that fails without it the network with it is over 60 % right.",
    notice=(
        "Without it, failing means overflow within a few steps; with it, weights grow and the effective rate falls, so "
        "the loss stays finite far beyond the rates that are of use.",
        "It does not make every rate good: beyond some rate the loss with batch normalisation is worse than guessing.",
        "In a network of few layers it makes less of a difference: try depth=2.",
    ),
    further=(
        'lab.run("batch-norm-rates", full=True)',
        'lab.run("batch-norm-rates", depth=2)',
        'lab.run("batch-norm-cifar")',
        'lab.run("scale-invariance")',
    ),
    knobs={
        "rates": "that are tried, from low to high",
        "epochs": "of training",
        "depth": "hidden layers",
        "seed": "of data and weights",
    },
    full={"rates": (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 100.0), "epochs": 30},
)
def batch_norm_rates(
    rates: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0), epochs: int = 12, depth: int = 8, seed: int = 0
) -> Outcome:
    X, y = tangled_classes(seed=seed)
    runs = {
        name: {
            rate: attempt(X, y, norm=norm, init="he", rate=rate, epochs=epochs, hidden=(30,) * depth, seed=seed)
            for rate in rates
        }
        for name, norm in NAMES.items()
    }
    lowest = {name: min((r for r in rates if row[r].failed), default=float("inf")) for name, row in runs.items()}
    plain, normed = lowest.values()
    there = runs["with batch norm"][plain].accuracy if plain in rates else 0.0
    best = {name: max(rates, key=lambda r: row[r].accuracy) for name, row in runs.items()}
    return Outcome(
        normed >= 3 * plain and there > 0.6,
        f"Training fails from rate {plain:g} on without batch normalisation and from {normed:g} on with it; at rate "
        f"{plain:g} the network with it is {there:.0%} right.",
        {
            "lowest_failing": lowest,
            "accuracies": {name: {r: it.accuracy for r, it in row.items()} for name, row in runs.items()},
            "best_rate": best,
        },
        (
            Beside("lowest rate that fails, without", None, f"{plain:g}"),
            Beside("lowest rate that fails, with batch normalisation", "higher", f"{normed:g}"),
            Beside("best rate, without and with", "higher", tuple(best.values())),
        ),
        (
            Table(
                "Accuracy on the training rows after the last epoch",
                ("rate", "without", "loss", "with batch norm", "loss"),
                [(f"{r:g}", *(cell for row in runs.values() for cell in _cells(row[r]))) for r in rates],
            ),
            Table(
                "Where numbers stopped being finite, in the words of the run",
                ("rate", "without batch normalisation"),
                [(f"{r:g}", _first_words(it.stopped)) for r, it in runs["without"].items() if it.diverged],
            ),
        ),
        (
            Picture(
                "rates",
                "Accuracy over the learning rate. Crosses: runs that failed. With batch normalisation rates that are "
                "many times higher still train.",
                lambda: _draw(runs),
            ),
        ),
    )


def _cells(run: Attempt) -> tuple[str, str]:
    if run.diverged:
        return "failed", "not finite"
    return f"{run.accuracy:.2f}{' failed' if run.failed else ''}", f"{run.losses[-1]:.3g}"


def _first_words(stopped: str) -> str:
    """Where it began, without the list of all large parameters."""
    return stopped.split(" Large parameters")[0]


def _draw(runs: dict[str, dict[float, Attempt]]) -> Figure:
    ax = figures.axes(size=(6.8, 3.6))
    ends = []
    for (name, row), colour in zip(runs.items(), (figures.ORANGE, figures.BLUE), strict=True):
        rates = list(row)
        ax.plot(rates, [it.accuracy for it in row.values()], color=colour)
        for failed, marker in ((False, "o"), (True, "X")):
            chosen = [r for r in rates if row[r].failed == failed]
            ax.plot(chosen, [row[r].accuracy for r in chosen], marker, color=colour, markersize=8)
        ends.append(figures.end_of(rates, [it.accuracy for it in row.values()], name, colour))
    ax.set(xscale="log", xlabel="learning rate", ylabel="accuracy on the training rows (0: not finite)")
    ax.set_title("Which rates train?")
    figures.annotate(ax, ends, bottom=-0.03, top=1.03)
    return figures.figure_of(ax)
