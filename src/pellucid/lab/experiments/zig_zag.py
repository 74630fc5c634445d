"""Positive inputs make gradients of one sign, and the way to the goal a zig-zag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import pellucid as pel
from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.generalization_plots import plot_signs
from pellucid.lab.preprocessing import gradient_signs

GOAL, START = np.array([1.0, -1.0]), np.array([-1.0, 1.0])


@dataclass(frozen=True)
class Walk:
    """Weights after every step (steps + 1, 2), and the steps themselves."""

    weights: Any

    @property
    def steps(self) -> Any:
        return np.diff(self.weights, axis=0)

    @property
    def one_sign(self) -> float:
        """Share of steps that raise both weights or lower both."""
        return float(np.mean(np.prod(np.sign(self.steps), axis=1) > 0))

    @property
    def detour(self) -> float:
        """Length of the path over the straight distance."""
        return float(np.linalg.norm(self.steps, axis=1).sum() / np.linalg.norm(self.weights[-1] - self.weights[0]))


@experiment(
    "zig-zag",
    "Positive inputs: gradients of one sign, and a zig-zag path",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="If all inputs of a unit are positive, the gradient of its weights is all positive or all negative: two of "
    "many orthants, and an inefficient zig-zag path. That is true for a single example; the mean over a batch can "
    "have both signs, for every example has its own factor.",
    setting="A unit with two weights learns y = x₁ - x₂ from single examples, by gradient descent from (-1, 1) to "
    "(1, -1): once with inputs between 0.1 and 2, once with the same inputs minus their mean. Then one tanh unit with "
    "four inputs: its gradient for each of 200 examples, and the mean gradient of each of 40 batches of ten. Orthants "
    "are what quarters are in the plane: a sign for every axis, so 2⁴ = 16 of them for four weights.",
    criterion="With positive inputs every step raises both weights or lowers both, and all gradients lie in 2 of 16 "
    "orthants; centred, less than two thirds of the steps do so, and the gradients lie in at least 12 orthants; the "
    "path is at least one and a half times as long with positive inputs. Over several draws, the mean gradient of a "
    "batch has one sign in some and both signs in others.",
    notice=(
        "The gradient of the weights is δx, where δ is the derivative of the loss by the unit's sum, one number: x is "
        "positive, so only the sign of δ is left to choose.",
        "To get from (-1, 1) to (1, -1) one weight must rise and the other fall: no single step can do both.",
        "Centring shortens the path, not always the number of steps: centred inputs are smaller, and so are the steps.",
        "The outputs of a sigmoid are all positive, so the layer behind it has the same trouble, whatever is done to "
        "the inputs.",
        "A mini-batch softens it: the sum of steps up and steps down may go anywhere.",
    ),
    further=(
        'lab.run("zig-zag", rate=0.3)',
        'lab.run("zig-zag", seed=4)',
        'lab.run("preprocessing")',
    ),
    knobs={"rate": "of gradient descent", "steps": "at most", "seed": "of the examples"},
)
def zig_zag(rate: float = 0.2, steps: int = 400, seed: int = 0) -> Outcome:
    X = np.random.default_rng(seed).uniform(0.1, 2.0, (steps, 2))
    raw, centred = walk(X, rate), walk(X - X.mean(axis=0), rate)
    signs, centred_signs = gradient_signs(seed=seed), gradient_signs(centred=True, seed=seed)
    batches = [gradient_signs(n=10, seed=seed + draw).batch_one_sign for draw in range(40)]

    passed = (
        raw.one_sign == 1.0
        and centred.one_sign < 2 / 3
        and signs.orthants == 2
        and centred_signs.orthants >= 12
        and raw.detour > 1.5 * centred.detour
        and 0 < sum(batches) < len(batches)
    )
    return Outcome(
        passed,
        f"With positive inputs all {len(raw.steps)} steps have one sign and the path is {raw.detour:.1f} times the "
        f"straight way; centred, {centred.one_sign:.0%} of {len(centred.steps)} steps have, and it is "
        f"{centred.detour:.1f} times. Of {len(batches)} batches {sum(batches)} have a mean gradient of one sign, the "
        "others of both.",
        {
            "steps": (len(raw.steps), len(centred.steps)),
            "one_sign": (raw.one_sign, centred.one_sign),
            "detour": (raw.detour, centred.detour),
            "orthants": (signs.orthants, centred_signs.orthants),
            "batches_of_one_sign": sum(batches),
        },
        (),
        (
            Table(
                "The two ways",
                (
                    "inputs",
                    "steps to the goal",
                    "path / straight way",
                    "share of steps of one sign",
                    "orthants of the tanh unit's gradients, of 16",
                ),
                [
                    ("positive", len(raw.steps), raw.detour, raw.one_sign, signs.orthants),
                    ("centred", len(centred.steps), centred.detour, centred.one_sign, centred_signs.orthants),
                ],
            ),
        ),
        (
            Picture(
                "path",
                "The weights after every step, from the square to the star. Left, with positive inputs, each step goes "
                "up and to the right or down and to the left; right, with centred inputs, in all directions.",
                lambda: _paths(raw, centred),
            ),
            Picture(
                "gradients",
                "Gradients of two weights of a tanh unit, a dot for each example. Left: all in two quarters of the "
                "plane. Right: in all four.",
                lambda: figures.figure_of(plot_signs(signs, centred_signs)),
            ),
        ),
    )


def walk(X: Any, rate: float, near: float = 0.1) -> Walk:
    """Gradient descent on one example after the other, until the weights are near the goal."""
    slope = pel.compile(pel.grad(lambda w, x, y: np.square(x @ w - y) / 2))
    weights = [START]
    for x in X:
        weights.append(weights[-1] - rate * slope(weights[-1], x, x @ GOAL))
        if np.linalg.norm(weights[-1] - GOAL) < near:
            break
    return Walk(np.array(weights))


def _paths(raw: Walk, centred: Walk) -> Any:
    axes = figures.grid(2, (4.4, 4.0), who="zig-zag")
    for ax, path, title in zip(axes, (raw, centred), ("positive inputs", "centred inputs"), strict=True):
        figures.plain(ax)
        ax.plot(*path.weights.T, "-", color=figures.BLUE, linewidth=1.2)
        ax.plot(*path.weights.T, ".", color=figures.BLUE, markersize=4)
        ax.plot(*START, "s", color=figures.INK, markersize=8)
        ax.plot(*GOAL, "*", color=figures.ORANGE, markersize=14)
        ax.set(xlabel="w₁", ylabel="w₂", aspect="equal", title=f"{title}: {len(path.steps)} steps")
    low = min(float(ax.get_xlim()[0]) for ax in axes), min(float(ax.get_ylim()[0]) for ax in axes)
    high = max(float(ax.get_xlim()[1]) for ax in axes), max(float(ax.get_ylim()[1]) for ax in axes)
    for ax in axes:
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return figures.figure_of(axes)
