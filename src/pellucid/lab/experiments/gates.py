"""What a gate lets through on the way back: sigmoid and ReLU at -10, 0 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.curves import derivative


@experiment(
    "gates",
    "What a gate lets through: sigmoid and ReLU at -10, 0 and 10",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="A saturated sigmoid kills the gradient. What happens at x = -10, 0 and 10, for a sigmoid and for a ReLU? "
    "What is the largest slope of the sigmoid, and what is left of it where |s| > 5?",
    setting="A gradient of 1 arrives from above; the gate multiplies it by its own slope at x. The slopes are computed "
    "by automatic differentiation.",
    criterion="The sigmoid lets 4.54e-5, 0.25 and 4.54e-5 through, the ReLU 0, 0 (our choice at the kink) and 1; the "
    "slope of the sigmoid is at most 0.25, and below 0.00665 beyond 5.",
    notice=(
        "Far from 0 on either side next to nothing flows back through a sigmoid: 1 in 22,000.",
        "The ReLU has no derivative at 0: any number from 0 to 1 is a subgradient, and the library uses 0.",
        "Left of 0 a ReLU lets nothing through at all; right of 0 it lets everything through.",
        "A chain of k sigmoids divides the gradient by at least 4 to the k, weights aside.",
    ),
    further=(
        'lab.run("gates", points=(-5.0, 0.0, 5.0))',
        'lab.run("gates", chain=10)',
        'lab.run("dying-units")',
    ),
    knobs={"points": "three inputs of the gate, from left to right", "chain": "sigmoids one behind the other"},
)
def gates(points: tuple[float, float, float] = (-10.0, 0.0, 10.0), chain: int = 5) -> Outcome:
    x = np.array(points)
    through = {name: derivative(nn.activation(name), x) for name in ("sigmoid", "tanh", "relu", "leaky_relu")}
    expected = np.exp(-x) / (1 + np.exp(-x)) ** 2  # the formula of both lectures
    wide = np.linspace(-30.0, 30.0, 60_001)
    slope = derivative(nn.activation("sigmoid"), wide)
    largest, where = float(slope.max()), float(wide[slope.argmax()])
    beyond = float(slope[np.abs(wide) >= 5.0].max())
    in_chain = _chain(chain)

    passed = (
        bool(np.allclose(through["sigmoid"], expected, rtol=1e-9))
        and through["relu"].tolist() == (x > 0).astype(float).tolist()
        and largest == 0.25
        and where == 0.0
        and beyond < 0.00665
        and in_chain[-1] <= 0.25**chain
    )
    words = {0.0: "undefined: from 0 to 1, here 0"}
    return Outcome(
        passed,
        f"The sigmoid lets {', '.join(f'{g:.3g}' for g in through['sigmoid'])} through and the ReLU "
        f"{', '.join(f'{g:g}' for g in through['relu'])}; the sigmoid's slope is at most {largest:g}, at {where:g}, "
        f"and {beyond:.5f} at 5.",
        {"points": x, **through, "largest": largest, "beyond_5": beyond, "chain": in_chain},
        (),
        (
            Table(
                "What is left of a gradient of 1",
                ("x", "sigmoid", "tanh", "leaky ReLU", "ReLU", "a ReLU's derivative is"),
                [
                    (
                        float(v),
                        f"{s:.3g}",
                        f"{t:.3g}",
                        float(le),
                        float(r),
                        words.get(float(v), "1" if v > 0 else "0"),
                    )
                    for v, s, t, le, r in zip(
                        x, through["sigmoid"], through["tanh"], through["leaky_relu"], through["relu"], strict=True
                    )
                ],
            ),
            Table(
                "The sigmoid's slope",
                ("question", "answer"),
                [
                    ("largest value of σ'", "0.25, at s = 0"),
                    ("σ' at |s| = 5, and less beyond", f"{beyond:.6f}"),
                    ("σ' at |s| = 10", f"{float(derivative(nn.activation('sigmoid'), 10.0)):.3e}"),
                    (f"through {chain} sigmoids, from x = 0", f"{in_chain[-1]:.3e} (at most {0.25**chain:.3e})"),
                ],
            ),
        ),
        (
            Picture(
                "gates",
                "The gate (blue) and its slope (orange, dashed). The dots are the three inputs; the numbers are what "
                "is left of a gradient of 1 that arrives from above.",
                lambda: _draw(x, through),
            ),
        ),
    )


def _chain(length: int) -> list[float]:
    """The slope of one sigmoid of another of another ..., from x = 0, for 1, 2, ... of them."""
    sigmoid = nn.activation("sigmoid")
    x, product, products = 0.0, 1.0, []
    for _ in range(length):
        product *= float(derivative(sigmoid, x))
        x = float(sigmoid(np.array(x)))
        products.append(product)
    return products


def _draw(points: Any, through: dict[str, Any]) -> Any:
    axes = figures.grid(2, (5.2, 3.6), who="gates")
    reach = 1.25 * float(np.abs(points).max())
    x = np.linspace(-reach, reach, 801)
    for ax, name, title in zip(axes, ("sigmoid", "relu"), ("A sigmoid gate", "A ReLU gate"), strict=True):
        figures.plain(ax)
        gate = nn.activation(name)
        ax.plot(x, gate(x), color=figures.BLUE, linewidth=2, label="g(x)")
        ax.plot(x, derivative(gate, x), color=figures.ORANGE, linestyle=(0, (4, 2)), label="g′(x)")
        ax.plot(points, gate(points), "o", color=figures.BLUE)
        for p, value, slope in zip(points, gate(points), through[name], strict=True):
            ax.annotate(
                f"g′ = {slope:.2g}",
                (p, value),
                (-5 if p >= 0 else 0, 9),
                textcoords="offset points",
                ha="right" if p >= 0 else "left",
                color=figures.INK,
                fontsize=9,
            )
        ax.set(xlabel="input x of the gate", ylabel="value and slope", title=title)
        figures.legend(ax, 2)
    return figures.figure_of(axes)
