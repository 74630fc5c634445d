"""Dropout: masks whose mean is 1, a test that is deterministic, two conventions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment


@experiment(
    "dropout",
    "Dropout: random masks in training, the full network in the test",
    lectures=("waterloo", "book"),
    topic="ensembles",
    claim="In training each unit, hidden or visible, is kept with probability q and scaled by mask/q (inverted "
    "dropout); in the test the full network is used as it is. The older convention scales nothing in training and "
    "multiplies by q in the test. One lecture says that today's implementations scale in training and in testing; "
    "in fact they divide in training only, which is why the test need not remember q.",
    setting="nn.Dropout with both conventions on constant features; a linear layer with eight inputs whose 256 masks "
    "are all enumerated; a network with dropout on its inputs.",
    criterion="The mean of mask/q over many draws is 1 within four standard errors; each convention's mean over all "
    "masks is its own output in the test within 1e-12; the two are one linear layer but for the factor q; two test "
    "passes have the same bits, two training passes differ, and the same step has the same mask; input dropout zeroes "
    "a share 1 - q of the inputs.",
    notice=(
        "The layer's parameter is the rate of dropping, 1 - q.",
        "Equal in expectation does not mean equal in variance: masks add noise, and that noise regularises.",
        "The equality holds for linear layers. Behind a nonlinearity it is an approximation: see dropout-ensemble.",
    ),
    further=(
        'lab.run("dropout", keep=0.8)',
        'lab.run("dropout", draws=20000)',
        'lab.run("dropout-ensemble")',
    ),
    knobs={"keep": "q, the probability to keep a unit", "draws": "masks", "seed": "of masks and weights"},
)
def dropout(keep: float = 0.5, draws: int = 4000, seed: int = 0) -> Outcome:
    rate, features = 1 - keep, 50
    layer = nn.Dropout(rate)
    ones = np.ones((1, features))
    masks = np.concatenate([layer.apply({}, ones, {}, training=True, key=seed, counter=c)[0] for c in range(draws)])
    mean, error = float(masks.mean()), float(np.sqrt(rate / keep / masks.size))

    rng = np.random.default_rng(seed)
    W, x = rng.normal(size=(8, 1)), rng.normal(size=8)
    patterns = np.array(list(itertools.product([0.0, 1.0], repeat=8)))
    chance = np.prod(np.where(patterns == 1, keep, rate), axis=1)
    outputs = {"inverted": (patterns * x / keep @ W)[:, 0], "classical": (patterns * x @ W)[:, 0]}
    means = {name: float(chance @ values) for name, values in outputs.items()}
    tests = {name: float(_net(rate, name).predict({"out.weight": W}, x[None])[0, 0]) for name in outputs}
    apart = max(abs(means[name] - tests[name]) for name in outputs)
    scaled = abs(tests["classical"] - keep * tests["inverted"])

    net = nn.Sequential(("input", nn.Dropout(rate)), nn.Dense(16), "relu", nn.Dropout(rate), nn.Dense(1))
    params, state = net.initialize(10, seed=seed)
    X = rng.normal(size=(200, 10))
    again = np.array_equal(net.predict(params, X, state), net.predict(params, X, state))
    trained = [net.apply(params, X, state, training=True, key=seed, counter=c)[0] for c in (1, 1, 2)]
    fresh = np.array_equal(trained[0], trained[1]) and not np.array_equal(trained[0], trained[2])
    dropped = float(np.mean(nn.Dropout(rate).apply({}, X, {}, training=True, key=seed, counter=3)[0] == 0))
    inputs = abs(dropped - rate) < 4 * np.sqrt(rate * keep / X.size)
    return Outcome(
        bool(abs(mean - 1) < 4 * error and max(apart, scaled) < 1e-12 and again and fresh and inputs),
        f"The mean of mask/q is {mean:.4f} ± {error:.4f}; over all 256 masks each convention's mean is its test output "
        f"within {apart:.0e}; tests repeat to the bit; {dropped:.1%} of the inputs are dropped.",
        {"mean": mean, "means": means, "tests": tests, "dropped": dropped},
        (
            Beside("mean of mask/q", 1, mean),
            Beside("share of inputs dropped", rate, dropped),
        ),
        (
            Table(
                f"A linear layer, all 256 masks, q = {keep:g}",
                ("convention", "in training", "in the test", "mean of training", "test", "deviation of training"),
                [
                    [
                        "inverted (today's)",
                        "x · mask / q",
                        "x",
                        means["inverted"],
                        tests["inverted"],
                        _spread(chance, outputs["inverted"]),
                    ],
                    [
                        "classical",
                        "x · mask",
                        "q · x",
                        means["classical"],
                        tests["classical"],
                        _spread(chance, outputs["classical"]),
                    ],
                ],
            ),
        ),
        (
            Picture(
                "mean",
                "The mean of mask/q over the masks drawn so far, for five units: it goes to 1. The band has four "
                "standard errors each way.",
                lambda: _running(masks[:, :5], keep),
            ),
            Picture(
                "outputs",
                "The output of the linear layer under all masks, for both conventions; the line is the output of the "
                "test, which is the mean of the masks.",
                lambda: _outputs(outputs, chance, tests),
            ),
        ),
    )


def _net(rate: float, convention: str) -> nn.Layer:
    return nn.Sequential(nn.Dropout(rate, convention=convention), ("out", nn.Dense(1, bias=None)))


def _spread(chance: Any, values: Any) -> float:
    return float(np.sqrt(chance @ (values - chance @ values) ** 2))


def _running(masks: Any, keep: float) -> Any:
    ax = figures.axes()
    n = np.unique(np.geomspace(1, len(masks), 200).astype(int))
    band = 4 * np.sqrt((1 - keep) / keep / n)
    ax.fill_between(n, 1 - band, 1 + band, color="0.92")
    for column, colour in zip(masks.T, figures.COLOURS, strict=False):
        ax.plot(n, np.cumsum(column)[n - 1] / n, color=colour, lw=1.2)
    ax.set(xscale="log", xlabel="masks drawn", ylabel="mean of mask/q", ylim=(0, 2.05), title="Five units")
    return figures.figure_of(ax)


def _outputs(outputs: dict[str, Any], chance: Any, tests: dict[str, float]) -> Any:
    axes = figures.grid(2, (3.6, 2.9), columns=2, who="dropout")
    everything = np.concatenate(list(outputs.values()))
    bins = np.linspace(everything.min(), everything.max(), 30).tolist()
    for ax, (name, values), colour in zip(axes, outputs.items(), figures.COLOURS, strict=False):
        figures.plain(ax).hist(values, bins, weights=chance, color=colour, alpha=0.7)
        ax.set(xlabel="output of the layer", ylabel="probability", title=name)
        figures.annotate(ax, (), [figures.Mark(tests[name], "test", figures.INK)], bottom=0)
    return figures.figure_of(axes)
