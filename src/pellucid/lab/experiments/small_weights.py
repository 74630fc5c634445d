"""Weights of deviation 0.01 serve two layers, not ten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid import Model, figures, inspect, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "small-weights",
    "Weights of deviation 0.01: fine for two layers, not for ten",
    lectures=("cs231n", "kth"),
    topic="initialisation",
    claim="Small random numbers of deviation 0.01 work okay for small networks, but not for deep ones.",
    setting="Clouds of five classes in 20 dimensions; networks of 2 and of 10 layers of tanh units, with weights of "
    "deviation 0.01 and of deviation 1/√n, trained by plain mini-batch gradient descent with the same rate and steps.",
    criterion="With σ = 0.01 the network of 2 layers has over 80 % accuracy and that of 10 layers below 40 % (chance "
    "is 20 %); with σ = 1/√n both have over 80 %; the diagnosis of the deep one names vanishing gradients.",
    notice=(
        "The curve of the failing network is flat from its first step: nothing reaches its outputs but their biases.",
        "It is not stuck in a bad minimum: the gradient is tiny because activations and δ are.",
        "Ten times as many steps do not help: try steps=5000.",
    ),
    further=(
        'lab.run("small-weights", sigma=0.05)',
        'lab.run("small-weights", deep=4)',
        'lab.run("gradient-signals")',
        'lab.run("batch-norm-starts")',
    ),
    knobs={
        "sigma": "deviation of the small weights",
        "deep": "layers of the deep network",
        "width": "units in each hidden layer",
        "steps": "of gradient descent",
        "rate": "of these steps",
        "seed": "of data and weights",
    },
)
def small_weights(
    sigma: float = 0.01, deep: int = 10, width: int = 50, steps: int = 500, rate: float = 0.1, seed: int = 0
) -> Outcome:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 1000)
    X = rng.normal(size=(5, 20))[y] + 0.8 * rng.normal(size=(1000, 20))
    curves, accuracies, codes = {}, {}, {}
    for depth in (2, deep):
        for name, init in ((f"σ = {sigma:g}", nn.normal(sigma)), ("σ = 1/√n", "lecun")):
            net = nn.mlp((width,) * (depth - 1), 5, activation="tanh", init=init, output_init=init)
            model = Model(net, "cross_entropy", optim.SGD(rate), ["accuracy"], engine="native")
            history = model.fit(X, y, epochs=-(-steps // 20), batch_size=50, seed=seed, verbose=False)
            key = f"{depth} layers, {name}"
            curves[key] = history["loss"]
            accuracies[key] = model.evaluate(X, y)["accuracy"]
            if depth == deep and init != "lecun":
                codes[key] = [finding.code for finding in inspect.diagnose(model, X, y)]
    shallow, shallow_xavier, lost, deep_xavier = accuracies.values()
    passed = shallow > 0.8 and shallow_xavier > 0.8 and lost < 0.4 and deep_xavier > 0.8
    passed = passed and "vanishing-gradient" in codes[f"{deep} layers, σ = {sigma:g}"]
    return Outcome(
        passed,
        f"With σ = {sigma:g} two layers reach {shallow:.0%} and {deep} layers {lost:.0%}; with σ = 1/√n they reach "
        f"{shallow_xavier:.0%} and {deep_xavier:.0%}.",
        {"accuracies": accuracies, "loss": curves, "findings": codes},
        (
            Beside(f"σ = {sigma:g}, 2 layers", "works okay", f"{shallow:.0%}"),
            Beside(f"σ = {sigma:g}, {deep} layers", "does not", f"{lost:.0%}"),
        ),
        (
            Table(
                "After training",
                ("network", "loss", "accuracy", "findings of the diagnosis"),
                [
                    (key, curves[key][-1], accuracies[key], ", ".join(codes[key]) or "none" if key in codes else "")
                    for key in curves
                ],
            ),
        ),
        (
            Picture(
                "loss",
                "Training loss of four networks. The deep one with small weights stays at log 5 = 1.61, the loss of "
                "guessing.",
                lambda: _draw(curves),
            ),
        ),
    )


def _draw(curves: dict[str, list[float]]) -> Figure:
    ax = figures.axes(size=(7.2, 3.6))
    ends = []
    for (name, losses), colour in zip(curves.items(), figures.COLOURS, strict=False):
        epochs = range(1, len(losses) + 1)
        ax.plot(epochs, losses, color=colour, linewidth=2)
        ends.append(figures.end_of(epochs, losses, name, colour))
    ax.set(xlabel="epoch", ylabel="training loss", title="Two layers and ten, small weights and 1/√n")
    figures.annotate(ax, ends, bottom=0)
    return figures.figure_of(ax)
