"""The upper part of a network learns as if the lower part were its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "stacked-updates",
    "The upper layers learn as a network of their own, on moving data",
    lectures=("notes",),
    topic="derivatives",
    claim="For a loss F₂(F₁(u, θ₁), θ₂) the step of θ₂ is that of a network F₂ alone with input x = F₁(u, θ₁). So a "
    "fixed distribution of x would spare θ₂ the work of following it: the reason given for batch normalisation. The "
    "printed step θ₂ ← θ₂ − (α/m) ∂F₂(x_i, θ₂)/∂θ₂ lacks the sum over the m samples.",
    setting="Two networks, one on the other, trained together by gradient descent. Beside them F₂ alone, from the same "
    "start, which is given x = F₁(u, θ₁) as its data in each step.",
    criterion="After every step θ₂ is the same in both to 1e-12, while x changes (its mean moves by more than a tenth "
    "of its deviation); with one sample in place of the sum over all of them θ₂ goes another way.",
    notice=(
        "F₂ cannot tell whether its inputs are data or another network.",
        "But its data move: after each step of θ₁ the same u gives another x.",
    ),
    further=(
        'lab.run("stacked-updates", steps=500)',
        'lab.run("stacked-updates", rate=0.5)',
        'lab.run("absorbed-bias")',
        'lab.run("backward-passes")',
    ),
    knobs={"steps": "of gradient descent", "rate": "α", "samples": "m", "seed": "of weights and data"},
)
def stacked_updates(steps: int = 100, rate: float = 0.2, samples: int = 40, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(samples, 3))
    y = (np.sum(u * u, axis=1) > 2.4).astype(float)[:, None]
    lower, upper, objective = nn.mlp((8,), 4, activation="tanh"), nn.mlp((6,), 1, activation="tanh"), nn.loss("bce")
    theta1, theta2 = (
        {k: np.asarray(p, float) for k, p in net.initialize(n, seed=seed).params.items()}
        for net, n in ((lower, 3), (upper, 4))
    )

    def whole(both: Any) -> Any:
        return objective(upper.predict(both[1], lower.predict(both[0], u)), y)

    def alone(theta: Any, x: Any, y: Any) -> Any:
        return objective(upper.predict(theta, x), y)

    together, single = pel.compile(pel.grad(whole)), pel.compile(pel.grad(alone))
    apart, means, standalone, one = [], [], theta2, theta2
    for t in range(steps):
        x = lower.predict(theta1, u)
        means.append(x.mean(axis=0))
        g1, g2 = together((theta1, theta2))
        i = t % samples
        standalone = descend(standalone, single(standalone, x, y), rate)
        one = descend(one, single(one, x[[i]], y[[i]]), rate / samples)  # as printed: (α/m) times one sample
        theta1, theta2 = descend(theta1, g1, rate), descend(theta2, g2, rate)
        apart.append(distance(theta2, standalone))
    spread = lower.predict(theta1, u).std(axis=0)
    drift = (np.array(means) - means[0]) / spread
    moved = float(np.abs(drift[-1]).max())
    off = distance(theta2, one)
    return Outcome(
        max(apart) < 1e-12 and moved > 0.1 and off > 1e-2,
        f"In {steps} steps θ₂ inside and θ₂ alone are never apart by more than {max(apart):.1g}, while the mean of x "
        f"moves by up to {moved:.2f} of its deviation; without the sum θ₂ ends {off:.2f} away.",
        {"apart": apart, "drift": drift, "without_sum": off},
        (),
        (
            Table(
                "θ₂ at the end: some weights",
                ("weight", "inside F₂(F₁)", "F₂ alone", "without the sum"),
                [
                    (f"output weight {k + 1}", *(float(t["output.weight"][k, 0]) for t in (theta2, standalone, one)))
                    for k in range(4)
                ],
            ),
        ),
        (
            Picture(
                "drift",
                "How far the mean of each of the four inputs x of the upper network has moved during training, in "
                "deviations: data of F₂ that do not stay.",
                lambda: _draw(drift),
            ),
        ),
    )


def descend(theta: dict[str, Any], gradient: dict[str, Any], rate: float) -> dict[str, Any]:
    return {name: p - rate * gradient[name] for name, p in theta.items()}


def distance(a: dict[str, Any], b: dict[str, Any]) -> float:
    return max(float(np.abs(a[name] - b[name]).max()) for name in a)


def _draw(drift: Any) -> Figure:
    ax = figures.axes(size=(6.4, 3.2))
    ends = []
    for k, (row, colour) in enumerate(zip(drift.T, figures.COLOURS, strict=False)):
        ax.plot(row, color=colour)
        ends.append(figures.end_of(range(len(row)), row, f"$x_{k + 1}$", colour))
    ax.set(xlabel="step", ylabel="shift of the mean, in deviations", title="The inputs of the upper network move")
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
