"""Two lectures, two forms of the perceptron's rule: the same weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.markup import plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "perceptron-rules",
    "Two forms of the perceptron rule make the same weights",
    lectures=("cs231n", "kth"),
    topic="models",
    claim="One lecture updates w ← w + α (d − y) x with answers d, y of 0 and 1; the other w ← w + y x on a mistake, "
    "with labels −1 and +1, as gradient descent on the perceptron loss max(0, −y (<w, x> + b)). With α = 1 they are "
    "one rule. The second one leaves out b ← b + y; and at <w, x> + b = 0 its loss is 0, yet that has to count as "
    "a mistake, or nothing is ever learned from w = 0.",
    setting="Points in the plane that a line separates. Three perceptrons see them in the same order from the same "
    "random start: the two rules by hand, and a step along minus the gradient of the loss from the engine. Then "
    "all again from w = 0, and with another rate α.",
    criterion="From a random start the weights of all three are equal after every single sample, to the last bit; "
    "from w = 0 the only samples at which the two rules differ are those with a score of exactly 0; and from w = 0 a "
    "rate α makes weights of α times the size, with the same answers.",
    notice=(
        "The first rule answers 0 at a score of exactly 0, which is right for a label of 0: no update. The second one "
        "updates. This is the whole difference.",
        "(d − y) is +1, 0 or −1: nothing happens where the answer is right.",
        "From w = 0 the rate changes nothing but the length of w.",
    ),
    further=(
        'lab.run("perceptron-rules", seed=4)',
        'lab.run("perceptron-rules", rate=0.01)',
        'lab.run("mark-one")',
        'lab.run("adaline")',
    ),
    knobs={
        "points": "in the plane",
        "gap": "distance of the nearest points to the true line",
        "epochs": "over the points",
        "rate": "α that is compared with 1",
        "seed": "of points and start",
    },
)
def perceptron_rules(
    points: int = 60, gap: float = 0.02, epochs: int = 20, rate: float = 0.25, seed: int = 2
) -> Outcome:
    X, signs = separable(points, gap, seed)
    start = np.random.default_rng([seed, 1]).normal(size=3)
    by_answers = path(X, signs, start, epochs, answers)
    by_signs = path(X, signs, start, epochs, on_mistake)
    by_gradient = path(X, signs, start, epochs, descent())
    same = bool(np.array_equal(by_answers, by_signs) and np.array_equal(by_signs, by_gradient))

    zero = np.zeros(3)
    inputs, order = np.column_stack([X, np.ones(points)]), np.tile(np.arange(points), epochs)
    first, second = path(X, signs, zero, epochs, answers), path(X, signs, zero, epochs, on_mistake)
    moved = [np.diff(p, axis=0).any(axis=1) for p in (first, second)]
    would = np.array([(answers(w, inputs[i], signs[i]) != w).any() for w, i in zip(second, order, strict=False)])
    ties = (inputs[order] * second[:-1]).sum(axis=1) == 0
    differ = would != moved[1]
    only_ties = bool(differ.any() and np.all(ties[differ]))
    scaled = path(X, signs, zero, epochs, lambda w, x, y: answers(w, x, y, rate))
    apart = float(np.abs(scaled - rate * first).max() / np.abs(first).max())
    updates = int(np.diff(by_signs, axis=0).any(axis=1).sum())
    right = float(np.mean(np.sign(inputs @ by_signs[-1]) == signs))
    rows = [
        ("w + (d − y) x, answers 0 and 1", updates, *by_answers[-1]),
        ("w + y x on a mistake, labels −1 and +1", updates, *by_signs[-1]),
        ("w − gradient of max(0, −y (<w, x> + b))", updates, *by_gradient[-1]),
        ("first rule from w = 0", int(moved[0].sum()), *first[-1]),
        ("second rule from w = 0", int(moved[1].sum()), *second[-1]),
    ]
    return Outcome(
        same and only_ties and apart < 1e-12 and right == 1.0,
        f"After each of {points * epochs:,} samples ({updates} updates) the three weight vectors are equal to the last "
        f"bit; from w = 0 the rules differ at {plural(int(differ.sum()), 'sample')} with a score of exactly 0; a "
        f"rate of {rate:g} scales the weights (apart by {apart:.1g}).",
        {"weights": by_signs[-1], "updates": updates, "path": by_signs, "accuracy": right, "scaled_apart": apart},
        (),
        (Table("Weights at the end", ("rule", "updates", "w₁", "w₂", "b"), rows),),
        (
            Picture(
                "lines",
                "The line <w, x> + b = 0 at the start (dashed), after updates on the way (grey, darker is later) and "
                "at the end (black). All three rules draw the same lines.",
                lambda: _draw(X, signs, by_signs),
            ),
        ),
    )


def separable(points: int, gap: float, seed: int) -> tuple[Any, Any]:
    """Points of the square [-1, 1]² on both sides of a line, none nearer to it than `gap`; the first label is -1."""
    rng = np.random.default_rng(seed)
    angle, shift = rng.uniform(0, 2 * np.pi), rng.uniform(-0.2, 0.2)
    X = rng.uniform(-1, 1, (20 * points, 2))
    side = X @ [np.cos(angle), np.sin(angle)] - shift
    keep = np.flatnonzero(np.abs(side) > gap)[:points]
    keep = np.roll(keep, -int(np.argmax(side[keep] < 0)))  # the first label is -1
    return X[keep], np.sign(side[keep])


def path(X: Any, signs: Any, start: Any, epochs: int, rule: Any) -> Any:
    """(w₁, w₂, b) before the first sample and after each.   -> (epochs points + 1, 3)"""
    weights = [start]
    for _ in range(epochs):
        for x, y in zip(np.column_stack([X, np.ones(len(X))]), signs, strict=True):
            weights.append(rule(weights[-1], x, y))
    return np.array(weights)


def answers(w: Any, x: Any, y: float, rate: float = 1.0) -> Any:
    """w + α (d − y) x: the wanted answer d and the answer y are 0 or 1."""
    wanted, answer = float(y > 0), float(np.sum(w * x) > 0)
    return w + rate * (wanted - answer) * x


def on_mistake(w: Any, x: Any, y: float) -> Any:
    """w + y x where y (<w, x> + b) <= 0."""
    return w + y * x if y * np.sum(w * x) <= 0 else w


def descent() -> Any:
    """A step of size 1 along minus the gradient of the perceptron loss, by the engine."""
    objective = nn.loss("perceptron")
    gradient = pel.compile(pel.grad(lambda w, x, y: objective(np.sum(x * w).reshape(1, 1), y)))
    return lambda w, x, y: w - gradient(w, x, np.full((1, 1), y))


def _draw(X: Any, signs: Any, weights: Any) -> Figure:
    ax = figures.axes(size=(5.4, 4.4))
    changed = weights[np.append(True, np.diff(weights, axis=0).any(axis=1))]
    t = np.linspace(-3, 3, 2)
    for i, (w1, w2, b) in enumerate(changed):
        last = i == len(changed) - 1
        colour = figures.INK if last or i == 0 else str(0.88 - 0.4 * i / len(changed))
        foot, along = -b * np.array([w1, w2]) / (w1 * w1 + w2 * w2), np.array([-w2, w1]) / np.hypot(w1, w2)
        line = foot + t[:, None] * along
        ax.plot(
            *line.T,
            linestyle="--" if i == 0 else "-",
            color=colour,
            linewidth=2.4 if last else 0.9,
            zorder=3 if last else 1,
        )
    for sign, colour, marker, name in ((1, figures.BLUE, "o", "+1"), (-1, figures.ORANGE, "s", "−1")):
        ax.plot(*X[signs == sign].T, marker, color=colour, label=f"label {name}", markeredgecolor="white", zorder=4)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.45), xlabel="$x_1$", ylabel="$x_2$", title="Lines of a perceptron")
    ax.legend(ncols=2, loc="upper center", edgecolor="none", framealpha=1.0)
    return figures.figure_of(ax)
