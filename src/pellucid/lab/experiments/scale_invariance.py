"""Behind batch normalisation the scale of weights does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "scale-invariance",
    "BN(aWu) = BN(Wu): the scale of weights does not matter",
    lectures=("notes",),
    topic="normalisation",
    claim="Batch normalisation reduces the dependence of gradients on the scale of the parameters: BN(aWu) = BN(Wu), "
    "and the gradient of larger weights is smaller, ∂L/∂(aW) = (1/a) ∂L/∂W. This answers the notes' question how the "
    "gradient of W changes: it has no part along W, and the gradient of the bias is 0.",
    setting="An affine layer, batch normalisation and tanh, with a loss behind them; the weights are multiplied by "
    "factors a from 1/100 to 100. Then plain gradient descent with a fixed rate is followed.",
    criterion="With ε = 0 the loss is the same for every a (1e-10), a times the gradient as well (1e-9), and the "
    "cosine between each unit's weights and its gradient is below 1e-9; in every step of gradient descent no unit's "
    "weights get shorter.",
    notice=(
        "With ε = 1e-5 all this holds up to about ε/σ²: see the last column.",
        "Every step goes at right angles to the weights, so by Pythagoras they only get longer, and the effective rate "
        "(rate/|w|²) falls by itself. A step that was too large is its own remedy.",
        "Weight decay then does not make the function simpler: it keeps the effective rate up.",
    ),
    further=(
        'lab.run("scale-invariance", rate=50.0)',
        'lab.run("batch-norm-rates")',
        'lab.run("batch-norm-starts")',
    ),
    knobs={"rate": "of gradient descent", "steps": "of it", "seed": "of data and weights"},
)
def scale_invariance(rate: float = 5.0, steps: int = 100, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X, target = rng.normal(size=(40, 6)), np.tanh(rng.normal(size=(40, 4)))
    factors = (0.01, 0.1, 1.0, 10.0, 100.0)
    exact, usual = _loss(X, target, 0.0), _loss(X, target, 1e-5)
    W = nn.initializer("lecun")(rng, (6, 4), 6, 4, 1.0)
    losses = {a: float(exact(a * W)) for a in factors}
    gradients = {a: pel.grad(exact)(a * W) for a in factors}
    g = gradients[1.0]
    loss_off = max(abs(losses[a] / losses[1.0] - 1) for a in factors)
    gradient_off = max(float(np.abs(a * gradients[a] - g).max() / np.abs(g).max()) for a in factors)
    cosine = float(np.abs(np.sum(W * g, 0) / (np.linalg.norm(W, axis=0) * np.linalg.norm(g, axis=0))).max())
    lengths, curve = _descend(exact, W, rate, steps)
    shortest = float(np.diff(lengths, axis=0).min())
    passed = loss_off < 1e-10 and gradient_off < 1e-9 and cosine < 1e-9 and shortest > -1e-12
    return Outcome(
        passed,
        f"Over factors from 0.01 to 100 the loss changes by {loss_off:.1g} and a·gradient by {gradient_off:.1g} of its "
        f"size; the cosine of W and its gradient is {cosine:.1g}; in {steps} steps lengths grew by "
        f"{float(lengths[-1].mean() / lengths[0].mean()):.2f} times.",
        {
            "losses": losses,
            "gradient_norms": {a: float(np.linalg.norm(gradients[a])) for a in factors},
            "cosine": cosine,
            "lengths": lengths,
            "loss": curve,
        },
        (
            Beside("BN(aWu) − BN(Wu), in the loss", 0, loss_off),
            Beside("a·∂L/∂(aW) − ∂L/∂W, relative", 0, gradient_off),
            Beside("cosine between a unit's weights and their gradient", 0, cosine),
        ),
        (
            Table(
                "Weights multiplied by a",
                ("a", "loss", "|∂L/∂(aW)|", "a·|∂L/∂(aW)|", "loss with ε = 1e-5"),
                [
                    (
                        a,
                        losses[a],
                        float(np.linalg.norm(gradients[a])),
                        float(a * np.linalg.norm(gradients[a])),
                        float(usual(a * W)),
                    )
                    for a in factors
                ],
            ),
        ),
        (
            Picture(
                "lengths",
                "Gradient descent behind batch normalisation. Left: the length of each unit's weights never falls. "
                "Right: the loss meanwhile.",
                lambda: _draw(lengths, curve),
            ),
        ),
    )


def _loss(X: Any, target: Any, eps: float) -> Any:
    """The loss as a function of the weights of an affine layer with a normalisation and tanh behind it."""
    norm = nn.BatchNorm(eps=eps, affine=False)
    state = norm.initialize(target.shape[1]).state
    return lambda W: np.mean((np.tanh(norm.apply({}, X @ W, state, training=True)[0]) - target) ** 2)


def _descend(loss: Any, W: Any, rate: float, steps: int) -> tuple[Any, list[float]]:
    """The length of each unit's weights before and after every step, and the loss.   -> (steps + 1, units), list"""
    lengths, curve = [np.linalg.norm(W, axis=0)], [float(loss(W))]
    for _ in range(steps):
        W = W - rate * pel.grad(loss)(W)
        lengths.append(np.linalg.norm(W, axis=0))
        curve.append(float(loss(W)))
    return np.array(lengths), curve


def _draw(lengths: Any, curve: list[float]) -> Figure:
    left, right = figures.grid(2, (4.4, 3.2), who="scale-invariance")
    figures.plain(left), figures.plain(right)
    left.plot(lengths, color=figures.BLUE)
    left.set(xlabel="step", ylabel="length of a unit's weights", title="Weights only get longer")
    right.plot(curve, color=figures.ORANGE)
    right.set(xlabel="step", ylabel="loss", title="The loss meanwhile")
    return figures.figure_of(left)
