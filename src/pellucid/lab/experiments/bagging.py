"""Bagging: bootstrap samples, a network for each, their average; and the rows that were left out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid import BaggedMLPRegressor, MLPRegressor, figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.generalization import curve, rmse


@experiment(
    "bagging",
    "Bagging: bootstrap samples, averaged networks, out-of-bag rows",
    lectures=("book", "cs231n"),
    topic="ensembles",
    claim="There is only one training set; drawing rows from it with replacement mimics others. Train a model on each "
    "sample and average their predictions (model ensembles are the last step of an evaluation).",
    setting="Samples of n rows with replacement, counted; then networks on bootstrap samples of 60 noisy points of "
    "sin(2πx), their average, and their prediction for the rows that a member did not draw (out of bag).",
    criterion="A sample holds a share of 1 - (1 - 1/n)^n of the rows, near 63.2 %, within four standard errors; the "
    "average has a smaller error on fresh points than the mean member; the out-of-bag error is within 25 % of the "
    "error on fresh points with noise.",
    notice=(
        "A row is missed by one draw with probability 1 - 1/n, by all n draws with (1 - 1/n)^n, which goes to 1/e.",
        "Out-of-bag rows are test rows for free: about 37 % of the rows for each member.",
        "Each member is trained to the end and has weights of its own; with dropout the weights are shared.",
    ),
    further=(
        'lab.run("bagging", members=30)',
        'lab.run("bagging", rows=200)',
        'lab.run("variance-of-averages")',
    ),
    knobs={
        "members": "networks of the ensemble",
        "rows": "to train on",
        "epochs": "of each network",
        "seed": "of data, samples and weights",
    },
    full={"members": 50},
)
def bagging(members: int = 12, rows: int = 60, epochs: int = 150, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    sizes = (5, 10, 100, 1000, 10000)
    shares = {n: np.array([len(np.unique(rng.integers(0, n, n))) / n for _ in range(200)]) for n in sizes}
    expected = {n: 1 - (1 - 1 / n) ** n for n in sizes}
    off = max(abs(v.mean() - expected[n]) / (v.std(ddof=1) / np.sqrt(len(v))) for n, v in shares.items())

    x = rng.uniform(0, 1, rows)
    y = curve(x) + 0.3 * rng.normal(size=rows)
    fresh = np.linspace(0, 1, 400)
    noisy = curve(fresh) + 0.3 * rng.normal(size=400)
    base = MLPRegressor(
        hidden_layer_sizes=(50, 50),
        alpha=0.0,
        learning_rate_init=0.01,
        batch_size=20,
        max_iter=epochs,
        tol=0.0,
        n_iter_no_change=epochs,
        engine="native",
        threads=1,
    )
    ensemble = BaggedMLPRegressor(base, members, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last iteration is the end that is wanted here
        ensemble.fit(x[:, None], y)
    each = np.stack([member.predict(fresh[:, None]) for member in ensemble.estimators_])
    average = ensemble.predict(fresh[:, None])
    single = float(np.mean([rmse(curve(fresh), one) for one in each]))
    together = rmse(curve(fresh), average)
    known = np.isfinite(ensemble.oob_prediction_)
    out_of_bag, test = rmse(y[known], ensemble.oob_prediction_[known]), rmse(noisy, average)
    return Outcome(
        bool(off < 4 and together < single and abs(out_of_bag / test - 1) < 0.25),
        f"A sample of 10,000 holds {shares[10000].mean():.2%} of the rows; {members} networks have an error of "
        f"{single:.3f} each and {together:.3f} together; out of bag the error is {out_of_bag:.3f}, on fresh rows "
        f"{test:.3f}.",
        {
            "shares": {n: float(v.mean()) for n, v in shares.items()},
            "single": single,
            "together": together,
            "oob": out_of_bag,
            "test": test,
        },
        tuple(Beside(f"share of different rows, n = {n:,}", expected[n], float(shares[n].mean())) for n in sizes),
        (
            Table(
                "Errors (root of the mean square)",
                ("prediction", "against", "error"),
                [
                    ["one network, mean", "the curve", single],
                    [f"average of {members}", "the curve", together],
                    ["average, out of bag", "training rows, noise included", out_of_bag],
                    [f"average of {members}", "fresh rows, noise included", test],
                ],
            ),
        ),
        (
            Picture(
                "fits",
                "The members (grey) each follow their own sample; their average (blue) is calmer and nearer to the "
                "curve (dashes).",
                lambda: _fits(x, y, fresh, each, average),
            ),
            Picture(
                "shares",
                "The share of different rows in bootstrap samples over their size; the line is 1 - (1 - 1/n)^n.",
                lambda: _shares(shares, expected),
            ),
        ),
    )


def _fits(x: Any, y: Any, fresh: Any, each: Any, average: Any) -> Any:
    ax = figures.axes()
    ax.plot(fresh, each.T, color="0.8", lw=0.8)
    ax.plot(fresh, curve(fresh), color=figures.GREEN, lw=1.5, ls="--", label="sin(2πx)")
    ax.plot(fresh, average, color=figures.BLUE, lw=2.2, label="average")
    ax.plot(x, y, "o", color=figures.ORANGE, ms=4, mfc="none", label="training rows")
    ax.set(xlabel="x", ylabel="y", ylim=(-2, 2), title="Networks on bootstrap samples")
    figures.legend(ax, 3)
    return figures.figure_of(ax)


def _shares(shares: dict[int, Any], expected: dict[int, float]) -> Any:
    ax = figures.axes(size=(6.4, 3.0))
    n = list(shares)
    ax.plot(n, list(expected.values()), color=figures.GREY, lw=1.2)
    ax.errorbar(
        n,
        [v.mean() for v in shares.values()],
        [v.std() for v in shares.values()],
        fmt="o",
        color=figures.BLUE,
        capsize=4,
    )
    ax.set(xscale="log", xlabel="rows n", ylabel="share drawn", title="How much of the data a bootstrap sample holds")
    figures.annotate(ax, [figures.End(float(n[-1]), 1 - np.exp(-1), "63.2 %", figures.GREY)])
    return figures.figure_of(ax)
