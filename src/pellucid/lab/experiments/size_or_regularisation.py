"""Small, or big, or big and regularised: which network is best on fresh points?"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.regions import Plane, fit_plane, mean_of, moons


@experiment(
    "size-or-regularisation",
    "Small, big, or big and regularised",
    lectures=("kth",),
    topic="generalisation",
    claim="Do not use the size of a network as a regulariser; use stronger regularisation. Big and regularised beats "
    "both a small model and a big one without.",
    setting="Half moons that overlap, 100 points to train on and 2,000 to test; networks with 3 hidden units, with "
    "100, and with 100 and a ridge penalty. Several data sets, each with its own random start.",
    criterion="On average over the data sets the big regularised network has the smallest test loss and the smallest "
    "test error of the three, and beats each of the others in pairs of the same data by two standard errors of the "
    "loss.",
    notice=(
        "The small network depends on its start: now and then it is stuck with a poor boundary, and the spread shows "
        "it.",
        "The big one without penalty is sure of itself where it is wrong: its loss is worse than its error tells.",
        "With too strong a penalty (try 0.05) the big network underfits, and loses.",
        "A small network limits what can be drawn at all; a penalty limits how sharply it is drawn.",
    ),
    further=(
        'lab.run("size-or-regularisation", small=10)',
        'lab.run("size-or-regularisation", strength=0.05)',
        'lab.run("size-or-regularisation", full=True)',
    ),
    knobs={
        "small": "hidden units of the small network",
        "big": "hidden units of the big one",
        "strength": "λ of the penalty",
        "seeds": "how many data sets",
        "epochs": "of training",
    },
    full={"seeds": 30, "epochs": 2000},
)
def size_or_regularisation(
    small: int = 3, big: int = 100, strength: float = 0.002, seeds: int = 8, epochs: int = 600
) -> Outcome:
    ways = {"small": (small, 0.0), "big": (big, 0.0), "big and regularised": (big, strength)}
    fits: dict[str, list[Plane]] = {name: [] for name in ways}
    for seed in range(seeds):
        X, y = moons(100, 0.3, seed)
        test = moons(2000, 0.3, seed + 1000)
        for name, (units, penalty) in ways.items():
            fits[name].append(fit_plane(units, X, y, test, strength=penalty, epochs=epochs, seed=seed))
    losses = {name: np.array([fit.test_loss for fit in every]) for name, every in fits.items()}
    errors = {name: np.array([fit.test_error for fit in every]) for name, every in fits.items()}
    best = "big and regularised"
    margins = {}
    for name in ("small", "big"):
        fall = losses[name] - losses[best]
        margins[name] = float(fall.mean() / (fall.std(ddof=1) / np.sqrt(seeds)))
    smallest = all(losses[best].mean() < losses[n].mean() and errors[best].mean() < errors[n].mean() for n in margins)
    return Outcome(
        bool(smallest and min(margins.values()) > 2),
        f"Test errors: {errors['small'].mean():.1%} small, {errors['big'].mean():.1%} big, {errors[best].mean():.1%} "
        f"big and regularised; the loss of the last is lower by {margins['small']:.1f} and {margins['big']:.1f} "
        "standard errors.",
        {"test_loss": losses, "test_error": errors, "margins": margins},
        (),
        (
            Table(
                f"Means over {seeds} data sets",
                ("network", "hidden units", "λ", "training loss", "test loss", "test error"),
                [
                    [
                        name,
                        units,
                        f"{penalty:g}",
                        mean_of(fits[name], "train_loss"),
                        _plus(losses[name], ".3f"),
                        _plus(errors[name], ".1%"),
                    ]
                    for name, (units, penalty) in ways.items()
                ],
            ),
        ),
        (
            Picture(
                "errors",
                "Test loss and test error of each data set (small marks) and their mean (large). The lines join the "
                "networks of one data set.",
                lambda: _errors(losses, errors),
            ),
        ),
    )


def _plus(values: Any, form: str) -> str:
    """Mean ± standard error."""
    return f"{values.mean():{form}} ± {values.std(ddof=1) / np.sqrt(len(values)):{form}}"


def _errors(losses: dict[str, Any], errors: dict[str, Any]) -> Any:
    axes = figures.grid(2, (3.8, 3.2), columns=2, who="size-or-regularisation")
    names = [name.replace(" and ", "\nand ") for name in losses]
    for ax, values, label in zip(axes, (losses, errors), ("test loss", "test error"), strict=True):
        figures.plain(ax)
        table = np.stack(list(values.values()))
        ax.plot(np.arange(3), table, color="0.8", lw=0.8)
        for i, (row, colour) in enumerate(zip(table, figures.COLOURS, strict=False)):
            ax.plot(np.full(len(row), i), row, "o", color=colour, ms=4, mfc="none")
            ax.plot(i, row.mean(), "D", color=colour, ms=9)
        ax.set_xticks(range(3), names)
        ax.set(xlabel="network", ylabel=label, xlim=(-0.4, 2.4), ylim=(0, None))
    return figures.figure_of(axes)
