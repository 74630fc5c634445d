"""Saturated units kill gradients: how it is found, and four cures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import Model, figures, inspect, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.deep_training import tangled_classes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "saturation",
    "Saturated units kill gradients: found, and cured in four ways",
    lectures=("notes", "cs231n", "kth", "book"),
    topic="initialisation",
    claim="Sigmoid and tanh units that are far out on their flat ends let no gradient through. Cures that the notes "
    "name: ReLU, careful initialisation, small learning rates, and batch normalisation.",
    setting="A network of four layers of 30 tanh units learns five tangled classes by plain gradient descent: with "
    "weights N(0, σ²) of a large σ, and with each cure. A unit counts as saturated on a row where the slope of its "
    "activation is below 0.01. For the rate: a sound start, trained with a rate that is far too high, and with a small "
    "one.",
    criterion="With large weights over 40 % is saturated at the start and the diagnosis names saturated units; with "
    "careful initialisation, batch normalisation and ReLU below 10 % at the start and after training (for ReLU units "
    "that are off for every row count). Careful initialisation and ReLU end at least 10 points more accurate. The rate "
    "that is too high ends with over three times as many saturated units as the small one.",
    notice=(
        "A slope below 0.01 multiplies the gradient by less than 0.01 in that layer, and layers multiply.",
        "ReLU has slope 0 on its negative side: half of the rows are off there, and yet the others pass in full. What "
        "counts for ReLU are units that are off for every row.",
        "Batch normalisation takes large weights as they are and still sets the sums to deviation 1. It ends the "
        "saturation, but learns slowly here: the gradient of weights that are a times as large is a times as small.",
    ),
    further=(
        'lab.run("saturation", sigma=3.0)',
        'lab.run("saturation", high=3.0)',
        'lab.run("initialisation")',
        'lab.run("batch-norm-starts")',
    ),
    knobs={
        "sigma": "deviation of the large weights",
        "rate": "of gradient descent",
        "high": "the rate that is far too high",
        "epochs": "of training",
        "seed": "of data and weights",
    },
)
def saturation(sigma: float = 2.0, rate: float = 0.1, high: float = 10.0, epochs: int = 10, seed: int = 0) -> Outcome:
    X, y = tangled_classes(seed=seed)
    large: Any = nn.normal(sigma)
    nets = {
        "large weights": (nn.mlp((30,) * 4, 5, activation="tanh", init=large), rate),
        "careful start (1/√n)": (nn.mlp((30,) * 4, 5, activation="tanh", init="lecun"), rate),
        "batch normalisation": (nn.mlp((30,) * 4, 5, activation="tanh", init=large, norm="batch"), rate),
        "ReLU (He's start)": (nn.mlp((30,) * 4, 5, activation="relu", init="he"), rate),
        "rate too high": (nn.mlp((30,) * 4, 5, activation="tanh", init="lecun"), high),
    }
    start, end, accuracy, codes = {}, {}, {}, []
    for name, (net, step) in nets.items():
        model = Model(net, "cross_entropy", optim.SGD(step), ["accuracy"], engine="native").initialize(X, seed=seed)
        start[name] = _saturated(model, X, y)
        model.fit(X, y, epochs=epochs, batch_size=50, seed=seed, verbose=False, on_divergence="stop")
        end[name], accuracy[name] = _saturated(model, X, y), model.evaluate(X, y)["accuracy"]
        if name == "large weights":
            codes = [f"{finding.code} ({finding.layer})" for finding in inspect.diagnose(model, X, y)]
    cures = ("careful start (1/√n)", "batch normalisation", "ReLU (He's start)")
    better = min(accuracy[name] for name in (cures[0], cures[2])) - accuracy["large weights"]
    by_rate = float(np.mean(end["rate too high"])), float(np.mean(end["careful start (1/√n)"]))
    passed = (
        float(np.mean(start["large weights"])) > 0.4
        and any(code.startswith("saturated-units") for code in codes)
        and all(float(np.mean(shares[name])) < 0.1 for name in cures for shares in (start, end))
        and better > 0.1
        and by_rate[0] > 3 * by_rate[1]
    )
    sigmoid = nn.activation("sigmoid")(np.array([-10.0, 0.0, 10.0, 5.0]))
    slopes = (sigmoid * (1 - sigmoid)).tolist()
    return Outcome(
        passed,
        f"Saturated at the start: {np.mean(start['large weights']):.0%} with large weights, "
        f"{', '.join(f'{np.mean(start[name]):.0%} ({name})' for name in cures)}. Careful initialisation and ReLU end "
        f"at least {better:.2f} more accurate. The rate {high:g} ends with {by_rate[0]:.0%} saturated, {rate:g} with "
        f"{by_rate[1]:.0%}.",
        {"start": start, "end": end, "accuracy": accuracy, "findings": codes},
        (
            Beside("slope of the sigmoid at −10", "4.5e-05", f"{slopes[0]:.1e}"),
            Beside("slope of the sigmoid at 0, its largest", 0.25, slopes[1]),
            Beside("slope of the sigmoid at 5", "below 0.00665", f"{slopes[3]:.6f}"),
        ),
        (
            Table(
                "Share of saturated rows and units in the four layers (ReLU: units that are off for every row)",
                ("network", "at the start", "after training", "accuracy"),
                [(name, _shares(start[name]), _shares(end[name]), accuracy[name]) for name in nets],
            ),
            Table(
                "What the diagnosis says of the network with large weights", ("finding (layer)",), [(c,) for c in codes]
            ),
        ),
        (
            Picture(
                "shares",
                "Saturated share of each layer at the start. Large weights saturate every layer; each cure keeps it "
                "low.",
                lambda: _draw({name: start[name] for name in ("large weights", *cures)}),
            ),
        ),
    )


def _saturated(model: Model, X: Any, y: Any) -> tuple[float, ...]:
    """The share of rows and units with a slope below 0.01 in each hidden layer; for ReLU that of units always off."""
    hidden = inspect.run(model, X, y).layers[:-1]
    return tuple(
        len(layer.dead) / layer.units if layer.activation == "relu" else float(layer.saturated or 0.0)
        for layer in hidden
    )


def _shares(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.0%}" for value in values)


def _draw(shares: dict[str, tuple[float, ...]]) -> Figure:
    ax = figures.axes(size=(6.8, 3.4))
    for i, ((name, values), colour) in enumerate(zip(shares.items(), figures.COLOURS, strict=False)):
        ax.bar(np.arange(1, len(values) + 1) + 0.2 * (i - 1.5), 100 * np.array(values), 0.18, color=colour, label=name)
    ax.set(xlabel="layer", ylabel="saturated at the start, %", ylim=(0, 100), title="Saturation, and its cures")
    ax.set_xticks(range(1, len(next(iter(shares.values()))) + 1))
    figures.legend(ax, 2)
    return figures.figure_of(ax)
