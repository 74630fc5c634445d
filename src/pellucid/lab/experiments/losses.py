"""Losses: what they punish, what their gradient is, and how to compute them without infinities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "losses",
    "Squared loss, log-loss, and their gradients p − y and ŷ − y",
    lectures=("waterloo", "kth", "book", "notes"),
    topic="models",
    claim="A prediction p of classes is judged by ‖p − y‖² or by the log-loss −log p_y; behind softmax the gradient of "
    "the latter by the scores is p − y. A prediction ŷ of a number is judged by ½ (y − ŷ)², with the gradient ŷ − y. "
    "Numbers go with a linear output, two classes with a sigmoid, several with softmax.",
    setting="Random scores and targets; scores of ±1000, where exp overflows; a wrong answer that becomes more and "
    "more sure of itself; the library's own choice of a loss for a target, and what it says of a pair that does not "
    "fit; a divergence of one's own.",
    criterion="Gradients are p − y and ŷ − y to 1e-12 and difference quotients to 1e-8; the log-loss of a score of "
    "−1000 is 1000, where −log(softmax) as written is infinite; for a sure wrong answer the squared loss has no "
    "gradient left and the log-loss has all of it; every target gets its loss, a softmax before a softmax is told.",
    notice=(
        "The squared loss of a sure and wrong answer is 2 at most and its gradient vanishes: nothing is learned from "
        "the worst mistakes.",
        "The log-loss is computed from scores, as logsumexp(s) − s_y: no probability is ever formed, so none is 0.",
        "p − y and ŷ − y are the same form: a loss and its output belong together.",
    ),
    further=(
        'lab.run("losses", classes=10)',
        'lab.run("losses", seed=1)',
        'lab.run("sum-or-mean")',
        'lab.run("batch-gradients")',
    ),
    knobs={"classes": "of the random scores", "rows": "of them", "seed": "of scores and targets"},
)
def losses(classes: int = 4, rows: int = 8, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    scores, labels = 2 * rng.normal(size=(rows, classes)), rng.integers(0, classes, rows)
    Y, p = np.eye(classes)[labels], pel.softmax(scores)
    cross_entropy, half = nn.loss("cross_entropy"), nn.loss("half_squared_error")

    engine = pel.grad(lambda s: rows * cross_entropy(s, labels))(scores)
    quotient = pel.numerical_grad(lambda s: rows * cross_entropy(s, labels), scores)
    target, guess = rng.normal(size=(rows, 1)), rng.normal(size=(rows, 1))
    delta = pel.grad(lambda s: rows * half(s, target))(guess)
    exact = max(float(np.abs(engine - (p - Y)).max()), float(np.abs(delta - (guess - target)).max()))
    near = float(np.abs(quotient - (p - Y)).max())
    values = float(abs(cross_entropy(scores, labels) + np.mean(np.log(p[np.arange(rows), labels]))))

    far, first = np.array([[-1000.0, 0.0]]), np.array([0])
    with np.errstate(all="ignore"):
        naive = float(-np.log(np.exp(far[0, 0]) / np.exp(far).sum()))
    stable = float(cross_entropy(far, first))
    sure = {s: slopes(s) for s in (0.0, -2.0, -5.0, -10.0, -20.0)}
    chosen = {
        "numbers": nn.loss_for([0.5, 1.5, -2.0]),
        "two classes": nn.loss_for([0, 1, 1]),
        "several classes": nn.loss_for([0, 1, 2]),
    }
    names = {"numbers": "identity", "two classes": "sigmoid", "several classes": "softmax"}
    pairs = all(chosen[kind].link_name == link for kind, link in names.items())
    told = nn.check_pairing("softmax", "cross_entropy")
    divergence = nn.loss(lambda s, q: np.sum(q * (np.log(q) - pel.log_softmax(s)), axis=-1), name="divergence")
    soft = 0.9 * Y + 0.1 / classes
    own = float(np.abs(pel.grad(lambda s: rows * divergence(s, soft))(scores) - (p - soft)).max())
    passed = (
        max(exact, own, values) < 1e-12
        and near < 1e-8
        and np.isinf(naive)
        and stable == 1000.0
        and sure[-20.0][0] < 1e-6
        and sure[-20.0][1] > 0.999
        and pairs
        and told is not None
    )
    return Outcome(
        bool(passed),
        f"Gradients are p − y and ŷ − y to {exact:.1g} (quotients: {near:.1g}); at a score of −1000 the log-loss is "
        f"{stable:g} and its formula as written {naive:g}; for a wrong answer that is sure (score −20) the squared "
        f"loss has a gradient of {sure[-20.0][0]:.1g}, the log-loss of {sure[-20.0][1]:.4f}.",
        {"exact": exact, "quotients": near, "naive": naive, "stable": stable, "slopes": sure, "own": own, "told": told},
        (Beside("gradient of the log-loss by the scores", "−(y − p)", "p − y"),),
        (
            Table(
                "Target, output and loss belong together",
                ("target", "output", "loss", "formula"),
                [(kind, each.link_name, each.name, each.formula) for kind, each in chosen.items()],
            ),
            Table(
                "A wrong answer that gets sure: two classes, the score of the right one",
                ("score", "p of the right class", "slope of ‖p − y‖²", "slope of −log p"),
                [(s, float(1 / (1 + np.exp(-s))), *pair) for s, pair in sure.items()],
            ),
        ),
        (
            Picture(
                "curves",
                "Two classes; to the left the answer is wrong, and surely so. Left: the squared loss levels off at 2, "
                "the log-loss goes on. Right: so the gradient of the first one vanishes where the answer is worst.",
                _draw,
            ),
        ),
    )


def pair_of(s: Any) -> tuple[Any, Any]:
    """Squared loss and log-loss of two classes, s the score of the right one against the other.   s: (n,)"""
    p = 1 / (1 + np.exp(-s))
    return 2 * (1 - p) ** 2, np.log(1 + np.exp(-s))


def slopes(s: float) -> tuple[float, float]:
    """How strongly both losses pull at the score."""
    return tuple(abs(float(pel.grad(lambda s, i=i: pair_of(s)[i])(s))) for i in range(2))  # type: ignore[return-value]


def _draw() -> Figure:
    left, right = figures.grid(2, (4.5, 3.4), who="losses")
    figures.plain(left), figures.plain(right)
    s = np.linspace(-8, 4, 241)
    names = (("squared loss", figures.ORANGE), ("log-loss", figures.BLUE))
    for i, (name, colour) in enumerate(names):
        left.plot(s, pair_of(s)[i], color=colour, label=name)
        right.plot(s, -pel.grad(lambda s, i=i: np.sum(pair_of(s)[i]))(s), color=colour, label=name)
    left.set(xlabel="score of the right class", ylabel="loss", title="Loss")
    right.set(xlabel="score of the right class", ylabel="−gradient by the score", title="Pull")
    left.legend(frameon=False)
    right.legend(frameon=False, loc="center left")
    return figures.figure_of(left)
