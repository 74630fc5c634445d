"""Units with weights inside: Maxout contains ReLU and leaky ReLU; the family of gated linear units."""

from __future__ import annotations

from typing import Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

GATES = {"sigmoid": "GLU", "relu": "ReGLU", "gelu": "GEGLU", "silu": "SwiGLU"}


@experiment(
    "maxout-and-gates",
    "Maxout contains ReLU and leaky ReLU; gated linear units",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="Maxout, max(w₁x + b₁, w₂x + b₂), contains ReLU and leaky ReLU, does not saturate and does not die, and "
    "doubles the parameters of a unit. Gated units multiply an activated map with a second map: GLU, ReGLU (printed in "
    "the lecture as ReLU), GEGLU and SwiGLU.",
    setting="The weights of Maxout layers are set by hand; parameters are counted; gated layers with random weights "
    "are compared with the lecture's formulas, and their gradients with finite differences.",
    criterion="Maxout equals ReLU exactly and leaky ReLU to 1e-12, has exactly k times the parameters with k pieces "
    "and a slope in every point; each gated layer equals its formula to 1e-12, passes the gradient check for W, V, b "
    "and c, and is half as wide as its matrix.",
    notice=(
        "With one piece set to 0, Maxout is ReLU; with one piece 0.01 times the other, leaky ReLU.",
        "More pieces make any convex curve of straight lines: |x| with two, nearly x² with five.",
        "If both maps of a gated unit are the same, GLU is SiLU and ReGLU is the square of ReLU.",
        "W and V of a gated layer lie side by side in one matrix, so it computes both maps with one product.",
    ),
    further=(
        'lab.run("maxout-and-gates", pieces=9)',
        'lab.run("maxout-and-gates", leak=0.3)',
        'lab.run("own-activation")',
    ),
    knobs={
        "pieces": "of the Maxout unit that draws x²",
        "leak": "slope of the leaky ReLU that Maxout plays (below 1)",
        "seed": "of weights and inputs",
    },
)
def maxout_and_gates(pieces: int = 5, leak: float = 0.01, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    W, b = rng.normal(size=(6, 4)), rng.normal(size=4)
    s = X @ W + b
    layer = nn.Maxout(4, 2)
    as_relu = layer.predict({"weight": np.hstack([0 * W, W]), "bias": np.hstack([0 * b, b])}, X)
    as_leaky = layer.predict({"weight": np.hstack([leak * W, W]), "bias": np.hstack([leak * b, b])}, X)
    same_relu = bool(np.array_equal(as_relu, np.maximum(s, 0)))
    same_leaky = bool(np.allclose(as_leaky, np.maximum(leak * s, s), rtol=0, atol=1e-12))
    plain = nn.count_parameters(nn.Dense(4), 6)
    counts = {k: nn.count_parameters(nn.Maxout(4, k), 6) for k in (2, 3, pieces)}
    alive = _always_a_slope(X, seed)

    gated = {gate: _gated(gate, X[:20], seed) for gate in GATES}
    passed = (
        same_relu
        and same_leaky
        and all(count == k * plain for k, count in counts.items())
        and alive
        and max(off for off, _ in gated.values()) < 1e-12
        and all(shape == (6, 8) for _, shape in gated.values())
    )
    return Outcome(
        passed,
        f"Maxout equals ReLU and leaky ReLU on {s.size} numbers, with {counts[2]} parameters instead of {plain}; the "
        f"four gated layers differ from their formulas by at most {max(off for off, _ in gated.values()):.0e}, and "
        "their gradients pass the check.",
        {
            "same_relu": same_relu,
            "same_leaky": same_leaky,
            "parameters": {"dense": plain, **counts},
            "off": {GATES[gate]: off for gate, (off, _) in gated.items()},
        },
        (Beside("parameters of Maxout over those of a plain unit", 2, counts[2] // plain),),
        (
            Table(
                "Parameters of 4 units with 6 inputs",
                ("layer", "parameters", "times"),
                [("plain", plain, 1), *((f"Maxout, {k} pieces", n, n // plain) for k, n in counts.items())],
            ),
            Table(
                "Gated layers of 4 units with 6 inputs",
                ("name", "formula", "matrix", "width of the output", "off by"),
                [
                    (name, f"{gate}(xW + b) * (xV + c)", gated[gate][1], 4, gated[gate][0])
                    for gate, name in GATES.items()
                ],
            ),
        ),
        (
            Picture(
                "maxout",
                "Maxout units (blue) and the straight lines they are the maximum of (dashed): ReLU, leaky ReLU, the "
                "absolute value, and a curve near x².",
                lambda: _draw_maxout(leak, pieces),
            ),
            Picture(
                "gates",
                "Gated units of one input, with the second map equal to the first (blue) and constant 1 (orange, "
                "dashed: only the gate is seen).",
                _draw_gates,
            ),
        ),
    )


def _always_a_slope(X: Any, seed: int) -> bool:
    """Has every unit of a random Maxout layer a gradient for its weights in every row, however far out the row is?"""
    layer = nn.Maxout(4, 2)
    params = layer.initialize(6, seed=seed).params

    def of_row(x: Any) -> Any:
        return pel.grad(lambda p: np.sum(layer.predict(p, x[None])))(params)["weight"].reshape(6, 2, 4)

    return all(bool(np.all(np.abs(of_row(1e3 * x)).sum(axis=(0, 1)) > 0)) for x in X[:20])


def _gated(gate: str, X: Any, seed: int) -> tuple[float, tuple[int, ...]]:
    """How far a gated layer is from its formula, and the shape of its matrix; its gradients are checked."""
    layer = nn.GLU(4, gate, bias=nn.normal(0.5))
    params = layer.initialize(6, seed=seed).params
    (W, V), (b, c) = np.hsplit(params["weight"], 2), np.split(params["bias"], 2)
    wanted = nn.activation(gate)(X @ W + b) * (X @ V + c)
    pel.check_grads(lambda p: np.sum(np.sin(layer.predict(p, X))), (params,))  # an error, if one of them is wrong
    return float(np.max(np.abs(layer.predict(params, X) - wanted))), params["weight"].shape


def _draw_maxout(leak: float, pieces: int) -> Any:
    x = np.linspace(-2, 2, 201)
    at = np.linspace(-1.6, 1.6, pieces)
    units: dict[str, list[tuple[float, float]]] = {
        "ReLU": [(0, 0), (1, 0)],
        f"leaky ReLU ({leak:g})": [(leak, 0), (1, 0)],
        "|x|": [(-1, 0), (1, 0)],
        f"near x², {pieces} pieces": [(2 * a, -a * a) for a in at],  # tangents
    }
    axes = figures.grid(4, (2.9, 2.8), who="maxout")
    for ax, (title, lines) in zip(axes, units.items(), strict=True):
        figures.plain(ax)
        values = np.array([w * x + b for w, b in lines])
        ax.plot(x, values.T, color=figures.GREY, linewidth=1, linestyle="--")
        ax.plot(x, values.max(axis=0), color=figures.BLUE, linewidth=2.4)
        ax.set(title=title, xlabel="x", ylim=(-2.2, 4.2))
    axes[0].set_ylabel("output")
    return figures.figure_of(axes)


def _draw_gates() -> Any:
    x = np.linspace(-4, 4, 201)
    axes = figures.grid(4, (2.9, 2.8), who="gates")
    for ax, (gate, name) in zip(axes, GATES.items(), strict=True):
        figures.plain(ax)
        opened = nn.activation(gate)(x)
        ax.plot(x, opened * x, color=figures.BLUE, linewidth=2.2, label="gate(x) · x")
        ax.plot(x, opened, color=figures.ORANGE, linestyle=(0, (4, 2)), label="gate(x)")
        ax.set(title=name, xlabel="x", ylim=(-1, 6.5))
    axes[0].set_ylabel("output")
    axes[0].legend(frameon=False, loc="upper left")
    return figures.figure_of(axes)
