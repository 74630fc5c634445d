"""Dropout as an ensemble: all thinned networks, one by one, and the weight scaling that replaces them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.regions import moons


@experiment(
    "dropout-ensemble",
    "Dropout as an ensemble of all thinned networks",
    lectures=("book",),
    topic="ensembles",
    claim="A network with M units has 2^M thinned networks (the slide's picture says 2^n; it is the same M). Dropout "
    "trains them with shared weights, one step each; in the test one pass with scaled weights stands for their "
    "average.",
    setting="M units, each kept with probability ½, and all 2^M masks of kept and dropped ones enumerated. Once the "
    "units are the inputs of a single softmax layer, once the hidden layer of a network that was trained with dropout "
    "on two moons of points.",
    criterion="For the softmax layer weight scaling is the normalised geometric mean of all thinned networks within "
    "1e-12. For the hidden layer it is an approximation: the mean distance of its probability from the average of all "
    "networks is below 0.08, and smaller than that of a single thinned network by a factor of 1.5.",
    notice=(
        "Geometric means of probabilities are arithmetic means of scores: that is why the softmax layer is exact.",
        "With hundreds of units most thinned networks are never trained: there are far more of them than steps. Here "
        "they are few, so that all of them can be looked at.",
        "Bagging trains a few networks to the end, each with weights of its own; dropout trains very many by one step "
        "each, with the same weights.",
    ),
    further=(
        'lab.run("dropout-ensemble", units=6)',
        'lab.run("dropout-ensemble", seed=2)',
        'lab.run("bagging")',
    ),
    knobs={
        "units": "M, at most 12",
        "epochs": "of training of the network with a hidden layer",
        "seed": "of data, weights and masks",
    },
)
def dropout_ensemble(units: int = 10, epochs: int = 200, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    masks = np.array(list(itertools.product([0.0, 1.0], repeat=units)))
    W, b, x = rng.normal(size=(units, 3)), rng.normal(size=3), rng.normal(size=units)
    single = nn.Sequential(nn.Dropout(0.5, convention="classical"), ("out", nn.Dense(3)), "softmax")
    scaled = single.predict({"out.weight": W, "out.bias": b}, x[None])[0]
    probabilities = pel.softmax(masks * x @ W + b)
    geometric = np.exp(np.log(probabilities).mean(axis=0))
    geometric /= geometric.sum()
    exact = float(np.abs(scaled - geometric).max())

    X, y = moons(200, 0.2, seed)
    net = nn.Sequential(("hidden", nn.Dense(units)), "relu", nn.Dropout(0.5), ("out", nn.Dense(1)))
    model = Model(net, "binary_cross_entropy", optim.Adam(0.02), dtype="float64")
    model.fit(X, y, epochs=epochs, batch_size=50, seed=seed, verbose=False)
    p = model.params
    hidden = np.maximum(X @ p["hidden.weight"] + p["hidden.bias"], 0)
    scores = (hidden[:, None] * masks / 0.5) @ p["out.weight"][:, 0] + p["out.bias"]  # rows, masks
    thinned = 1 / (1 + np.exp(-scores))
    average, fast = thinned.mean(axis=1), model.predict(X)[:, 0]
    near, far = float(np.abs(fast - average).mean()), float(np.abs(thinned - average[:, None]).mean())
    right = (thinned > 0.5) == (y[:, None] == 1)
    accuracy = {
        "one thinned network, mean": float(right.mean()),
        "average of all": float(np.mean((average > 0.5) == (y == 1))),
        "one pass, weights scaled": float(np.mean((fast > 0.5) == (y == 1))),
    }
    return Outcome(
        exact < 1e-12 and near < 0.08 and near < far / 1.5,
        f"{len(masks):,} thinned networks: for a softmax layer weight scaling is their geometric mean within "
        f"{exact:.0e}; behind a hidden layer its probability is {near:.3f} from their average, where that of "
        f"a single one is {far:.3f} away.",
        {"exact": exact, "near": near, "far": far, "accuracy": accuracy, "scaled": scaled, "geometric": geometric},
        (),
        (
            Table(
                "A softmax layer: probabilities of three classes",
                ("way", "class 1", "class 2", "class 3"),
                [
                    ["one pass, weights scaled", *scaled.tolist()],
                    [f"geometric mean of {len(masks):,}, normalised", *geometric.tolist()],
                    [f"arithmetic mean of {len(masks):,}", *probabilities.mean(axis=0).tolist()],
                ],
            ),
            Table(
                "A network with a hidden layer: rows that are right",
                ("way", "accuracy"),
                [[name, f"{value:.1%}"] for name, value in accuracy.items()],
            ),
            Table(
                "Bagging and dropout",
                ("", "bagging", "dropout"),
                [
                    ["parameters", "each model its own", "shared by all"],
                    ["training", "each to convergence", "one step for each thinned network"],
                    ["data", "bootstrap samples of all rows", "mini-batches"],
                    ["prediction", "average of the models", "one pass with scaled weights"],
                ],
            ),
        ),
        (
            Picture(
                "thinned",
                "A full network, and three of its thinned ones: dropped units are grey, with all their connections.",
                lambda: _networks(seed),
            ),
            Picture(
                "average",
                "For each row of the data the average of all thinned networks (across) and the single pass with scaled "
                "weights (up). The nearer to the diagonal, the better the approximation; grey are single thinned ones.",
                lambda: _average(average, fast, thinned, rng),
            ),
        ),
    )


def _networks(seed: int) -> Any:
    axes = figures.grid(4, (2.3, 2.2), columns=4, who="dropout-ensemble")
    rng = np.random.default_rng(seed + 5)
    layers = (4, 5, 5, 2)
    for i, ax in enumerate(axes):
        ax.set_axis_off()
        ax.set(title="full network" if i == 0 else f"thinned, step {i}", xlim=(-0.4, 3.4), ylim=(-0.6, 4.6))
        kept = [
            np.ones(n, bool) if i == 0 or k == len(layers) - 1 else rng.random(n) < 0.6 for k, n in enumerate(layers)
        ]
        places = [np.linspace(2 - (n - 1) / 2, 2 + (n - 1) / 2, n) for n in layers]
        for k in range(len(layers) - 1):
            for a, b in itertools.product(range(layers[k]), range(layers[k + 1])):
                if kept[k][a] and kept[k + 1][b]:
                    ax.plot([k, k + 1], [places[k][a], places[k + 1][b]], color="0.6", lw=0.7, zorder=1)
        for k, ys in enumerate(places):
            for y, on in zip(ys, kept[k], strict=True):
                face, edge = ("white", figures.BLUE) if on else ("0.88", "0.75")
                ax.plot(k, y, "o", ms=11, mfc=face, mec=edge, mew=1.5, zorder=2)
                if not on:
                    ax.plot(k, y, "x", ms=7, color="0.6", zorder=3)
    return figures.figure_of(axes)


def _average(average: Any, fast: Any, thinned: Any, rng: np.random.Generator) -> Any:
    ax = figures.axes(size=(4.8, 4.4))
    few = rng.choice(thinned.shape[1], 3, replace=False)
    ax.plot(np.repeat(average, 3), thinned[:, few].ravel(), ".", color="0.8", ms=3, label="a thinned network")
    ax.plot([0, 1], [0, 1], color=figures.INK, lw=0.8)
    ax.plot(average, fast, "o", color=figures.BLUE, ms=4, label="weights scaled")
    ax.set(xlabel="average of all thinned networks", ylabel="probability of class 1", title="One pass for all")
    figures.legend(ax, 2)
    return figures.figure_of(ax)
