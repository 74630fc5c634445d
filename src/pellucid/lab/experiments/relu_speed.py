"""How many epochs ReLU, leaky ReLU, tanh and sigmoid need to the same training error."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from pellucid import Model, figures, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

NAMES = {"relu": "ReLU", "leaky_relu": "leaky ReLU", "tanh": "tanh", "sigmoid": "sigmoid"}
COLOURS = dict(zip(NAMES, (figures.BLUE, figures.GREEN, figures.ORANGE, figures.PINK), strict=True))


@experiment(
    "relu-speed",
    "Epochs to a training error: ReLU, leaky ReLU, tanh, sigmoid",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="Networks with ReLU or leaky ReLU converge much faster than those with sigmoid or tanh, for example six "
    "times. The six is from Krizhevsky et al. (2012): a convolutional network with four layers on CIFAR-10, tanh "
    "beside ReLU, to 25 % training error. It is no constant of nature.",
    setting="Handwritten digits (8 x 8 pixels, standardised), two hidden layers of 64 units, plain SGD with the same "
    "rate for all, the library's usual initial weights for each activation; the epoch in which the training error "
    "falls to the target, as a mean over several starts.",
    criterion="ReLU and leaky ReLU need fewer epochs than tanh, and the sigmoid needs more than twice as many as ReLU. "
    "The ratios are reported; no factor is promised.",
    notice=(
        "With weights that suit tanh, the advantage over tanh is small here; over the sigmoid it is large.",
        "ReLU and leaky ReLU are hardly to be told apart: few units are dead in so small a network.",
        "A sigmoid of 0 is 0.5 and its slope is 0.25 at most, so each layer makes gradients smaller.",
        "Where a run does not reach its target, the last epoch counts: the true ratio is larger still.",
    ),
    further=(
        'lab.run("relu-speed", rate=0.1)',
        'lab.run("relu-speed", depth=4)',
        'lab.run("relu-speed", full=True)',
    ),
    knobs={
        "rate": "of plain SGD",
        "error": "the training error to be reached",
        "epochs": "at most",
        "depth": "hidden layers of 64 units",
        "starts": "random starts of each network",
        "rows": "training images, of 1,797",
    },
    full={"rows": 1797, "epochs": 200, "starts": 5},
)
def relu_speed(
    rate: float = 0.02, error: float = 0.25, epochs: int = 50, depth: int = 2, starts: int = 2, rows: int = 500
) -> Outcome:
    X, y = load_digits(return_X_y=True)
    X = ((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))[:rows]
    y = y[:rows]
    curves: dict[str, list[Any]] = {name: [] for name in NAMES}
    for name in NAMES:
        for seed in range(starts):
            model = Model(nn.mlp((64,) * depth, 10, activation=name), "cross_entropy", optim.SGD(rate), ["accuracy"])
            stop = [lambda run: run.stop("reached") if run.logs["val_accuracy"] >= 1 - error else None]
            history = model.fit(
                X, y, epochs=epochs, batch_size=32, seed=seed, validation=(X, y), callbacks=stop, verbose=False
            )
            curves[name].append(1 - np.array(history["val_accuracy"]))
    reached = {name: all(run[-1] <= error for run in runs) for name, runs in curves.items()}
    needed = {name: float(np.mean([crossing(run, error) for run in runs])) for name, runs in curves.items()}
    ratios = {name: needed[name] / needed["relu"] for name in NAMES}

    passed = needed["relu"] < needed["tanh"] and needed["leaky_relu"] < needed["tanh"] and ratios["sigmoid"] > 2
    least = "" if reached["sigmoid"] else "at least "
    return Outcome(
        passed,
        f"To {error:.0%} training error ReLU needs {needed['relu']:.1f} epochs, leaky ReLU {needed['leaky_relu']:.1f}, "
        f"tanh {needed['tanh']:.1f} ({ratios['tanh']:.1f} times), sigmoid {least}{needed['sigmoid']:.1f} "
        f"({ratios['sigmoid']:.1f} times).",
        {"epochs": needed, "ratios": ratios, "reached": reached},
        (
            Beside("tanh over ReLU (the lecture: a convolutional network)", "6", ratios["tanh"]),
            Beside("sigmoid over ReLU", "6", ratios["sigmoid"]),
        ),
        (
            Table(
                f"Epochs to {error:.0%} training error",
                ("activation", "epochs", "times ReLU", "every start got there"),
                [(NAMES[name], needed[name], ratios[name], reached[name]) for name in NAMES],
            ),
        ),
        (
            Picture(
                "errors",
                "Training error after each epoch of one start, until the target (dashed) is reached.",
                lambda: _draw({name: runs[0] for name, runs in curves.items()}, error),
            ),
        ),
    )


def crossing(errors: Any, target: float) -> float:
    """The epoch at which the error, drawn as a line from 0.9 (chance) on, meets the target."""
    before = np.concatenate([[0.9], errors])
    k = int(np.argmax(before <= target))
    if before[k] > target:
        return float(len(errors))
    return float(k - 1 + (before[k - 1] - target) / (before[k - 1] - before[k]))


def _draw(curves: dict[str, Any], target: float) -> Any:
    ax = figures.axes(size=(7.0, 3.8))
    for (name, errors), mark in zip(curves.items(), figures.MARKERS, strict=False):
        epochs = np.arange(1, len(errors) + 1)
        ax.plot(epochs, errors, f"{mark}-", color=COLOURS[name], markersize=4, label=NAMES[name])
    ax.axhline(target, color=figures.INK, linewidth=1, linestyle="--")
    ax.set(
        xscale="log", xlabel="epoch (logarithmic)", ylabel="training error", title="Who gets there first", ylim=(0, 1)
    )
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.legend(frameon=False, loc="lower left")
    return figures.figure_of(ax)
