"""One neuron is a classical model: linear, logistic, multinomial regression. Its boundary is straight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import Model, figures, lab, nn, train
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import Boundary, boundary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PENALTY = 0.01
"""Of the weights of the multinomial model: it fixes what is else free, a common shift of all of them."""


@experiment(
    "formal-neuron",
    "One formal neuron is a regression; a layer more bends its boundary",
    lectures=("book",),
    topic="models",
    claim="The formal neuron (McCulloch and Pitts, 1943) is z = wᵀx + b, ŷ = σ(z). With the identity it is linear "
    "regression, with the sigmoid logistic regression, and K of them with softmax a model of K classes. Logistic and "
    "softmax models have straight boundaries; a hidden layer bends them. The slide prints P(Y=1|x) = xᵀw / (1 + "
    "exp(xᵀw)), which can be negative; right is exp(xᵀw) / (1 + exp(xᵀw)).",
    setting="Networks without a hidden layer, trained to the end by L-BFGS, beside the textbook's own algorithms: "
    "least squares and Newton's method on the likelihood. Then two rings, told apart with and without a hidden layer.",
    criterion="All weights agree to 1e-6. On the boundary of the model without a hidden layer the points lie on a line "
    "(deviation below 0.1 % of its length); with one they do not, and it gets more of the rings right.",
    notice=(
        "What the lecture calls a network without a hidden layer, statistics has had since 1805 and 1958.",
        "With K scores a common shift of all of them changes nothing; the small penalty chooses among equals.",
        "The printed formula gives −0.73 for xᵀw = −1: no probability.",
    ),
    further=(
        'lab.run("formal-neuron", hidden=3)',
        'lab.run("formal-neuron", rows=1000)',
        'lab.run("collapse")',
        'lab.run("losses")',
    ),
    knobs={"rows": "of the regressions' data", "hidden": "units of the hidden layer", "seed": "of the data"},
)
def formal_neuron(rows: int = 200, hidden: int = 8, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    A = np.column_stack([X, np.ones(rows)])
    true = np.array([1.0, -2.0, 0.5, 0.3])
    number = A @ true + 0.5 * rng.normal(size=rows)
    yes = (rng.uniform(size=rows) < 1 / (1 + np.exp(-A @ true))).astype(int)
    kind = np.argmax(A @ rng.normal(size=(4, 3)) + rng.gumbel(size=(rows, 3)), axis=1)

    linear = np.linalg.lstsq(A, number, rcond=None)[0]
    logistic = newton(A, np.column_stack([1 - yes, yes]), reference=True)[:, 1]
    multinomial = newton(A, np.eye(3)[kind], PENALTY)
    neurons = (
        trained("half_squared_error", 1, X, number)[:, 0],
        trained("binary_cross_entropy", 1, X, yes)[:, 0],
        trained("cross_entropy", 3, X, kind, nn.L2(PENALTY)),
    )
    centred = [W - np.append(np.zeros(3), W[-1].mean())[:, None] for W in (neurons[2], multinomial)]
    apart = [
        float(np.abs(neurons[0] - linear).max()),
        float(np.abs(neurons[1] - logistic).max()),
        float(np.abs(centred[0] - centred[1]).max()),
    ]
    straight, bent = boundary((), seed), boundary((hidden,), seed)
    deviation = (off_line(straight), off_line(bent))
    shown = max(apart) < 1e-6 and deviation[0] < 1e-3 < deviation[1] and bent.accuracy > straight.accuracy
    printed, right = (-1.0 / (1 + np.exp(-1.0)), np.exp(-1.0) / (1 + np.exp(-1.0)))
    names = ("linear regression", "logistic regression", "multinomial regression")
    return Outcome(
        shown,
        f"Weights agree with linear, logistic and multinomial regression to {apart[0]:.1g}, {apart[1]:.1g} and "
        f"{apart[2]:.1g}; the boundary deviates from a line by {deviation[0]:.1g} of its length without a hidden layer "
        f"({straight.accuracy:.0%} right) and by {deviation[1]:.2f} with one ({bent.accuracy:.0%}).",
        {"apart": dict(zip(names, apart, strict=True)), "deviation": deviation, "neurons": neurons},
        (
            Beside("P(Y=1|x) at xᵀw = −1, as printed and as it should be", float(printed), float(right)),
            Beside("sigmoid(−1), what the neuron gives", None, float(nn.loss("bce").link(np.array([[-1.0]]))[0, 0])),
        ),
        (
            Table(
                "Weights: the neuron beside the textbook's algorithm",
                ("model", "σ", "neuron: w₁, w₂, w₃, b", "textbook: w₁, w₂, w₃, b"),
                [
                    ("linear", "identity", short(neurons[0]), short(linear)),
                    ("logistic", "sigmoid", short(neurons[1]), short(logistic)),
                    *(
                        (f"multinomial, class {k}", "softmax", short(centred[0][:, k]), short(centred[1][:, k]))
                        for k in range(3)
                    ),
                ],
            ),
        ),
        (
            Picture(
                "boundaries",
                "The rings, told apart by one neuron (left: the line where the probability is ½ is straight) and with "
                f"a hidden layer of {hidden} units (right: it closes around the inner ring).",
                lambda: _draw(straight, bent, hidden),
            ),
        ),
    )


def trained(loss: str, outputs: int, X: Any, y: Any, penalty: nn.Penalty | None = None) -> Any:
    """Weights and, in the last row, biases of a network without a hidden layer.   -> (d + 1, outputs)"""
    model = Model(nn.mlp((), outputs), loss, penalty=penalty, dtype="float64")
    train.fit_lbfgs(model, X, y, tol=1e-10, max_iter=2000)
    return np.vstack([model.params["output.weight"], model.params["output.bias"]])


def newton(A: Any, Y: Any, penalty: float = 0.0, reference: bool = False) -> Any:
    """Newton's method on the mean log-likelihood of classes, Y one-hot. With `reference` class 0 keeps weights 0."""
    (n, d), K = A.shape, Y.shape[1]
    ridge = penalty * np.repeat(np.append(np.ones(d - 1), 0.0), K)
    free = np.array([k > 0 or not reference for k in range(K)] * d)
    B = np.zeros(d * K)
    for _ in range(30):
        scores = A @ B.reshape(d, K)
        P = np.exp(scores - scores.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        slope = (A.T @ (P - Y)).ravel() / n + ridge * B
        spread = P[:, :, None] * np.eye(K) - P[:, :, None] * P[:, None, :]
        curve = np.einsum("ni,nj,nkl->ikjl", A, A, spread).reshape(d * K, d * K) / n + np.diag(ridge)
        B[free] -= np.linalg.lstsq(curve[np.ix_(free, free)], slope[free], rcond=1e-12)[0]
    return B.reshape(d, K)


def off_line(found: Boundary) -> float:
    """How far points where the probability is ½ deviate from the line through them, as a share of its length."""
    model, t = found.model, np.linspace(-3, 3, 61)
    spots = []
    for x in t:
        column = np.column_stack([np.full(601, x), np.linspace(-3, 3, 601)])
        scores = model.scores(column)[:, 0].astype(float)
        for i in np.flatnonzero(np.diff(np.sign(scores))):
            y = column[i, 1] - scores[i] * 0.01 / (scores[i + 1] - scores[i])
            spots.append((x, y))
    centred = np.array(spots) - np.mean(spots, axis=0)
    along, across = np.linalg.svd(centred, full_matrices=False)[1]
    return float(across / along)


def short(w: Any) -> str:
    return ", ".join(f"{value:.4f}" for value in w)


def _draw(straight: Boundary, bent: Boundary, hidden: int) -> Figure:
    axes = figures.grid(2, (4.6, 4.0), who="formal-neuron")
    names = ("One neuron", f"A hidden layer of {hidden} units")
    for ax, found, name in zip(axes, (straight, bent), names, strict=True):
        lab.plot_boundary(found.model, found.X, found.y, ax, points=120)
        ax.set_title(f"{name}: {found.accuracy:.0%} right")
    return figures.figure_of(axes)
