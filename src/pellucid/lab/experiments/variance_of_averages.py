"""The variance of an average of correlated predictions, and what averaging leaves alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.estimators.ensembles.spread import variance_of_average
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.generalization import NOISE, PolynomialRegressor, curve, points

MEMBERS = (1, 2, 5, 10, 20, 50)
CORRELATIONS = (0.0, 0.2, 0.5, 0.9)


@experiment(
    "variance-of-averages",
    "Averaging B correlated models: less variance, the same bias",
    lectures=("book",),
    topic="ensembles",
    claim="B predictions with mean μ, variance σ² and correlation ρ have an average with mean μ and variance "
    "(1 - ρ)σ²/B + ρσ²: model averaging does not affect bias but reduces variance.",
    setting="Normal predictions with μ = 1, σ² = 4 and four correlations are drawn and averaged. Then polynomials of "
    "degree 1 (too simple) and 9 (too flexible) are fitted to training sets of their own, and averaged by tens.",
    criterion="Every simulated variance is within five standard errors of the formula and every mean within five of "
    "μ; the bias² of averaged polynomials is that of single ones within 0.01, their variance a tenth within 20 %.",
    notice=(
        "More members do not help below ρσ²: what all share, no average removes. That is why members should differ.",
        "Averaging does not help a model that is too simple: its error is bias.",
        "Here each polynomial has a training set of its own, so ρ = 0. Bootstrap samples overlap, and their ρ is above "
        "0.",
    ),
    further=(
        'lab.run("variance-of-averages", draws=200000)',
        'lab.run("bagging")',
        'lab.run("bias-and-variance")',
    ),
    knobs={
        "draws": "repetitions of each average",
        "repetitions": "averages of ten polynomials",
        "seed": "of all draws",
    },
)
def variance_of_averages(draws: int = 20000, repetitions: int = 200, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    mu, sigma2 = 1.0, 4.0
    variances, off = np.zeros((len(CORRELATIONS), len(MEMBERS))), []
    for i, rho in enumerate(CORRELATIONS):
        shared = rng.normal(size=(draws, 1))
        own = rng.normal(size=(draws, max(MEMBERS)))
        predictions = mu + np.sqrt(sigma2) * (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own)
        for j, members in enumerate(MEMBERS):
            averages = predictions[:, :members].mean(axis=1)
            expected = variance_of_average(sigma2, rho, members)
            variances[i, j] = averages.var(ddof=1)
            off.append(abs(variances[i, j] - expected) / (expected * np.sqrt(2 / draws)))
            off.append(abs(averages.mean() - mu) / np.sqrt(expected / draws))
    parts = {degree: _polynomials(degree, repetitions, rng) for degree in (1, 9)}
    unbiased = all(abs(one[0] - ten[0]) < 0.01 for one, ten in parts.values())
    ratios = {degree: ten[1] / one[1] for degree, (one, ten) in parts.items()}
    return Outcome(
        bool(max(off) < 5 and unbiased and all(abs(10 * r - 1) < 0.2 for r in ratios.values())),
        f"{len(off) // 2} variances and means are within {max(off):.1f} standard errors of the formula; averaging ten "
        f"polynomials leaves bias² as it was ({parts[1][0][0]:.3f} and {parts[1][1][0]:.3f} for degree 1) and takes "
        f"the variance to {ratios[1]:.3f} and {ratios[9]:.3f} of it.",
        {"variances": variances, "largest_deviation": float(max(off)), "polynomials": parts},
        tuple(
            Beside(
                f"variance of the average of {b}, ρ = {rho:g}",
                variance_of_average(sigma2, rho, b),
                float(variances[i, MEMBERS.index(b)]),
            )
            for i, rho in enumerate(CORRELATIONS)
            for b in (10,)
        ),
        (
            Table(
                "Polynomials on training sets of their own",
                ("degree", "average of", "bias²", "variance"),
                [[d, n, *pair] for d, both in parts.items() for n, pair in zip((1, 10), both, strict=True)],
            ),
        ),
        (
            Picture(
                "variance",
                "Variance of the average over the number of members: points are simulated, lines the formula, dashes "
                "the limit ρσ² that no number of members can pass.",
                lambda: _draw(variances, sigma2),
            ),
        ),
    )


def _polynomials(
    degree: int, repetitions: int, rng: np.random.Generator
) -> tuple[tuple[float, float], tuple[float, float]]:
    """(bias², variance) of single fits, and of averages of ten."""
    x = np.linspace(0.0, 1.0, 51)[:, None]
    fits = []
    for _ in range(10 * repetitions):
        inputs, y = points(20, NOISE, rng)
        fits.append(PolynomialRegressor(degree).fit(inputs[:, None], y).predict(x))
    single = np.stack(fits)
    both = (single, single.reshape(repetitions, 10, -1).mean(axis=1))
    one, ten = (
        (float(np.mean((p.mean(axis=0) - curve(x[:, 0])) ** 2)), float(p.var(axis=0, ddof=1).mean())) for p in both
    )
    return one, ten


def _draw(variances: Any, sigma2: float) -> Any:
    ax = figures.axes(size=(6.8, 4.0))
    b = np.geomspace(1, max(MEMBERS), 60)
    ends = []
    for i, (rho, colour, mark) in enumerate(zip(CORRELATIONS, figures.COLOURS, figures.MARKERS, strict=False)):
        line = (1 - rho) * sigma2 / b + rho * sigma2
        ax.plot(b, line, color=colour, lw=1.3)
        ax.axhline(rho * sigma2, color=colour, lw=0.8, ls=":")
        ax.plot(MEMBERS, variances[i], mark, color=colour, ms=6)
        ends.append(figures.end_of(b, line, f"ρ = {rho:g}", colour))
    ax.set(xscale="log", xlabel="members B", ylabel="variance of the average", title="σ² = 4")
    ax.set_xticks(MEMBERS, [str(m) for m in MEMBERS])
    ax.minorticks_off()
    figures.annotate(ax, ends, bottom=-0.1)
    return figures.figure_of(ax)
