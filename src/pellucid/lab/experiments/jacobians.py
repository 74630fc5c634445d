"""Jacobians of layers: Kronecker products, and a batch whose samples influence each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab import jacobians as by_hand

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPS = 1e-5


@experiment(
    "jacobians",
    "Jacobians of a layer, and of batch normalisation over a batch",
    lectures=("kth", "waterloo", "notes"),
    topic="derivatives",
    claim="For s = W x + b: ∂s/∂x = W, ∂s/∂b = I, ∂s/∂vec(W) = I ⊗ xᵀ; for ReLU diag(Ind(s > 0)). Batch normalisation "
    "is a vector function over a mini-batch: every z_j influences every ẑ_i. I ⊗ xᵀ holds where vec stacks rows; "
    "stacking columns it is xᵀ ⊗ I. One slide forgets + b.",
    setting="Each formula beside the Jacobian of the engine and difference quotients. For one unit under batch "
    "normalisation with z₁ ... z_B, the B × B matrix (γ/s) (δ_ij − 1/B − u_i u_j/B), u the normalised values, s = "
    "√(σ² + ε).",
    criterion="All formulas agree with the engine to 1e-12 and with quotients to 1e-7; g (I ⊗ xᵀ) is the outer product "
    "gᵀxᵀ; every entry of the batch's matrix differs from 0, its rows sum to 0 and it maps u to almost 0.",
    notice=(
        "I ⊗ xᵀ is mostly zeros, so nobody builds it: g times it is gᵀxᵀ, at a fraction of the work.",
        "A common shift of the batch changes nothing behind batch normalisation, hence the rows sum to 0; neither does "
        "a stretch, hence J u is 0 but for ε.",
    ),
    further=(
        'lab.run("jacobians", batch=20)',
        'lab.run("jacobians", units=5, inputs=2)',
        'lab.run("backward-passes")',
        'lab.run("gradient-checking")',
    ),
    knobs={"units": "m of the layer", "inputs": "d of the layer", "batch": "B, samples in a batch", "seed": "of all"},
)
def jacobians(units: int = 3, inputs: int = 4, batch: int = 8, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    W, b, x, g = (
        rng.normal(size=(units, inputs)),
        rng.normal(size=units),
        rng.normal(size=inputs),
        rng.normal(size=units),
    )
    s = W @ x + b
    p = pel.softmax(s[None])[0]
    z, gamma = rng.normal(1.0, 2.0, batch), 1.5
    scale = np.sqrt(z.var() + EPS)
    u = (z - z.mean()) / scale
    influence = gamma / scale * (np.eye(batch) - 1 / batch - np.outer(u, u) / batch)

    # name: (formula, function, point); a Jacobian is flattened to outputs × inputs
    cases: dict[str, tuple[Any, Any, Any]] = {
        "∂s/∂x = W": (by_hand.by_input(W), lambda x: W @ x + b, x),
        "∂s/∂b = I": (by_hand.by_bias(W), lambda b: W @ x + b, b),
        "∂s/∂vec(W) = I ⊗ xᵀ, rows stacked": (
            by_hand.by_weights(W, x),
            lambda w: w.reshape(units, inputs) @ x + b,
            W.ravel(),
        ),
        "∂s/∂vec(W) = xᵀ ⊗ I, columns stacked": (
            by_hand.by_weights_columns(W, x),
            lambda w: w.reshape(inputs, units).T @ x + b,
            W.T.ravel(),
        ),
        "ReLU: diag(Ind(s > 0))": (by_hand.of_relu(s), lambda s: np.maximum(s, 0), s),
        "softmax: diag(p) − p pᵀ": (by_hand.of_softmax(p), lambda s: pel.softmax(s.reshape(1, -1))[0], s),
        "batch normalisation over the batch": (
            influence,
            lambda z: gamma * nn.standardize(z.reshape(-1, 1), axis=0, eps=EPS)[:, 0],
            z,
        ),
    }
    rows = []
    for name, (formula, f, at) in cases.items():
        engine = pel.jacobian(f)(at)
        rows.append(
            (
                name,
                f"{formula.shape[0]} × {formula.shape[1]}",
                _apart(engine, formula),
                _apart(quotients(f, at), formula),
            )
        )
    outer = _apart((g @ by_hand.by_weights(W, x)).reshape(units, inputs), np.outer(g, x))
    without = _apart(by_hand.by_weights(W, x) @ W.ravel() + b, s)
    everyone = bool(np.all(np.abs(influence) > 0))
    sums, stretched = float(np.abs(influence.sum(axis=1)).max()), float(np.abs(influence @ u).max())
    exact, near = max(row[2] for row in rows), max(row[3] for row in rows)
    return Outcome(
        max(exact, outer, without, sums) < 1e-12 and near < 1e-7 and everyone and stretched < 1e-4,
        f"{len(rows)} formulas agree with the engine to {exact:.1g}, with quotients to {near:.1g}; g (I ⊗ xᵀ) = gᵀxᵀ "
        f"to {outer:.1g}; all {batch * batch} entries of the batch's matrix differ from 0, its rows sum to {sums:.1g}.",
        {
            "exact": exact,
            "quotients": near,
            "outer": outer,
            "influence": influence,
            "row_sums": sums,
            "along_u": stretched,
        },
        (),
        (Table("Formulas", ("Jacobian", "shape", "apart from the engine", "from quotients"), rows),),
        (
            Picture(
                "matrices",
                "Left and middle: derivatives of s by all weights, rows stacked and columns stacked; white is 0, the "
                "same numbers x in other places. Right: batch normalisation, the influence of every sample j on every "
                "sample i of the batch: nowhere 0.",
                lambda: _draw(by_hand.by_weights(W, x), by_hand.by_weights_columns(W, x), influence),
            ),
        ),
    )


def quotients(f: Any, at: Any, h: float = 1e-5) -> Any:
    """The Jacobian by central differences, column by column."""
    return np.column_stack([(f(at + h * e) - f(at - h * e)) / (2 * h) for e in np.eye(len(at))])


def _apart(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - b).max())


def _draw(rows: Any, columns: Any, influence: Any) -> Figure:
    from matplotlib.colors import LinearSegmentedColormap

    plt = figures.pyplot()
    colours = LinearSegmentedColormap.from_list("signs", [figures.ORANGE, "white", figures.BLUE])
    _, axes = plt.subplots(1, 3, figsize=(10.0, 3.4), layout="constrained", width_ratios=(1.3, 1.3, 1))
    names = (("I ⊗ xᵀ", rows), ("xᵀ ⊗ I", columns), ("batch normalisation", influence))
    for ax, (name, matrix) in zip(axes, names, strict=True):
        size = np.abs(matrix).max()
        ax.imshow(matrix, cmap=colours, vmin=-size, vmax=size, aspect="auto" if matrix is not influence else "equal")
        ax.set(title=name, xlabel="weight", ylabel="score", xticks=[], yticks=range(len(matrix)))
    axes[2].set(xlabel="input of sample j", ylabel="output of sample i", xticks=range(len(influence)))
    return figures.figure_of(axes)
