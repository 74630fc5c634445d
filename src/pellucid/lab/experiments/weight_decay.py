"""A ridge penalty is weight decay for plain descent, and is not for Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import Model, figures, nn, optim, train
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings


@experiment(
    "weight-decay",
    "A ridge penalty decays weights under SGD, but not under Adam",
    lectures=("book",),
    topic="optimisation",
    claim="Descent on J + λR gives θ ← (1 - αλ)θ - α∂J/∂θ: weight decay. (That is for R = ½‖θ‖². The lecture's ridge "
    "penalty is λΣw² without the half: its factor is 1 - 2αλ.) It holds for plain descent with rate α only.",
    setting="A small network on two rings, trained from the same start: with the penalty nn.L2(λ), which is ½λΣw², and "
    "without it but with the link optim.WeightDecay(λ); each with SGD and with Adam.",
    criterion="With SGD the weights agree within 1e-12 at the end; one step has the factor 1 - αλ with the half, "
    "and 1 - 2αλ without it, within 1e-12; with Adam the two ways end more than 1 % apart.",
    notice=(
        "Adam divides the penalty's gradient by √s like any other: weights with large gradients hardly decay.",
        "Decay beside the rule (AdamW) shrinks all weights by the same factor, whatever their gradients.",
        "Biases are left out in both ways: a penalty on them keeps the output from its mean.",
    ),
    further=(
        'lab.run("weight-decay", strength=0.1)',
        'lab.run("weight-decay", epochs=300)',
        'lab.run("regularised-regions")',
    ),
    knobs={
        "strength": "λ of the penalty and of the decay",
        "rate": "α, the learning rate",
        "epochs": "of training, four steps each",
        "seed": "of the data and the weights",
    },
)
def weight_decay(strength: float = 0.05, rate: float = 0.05, epochs: int = 75, seed: int = 0) -> Outcome:
    X, y = rings(200, seed)
    ways: dict[str, tuple[Any, nn.Penalty | None]] = {
        "SGD, penalty": (optim.SGD(rate), nn.L2(strength)),
        "SGD, decay": (optim.chain(optim.SGD(rate), optim.WeightDecay(strength)), None),
        "Adam, penalty": (optim.Adam(rate / 5), nn.L2(strength)),
        "Adam, decay": (optim.chain(optim.Adam(rate / 5), optim.WeightDecay(strength)), None),
        "Adam, neither": (optim.Adam(rate / 5), None),
    }
    ends, norms = {}, {}
    for name, (rule, penalty) in ways.items():
        net = nn.mlp((16,), 1, activation="tanh")
        model = Model(net, "binary_cross_entropy", rule, penalty=penalty, dtype="float64", engine="native", threads=1)
        sizes: list[float] = []

        def note(run: train.Run, sizes: list[float] = sizes) -> None:
            sizes.append(_norm(run.now.params))

        model.fit(X, y, epochs=epochs, batch_size=50, seed=seed, callbacks=[note], verbose=False)
        ends[name], norms[name] = model.params, np.array(sizes)

    def apart(rule: str) -> float:
        one, other = ends[f"{rule}, penalty"], ends[f"{rule}, decay"]
        return max(float(np.abs(one[name] - other[name]).max()) for name in one)

    factors = {half: _factor(rate, nn.L2(strength if half else 2 * strength)) for half in (True, False)}
    right = abs(factors[True] - (1 - rate * strength)) + abs(factors[False] - (1 - 2 * rate * strength))
    sgd, adam = apart("SGD"), abs(norms["Adam, penalty"][-1] / norms["Adam, decay"][-1] - 1)
    return Outcome(
        bool(sgd < 1e-12 and right < 1e-12 and adam > 0.01),
        f"With SGD penalty and decay end {sgd:.0e} apart; with Adam the norm of the weights differs by {adam:.0%}.",
        {"sgd": sgd, "adam": float(adam), "factors": factors, "norms": norms},
        (
            Beside("factor of a weight for ½λΣw²: 1 - αλ", 1 - rate * strength, factors[True]),
            Beside(
                "factor of a weight for λΣw²: 1 - 2αλ (the lecture prints 1 - αλ)", 1 - rate * strength, factors[False]
            ),
        ),
        (
            Table(
                "After the last epoch",
                ("way", "norm of all weights"),
                [[name, float(sizes[-1])] for name, sizes in norms.items()],
            ),
        ),
        (
            Picture(
                "norms",
                "The norm of all weights during training. The two ways of SGD lie on each other; those of Adam part.",
                lambda: _norms(norms),
            ),
        ),
    )


def _norm(params: Any) -> float:
    return float(np.sqrt(sum(np.sum(np.square(w)) for name, w in params.items() if name.endswith("weight"))))


def _factor(rate: float, penalty: nn.Penalty) -> float:
    """What one step makes of the weight 1 where the loss has no slope: the input is 0, and so is its gradient."""
    net = nn.Sequential(("out", nn.Dense(1, bias=None)))
    model = Model(net, "squared_error", optim.SGD(rate), penalty=penalty, dtype="float64").initialize(1)
    model.params = {"out.weight": np.ones((1, 1))}
    model.fit(np.zeros((4, 1)), np.arange(4.0), steps=1, batch_size=4, verbose=False)
    return float(model.params["out.weight"][0, 0])


def _norms(norms: dict[str, Any]) -> Any:
    ax = figures.axes(size=(7.2, 4.0))
    t = np.arange(len(next(iter(norms.values())))) + 1
    colours = (figures.BLUE, figures.SKY, figures.ORANGE, figures.GREEN, figures.GREY)
    ends = []
    for (name, values), colour, dash in zip(norms.items(), colours, ("-", "--", "-", "-", ":"), strict=True):
        ax.plot(t, values, color=colour, ls=dash, lw=3 if name == "SGD, penalty" else 1.7)
        ends.append(figures.end_of(t, values, name, colour))
    ax.set(xlabel="epoch", ylabel="norm of the weights", title="Penalty and decay")
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
