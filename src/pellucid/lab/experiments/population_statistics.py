"""Statistics for prediction: those of the population against running averages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import Model, figures, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "population-statistics",
    "Statistics for prediction: of the population, or running averages",
    lectures=("notes", "waterloo", "kth", "cs231n"),
    topic="normalisation",
    claim="At test time batch normalisation uses μ = mean of the batches' means and σ² = B/(B − 1) times the mean of "
    "their variances (B rows in each), in practice running averages. The notes once write 1/(B − 1) for the factor; "
    "another lecture averages σ where it should be σ². The average of the means is the population's only for equal "
    "batches that cover the data once, with fixed weights; running averages mix statistics of weights that are gone.",
    setting="First fixed numbers, cut into equal batches. Then a network learns two rings for a few steps, with "
    "running averages of several momenta (the momentum is the weight of the newest batch); the exact statistics under "
    "the final weights come from `nn.population_statistics`.",
    criterion="The mean of equal batches' means is the population's (1e-12); over random batches B/(B − 1) times the "
    "mean variance is within 4 standard errors of the population's, and the printed factor 1/(B − 1) is more than 20 "
    "away; after training the stored means are off by more than 1 % of a deviation, whatever the momentum.",
    notice=(
        "A momentum that is too small has not forgotten its start at mean 0, variance 1; one that is too large follows "
        "the noise of single batches. After 50 steps 0.5 is the best of the three, after 300 steps 0.1.",
        "From 50 to 300 steps the gap falls with momenta 0.01 and 0.1, not with 0.5, whose gap is mostly noise. The "
        "mean over all batches never forgets the first ones: its gap grows.",
        "The shift is given in standard deviations of the population: 0.1 is harmless, 1 is not. The ratio of "
        "deviations is the larger one over the smaller, stored or exact.",
    ),
    further=(
        'lab.run("population-statistics", steps=10)',
        'lab.run("population-statistics", steps=300)',
        'lab.run("batch-means")',
        'lab.run("folding")',
    ),
    knobs={
        "steps": "of training",
        "batch_size": "rows of a batch",
        "momenta": "weights of the newest batch in running averages",
        "seed": "of data and weights",
    },
)
def population_statistics(
    steps: int = 50, batch_size: int = 10, momenta: tuple[float, ...] = (0.01, 0.1, 0.5), seed: int = 0
) -> Outcome:
    rng = np.random.default_rng(seed)
    z = rng.gamma(2.0, size=1200)
    B = batch_size
    batches = z[: 1200 // B * B].reshape(-1, B)
    mean_off = abs(float(batches.mean(1).mean() - batches.mean()))
    drawn = rng.choice(z, (20_000, B)).var(axis=1)
    estimates = {"B/(B − 1)": B / (B - 1), "1/(B − 1) (printed once)": 1 / (B - 1), "1 (biased)": 1.0}
    error = float(drawn.std() * B / (B - 1) / np.sqrt(len(drawn)))
    variance_off = {
        name: abs(factor * float(drawn.mean()) - float(z.var())) / error for name, factor in estimates.items()
    }

    X, y = rings(seed=seed)
    gaps, losses = {}, {}
    for momentum in momenta:
        gaps[f"running, momentum {momentum:g}"], losses[f"running, momentum {momentum:g}"], exact_loss = _train(
            nn.BatchNorm(momentum=momentum), X, y, steps, B, seed
        )
    gaps["mean over all batches"], losses["mean over all batches"], exact_loss = _train(
        nn.BatchNorm(average="cumulative"), X, y, steps, B, seed
    )
    losses["exact (population)"] = exact_loss
    passed = (
        mean_off < 1e-12
        and variance_off["B/(B − 1)"] < 4
        and variance_off["1/(B − 1) (printed once)"] > 20
        and all(shift > 0.01 for shift, _ in gaps.values())
    )
    worst = max(gaps, key=lambda name: gaps[name][0])
    return Outcome(
        passed,
        f"The mean of means is {mean_off:.1g} from the population's; the variance with B/(B − 1) is "
        f"{variance_off['B/(B − 1)']:.1f} standard errors off, with 1/(B − 1) "
        f"{variance_off['1/(B − 1) (printed once)']:.0f}. After {steps} steps the stored means are up to "
        f"{gaps[worst][0]:.2f} deviations from the exact ones ({worst}).",
        {"mean_off": mean_off, "variance_off": variance_off, "gaps": gaps, "losses": losses},
        (
            Beside("mean of the batches' means − population mean", 0, mean_off),
            *(
                Beside(f"variance with factor {name}", _of_all(z), float(factor * drawn.mean()))
                for name, factor in estimates.items()
            ),
            Beside("square of the mean σ (another lecture)", _of_all(z), float(np.sqrt(drawn).mean() ** 2)),
        ),
        (
            Table(
                "After training: how far stored statistics are from exact ones",
                ("statistics", "largest shift of a mean, in deviations", "largest ratio of deviations", "loss"),
                [
                    *((name, *gap, losses[name]) for name, gap in gaps.items()),
                    ("exact (population)", 0.0, 1.0, exact_loss),
                ],
            ),
        ),
        (
            Picture(
                "gaps",
                "Left: largest shift of a stored mean from the exact one, in deviations. Right: loss on the training "
                "rows when predicting with these statistics; the line is that of the exact ones.",
                lambda: _draw(gaps, losses),
            ),
        ),
    )


def _of_all(z: Any) -> str:
    return f"{z.var():.4g} (population)"


def _train(
    norm: nn.BatchNorm, X: Any, y: Any, steps: int, B: int, seed: int
) -> tuple[tuple[float, float], float, float]:
    """Largest shift and factor of the stored statistics; the loss with them, and with the exact ones."""
    net = nn.mlp((16, 16), 1, norm=norm, activation="tanh")
    model = Model(net, "binary_cross_entropy", optim.Adam(0.02), dtype="float64", engine="numpy")
    model.fit(X, y, steps=steps, batch_size=B, seed=seed, verbose=False)
    stored = nn.Variables(model.params, model.state)
    exact = nn.population_statistics(net, stored, np.split(X[: len(X) // B * B], len(X) // B))
    gaps = nn.statistics_gap(stored, exact)
    loss = model.evaluate(X, y)["loss"]
    model.state = exact.state
    gap = max(shift for shift, _ in gaps.values()), max(factor for _, factor in gaps.values())
    return gap, loss, model.evaluate(X, y)["loss"]


def _draw(gaps: dict[str, tuple[float, float]], losses: dict[str, float]) -> Figure:
    left, right = figures.grid(2, (4.6, 2.8), who="population-statistics")
    names = list(gaps)
    for ax, values, label in (
        (left, [gaps[name][0] for name in names], "largest shift of a mean, in deviations"),
        (right, [losses[name] for name in names], "loss on the training rows"),
    ):
        figures.plain(ax)
        ax.barh(range(len(names)), values, color=figures.BLUE, height=0.6)
        ax.set_yticks(range(len(names)), [name.replace("running, ", "") for name in names])
        ax.set(xlabel=label)
        ax.invert_yaxis()
    right.set_yticklabels([])
    right.axvline(losses["exact (population)"], color=figures.ORANGE, linewidth=2)
    left.set_title("Gap to the exact statistics")
    right.set_title("Loss with stored statistics (line: exact)")
    return figures.figure_of(left)
