"""Biases of ReLU units at the start: zero, or slightly positive."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import pellucid as pel
from pellucid import Model, figures, inspect, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "biases",
    "Biases of ReLU units: zero, or slightly positive",
    lectures=("kth", "book"),
    topic="initialisation",
    claim="Biases may start at 0; for ReLU, slightly positive ones let more units be active at the start. A lecture's "
    "reason for 0, that the gradient of a bias does not depend on deeper layers, is wrong: it is δ, which comes from "
    "all of them. 0 is fine because random weights already make units differ.",
    setting="Two rings in the plane, moved so that all inputs are between 0 and 1 (as pixels are), and networks of "
    "three ReLU layers. A unit is dead when it is 0 for every row. Counted are dead units and exact zeros at the "
    "start and after training, for several biases.",
    criterion="At the start there are fewer dead units with bias 0.1 than with 0, and fewer still with 0.5; the share "
    "of zeros falls with every larger bias; the first layer's bias gradient changes by more than 10 % when only the "
    "last layer is changed. With centred inputs: no more dead units, and fewer zeros.",
    notice=(
        "With inputs that are all positive, a unit whose weights are both negative is dead for every row if its bias "
        "is 0: a quarter of the first layer.",
        "A dead unit has slope 0 for every row, so it gets no gradient. Only what changes below it can wake it up.",
        "Centring the inputs does more than a bias: try centred=True.",
    ),
    further=('lab.run("biases", centred=True)', 'lab.run("biases", rate=1.0)', 'lab.run("symmetry")'),
    knobs={
        "width": "units in each hidden layer",
        "centred": "subtract the mean of the inputs",
        "rate": "of gradient descent",
        "epochs": "of training",
        "seed": "of data and weights",
    },
)
def biases(width: int = 50, centred: bool = False, rate: float = 0.1, epochs: int = 40, seed: int = 0) -> Outcome:
    X, y = rings(seed=seed)
    X = (X - X.min(0)) / np.ptp(X, axis=0)
    X = X - X.mean(0) if centred else X
    dead, zeros, trained, accuracy = {}, {}, {}, {}
    values = (0.0, 0.01, 0.1, 0.5)
    for bias in values:
        net = nn.mlp((width,) * 3, 1, init="he", bias=bias, output_bias=0.0)
        model = Model(net, "binary_cross_entropy", optim.SGD(rate), ["accuracy"], engine="native").initialize(
            X, seed=seed
        )
        dead[bias], zeros[bias] = _count(model, X)
        model.fit(X, y, epochs=epochs, batch_size=30, seed=seed, verbose=False)
        trained[bias], accuracy[bias] = _count(model, X)[0], model.evaluate(X, y)["accuracy"]
    change = _bias_gradient_change(X, y, seed)
    totals = [sum(dead[bias]) for bias in values]
    shares = [zeros[bias] for bias in values]
    if centred:
        passed = totals[-1] <= totals[0] and shares[-1] < shares[0] and change > 0.1
    else:
        passed = totals[0] >= totals[1] > totals[2] > totals[3]
        passed = passed and all(a > b for a, b in pairwise(shares)) and change > 0.1
    return Outcome(
        passed,
        f"Dead units at the start: {', '.join(f'{n} (bias {b:g})' for b, n in zip(values, totals, strict=True))} of "
        f"{3 * width}; a change of the last layer alone moves the first bias gradient by {change:.0%}.",
        {"dead": dead, "zeros": zeros, "dead_after": trained, "accuracy": accuracy, "bias_gradient_change": change},
        (
            Beside("dead units, bias 0 and slightly positive (0.1)", "fewer", (totals[0], totals[2])),
            Beside("does the gradient of a bias depend on deeper layers?", "no", f"yes: it changes by {change:.0%}"),
        ),
        (
            Table(
                "Dead units in the three hidden layers, and the share of exact zeros",
                ("bias", "dead at the start", "in all", "zeros at the start", "dead after training", "accuracy"),
                [
                    (bias, dead[bias], sum(dead[bias]), f"{zeros[bias]:.0%}", trained[bias], accuracy[bias])
                    for bias in values
                ],
            ),
        ),
        (
            Picture(
                "dead",
                "Dead units of the three hidden layers at the start, by the bias they start with.",
                lambda: _draw(dead, width),
            ),
        ),
    )


def _count(model: Model, X: np.ndarray) -> tuple[tuple[int, ...], float]:
    """Dead units in each hidden layer, and the share of activations that are exactly 0."""
    hidden = inspect.run(model, X).layers[:-1]
    return tuple(len(layer.dead) for layer in hidden), float(np.mean([layer.a.zeros for layer in hidden]))


def _bias_gradient_change(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """How much the gradient of the first bias changes, relative to its size, when only the last layer changes."""
    net, cost = nn.mlp((8, 8), 1, activation="tanh"), nn.loss("binary_cross_entropy")
    params, target = net.initialize(2, seed=seed).params, cost.prepare(y)
    gradient = pel.grad(lambda p: cost(net.predict(p, X), target))
    other = {**params, "output.weight": -2 * params["output.weight"]}
    before, after = (gradient(p)["hidden1.bias"] for p in (params, other))
    return float(np.linalg.norm(after - before) / np.linalg.norm(before))


def _draw(dead: dict[float, tuple[int, ...]], width: int) -> Figure:
    ax = figures.axes(size=(6.4, 3.4))
    for i, colour in enumerate(figures.COLOURS[:3]):
        places = np.arange(len(dead)) + 0.25 * (i - 1)
        ax.bar(places, [counts[i] for counts in dead.values()], 0.23, color=colour, label=f"layer {i + 1}")
    ax.set_xticks(range(len(dead)), [f"{bias:g}" for bias in dead])
    ax.set(xlabel="bias at the start", ylabel=f"dead units of {width}", title="Dead ReLU units at the start")
    ax.locator_params(axis="y", integer=True)
    figures.legend(ax, 3)
    return figures.figure_of(ax)
