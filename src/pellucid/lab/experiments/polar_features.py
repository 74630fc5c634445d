"""Rings in polar coordinates: a linear classifier is enough."""

from __future__ import annotations

from pellucid import figures, lab
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.generalization_plots import plot_polar
from pellucid.lab.normalization import rings
from pellucid.lab.preprocessing import polar, polar_rings


@experiment(
    "polar-features",
    "Rings in polar coordinates: a line is enough",
    lectures=("cs231n",),
    topic="data",
    claim="A linear classifier cannot separate red points from blue ones around them; after the map f(x, y) = (r, θ), "
    "radius and angle, it can.",
    setting="Two rings of points, one around the other, with some noise. A logistic model on (x, y), the same on (r, "
    "θ), each scored on fresh points. A linear program looks for a line that makes no error, on rings without noise.",
    criterion="On (x, y) the linear model is right for less than 65 % of fresh points, on (r, θ) for more than 97 %; "
    "the linear program finds no line for the clean rings in the plane and one after the map.",
    notice=(
        "The map is made by hand, by someone who knows the answer. A network learns a map of this kind by itself.",
        "The line on the right stands almost upright: the angle tells nothing about the class.",
        "The few errors on the right are points where the noise makes the rings overlap.",
    ),
    further=(
        'lab.run("polar-features", seed=3)',
        'lab.run("polar-features", points=2000)',
        'lab.run("xor")',
    ),
    knobs={"points": "of the two rings", "seed": "of the points"},
)
def polar_features(points: int = 300, seed: int = 0) -> Outcome:
    both = polar_rings(points, seed)
    X, y = rings(points, seed)
    radius = polar(X)[:, 0]
    clean = ((radius < 1.3) & (y == 0)) | ((radius > 1.9) & (y == 1))
    signs = 2 * y[clean] - 1
    line, after = lab.separate(X[clean], signs), lab.separate(polar(X[clean]), signs)

    passed = both.accuracy < 0.65 and both.polar_accuracy > 0.97 and not line.separable and after.separable
    return Outcome(
        passed,
        f"A line is right for {both.accuracy:.1%} of fresh points in the plane and for {both.polar_accuracy:.1%} in "
        f"polar coordinates, where it stands at r = {both.radius:.2f}; for {int(clean.sum())} points without noise no "
        "line separates before the map, and one does after it.",
        {
            "accuracy": both.accuracy,
            "polar_accuracy": both.polar_accuracy,
            "radius": both.radius,
            "separable": (line.separable, after.separable),
        },
        (),
        (
            Table(
                "A linear classifier",
                ("features", "accuracy on fresh points", "separates clean rings"),
                [("(x, y)", both.accuracy, line.separable), ("(r, θ)", both.polar_accuracy, after.separable)],
            ),
        ),
        (
            Picture(
                "rings",
                "Left: the rings in the plane, where no line will do. Right: the same points as radius and angle, with "
                "the line of the linear model.",
                lambda: figures.figure_of(plot_polar(both)),
            ),
        ),
    )
