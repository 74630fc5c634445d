"""Bias and variance: the error of polynomials, taken apart; and how to read it from two errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.generalization import NOISE, BySize, bias_variance_by_size
from pellucid.lab.generalization_plots import plot_by_size


@experiment(
    "bias-and-variance",
    "Bias and variance: the error taken apart",
    lectures=("book",),
    topic="generalisation",
    claim="The expected squared error is variance + bias² + noise. (The mean is over training sets and over the noise "
    "of the new target, which must be independent; the lecture writes the training sets only.) Bias is related to the "
    "training error, variance to the difference between test and training error.",
    setting="Polynomials of degree 0 to 9 through 12 noisy points of sin(2πx), on many training sets; the error is "
    "measured apart, on targets with fresh noise.",
    criterion="For every degree the three parts add up to the measured error within four standard errors; bias² of the "
    "smallest degree and variance of the largest are the largest; the gap between test and training error grows with "
    "the variance (rank correlation above 0.9).",
    notice=(
        "High training error, small gap: bias. Low training error, large gap: variance.",
        "The measured error is lowest in between, where neither is large.",
        "Degree 2 is no better than degree 1: the curve is odd around its middle, and the square does not help.",
    ),
    further=(
        'lab.run("bias-and-variance", rows=100)',
        'lab.run("bias-and-variance", full=True)',
        'lab.run("polynomial-overfitting")',
    ),
    knobs={
        "rows": "points of a training set, at least 11",
        "repetitions": "training sets",
        "noise": "deviation of the targets",
        "seed": "of the training sets",
    },
    full={"repetitions": 1000},
)
def bias_and_variance(rows: int = 12, repetitions: int = 120, noise: float = NOISE, seed: int = 0) -> Outcome:
    by_size = bias_variance_by_size(n=rows, repetitions=repetitions, noise=noise, seed=seed)
    parts = by_size.parts
    off = [
        abs(p.total - p.mse) / np.hypot(np.hypot(p.variance_error, p.bias_squared_error), p.mse_error) for p in parts
    ]
    gaps = np.array([p.mse for p in parts]) - by_size.train
    variances = np.array([p.variance for p in parts])
    order = float(np.corrcoef(np.argsort(np.argsort(gaps)), np.argsort(np.argsort(variances)))[0, 1])
    ends = parts[0].bias_squared == max(p.bias_squared for p in parts) and parts[-1].variance == variances.max()
    return Outcome(
        bool(max(off) < 4 and ends and order > 0.9),
        f"The parts add up to the measured error within {max(off):.1f} standard errors for all ten degrees; the best "
        f"is degree {by_size.best}; bias² is {parts[0].bias_squared:.2f} at degree 0 and variance "
        f"{parts[-1].variance:.2f} at degree 9.",
        {
            "bias_squared": [p.bias_squared for p in parts],
            "variance": variances,
            "mse": [p.mse for p in parts],
            "train": by_size.train,
            "best": by_size.best,
            "deviations": off,
        },
        (),
        (
            Table(
                f"{repetitions} training sets of {rows} points",
                ("degree", "bias²", "variance", "noise", "their sum", "measured", "training", "gap", "reads as"),
                [
                    [
                        size,
                        max(p.bias_squared, 0.0),
                        p.variance,
                        p.noise,
                        p.total,
                        p.mse,
                        train,
                        float(gap),
                        _reading(train, float(gap), noise),
                    ]
                    for size, p, train, gap in zip(by_size.sizes, parts, by_size.train, gaps, strict=True)
                ],
            ),
        ),
        (
            Picture(
                "parts",
                "Noise, variance and bias², stacked, for each degree; the dots are the error as measured, with its "
                "standard error; the triangles the error on training rows.",
                lambda: _parts(by_size),
            ),
        ),
    )


def _reading(train: float, gap: float, noise: float) -> str:
    """What training error and gap say, compared with the noise that nobody can predict."""
    if train > 1.5 * noise**2:
        return "high bias"
    return "high variance" if gap > noise**2 else "fine"


def _parts(by_size: BySize) -> Any:
    return figures.figure_of(plot_by_size(by_size))
