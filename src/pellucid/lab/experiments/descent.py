"""Gradient descent with all rows, with one row, with a few: one step each by hand, and what a few cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import Model, figures, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
Y = np.array([1.0, 2.0, 0.0, 1.0])
START = np.array([1.0, -1.0])
WAYS = {"full batch": 4, "single sample": 1, "mini-batch of 2": 2}


def gradient(w: Any, x: Any, y: Any) -> Any:
    """Of the mean of (w·x - y)² over the given rows: the mean of 2 (w·x - y) x."""
    return np.mean(2 * (x @ w - y)[:, None] * x, axis=0)


def trained(rate: float, rows: int) -> Any:
    """The weights after one step of the library's training loop on the first so many rows."""
    model = Model(nn.Sequential(("out", nn.Dense(1, bias=None))), "squared_error", optim.SGD(rate), dtype="float64")
    model.initialize(2)
    model.params = {"out.weight": START[:, None].copy()}
    model.fit(X, Y, steps=1, batch_size=rows, shuffle=False, verbose=False)
    return model.params["out.weight"][:, 0]


@experiment(
    "descent",
    "Full batch, single sample, mini-batch: one step each, and their noise",
    lectures=("waterloo", "notes"),
    topic="optimisation",
    claim="Gradient descent needs all n rows for a step. A random mini-batch B suffices: its mean gradient is right on "
    "average. There is a trade-off between variance and computation.",
    setting="Four rows and a model with two weights: one step of each kind by hand and by the training loop. Then a "
    "linear regression with 512 rows: at one point the gradient is estimated from random batches of many sizes.",
    criterion="Hand and loop agree to 12 digits. The mean over batches is the full gradient within four standard "
    "errors. The variance falls as 1/|B|: the slope on logarithmic scales is -1 within 0.05.",
    notice=(
        "Four times the rows for a step give a quarter of the variance, so half of the deviation.",
        "Batches drawn without repeating a row have (n - |B|)/(n - 1) of that variance: none at all for |B| = n.",
        "For the same number of rows looked at, small batches make many cheap noisy steps, large ones few exact ones.",
    ),
    further=(
        'lab.run("descent", rate=0.05)',
        'lab.run("descent", draws=20000)',
        'lab.run("descent", seed=1)',
    ),
    knobs={
        "rate": "the learning rate η of the single steps",
        "draws": "random batches of each size",
        "seed": "of the data and the batches",
    },
    full={"draws": 20000},
)
def descent(rate: float = 0.1, draws: int = 3000, seed: int = 0) -> Outcome:
    steps = {name: START - rate * gradient(START, X[:rows], Y[:rows]) for name, rows in WAYS.items()}
    apart = max(float(np.abs(trained(rate, rows) - steps[name]).max()) for name, rows in WAYS.items())

    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(512, 5))
    targets = rows @ rng.normal(size=5) + rng.normal(size=512)
    w = np.zeros(5)
    each = 2 * (rows @ w - targets)[:, None] * rows  # the gradient of every row
    whole, spread = each.mean(axis=0), float(each.var(axis=0).sum())
    sizes = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256])
    variances, without, deviations = [], [], []
    for size in sizes:
        drawn = each[rng.integers(0, len(rows), (draws, size))].mean(axis=1)
        distinct = each[np.argsort(rng.random((draws // 3, len(rows))), axis=1)[:, :size]].mean(axis=1)
        variances.append(float(drawn.var(axis=0).sum()))
        without.append(float(distinct.var(axis=0).sum()))
        deviations.append(float(np.max(np.abs(drawn.mean(axis=0) - whole) / (drawn.std(axis=0) / np.sqrt(draws)))))
    slope = float(np.polyfit(np.log(sizes), np.log(variances), 1)[0])
    paths = {name: _path(each_rows, rate, rng) for name, each_rows in WAYS.items()}

    return Outcome(
        apart < 1e-12 and max(deviations) < 4 and abs(slope + 1) < 0.05,
        f"Hand and loop differ by {apart:.0e} at most; the variance of a mini-batch gradient falls as |B| to the power "
        f"{slope:.3f}, and its mean is at most {max(deviations):.1f} standard errors from the full gradient.",
        {"steps": steps, "difference": apart, "sizes": sizes, "variances": variances, "slope": slope},
        (Beside("power of |B| in the variance", -1, slope),),
        (
            Table(
                f"One step from w = (1, -1) with the rate {rate:g}",
                ("rows used", "mean gradient", "new w by hand", "new w by the loop"),
                [
                    [name, *(tuple(v.tolist()) for v in (gradient(START, X[:n], Y[:n]), steps[name], trained(rate, n)))]
                    for name, n in WAYS.items()
                ],
            ),
            Table(
                "Variance against computation",
                ("rows of a batch", "variance, measured", "variance of one row / |B|", "gradients of rows for a step"),
                [[int(n), v, spread / n, int(n)] for n, v in zip(sizes, variances, strict=True)],
            ),
        ),
        (
            Picture(
                "variance",
                "The variance of the mini-batch gradient (all coordinates together) over the size of the batch. With "
                "repetition it lies on the line 1/|B|; without repetition it falls below, for the batch then nears the "
                "whole.",
                lambda: _variances(sizes, variances, without, spread, len(rows)),
            ),
            Picture(
                "paths",
                "Sixty rows looked at by each way, on the loss of the four rows. Full batches go straight and make "
                "few steps; single samples make many and tremble around the minimum.",
                lambda: _paths(paths),
            ),
        ),
    )


def _path(rows: int, rate: float, rng: np.random.Generator) -> Any:
    w, points = START, [START]
    for _ in range(60 // rows):
        part = rng.permutation(4)[:rows]
        w = w - rate * gradient(w, X[part], Y[part])
        points.append(w)
    return np.stack(points)


def _variances(sizes: Any, variances: Any, without: Any, spread: float, n: int) -> Any:
    ax = figures.axes()
    ax.set(xscale="log", yscale="log", xlabel="rows of a batch, |B|", ylabel="variance of the gradient")
    ax.plot(sizes, spread / sizes, color=figures.GREY, lw=1)
    ax.plot(sizes, spread / sizes * (n - sizes) / (n - 1), color=figures.GREY, lw=1, ls="--")
    ax.plot(sizes, variances, "o", color=figures.BLUE, ms=6)
    ax.plot(sizes, without, "s", color=figures.ORANGE, ms=6, mfc="none", mew=1.5)
    ax.set_title("Four times the rows, a quarter of the variance")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ends = [
        figures.end_of(sizes, variances, "rows may repeat", figures.BLUE),
        figures.end_of(sizes, without, "all different", figures.ORANGE),
    ]
    figures.annotate(ax, ends)
    return figures.figure_of(ax)


def _paths(paths: dict[str, Any]) -> Any:
    ax = figures.axes(size=(6.4, 4.2))
    everything = np.concatenate(list(paths.values()))
    low, high = everything.min(axis=0) - 0.3, everything.max(axis=0) + 0.3
    a, b = np.linspace(low[0], high[0], 100), np.linspace(low[1], high[1] + 2, 100)
    grid = np.stack(np.meshgrid(a, b), axis=-1)
    loss = np.mean((grid @ X.T - Y) ** 2, axis=-1)
    ax.grid(False)
    ax.contour(a, b, loss, levels=loss.min() + np.geomspace(0.02, 8, 9), colors=["#CFCFCF"], linewidths=0.9)
    colours = (figures.BLUE, figures.ORANGE, figures.GREEN)
    for (name, path), colour, mark in zip(reversed(paths.items()), reversed(colours), "^so", strict=True):
        ax.plot(*path.T, color=colour, marker=mark, ms=3.5, lw=1.2, label=f"{name}: {len(path) - 1} steps")
    best = np.linalg.lstsq(X, Y, rcond=None)[0]
    ax.plot(*best, "x", color=figures.INK, ms=9, mew=2.2, zorder=5)
    ax.set(
        xlabel="weight $w_1$", ylabel="weight $w_2$", ylim=(low[1], high[1]), title="Sixty rows looked at, three ways"
    )
    figures.legend(ax, 2, fontsize=9)
    return figures.figure_of(ax)
