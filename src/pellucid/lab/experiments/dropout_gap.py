"""Dropout narrows the gap between training and test, and keeps units from leaning on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment

HIDDEN = (64, 64)


@experiment(
    "dropout-gap",
    "Dropout narrows the gap between training and test",
    lectures=("waterloo", "book"),
    topic="ensembles",
    claim="With dropout hidden units are less likely to collude to overfit the training data.",
    setting="Few handwritten digits (8 x 8 pixels; one label in ten is drawn at random, in training and test rows) and "
    "a network with two hidden layers, with and without dropout; several random splits. To see who leans on whom, a "
    "random fifth of the hidden units is taken away from the trained networks.",
    criterion="With dropout the gap between test loss and training loss is smaller and the test loss lower, by two "
    "standard errors over the splits; and taking units away costs less accuracy than without dropout.",
    notice=(
        "Without dropout the training loss goes to 0: the wrong labels are learned by heart.",
        "The training loss here is of the full network, without masks; while it learns, with masks, it is higher.",
        "Units that were trained with random partners do without some of them.",
    ),
    further=(
        'lab.run("dropout-gap", rate=0.2)',
        'lab.run("dropout-gap", rows=1000)',
        'lab.run("dropout-gap", full=True)',
    ),
    knobs={
        "rate": "the probability to drop a hidden unit",
        "rows": "to train on",
        "epochs": "of training",
        "seeds": "how many random splits",
    },
    full={"seeds": 20, "epochs": 200},
)
def dropout_gap(rate: float = 0.5, rows: int = 300, epochs: int = 60, seeds: int = 4) -> Outcome:
    names = ("without dropout", "with dropout")
    losses, thinned = np.zeros((2, seeds, 2)), np.zeros((2, seeds, 2))
    histories: dict[str, Any] = {}
    for s in range(seeds):
        X, y, fresh, labels = _digits(rows, s)
        for i, (name, dropout) in enumerate(zip(names, (0.0, rate), strict=True)):
            net = nn.mlp(HIDDEN, 10, dropout=dropout)
            model = Model(net, "cross_entropy", optim.Adam(0.003), ["accuracy"], engine="native", threads=1)
            watched = (fresh, labels) if s == 0 else None
            history = model.fit(X, y, epochs=epochs, batch_size=50, validation=watched, seed=s, verbose=False)
            held = model.evaluate(fresh, labels)
            losses[i, s] = model.evaluate(X, y)["loss"], held["loss"]
            thinned[i, s] = held["accuracy"], _without_some(model, fresh, labels, s)
            if watched is not None:
                histories[name] = history["val_loss"]
    gaps = losses[:, :, 1] - losses[:, :, 0]
    cost = (thinned[:, :, 0] - thinned[:, :, 1]).mean(axis=1)
    narrower, better = _margin(gaps), _margin(losses[:, :, 1])
    return Outcome(
        bool(narrower > 2 and better > 2 and cost[1] < cost[0]),
        f"The gap falls from {gaps[0].mean():.2f} to {gaps[1].mean():.2f}, the test loss from "
        f"{losses[0, :, 1].mean():.2f} to {losses[1, :, 1].mean():.2f}; without a fifth of the units accuracy falls by "
        f"{cost[0]:.1%} without dropout and by {cost[1]:.1%} with it.",
        {"gaps": gaps, "losses": losses, "cost": cost, "margins": (narrower, better)},
        (),
        (
            Table(
                f"Means over {seeds} splits",
                ("network", "training loss", "test loss", "gap", "test accuracy", "without a fifth of the units"),
                [
                    [
                        name,
                        *losses[i].mean(axis=0).tolist(),
                        float(gaps[i].mean()),
                        *map("{:.1%}".format, thinned[i].mean(axis=0)),
                    ]
                    for i, name in enumerate(names)
                ],
            ),
        ),
        (
            Picture(
                "epochs",
                "The loss on test rows over the epochs, first split. Without dropout it rises once the wrong labels "
                "are being learned.",
                lambda: _curves(histories),
            ),
            Picture(
                "gap",
                "Training loss (circles) and test loss (squares), one line for each split, and their means.",
                lambda: _gaps(names, losses),
            ),
        ),
    )


def _digits(rows: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Digits to train on and to test with; in both one label in ten is drawn at random."""
    images, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < 0.1
    labels = np.where(wrong, rng.integers(0, 10, len(y)), y)
    order = rng.permutation(len(y))
    train, test = order[:rows], order[-500:]
    return images[train] / 16, labels[train], images[test] / 16, labels[test]


def _without_some(model: Model, X: Any, y: Any, seed: int, share: float = 0.2) -> float:
    """Accuracy when a random share of the hidden units is silent; what stays is scaled up. Mean of five choices."""
    net = nn.mlp(HIDDEN, 10, dropout=share)
    right = []
    for counter in range(5):
        scores = net.apply(model.params, X.astype(np.float32), model.state, noise=True, key=seed, counter=counter)[0]
        right.append(float(np.mean(scores.argmax(axis=1) == y)))
    return float(np.mean(right))


def _margin(values: Any) -> float:
    """By how many standard errors the second row is below the first, in pairs."""
    fall = values[0] - values[1]
    return float(fall.mean() / (fall.std(ddof=1) / np.sqrt(len(fall))))


def _curves(histories: dict[str, Any]) -> Any:
    ax = figures.axes()
    ends = []
    for (name, losses), colour in zip(histories.items(), (figures.ORANGE, figures.BLUE), strict=True):
        epochs = np.arange(1, len(losses) + 1)
        ax.plot(epochs, losses, color=colour, lw=1.8)
        ends.append(figures.end_of(epochs, losses, name.replace(" ", "\n"), colour))
    ax.set(xlabel="epoch", ylabel="test loss", title="Digits with some wrong labels")
    figures.annotate(ax, ends, bottom=0)
    return figures.figure_of(ax)


def _gaps(names: tuple[str, ...], losses: Any) -> Any:
    ax = figures.axes(size=(6.4, 2.8))
    for i, colour in enumerate((figures.ORANGE, figures.BLUE)):
        for pair, height in zip(losses[i], i + np.linspace(-0.2, 0.2, len(losses[i])), strict=True):
            ax.plot(pair, [height] * 2, "-", color="0.8", lw=1)
        for k, mark in enumerate("os"):
            ax.plot(losses[i, :, k].mean(), i, mark, color=colour, ms=9)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="loss (circle: training, square: test)", ylim=(1.6, -0.6), title="The gap")
    return figures.figure_of(ax)
