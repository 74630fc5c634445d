"""The mean of a mini-batch is a random number: its distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "batch-means",
    "Mean and variance of a mini-batch are random numbers",
    lectures=("notes",),
    topic="normalisation",
    claim="A mini-batch is a random sample, so μ_B and σ²_B are random variables with sampling distributions. The mean "
    "of μ_B is the population's, its variance σ²/B; σ²_B is biased by (B − 1)/B, which the factor B/(B − 1) mends.",
    setting="A population of activations that is not normal at all (a ReLU of shifted normal numbers). Many batches "
    "are drawn with replacement for several batch sizes B.",
    criterion="For each B the mean of μ_B is within 4 standard errors of μ, its deviation within 5 % of σ/√B, and the "
    "mean of B/(B − 1)·σ²_B within 4 standard errors of σ², from which the biased σ²_B is at least 10 away at B = 4. "
    "For the largest B, μ_B is normal: largest distance of the distribution functions below 0.03.",
    notice=(
        "The population has a spike at 0, yet means of 64 are normal already: the central limit theorem.",
        "A batch four times as large halves the noise of its mean.",
        "This noise is what acts as a slight regularisation in training.",
    ),
    further=(
        'lab.run("batch-means", sizes=(2, 8, 512))',
        'lab.run("population-statistics")',
        'lab.run("batch-sizes")',
    ),
    knobs={"sizes": "of the batches", "batches": "drawn for each size", "seed": "of population and batches"},
    full={"batches": 50_000},
)
def batch_means(sizes: tuple[int, ...] = (4, 16, 64), batches: int = 5000, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    population = np.maximum(rng.normal(0.3, 1.0, 20_000), 0.0)
    mu, variance = float(population.mean()), float(population.var())
    means, rows, fine = {}, [], True
    for B in sizes:
        draws = rng.choice(population, (batches, B))
        means[B], biased = draws.mean(1), draws.var(1)
        unbiased = B / (B - 1) * biased
        error_mean, error_var = (float(x.std() / np.sqrt(batches)) for x in (means[B], unbiased))
        off_mean = abs(float(means[B].mean()) - mu) / error_mean
        off_var, off_biased = (abs(float(x.mean()) - variance) / error_var for x in (unbiased, biased))
        ratio = float(means[B].std() / np.sqrt(variance / B))
        fine = fine and off_mean < 4 and abs(ratio - 1) < 0.05 and off_var < 4 and (B != 4 or off_biased > 10)
        rows.append(
            (
                B,
                float(means[B].mean()),
                float(means[B].std()),
                float(np.sqrt(variance / B)),
                *map(float, (biased.mean(), unbiased.mean())),
            )
        )
    distance = _distance(means[sizes[-1]], mu, float(np.sqrt(variance / sizes[-1])))
    passed = fine and (sizes[-1] < 64 or distance < 0.03)
    return Outcome(
        passed,
        f"Deviations of μ_B are {', '.join(f'{row[2]:.4f}' for row in rows)} for B = {', '.join(map(str, sizes))} "
        f"against σ/√B = {', '.join(f'{row[3]:.4f}' for row in rows)}; at B = {sizes[-1]} the distance to the normal "
        f"distribution is {distance:.3f}.",
        {"mu": mu, "variance": variance, "rows": rows, "distance": distance},
        tuple(
            Beside(f"B = {B}: {what}", lecture, ours)
            for B, mean, std, theory, _, unbiased_mean in rows
            for what, lecture, ours in (
                ("mean of μ_B", mu, mean),
                ("deviation of μ_B", theory, std),
                ("mean of B/(B − 1)·σ²_B", variance, unbiased_mean),
            )
        ),
        (
            Table(
                f"Over {batches:,} batches; the population has mean {mu:.4f} and variance {variance:.4f}",
                ("B", "mean of μ_B", "its deviation", "σ/√B", "mean of σ²_B", "times B/(B − 1)"),
                rows,
            ),
        ),
        (
            Picture(
                "means",
                "Bars: means of batches. Curve: the normal density N(μ, σ²/B). It narrows with the batch size, and "
                "fits the better the larger B.",
                lambda: _draw(means, mu, variance),
            ),
        ),
    )


def _distance(values: Any, mu: float, deviation: float) -> float:
    """The largest distance of the distribution of values from a normal one (Kolmogorov and Smirnov)."""
    from scipy.special import ndtr

    ordered = ndtr((np.sort(values) - mu) / deviation)
    n = len(ordered)
    return float(max(np.max(np.arange(1, n + 1) / n - ordered), np.max(ordered - np.arange(n) / n)))


def _draw(means: dict[int, Any], mu: float, variance: float) -> Figure:
    axes = figures.grid(len(means), (3.2, 3.0), who="batch-means", columns=3)
    wide = 3.5 * np.sqrt(variance / min(means))
    at = np.linspace(max(mu - wide, 0.0), mu + wide, 400)
    for ax, (B, values) in zip(axes, means.items(), strict=True):
        figures.plain(ax)
        ax.hist(values, 40, density=True, color=figures.SKY)
        s = np.sqrt(variance / B)
        ax.plot(at, np.exp(-(((at - mu) / s) ** 2) / 2) / (s * np.sqrt(2 * np.pi)), color=figures.ORANGE, linewidth=2)
        ax.set(title=f"B = {B}", xlabel="mean of a batch", xlim=(at[0], at[-1]))
    axes[0].set_ylabel("density")
    return figures.figure_of(axes)
