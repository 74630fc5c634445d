"""Babysitting: which rate? The rate finder, three watched runs, and where to search further."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import Model, figures, inspect, nn, optim, train
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.regions import moons


@experiment(
    "rate-and-search",
    "Babysitting a training: the rate finder and three watched runs",
    lectures=("cs231n",),
    topic="optimisation",
    claim="To train a network is to babysit the learning process and to optimise hyper-parameters (the lecture names "
    "both, without detail). The first of them is the learning rate.",
    setting="A network on two half moons, trained by SGD. train.find_rate runs a copy with a rate that grows at every "
    "step; then three runs are watched: with the rate it suggests, with a hundredth of it, and with a hundred times as "
    "much.",
    criterion="The suggested rate ends with a lower validation loss than the other two, and inspect.diagnose, which "
    "looks at the slow run, names its rate as too low.",
    notice=(
        "The curve of the finder is flat while the rate does nothing, falls, and blows up. A tenth of where it is "
        "lowest is a good first guess.",
        "The guess is a careful one: with factor=10 the larger rate may turn out to be the better one.",
        "A loss that hardly moves: too low. One that jumps, or is not a number: too high.",
        "Further settings (sizes, penalties, dropout) are searched by pellucid.tune(estimator, X, y), which needs "
        "Optuna.",
    ),
    further=(
        'lab.run("rate-and-search", factor=10)',
        'lab.run("rate-and-search", seed=1)',
        'lab.run("schedules")',
    ),
    knobs={
        "factor": "how far the two other rates are away",
        "epochs": "of each run",
        "seed": "of data and weights",
    },
)
def rate_and_search(factor: float = 100.0, epochs: int = 30, seed: int = 0) -> Outcome:
    X, y = moons(600, 0.15, seed)
    held = moons(400, 0.15, seed + 1000)

    def fresh(rate: float) -> Model:
        return Model(nn.mlp((32,), 1), "binary_cross_entropy", optim.SGD(rate), ["accuracy"])

    curve = train.find_rate(fresh(0.1), X, y, high=100.0, steps=150, seed=seed)
    rates = {"too low": curve.suggestion / factor, "suggested": curve.suggestion, "too high": curve.suggestion * factor}
    models, losses = {}, {}
    for name, rate in rates.items():
        model = fresh(rate)
        history = model.fit(
            X, y, epochs=epochs, batch_size=32, validation=held, seed=seed, on_divergence="stop", verbose=False
        )
        models[name] = model
        losses[name] = np.array(history["val_loss"], float)
    ends = {name: float(values[-1]) if len(values) else np.inf for name, values in losses.items()}
    best = ends["suggested"] < min(ends["too low"], ends["too high"])
    findings = inspect.diagnose(models["too low"], X, y, validation=held)
    return Outcome(
        best and "rate-too-low" in findings.codes,
        f"The finder suggests {curve.suggestion:.2g}; after {epochs} epochs the validation loss is "
        f"{ends['suggested']:.3f} with it, {ends['too low']:.3f} with a {factor:g}th and {ends['too high']:.3g} with "
        f"{factor:g} times as much; the diagnosis of the slow run is {', '.join(findings.codes)}.",
        {"suggestion": curve.suggestion, "losses": losses, "codes": findings.codes},
        (),
        (
            Table(
                "Three runs",
                ("rate", "is", "validation loss", "accuracy on validation rows", "ended by"),
                [
                    [
                        name,
                        rates[name],
                        ends[name],
                        f"{models[name].evaluate(*held)['accuracy']:.1%}",
                        models[name].history.stopped[:40],
                    ]
                    for name in rates
                ],
            ),
            Table(
                "What the diagnosis of the slow run says",
                ("code", "means"),
                [[finding.code, finding.means] for finding in findings],
            ),
        ),
        (
            Picture(
                "finder",
                "The loss while the rate grows: a tenth of where it is lowest is taken.",
                lambda: figures.figure_of(curve.plot()),
            ),
            Picture(
                "runs",
                "The validation loss of the three runs.",
                lambda: _runs(losses, rates),
            ),
        ),
    )


def _runs(losses: dict[str, Any], rates: dict[str, float]) -> Any:
    ax = figures.axes(size=(7.2, 3.8))
    top = 1.6 * float(losses["too low"][0])
    ends = []
    for (name, values), colour, mark in zip(losses.items(), figures.COLOURS, "os^", strict=False):
        epochs = np.arange(1, len(values) + 1)
        shown = np.where(values > top, top, values)
        ax.plot(epochs, shown, mark + "-", color=colour, ms=3.5)
        ends.append(figures.end_of(epochs, shown, f"{name}, {rates[name]:.2g}", colour))
    ax.set(xlabel="epoch", ylabel="validation loss", title="Three rates")
    figures.annotate(ax, ends, bottom=0)
    return figures.figure_of(ax)
