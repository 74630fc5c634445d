"""ReLU units that die, and what keeps them alive."""

from __future__ import annotations

from typing import Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings

NAMES = {"relu": "ReLU", "leaky_relu": "leaky ReLU", "elu": "ELU"}
COLOURS = dict(zip(NAMES, (figures.ORANGE, figures.GREEN, figures.BLUE), strict=True))
BIASES = (-1.0, -0.5, 0.0, 0.1, 0.5)


@experiment(
    "dying-units",
    "Units that die: ReLU cannot come back, leaky ReLU and ELU can",
    lectures=("cs231n", "kth", "book"),
    topic="activations",
    claim="If s = <w, x> + b < 0 for every example, a ReLU unit is dead: its weights get no update. A large negative "
    "bias does it, and so does too high a learning rate. Leaky ReLU and ELU do not die. Start biases slightly "
    "positive.",
    setting="One unit, pushed to s < 0 for all rows by its bias, learns y = max(0, x) by gradient descent. Then "
    "networks with two ReLU layers of 32 units on two rings of points, trained at growing rates; and the units that "
    "are dead before training in networks with two layers of 100, for several starting biases.",
    criterion="The gradient of the pushed ReLU unit is exactly 0 and its weights do not move, while the leaky unit and "
    "the ELU have s > 0 for some row again; more units are dead after the highest rate than after the lowest; fewer "
    "are dead at the start with slightly positive biases than with negative ones, and no more than with biases of 0.",
    notice=(
        "A dead unit is no more than a constant 0, and its own weights never move again. In an upper layer it may "
        "still come back when the layers below it change its inputs; in the first layer the inputs are the data, which "
        "stay.",
        "The leaky unit comes back slowly (its slope below 0 is 0.01), the ELU faster, for its slope there is e to the "
        "s.",
        "Too high a rate throws weights to where s < 0 for all rows; the accuracy need not suffer while others live.",
        "Where units die, lower the rate, start biases slightly positive, or take leaky ReLU or ELU.",
    ),
    further=(
        'lab.run("dying-units", push=-2.0)',
        'lab.run("dying-units", rates=(0.1, 1.0, 10.0))',
        'lab.run("gates")',
    ),
    knobs={
        "push": "bias that the unit is given: below -1, s < 0 for all rows",
        "steps": "of gradient descent for the pushed unit",
        "rates": "learning rates of the two-layer networks, growing",
        "epochs": "of each of their trainings",
        "starts": "of the networks whose dead units are counted before training",
        "seed": "of points and weights",
    },
)
def dying_units(
    push: float = -1.5,
    steps: int = 800,
    rates: tuple[float, ...] = (0.1, 1.0, 3.0),
    epochs: int = 10,
    starts: int = 10,
    seed: int = 0,
) -> Outcome:
    tops = {name: pushed(name, push, steps) for name in NAMES}
    X, y = rings(300, seed)
    after = {rate: _dead_after(rate, epochs, X, y, seed) for rate in rates}
    before = {bias: _dead_before(bias, starts, X, seed) for bias in BIASES}

    moved = {name: float(np.ptp(top)) for name, top in tops.items()}
    passed = (
        moved["relu"] == 0.0
        and tops["relu"][-1] < 0
        and min(tops["leaky_relu"][-1], tops["elu"][-1]) > 0
        and after[rates[-1]][0] > after[rates[0]][0]
        and before[0.1] < before[-0.5] < before[-1.0]
        and before[0.1] <= before[0.0]
    )
    back = {name: int(np.argmax(tops[name] > 0)) for name in ("leaky_relu", "elu")}
    return Outcome(
        passed,
        f"The ReLU unit stays at s ≤ {tops['relu'][-1]:g}; the leaky one comes back after {back['leaky_relu']} steps, "
        f"the ELU after {back['elu']}. Of 64 units {after[rates[0]][0]} are dead after training at {rates[0]:g} and "
        f"{after[rates[-1]][0]} at {rates[-1]:g}; of 200 at the start {before[0.1]:.1f} with biases of 0.1, "
        f"{before[0.0]:.1f} with 0 and {before[-1.0]:.1f} with -1.",
        {"highest_s": {name: top[-1] for name, top in tops.items()}, "back": back, "after": after, "before": before},
        (),
        (
            Table(
                f"Dead units after {epochs} epochs",
                ("learning rate", "dead, of 64", "training accuracy"),
                [(rate, *after[rate]) for rate in rates],
            ),
            Table(
                "Dead units before training",
                ("starting bias", f"dead, of 200 (mean of {starts} starts)"),
                [(bias, before[bias]) for bias in BIASES],
            ),
        ),
        (
            Picture(
                "recovery",
                "The largest s over all rows for a unit that was pushed below 0: as long as it is negative, no row "
                "switches the unit on. The ReLU unit never moves.",
                lambda: _recovery(tops),
            ),
            Picture(
                "counts",
                "Left: dead units after training, most at the highest rate. Right: dead units before training, fewer "
                "with larger starting biases.",
                lambda: _counts(after, before),
            ),
        ),
    )


