"""XOR: no line separates it, two hidden units do."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures, lab, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.xor import HAND_MADE, X, Y


@experiment(
    "xor",
    "XOR: no line separates it, two hidden units do",
    lectures=("waterloo",),
    topic="models",
    claim="No linear classifier tells (0,0), (1,1) from (1,0), (0,1). A richer input map does, a richer model does, "
    "and so does a network that learns the map.",
    setting="The four points with labels -1 and +1. A linear program looks for a line; a perceptron is trained; three "
    "remedies are tried; the lecture's 2-2-1 network is set by hand, and one is trained by gradient descent.",
    criterion="The linear program has no solution (and a proof), the perceptron makes mistakes in every epoch, all "
    "three remedies have no error, and the hand-made network gives the lecture's numbers exactly.",
    notice=(
        "The proof weighs all four conditions equally: their sum is 0 > 0.",
        "The perceptron cycles: it makes as many mistakes in its last epoch as in its first.",
        "The network can represent XOR, yet many random starts get stuck where the gradient is 0.",
    ),
    further=(
        'lab.run("xor", activation="tanh")',
        'lab.run("xor", seed=3)',
        'lab.run("xor", steps=2000)',
    ),
    knobs={
        "seed": "of the random starts",
        "steps": "of gradient descent from each start",
        "activation": "of the trained network: relu or tanh",
        "epochs": "of the perceptron",
    },
)
def xor(seed: int = 0, steps: int = 500, activation: str = "relu", epochs: int = 50) -> Outcome:
    line = lab.separate(X, Y)
    cycling = nn.Perceptron().fit(X, Y, epochs).mistakes
    product = lab.separate(np.column_stack([X, X[:, 0] * X[:, 1]]), Y)
    quadratic = lab.separate(np.column_stack([X, X**2, X[:, 0] * X[:, 1]]), Y)
    by_hand = lab.forward_pass(HAND_MADE)
    trained = lab.train_xor(seed, steps=steps, activation=activation)

    assert line.proof is not None or line.separable
    exact = bool(np.array_equal(by_hand.score, Y))
    learned = trained.solved and bool(np.array_equal(trained.predictions, Y))
    passed = not line.separable and min(cycling) > 0 and product.separable and quadratic.separable and exact and learned
    stuck = sum(start.errors > 0 for start in trained.starts)
    remedies = (
        ("a line", "none", not line.separable, "fails, as it must"),
        ("richer input map (x₁, x₂, x₁x₂)", "a plane", product.separable, "no errors"),
        ("richer model (all quadratic terms)", "an ellipsoid or the like", quadratic.separable, "no errors"),
        ("learn the map: 2-2-1 network", f"after {stuck} stuck starts", learned, "no errors"),
    )
    return Outcome(
        passed,
        f"No line exists (proof {tuple(np.round(line.proof, 2).tolist()) if line.proof is not None else None}), the "
        f"perceptron makes {min(cycling)} mistakes in its best epoch, and each of the three remedies has none.",
        {
            "separable": line.separable,
            "proof": line.proof,
            "mistakes": cycling,
            "scores": by_hand.score,
            "trained_scores": trained.scores,
            "stuck_starts": stuck,
        },
        tuple(
            Beside(f"score of the hand-made network at {tuple(map(int, x))}", wanted, score)
            for x, wanted, score in zip(X, (-1, 1, 1, -1), by_hand.score.astype(int).tolist(), strict=True)
        ),
        (
            Table("Three remedies", ("model", "what separates", "as claimed", "result"), remedies),
            Table(
                "The hand-made network, step by step",
                ("x", "z = Ux + c", "h = max(0, z)", "score"),
                [
                    [tuple(r.tolist()) for r in rows] + [float(score)]
                    for *rows, score in zip(by_hand.x, by_hand.z, by_hand.h, by_hand.score, strict=True)
                ],
            ),
        ),
        (
            Picture(
                "plane",
                "Left: the four points, and the boundary of the trained network; one line would leave a point on the "
                "wrong side. Right: the loss of every start; those in grey got stuck.",
                lambda: figures.figure_of(lab.plot_xor(trained)),
            ),
            Picture("mistakes", "Mistakes of the perceptron in each epoch: never 0.", lambda: _mistakes(cycling)),
        ),
    )


def _mistakes(mistakes: tuple[int, ...]) -> Any:
    ax = figures.axes(size=(6.4, 2.6))
    ax.step(range(1, len(mistakes) + 1), mistakes, where="mid", color=figures.BLUE)
    ax.set(xlabel="epoch", ylabel="mistakes", ylim=(0, 4.5), title="A perceptron on XOR")
    return figures.figure_of(ax)
