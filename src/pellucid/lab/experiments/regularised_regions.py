"""A hundred hidden units, and a ridge penalty from none to strong."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.regions import Plane, draw_regions, fit_plane, mean_of, moons

STRENGTHS = (0.0, 0.001, 0.01, 0.1)


@experiment(
    "regularised-regions",
    "A hundred hidden units with ridge penalties λ = 0, .001, .01, .1",
    lectures=("kth",),
    topic="generalisation",
    claim="With m = 100 hidden units, an L2 penalty of growing strength λ makes the boundary smoother.",
    setting="Two half moons that overlap, 100 points; one hidden layer of 100 ReLUs; the mean loss plus ½λ‖W‖² is made "
    "small. The lecture writes the sum over the points; λ here is per point, so that it does not depend on n.",
    criterion="From λ = 0 to 0.1 the norm of the weights and the gap between test loss and training loss both fall, as "
    "means over the seeds.",
    notice=(
        "The norm falls by far: large weights are what sharp corners are made of.",
        "The test loss is lowest in between: too strong a penalty underfits.",
        "The number of units is the same in all four pictures.",
    ),
    further=(
        'lab.run("regularised-regions", units=20)',
        'lab.run("regularised-regions", full=True)',
        'lab.run("size-or-regularisation")',
    ),
    knobs={
        "units": "of the hidden layer",
        "seeds": "how many data sets and random starts",
        "epochs": "of training",
        "noise": "deviation of the points from the half moons",
    },
    full={"seeds": 10, "epochs": 3000},
)
def regularised_regions(units: int = 100, seeds: int = 3, epochs: int = 800, noise: float = 0.3) -> Outcome:
    fits: dict[float, list[Plane]] = {strength: [] for strength in STRENGTHS}
    for seed in range(seeds):
        X, y = moons(100, noise, seed)
        test = moons(2000, noise, seed + 1000)
        for strength in STRENGTHS:
            fits[strength].append(fit_plane(units, X, y, test, strength=strength, epochs=epochs, seed=seed))
    norms = [mean_of(fits[strength], "norm") for strength in STRENGTHS]
    gaps = [mean_of(fits[strength], "gap") for strength in STRENGTHS]
    falling = bool(np.all(np.diff(norms) < 0) and np.all(np.diff(gaps) < 0))
    return Outcome(
        falling,
        f"From λ = 0 to 0.1 the norm of the weights goes from {norms[0]:.1f} to {norms[-1]:.1f} and the gap from "
        f"{gaps[0]:.2f} to {gaps[-1]:.3f}, with every step down.",
        {"norms": norms, "gaps": gaps, "test_loss": [mean_of(fits[s], "test_loss") for s in STRENGTHS]},
        (),
        (
            Table(
                f"Means over {seeds} data sets",
                ("λ", "norm of weights", "training loss", "test loss", "gap", "wrong of test"),
                [
                    [
                        f"{s:g}",
                        *(mean_of(fits[s], what) for what in ("norm", "train_loss", "test_loss", "gap")),
                        f"{mean_of(fits[s], 'test_error'):.1%}",
                    ]
                    for s in STRENGTHS
                ],
            ),
        ),
        (
            Picture(
                "gallery",
                "The same points and the same start with four penalties: islands vanish, then corners, then bends.",
                lambda: _gallery([fits[s][0] for s in STRENGTHS], noise),
            ),
            Picture(
                "measures",
                "Norm of the weights and gap (test loss - training loss) over λ: both fall with every step.",
                lambda: _measures(norms, gaps),
            ),
        ),
    )


def _gallery(fits: list[Plane], noise: float) -> Any:
    axes = figures.grid(len(fits), (2.5, 2.5), columns=4, who="regularised-regions")
    X, y = moons(100, noise, 0)
    for i, (ax, fit) in enumerate(zip(axes, fits, strict=True)):
        draw_regions(ax, fit, X, y)
        ax.set(title=f"λ = {fit.strength:g}", ylabel="" if i else "$x_2$")
    return figures.figure_of(axes)


def _measures(norms: list[float], gaps: list[float]) -> Any:
    axes = figures.grid(2, (3.6, 2.8), columns=2, who="regularised-regions")
    places = np.arange(len(STRENGTHS))
    for ax, values, name, colour in zip(axes, (norms, gaps), ("norm of weights", "gap"), figures.COLOURS, strict=False):
        figures.plain(ax).plot(places, values, "o-", color=colour)
        ax.set_xticks(places, [f"{s:g}" for s in STRENGTHS])
        ax.set(xlabel="strength λ", ylabel=name, ylim=(0, None))
    return figures.figure_of(axes)
