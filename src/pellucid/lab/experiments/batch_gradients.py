"""The gradient of a mini-batch: right on average, with a variance of 1 over its size."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "batch-gradients",
    "A mini-batch's gradient is unbiased, its variance falls as 1/m",
    lectures=("waterloo", "notes"),
    topic="optimisation",
    claim="A step needs the gradient g of the mean loss over all data. A random mini-batch of m samples suffices: its "
    "gradient ĝ = (1/m) ∇ Σ L is g on average; there is a trade-off between variance and computation. In the notes "
    "the sum over the batch is missing once.",
    setting="Logistic regression. All batches of m out of 8 samples, one by one; then many batches of growing size "
    "drawn at random from many samples; and one step of descent on all data, on a batch, and on a single sample, by "
    "hand and by the engine.",
    criterion="The mean over all batches of a size is the full gradient to 1e-12; for random batches the mean is "
    "within four standard errors and the variance falls as m to the power of −1 (±0.05); all three steps agree to "
    "1e-12.",
    notice=(
        "A batch four times as large costs four times as much and halves the noise: the deviation is 1/√m.",
        "A single sample is a batch too: right on average, and very noisy.",
        "Batches without putting samples back have a little less variance; at m = n none.",
    ),
    further=(
        'lab.run("batch-gradients", draws=4000)',
        'lab.run("batch-gradients", rate=1.0)',
        'lab.run("losses")',
        'lab.run("stacked-updates")',
    ),
    knobs={"samples": "of the data", "draws": "batches of each size", "rate": "of the steps", "seed": "of everything"},
)
def batch_gradients(samples: int = 1000, draws: int = 2000, rate: float = 0.5, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(samples, 3)), np.ones(samples)])
    w = np.array([0.5, -1.0, 0.3, 0.1])
    y = (rng.uniform(size=samples) < 1 / (1 + np.exp(-X @ [1.0, 1.0, -1.0, 0.0]))).astype(float)
    single = X * (1 / (1 + np.exp(-X @ w)) - y)[:, None]  # the gradient of each sample: (p − y) x
    full = single.mean(axis=0)
    objective = nn.loss("binary_cross_entropy")
    engine = pel.grad(lambda w: objective((X @ w)[:, None], y[:, None]))(w)
    exact = float(np.abs(engine - full).max())

    few = single[:8]
    means = [np.mean([few[list(rows)].mean(axis=0) for rows in combinations(range(8), m)], axis=0) for m in range(1, 9)]
    unbiased = float(np.abs(np.array(means) - few.mean(axis=0)).max())
    sizes = (1, 2, 4, 8, 16, 32, 64)
    variance, off = [], []
    for m in sizes:
        estimates = single[rng.integers(0, samples, (draws, m))].mean(axis=1)
        variance.append(float(estimates.var(axis=0).sum()))
        off.append(float(np.abs((estimates.mean(axis=0) - full) / (estimates.std(axis=0) / np.sqrt(draws))).max()))
    exponent = float(np.polyfit(np.log(sizes), np.log(variance), 1)[0])
    theory = single.var(axis=0).sum() / np.array(sizes)
    amounts = {"all data": samples, "a batch of 32": 32, "one sample": 1}
    steps = {name: _step(X, y, w, rows, rate) for name, rows in amounts.items()}
    agree = max(float(np.abs(by_hand - engine).max()) for by_hand, engine in steps.values())
    return Outcome(
        max(exact, unbiased, agree) < 1e-12 and max(off) < 4 and abs(exponent + 1) < 0.05,
        f"Over all batches of 8 samples the mean is the full gradient to {unbiased:.1g}; drawn at random it is off by "
        f"at most {max(off):.1f} standard errors, and the variance falls as m^{exponent:.3f}; the steps "
        f"agree to {agree:.1g}.",
        {"unbiased": unbiased, "exponent": exponent, "variance": variance, "off": off, "steps_apart": agree},
        (),
        (
            Table(
                "Random batches",
                ("size m", "variance of ĝ", "variance of one sample / m", "mean off by, standard errors"),
                list(zip(sizes, variance, theory.tolist(), off, strict=True)),
            ),
            Table(
                "One step from the same weights",
                ("on", "w₁", "w₂", "w₃", "b"),
                [("before", *w), *((name, *by_hand) for name, (by_hand, _) in steps.items())],
            ),
        ),
        (
            Picture(
                "variance",
                "Left: first two components of gradients of batches of 1, 8 and 64 samples, around the full gradient "
                "(cross). Right: their variance against the size of the batch, and 1/m (line).",
                lambda: _draw(single, full, sizes, variance, theory, seed),
            ),
        ),
    )


def _step(X: Any, y: Any, w: Any, rows: int, rate: float) -> tuple[Any, Any]:
    """w − η (1/|B|) Σ_B ∇ on the first rows, sample by sample by hand and by the engine."""
    A, t = X[:rows], y[:rows]
    by_hand = w - rate * sum((1 / (1 + np.exp(-x @ w)) - y_i) * x for x, y_i in zip(A, t, strict=True)) / rows
    engine = w - rate * pel.grad(lambda w: nn.loss("binary_cross_entropy")((A @ w)[:, None], t[:, None]))(w)
    return by_hand, engine


def _draw(single: Any, full: Any, sizes: Any, variance: Any, theory: Any, seed: int) -> Figure:
    left, right = figures.grid(2, (4.5, 3.6), who="batch-gradients")
    figures.plain(left), figures.plain(right)
    rng = np.random.default_rng([seed, 1])
    for m, colour in ((1, figures.SKY), (8, figures.ORANGE), (64, figures.BLUE)):
        dots = single[rng.integers(0, len(single), (150, m))].mean(axis=1)
        left.plot(dots[:, 0], dots[:, 1], ".", color=colour, markersize=4, label=f"m = {m}")
    left.plot(*full[:2], "+", color=figures.INK, markersize=14, markeredgewidth=2.5)
    left.set(xlabel="∂/∂w₁", ylabel="∂/∂w₂", title="Gradients of batches")
    left.legend(frameon=False, markerscale=3)
    right.loglog(sizes, theory, color=figures.GREY, linewidth=1, label="variance of one sample / m")
    right.loglog(sizes, variance, "o", color=figures.BLUE, label="measured")
    right.set_xscale("log", base=2)
    right.set_xticks(sizes, [str(m) for m in sizes])
    right.set(xlabel="batch size m", ylabel="variance of ĝ (sum of components)", title="Variance falls as 1/m")
    right.legend(frameon=False)
    return figures.figure_of(left)
