"""Decision regions of networks with 3, 20, 30 and 100 hidden units, from two random starts each."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.regions import Plane, draw_regions, fit_plane, moons

UNITS = (3, 20, 30, 100)


@experiment(
    "decision-regions",
    "Decision regions with 3, 20, 30 and 100 hidden units",
    lectures=("kth",),
    topic="generalisation",
    claim="With more hidden units a network draws more complicated boundaries (without regularisation). The result "
    "depends on the random initialisation of the parameters.",
    setting="Two half moons that overlap, 100 points; networks with one hidden layer of m ReLUs and no penalty, each "
    "trained from two random starts.",
    criterion="The same seed gives the same picture to the bit; two starts give different pictures for every m; the "
    "training loss falls from m = 3 to m = 100 for both starts, while the test loss of m = 100 is higher than of m = "
    "3.",
    notice=(
        "Three units can bend the boundary three times. A hundred draw islands around single points.",
        "Two starts of the small network may find different bends; two starts of the large one agree where there "
        "are points, and differ where there are none.",
        "With more points, or less noise, the large network no longer overfits: the criterion is then not met.",
        "A smaller training loss is not a better network: see the losses on fresh points.",
    ),
    further=(
        'lab.run("decision-regions", points=400)',
        'lab.run("decision-regions", noise=0.15)',
        'lab.run("regularised-regions")',
    ),
    knobs={
        "points": "to train on",
        "noise": "deviation of the points from the half moons",
        "epochs": "of training",
        "seed": "of the points",
    },
    full={"epochs": 5000},
)
def decision_regions(points: int = 100, noise: float = 0.3, epochs: int = 1000, seed: int = 0) -> Outcome:
    X, y = moons(points, noise, seed)
    test = moons(2000, noise, seed + 1000)
    fits = {(start, m): fit_plane(m, X, y, test, epochs=epochs, seed=start) for start in (0, 1) for m in UNITS}
    again = fit_plane(UNITS[1], X, y, test, epochs=epochs, seed=0)
    same = bool(np.array_equal(again.picture(X), fits[0, UNITS[1]].picture(X)))
    other = {m: _share(fits[0, m], fits[1, m], X) for m in UNITS}
    fitted = all(fits[start, 3].train_loss > fits[start, 100].train_loss for start in (0, 1))
    overfitted = np.mean([fits[s, 100].test_loss for s in (0, 1)]) > np.mean([fits[s, 3].test_loss for s in (0, 1)])
    return Outcome(
        bool(same and min(other.values()) > 0 and fitted and overfitted),
        f"The same seed gives the same picture; two starts disagree on {min(other.values()):.1%} to "
        f"{max(other.values()):.1%} of the plane; the training loss falls from {fits[0, 3].train_loss:.2f} (m = 3) to "
        f"{fits[0, 100].train_loss:.2f} (m = 100), and the test loss goes from {fits[0, 3].test_loss:.2f} to "
        f"{fits[0, 100].test_loss:.2f}.",
        {
            "same": same,
            "disagreement": other,
            "train_loss": {key: fit.train_loss for key, fit in fits.items()},
            "test_loss": {key: fit.test_loss for key, fit in fits.items()},
        },
        (),
        (
            Table(
                "Losses and errors",
                ("start", "m", "training loss", "test loss", "wrong of training", "wrong of test"),
                [
                    [start + 1, m, fit.train_loss, fit.test_loss, f"{fit.train_error:.1%}", f"{fit.test_error:.1%}"]
                    for (start, m), fit in fits.items()
                ],
            ),
        ),
        (
            Picture(
                "gallery",
                "One column for each number m of hidden units, one row for each random start. Colours are "
                "probabilities, the line is where both classes are equally likely.",
                lambda: _gallery(fits, X, y),
            ),
        ),
    )


def _share(one: Plane, other: Plane, X: Any) -> float:
    """Of the plane, where two networks decide differently."""
    return float(np.mean((one.picture(X) > 0.5) != (other.picture(X) > 0.5)))


def _gallery(fits: dict[tuple[int, int], Plane], X: Any, y: Any) -> Any:
    axes = figures.grid(len(fits), (2.5, 2.3), columns=4, who="decision-regions")
    for i, (ax, ((start, m), fit)) in enumerate(zip(axes, fits.items(), strict=True)):
        draw_regions(ax, fit, X, y)
        ax.set(title=f"m = {m}" if start == 0 else "", xlabel="$x_1$" if start else "")
        ax.set_ylabel("" if i % 4 else f"start {start + 1}\n$x_2$")
    return figures.figure_of(axes)
