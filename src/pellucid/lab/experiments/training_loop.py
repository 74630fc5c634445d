"""The training loop: sample, forward, backward, update; by hand, and as callbacks see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, nn, optim, train
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings


@dataclass
class Log:
    """What happens in each step: the batch, the loss of the forward pass, the gradients, the parameters after it."""

    events: list[str] = field(default_factory=list)
    batches: list[Any] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    gradients: list[dict[str, Any]] = field(default_factory=list)
    parameters: list[dict[str, Any]] = field(default_factory=list)


class Witness(train.Callback):
    """Writes down what a callback can see at each point of a step."""

    def __init__(self) -> None:
        self.log = Log()

    def on_look(self, run: train.Run, batch: Any) -> None:
        self.log.events.append("look")
        self.log.batches.append(np.asarray(batch.X))

    def on_forward(self, run: train.Run, objective: float) -> None:
        self.log.events.append("forward")
        self.log.losses.append(objective)

    def on_gradients(self, run: train.Run, gradients: dict[str, Any]) -> None:
        self.log.events.append("gradients")
        self.log.gradients.append(gradients)

    def on_batch_end(self, run: train.Run) -> None:
        self.log.events.append("batch_end")
        self.log.parameters.append(run.now.params)


def by_hand(net: nn.Layer, X: Any, y: Any, epochs: int, size: int, rate: float, seed: int) -> Log:
    """The lecture's loop, written with public functions only."""
    loss, opt, log = nn.loss("binary_cross_entropy"), optim.chain(optim.Adam(rate)), Log()
    params, state = net.initialize(X.shape[1], seed=seed, dtype=np.float64)
    memory, targets, step = opt.init(params), loss.prepare(y), 0
    for epoch in range(epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(X))
        for first in range(0, len(X), size):
            rows = order[first : first + size]  # 1. sample

            def cost(params: Any, rows: Any = rows) -> Any:
                return loss(net.apply(params, X[rows], state, training=True)[0], targets[rows])

            value, gradients = pel.value_and_grad(cost)(params)  # 2. forward, 3. backward
            params, memory = opt.update(params, gradients, memory, step + 1, opt.numbers(step))  # 4. update
            step += 1
            log.batches.append(X[rows])
            log.losses.append(float(value))
            log.gradients.append(gradients)
            log.parameters.append(params)
    return log


@experiment(
    "training-loop",
    "The training loop: sample, forward, backward, update",
    lectures=("kth",),
    topic="optimisation",
    claim="Training is a loop of four points: sample a batch, propagate it forward and compute the loss, propagate "
    "backward to get the gradients, update the parameters.",
    setting="A small network on two rings. The loop is written by hand with net.apply, value_and_grad and "
    "optimizer.update; beside it Model.fit runs with a callback that writes down what it sees at each point.",
    criterion="In every step the batch is the same to the bit, and loss, gradients and new parameters agree within "
    "1e-12; the callback is called in the order look, forward, gradients, batch_end.",
    notice=(
        "on_look sees the batch ahead of the step: sample. inspect.Watch uses it to look at every layer.",
        "on_forward is told the loss of the batch, before any gradient is computed.",
        "on_gradients comes between backward and update, and may return other gradients to learn from.",
        "on_batch_end comes after the update: run.loss is the loss of the forward pass, run.now the new state.",
        "The order of the rows is a function of the seed and the number of the epoch alone.",
    ),
    further=(
        'lab.run("training-loop", epochs=10)',
        'lab.run("training-loop", batch_size=240)',
        'lab.run("descent")',
    ),
    knobs={
        "epochs": "of training",
        "batch_size": "rows of a batch",
        "rate": "of Adam",
        "seed": "of the weights and the order of the rows",
    },
)
def training_loop(epochs: int = 5, batch_size: int = 48, rate: float = 0.02, seed: int = 0) -> Outcome:
    X, y = rings(240, seed)
    net = nn.mlp((12,), 1, activation="tanh")
    hand = by_hand(net, X, y, epochs, batch_size, rate, seed)
    witness = Witness()
    model = Model(net, "binary_cross_entropy", optim.Adam(rate), dtype="float64")
    model.fit(X, y, epochs=epochs, batch_size=batch_size, seed=seed, callbacks=[witness], verbose=False)
    seen = witness.log

    steps = len(hand.losses)
    same = len(seen.batches) == steps and all(map(np.array_equal, seen.batches, hand.batches))
    apart = {
        "1. sample": 0.0 if same else np.inf,
        "2. forward": float(np.abs(np.subtract(seen.losses, hand.losses)).max()),
        "3. backward": _apart(seen.gradients, hand.gradients),
        "4. update": _apart(seen.parameters, hand.parameters),
    }
    order = seen.events == ["look", "forward", "gradients", "batch_end"] * steps
    events = (
        "on_look(run, batch)",
        "on_forward(run, objective)",
        "on_gradients(run, gradients)",
        "on_batch_end(run)",
    )
    calls = (
        "rows = order[first : first + size]",
        "net.apply(...), loss(...)",
        "value_and_grad(cost)(params)",
        "optimizer.update(...)",
    )
    return Outcome(
        same and order and max(apart.values()) < 1e-12,
        f"In {steps} steps the batches are the same, and loss, gradients and parameters differ by "
        f"{max(apart.values()):.0e} at most.",
        {"differences": apart, "losses": seen.losses, "steps": steps, "events": seen.events[:4]},
        (),
        (
            Table(
                "The four points of a step",
                ("point", "by hand", "a callback sees it in", "largest difference"),
                [
                    [point, call, event, f"{value:.0e}"]
                    for (point, value), call, event in zip(apart.items(), calls, events, strict=True)
                ],
            ),
        ),
        (
            Picture("loop", "The four points of a step, and where callbacks are called (orange).", _loop),
            Picture(
                "losses",
                "The loss of every batch, by hand (line) and seen by the callback (circles).",
                lambda: _losses(hand.losses, seen.losses),
            ),
        ),
    )


