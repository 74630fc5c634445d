"""Bishop's example: polynomials of degree 0 to 9 through ten noisy points."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.generalization import CurveFits, MoreData, curve_fits, more_data
from pellucid.lab.generalization_plots import plot_degrees, plot_fit, plot_more_data


@experiment(
    "polynomial-overfitting",
    "Polynomials through ten points: degree 3 fits, degree 9 overfits",
    lectures=("book",),
    topic="generalisation",
    claim="N = 10 points of sin(2πx) with noise, polynomials of degree M = 0 ... 9 (Bishop): M = 3 looks good, M = 9 "
    "overfits. With more data the overfitting becomes less severe.",
    setting="Least squares on 10 points; the root of the mean squared error (RMSE) on them and on 100 fresh points. "
    "Then degree 9 with 10 to 1,000 points, the median of many data sets.",
    criterion="At M = 9 the error on the ten points is 0 within 1e-9 and the error on fresh points at least 1.5 times "
    "that of M = 3; the training error never rises with M; with more points the test error of degree 9 falls at every "
    "step, to the noise within 0.02.",
    notice=(
        "Ten coefficients for ten points: the curve goes through all of them, and wild in between.",
        "Look at the coefficients of degree 9: thousands, with both signs, that nearly cancel.",
        "The errors on training rows and on fresh rows meet at the noise, 0.3: nothing predicts noise.",
    ),
    further=(
        'lab.run("polynomial-overfitting", seed=3)',
        'lab.run("polynomial-overfitting", noise=0.1)',
        'lab.run("bias-and-variance")',
    ),
    knobs={
        "seed": "of the ten points; 11 is a usual set",
        "noise": "deviation of the points from the curve",
        "repetitions": "data sets of each size in the second part",
    },
    full={"repetitions": 200},
)
def polynomial_overfitting(seed: int = 11, noise: float = 0.3, repetitions: int = 30) -> Outcome:
    fits = curve_fits(noise=noise, seed=seed)
    data = more_data(repetitions=repetitions)
    exact = fits.train[9] < 1e-9
    worse = fits.test[9] > 1.5 * fits.test[3]
    falling = bool(np.all(np.diff(fits.train) < 1e-12))
    helps = bool(np.all(np.diff(data.test) < 0)) and abs(data.test[-1] - 0.3) < 0.02
    return Outcome(
        exact and worse and falling and helps,
        f"On the ten points the error falls to {fits.train[9]:.0e} at degree 9; on fresh points it is "
        f"{fits.test[3]:.2f} at degree 3 and {fits.test[9]:.2f} at degree 9; with 1,000 points degree 9 has "
        f"{data.test[-1]:.3f}.",
        {"train": fits.train, "test": fits.test, "largest": fits.largest, "best": fits.best, "more_data": data.test},
        (
            Beside("training error at M = 9", 0, round(fits.train[9], 9)),
            Beside("degree that looks good", 3, fits.best),
        ),
        (
            Table(
                "RMSE, 10 points",
                ("degree M", "training", "fresh points", "largest coefficient"),
                [list(row) for row in zip(fits.degrees, fits.train, fits.test, fits.largest, strict=True)],
            ),
            Table(
                "RMSE of degree 9 with more points (medians)",
                ("points", "training", "fresh points"),
                [list(row) for row in zip(data.sizes, data.train, data.test, strict=True)],
            ),
        ),
        (
            Picture(
                "fits",
                "Fits of four degrees (orange), the ten points, and the curve behind them (green). Degree 0 and 1 miss "
                "it, degree 3 is near, degree 9 goes through every point.",
                lambda: _fits(fits),
            ),
            Picture(
                "errors",
                "Left the errors over the degree: on the ten points it only falls, on fresh points it rises again. "
                "Right degree 9 with more and more points.",
                lambda: _errors(fits, data),
            ),
        ),
    )


def _fits(fits: CurveFits) -> Any:
    axes = figures.grid(4, (2.4, 2.3), columns=4, who="polynomial-overfitting")
    for i, (ax, degree) in enumerate(zip(axes, (0, 1, 3, 9), strict=True)):
        plot_fit(fits, degree, ax)
        ax.set(xlabel="x", ylabel="" if i else "y")
    return figures.figure_of(axes)


def _errors(fits: CurveFits, data: MoreData) -> Any:
    left, right = figures.grid(2, (4.4, 3.3), columns=2, who="polynomial-overfitting")
    figures.plain(left)
    figures.plain(right)
    plot_degrees(fits, left)
    plot_more_data(data, right)
    return figures.figure_of(left)
