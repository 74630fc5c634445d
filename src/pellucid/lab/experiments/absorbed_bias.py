"""A bias is a weight of a constant input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab import backward as passes
from pellucid.lab.backward import Layers
from pellucid.lab.jacobians import absorbed, absorbed_forward

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "absorbed-bias",
    "A bias is the weight of an input that is always 1",
    lectures=("waterloo",),
    topic="models",
    claim="In the backpropagation algorithm b_k is absorbed into W_k: a layer W h + b is [W b] times h with a 1 below "
    "it. So algorithms may leave biases out, and lose nothing.",
    setting="Random ReLU networks of several depths, with biases and with absorbed ones: scores and gradients. Then "
    "one layer is trained both ways by gradient descent; and once more with a penalty, which the absorbed bias cannot "
    "be spared.",
    criterion="Scores and gradients agree to 1e-12 for depths 1 to 5; both trainings make the same weights to 1e-12; "
    "with a penalty on all of [W b] the bias ends nearer to 0, so there the two differ.",
    notice=(
        "The gradient of b is the last column of the gradient of [W b], δ times 1.",
        "A penalty on weights should leave biases alone; after absorbing them that takes care.",
    ),
    further=(
        'lab.run("absorbed-bias", penalty=1.0)',
        'lab.run("absorbed-bias", deepest=10)',
        'lab.run("layer-shapes")',
        'lab.run("backward-passes")',
    ),
    knobs={
        "deepest": "layers of the deepest network",
        "steps": "of gradient descent",
        "penalty": "λ of the last comparison",
        "seed": "of weights and data",
    },
)
def absorbed_bias(deepest: int = 5, steps: int = 200, penalty: float = 0.1, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    rows = []
    for depth in range(1, deepest + 1):
        sizes = (3, *[4] * (depth - 1), 2)
        shapes = [(sizes[k + 1], sizes[k]) for k in range(depth)]
        layers = Layers(tuple(rng.normal(size=s) for s in shapes), tuple(rng.normal(size=s[0]) for s in shapes))
        x, y = rng.normal(size=3), np.array([0.0, 1.0])
        scores = passes.forward(layers, x)[0][-1]
        forward = float(np.abs(absorbed_forward(absorbed(layers), x) - scores).max())
        gradient = pel.grad(lambda ws, x=x, y=y: -np.sum(y * _log_softmax(_scores(ws, x))))(list(absorbed(layers)))
        apart = passes.aggregated(layers, x, y).gradients
        both = [np.hstack([W, b[:, None]]) for W, b in zip(apart.W, apart.b, strict=True)]
        rows.append((depth, forward, max(float(np.abs(a - b).max()) for a, b in zip(gradient, both, strict=True))))

    X = rng.normal(size=(60, 2))
    t = X @ [1.0, -0.5] + 3.0 + 0.1 * rng.normal(size=60)
    plain = train(X, t, steps, 0.0, 0.0)
    merged = train(np.column_stack([X, np.ones(60)]), t, steps, 0.0, None)
    trained = float(np.abs(plain - merged).max())
    spared, shrunk = train(X, t, steps, penalty, 0.0), train(np.column_stack([X, np.ones(60)]), t, steps, penalty, None)
    worst = max(max(row[1:]) for row in rows)
    paths = {"weights penalised, bias spared": spared, "all of [W b] penalised": shrunk}
    return Outcome(
        worst < 1e-12 and trained < 1e-12 and (abs(shrunk[-1, 2]) < abs(spared[-1, 2]) - 1e-3 or penalty == 0),
        f"Scores and gradients agree to {worst:.1g} for depths 1 to {deepest}, {steps} steps of training to "
        f"{trained:.1g}; with a penalty of {penalty:g} the bias ends at {spared[-1, 2]:.3f} if it is spared, at "
        f"{shrunk[-1, 2]:.3f} if not.",
        {"rows": rows, "trained": trained, "spared": spared[-1], "shrunk": shrunk[-1]},
        (),
        (Table("Random ReLU networks", ("layers", "scores apart", "gradients apart"), rows),),
        (
            Picture(
                "bias",
                "The bias while one layer is trained with a penalty on the weights. Absorbed into the weights it is "
                "penalised as well, and ends too small (dotted: the true bias).",
                lambda: _draw(paths),
            ),
        ),
    )


def train(A: Any, t: Any, steps: int, penalty: float, bias: float | None) -> Any:
    """Gradient descent on the mean of ½ (t − ŷ)² + λ ‖w‖², with a bias of its own or without.   -> (steps + 1, d)"""
    w, own = np.zeros(A.shape[1]), bias
    path = [w if own is None else np.append(w, own)]
    for _ in range(steps):
        error = A @ w + (own or 0.0) - t
        w = w - 0.1 * (A.T @ error / len(A) + 2 * penalty * w)
        own = None if own is None else own - 0.1 * float(error.mean())
        path.append(w if own is None else np.append(w, own))
    return np.array(path)


def _scores(weights: list[Any], x: Any) -> Any:
    h = np.append(x, 1.0)
    for W in weights[:-1]:
        h = np.concatenate([np.maximum(0.0, W @ h), np.ones(1)])
    return weights[-1] @ h


def _log_softmax(s: Any) -> Any:
    return pel.log_softmax(s.reshape(1, -1))[0]


def _draw(paths: dict[str, Any]) -> Figure:
    ax = figures.axes(size=(6.8, 3.2))
    for (name, path), colour in zip(paths.items(), (figures.BLUE, figures.ORANGE), strict=True):
        ax.plot(path[:, 2], color=colour, label=name)
    ax.axhline(3.0, color=figures.GREY, linestyle=":", linewidth=1.2)
    ax.set(xlabel="step", ylabel="bias", title="A penalty and an absorbed bias")
    ax.legend(frameon=False, loc="lower right")
    return figures.figure_of(ax)