def pushed(name: str, push: float, steps: int, rate: float = 0.2) -> Any:
    """The largest s over all rows, after every step, of one unit that starts with this bias.   (steps + 1,)"""
    X = np.linspace(-1.0, 1.0, 41)[:, None]
    y = np.maximum(X, 0.0)
    g = nn.activation(name)
    learn = pel.compile(pel.grad(lambda p: np.mean(np.square(g(X * p["w"] + p["b"]) - y))))
    p = {"w": np.array(1.0), "b": np.array(push)}
    tops = []
    for _ in range(steps + 1):
        tops.append(float(np.max(X * p["w"] + p["b"])))
        p = pel.tree_map(lambda w, d: w - rate * d, p, learn(p))
    return np.array(tops)


def dead(net: Any, params: dict[str, Any], X: Any) -> int:
    """Units of both hidden layers whose s is not above 0 for any row."""
    taps: dict[str, Any] = {}
    net.apply(params, X, {}, taps=taps)
    return sum(int(np.sum(taps[layer].max(axis=0) <= 0)) for layer in ("hidden1", "hidden2"))


def _dead_after(rate: float, epochs: int, X: Any, y: Any, seed: int) -> tuple[int, float]:
    model = Model(nn.mlp((32, 32), 1), "binary_cross_entropy", optim.SGD(rate), ["accuracy"])
    model.fit(X, y, epochs=epochs, batch_size=32, seed=seed, verbose=False, on_divergence="stop")
    return dead(model.net, model.params, X), model.evaluate(X, y)["accuracy"]


def _dead_before(bias: float, starts: int, X: Any, seed: int) -> float:
    net = nn.mlp((100, 100), 1, bias=bias)
    return float(np.mean([dead(net, net.initialize(2, seed=seed + k).params, X) for k in range(starts)]))


def _recovery(tops: dict[str, Any]) -> Any:
    ax = figures.axes(size=(7.0, 3.6))
    for name, top in tops.items():
        ax.plot(top, color=COLOURS[name], linewidth=2)
    ax.axhline(0, color=figures.INK, linewidth=0.8)
    ax.set(xlabel="step", ylabel="largest s over all rows", title="A unit pushed below 0 for all rows")
    figures.annotate(ax, [figures.end_of(range(len(t)), t, NAMES[n], COLOURS[n]) for n, t in tops.items()])
    return figures.figure_of(ax)


def _counts(after: dict[float, tuple[int, float]], before: dict[float, float]) -> Any:
    left, right = figures.grid(2, (4.2, 3.2), who="dying-units")
    for ax, counts in ((left, [count for count, _ in after.values()]), (right, list(before.values()))):
        figures.plain(ax)
        bars = ax.bar(range(len(counts)), counts, color=figures.BLUE, width=0.6)
        ax.bar_label(bars, fmt="%.3g", padding=2)
        ax.grid(False, axis="x")
        ax.margins(y=0.15)
    left.set_xticks(range(len(after)), [f"{rate:g}" for rate in after])
    right.set_xticks(range(len(before)), [f"{bias:g}" for bias in before])
    left.set(xlabel="learning rate", ylabel="dead units, of 64", title="After training")
    right.set(xlabel="starting bias", ylabel="dead units, of 200", title="Before training")
    return figures.figure_of(left)
