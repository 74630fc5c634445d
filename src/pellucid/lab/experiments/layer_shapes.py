"""Layers in matrices: shapes, a batch at once, a bias in every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "layer-shapes",
    "Which shape has what: layers, batches and biases in matrices",
    lectures=("book", "waterloo", "kth", "cs231n"),
    topic="models",
    claim="Layer r computes Z = W A + b and A = g(Z), where g may differ per layer. Layers are counted with the output "
    "and without the input. A batch goes through at once, samples as columns; adding b to all of them means adding "
    "the matrix B that repeats b in each column (on the slide b with a tilde). "
    "The slide leaves the table of dimensions to be filled in.",
    setting="The lecture's network: 3 inputs, 4 sigmoid units, 1 sigmoid output, for a batch of m samples; unit by "
    "unit, column by column, and at once; the same in the library, whose rows are samples. Linear, two-layer and "
    "three-layer score functions of the other lectures by hand; softmax at extreme scores.",
    criterion="All ways give the same numbers to 1e-12, every shape is that of the filled table, the layers and "
    "parameters are counted as the lectures do, softmax sums to 1, ignores a common shift and is finite at ±10⁴, and a "
    "network with a different activation in each layer passes the gradient check.",
    notice=(
        "In W the rows are units: row j is the weight vector of unit j. The library stores the transpose.",
        "Broadcasting is B without making it: NumPy repeats the column where it is needed.",
        "A 3-layer network has 2 hidden layers.",
    ),
    further=(
        'lab.run("layer-shapes", samples=1)',
        'lab.run("layer-shapes", units=2)',
        'lab.run("collapse")',
        'lab.run("absorbed-bias")',
    ),
    knobs={"samples": "in the batch (m)", "units": "in the hidden layer", "seed": "of weights and data"},
)
def layer_shapes(samples: int = 6, units: int = 4, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    W1, b1 = rng.normal(size=(units, 3)), rng.normal(size=(units, 1))
    W2, b2 = rng.normal(size=(1, units)), rng.normal(size=(1, 1))
    X = rng.normal(size=(3, samples))

    repeated = np.tile(b1, (1, samples))  # b̃
    Z1 = W1 @ X + b1
    A1 = expit(Z1)
    Z2 = W2 @ A1 + b2
    A2 = expit(Z2)
    columns = np.hstack([expit(W2 @ expit(W1 @ X[:, [i]] + b1) + b2) for i in range(samples)])
    by_units = [
        expit(sum(W2[0, j] * expit(sum(W1[j, k] * x[k] for k in range(3)) + b1[j, 0]) for j in range(units)) + b2[0, 0])
        for x in X.T
    ]
    net = nn.Sequential(("layer1", nn.Dense(units)), "sigmoid", ("layer2", nn.Dense(1)), "sigmoid")
    params = {"layer1.weight": W1.T, "layer1.bias": b1[:, 0], "layer2.weight": W2.T, "layer2.bias": b2[:, 0]}
    library = net.predict(params, X.T)
    ways = {
        "B written out": np.abs(W1 @ X + repeated - Z1).max(),
        "column by column": np.abs(columns - A2).max(),
        "unit by unit": np.abs(np.array(by_units) - A2[0]).max(),
        "the library, rows as samples": np.abs(library.T - A2).max(),
        **{f"{k}-layer scores of the slides": scores_apart(k, rng) for k in (1, 2, 3)},
    }
    m1, m = units, samples
    first = {"W": ((m1, 3), W1), "b": ((m1, 1), b1), "Z": ((m1, m), Z1), "A": ((m1, m), A1)}
    last = {"W": ((1, m1), W2), "b": ((1, 1), b2), "Z": ((1, m), Z2), "A": ((1, m), A2)}
    fits = all(array.shape == shape for layer in (first, last) for shape, array in layer.values())
    summary = nn.summary(net, 3)
    counted = summary.layers == 2 and summary.count == units * 3 + units + units + 1
    soft = softmax_facts(rng)
    mixed = nn.mlp((4, 5, 3), 2, activation=["relu", "tanh", "softplus"])
    pel.check_grads(lambda p: np.sum(np.square(mixed.predict(p, X.T))), (mixed.initialize(3, seed=seed).params,))
    worst = float(max(ways.values()))
    letters = {"W": "m_r × m_(r−1)", "b": "m_r × 1", "Z": "m_r × m", "A": "m_r × m"}
    return Outcome(
        worst < 1e-12 and fits and counted and all(soft.values()),
        f"All {len(ways)} ways agree to {worst:.1g}, all 8 shapes fit the table, the network counts as "
        f"{summary.layers} layers with {summary.count} parameters, softmax has its {len(soft)} properties, and mixed "
        "activations pass the gradient check.",
        {"apart": {k: float(v) for k, v in ways.items()}, "softmax": soft, "count": summary.count},
        (
            Beside("layers of the network 3-4-1", 2, summary.layers),
            Beside("hidden layers of a 3-layer network", 2, nn.summary(nn.mlp((4, 4), 2), 3).layers - 1),
        ),
        (
            Table(
                f"The dimension table, filled in (m = {samples} samples, m₀ = 3 inputs)",
                ("", "layer r", "layer 1", "layer R = 2"),
                [(name, text, times(first[name][0]), times(last[name][0])) for name, text in letters.items()],
            ),
            Table("Ways to the same numbers", ("way", "apart by"), [(k, float(v)) for k, v in ways.items()]),
        ),
        (
            Picture(
                "matrices",
                "The first layer for a whole batch: every column of X is a sample, b with a tilde has the same column "
                "again and again, and a column of Z belongs to the same column of X. Colours are the entries.",
                lambda: _draw(W1, X, repeated, Z1),
            ),
        ),
    )


def times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def scores_apart(k: int, rng: Any) -> float:
    """W₁x + b₁; W₂ max(0, W₁x + b₁) + b₂; and so on, beside `nn.mlp`; the loss with its penalty, too."""
    sizes, strength = [5, 4, 3][-k:], 0.1
    net, x, y = nn.mlp(sizes[:-1], sizes[-1]), rng.normal(size=6), 1
    params = {name: rng.normal(size=p.shape) for name, p in net.initialize(6).params.items()}
    W = [p.T for name, p in params.items() if name.endswith("weight")]
    b = [p for name, p in params.items() if name.endswith("bias")]
    h = x
    for W_i, b_i in zip(W[:-1], b[:-1], strict=True):
        h = np.maximum(0, W_i @ h + b_i)
    s = W[-1] @ h + b[-1]
    J = -np.log(np.exp(s[y]) / np.exp(s).sum()) + strength * sum(np.sum(W_i**2) for W_i in W)
    ours = net.predict(params, x[None])
    cost = nn.loss("cross_entropy")(ours, np.array([y])) + nn.L2(2 * strength)(params)
    return float(max(np.abs(ours[0] - s).max(), abs(cost - J) / abs(J)))


def softmax_facts(rng: Any) -> dict[str, bool]:
    a = rng.normal(size=(5, 4))
    p, extreme = pel.softmax(a), pel.softmax(np.array([[1e4, -1e4, 0.0]]))
    return {
        "sums to 1": bool(np.allclose(p.sum(axis=1), 1, atol=1e-14)),
        "is exp(a) / <exp(a), 1>": bool(np.allclose(p, np.exp(a) / np.exp(a).sum(axis=1, keepdims=True), atol=1e-14)),
        "ignores a common shift": bool(np.allclose(pel.softmax(a + 100.0), p, atol=1e-12)),
        "is finite at ±10⁴": bool(np.array_equal(extreme, [[1.0, 0.0, 0.0]])),
    }


def _draw(W: Any, X: Any, repeated: Any, Z: Any) -> Figure:
    plt = figures.pyplot()
    parts = (
        ("$W$", W, "units", "inputs"),
        ("$X$", X, "inputs", "samples"),
        (r"$\tilde b$", repeated, "units", "samples"),
        ("$Z$", Z, "units", "samples"),
    )
    widths = [part.shape[1] + 0.5 for _, part, _, _ in parts]
    _, axes = plt.subplots(1, 4, figsize=(9.0, 2.9), layout="constrained", width_ratios=widths)
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("signs", [figures.ORANGE, "white", figures.BLUE])
    size = max(np.abs(part).max() for _, part, _, _ in parts)
    for ax, (name, part, down, right), sign in zip(axes, parts, ("", "·", "+", "="), strict=True):
        ax.imshow(part, cmap=colours, vmin=-size, vmax=size)
        ax.set(
            xticks=[], yticks=[], title=f"{sign}  {name}:  {part.shape[0]} × {part.shape[1]}", xlabel=right, ylabel=down
        )
        for (i, j), value in np.ndenumerate(part):
            if part.shape[1] <= 8:
                ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8)
    return figures.figure_of(axes)