def _apart(ours: list[dict[str, Any]], others: list[dict[str, Any]]) -> float:
    return max(
        float(np.abs(one[name] - other[name]).max()) for one, other in zip(ours, others, strict=True) for name in other
    )


def _loop() -> Any:
    ax = figures.axes(size=(7.6, 2.9))
    ax.set_axis_off()
    ax.set(xlim=(0, 10.9), ylim=(0, 4), title="One step")
    points = (
        ("sample", "a batch"),
        ("forward", "scores and loss"),
        ("backward", "gradients"),
        ("update", "parameters"),
    )
    for i, (name, what) in enumerate(points):
        x = 0.2 + 2.5 * i
        ax.add_patch(figures.pyplot().Rectangle((x, 1.7), 1.9, 1.2, fc="#E8F1F8", ec=figures.BLUE, lw=1.5))
        ax.text(x + 0.95, 2.5, name, ha="center", va="center", fontsize=12, weight="bold", color=figures.INK)
        ax.text(x + 0.95, 2.03, what, ha="center", va="center", fontsize=10, color=figures.INK)
        if i < 3:
            ax.annotate("", (x + 2.47, 2.3), (x + 1.93, 2.3), arrowprops={"arrowstyle": "-|>", "color": figures.INK})
    for x, name in ((2.4, "on_look"), (4.9, "on_forward"), (7.4, "on_gradients"), (9.85, "on_batch_end")):
        ax.plot([x, x], [2.3, 3.35], color=figures.ORANGE, lw=1.5)
        ax.text(x, 3.45, name, ha="center", color=figures.ORANGE, family="monospace", fontsize=10)
    ax.plot([8.65, 8.65, 1.15], [1.65, 0.5, 0.5], color=figures.INK, lw=1)
    ax.annotate("", (1.15, 1.68), (1.15, 0.48), arrowprops={"arrowstyle": "-|>", "color": figures.INK})
    ax.text(4.7, 0.1, "until the epochs are done", ha="center", color=figures.INK)
    return figures.figure_of(ax)


def _losses(hand: list[float], seen: list[float]) -> Any:
    ax = figures.axes(size=(6.4, 3.2))
    steps = np.arange(1, len(hand) + 1)
    ax.plot(steps, hand, color=figures.BLUE, lw=1.5, label="by hand")
    ax.plot(steps, seen, "o", color=figures.ORANGE, ms=6, mfc="none", label="callback of Model.fit")
    ax.set(xlabel="step", ylabel="loss of the batch", title="The same loop twice")
    figures.legend(ax, 2)
    return figures.figure_of(ax)
