"""Dropping a unit deletes a row and a column; and what large weights do to gradients."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Outcome, Picture, Table, experiment

KINDS = ("relu", "leaky_relu", "tanh", "sigmoid")
COLOURS = dict(zip(KINDS, (figures.BLUE, figures.GREEN, figures.ORANGE, figures.PINK), strict=True))
DEPTHS = (3, 5, 10, 20, 40)


@experiment(
    "thinned-unit",
    "A unit dropped, weights too large, ReLU not too deep",
    lectures=("book",),
    topic="approximation",
    claim="Dropping a unit removes it with all its incoming and outgoing connections. Large non-negative weights make "
    "gradients explode. For networks that are not too deep, ReLU and leaky ReLU are relatively robust.",
    setting="A 5-8-8-2 network with a unit set to 0, beside the network without its row and column. Gradients of the "
    "first layer in networks of growing depth, 50 units wide: with non-negative weights, and with usual ones (He's for "
    "ReLU, 1/n for sigmoid and tanh).",
    criterion="The two networks agree to 1e-12, values and gradients; with non-negative weights of mean 0.05 each "
    "layer multiplies the gradient by more than 1.5; and down to 10 layers the first gradient of ReLU and leaky ReLU "
    "stays within a factor of 10 of the last, while that of the sigmoid does not.",
    notice=(
        "In the lecture's notation the unit's row of W[l] and its column of W[l+1] go; with rows as samples it is the "
        "other way round.",
        "All weights of one sign add up: n weights of mean m multiply by about nm in each layer (half of it for ReLU "
        "at work).",
        "Over 40 layers the factor for ReLU depends on the seed, more so in narrow layers: robust is not the same as "
        "safe.",
    ),
    further=(
        'lab.run("thinned-unit", scale=4.0)',
        'lab.run("thinned-unit", unit=3)',
        'lab.run("dying-units")',
    ),
    knobs={
        "unit": "of the second hidden layer that is dropped, from 0 to 7",
        "scale": "of the non-negative weights: times 0.05 on average",
        "width": "of the deep networks",
        "seed": "of the weights",
    },
)
def thinned_unit(unit: int = 2, scale: float = 1.0, width: int = 50, seed: int = 0) -> Outcome:
    difference = thinning(unit, seed)
    growth = {depth: ratio("relu", depth, width, seed, positive=0.05 * scale) for depth in DEPTHS}
    flow = {kind: {depth: ratio(kind, depth, width, seed) for depth in DEPTHS} for kind in KINDS}
    each = growth[10] ** (1 / 9)

    def robust(kind: str) -> bool:
        return all(0.1 < flow[kind][depth] < 10 for depth in DEPTHS if depth <= 10)

    passed = difference < 1e-12 and each > 1.5 and robust("relu") and robust("leaky_relu") and not robust("sigmoid")
    return Outcome(
        passed,
        f"The thinned network differs by {difference:.0e}; non-negative weights multiply the gradient by {each:.2f} in "
        f"each layer; over 10 layers it changes by a factor of {flow['relu'][10]:.2g} with ReLU and "
        f"{flow['sigmoid'][10]:.1g} with the sigmoid.",
        {"thinning": difference, "non_negative": growth, "usual": flow, "factor_per_layer": each},
        (),
        (
            Table(
                "Gradient behind the first layer over that behind the last (root mean square)",
                ("layers", "non-negative, ReLU", *KINDS),
                [(depth, growth[depth], *(flow[kind][depth] for kind in KINDS)) for depth in DEPTHS],
            ),
        ),
        (
            Picture(
                "thinned",
                "Left: the whole network. Right: without one unit, and with it go all lines that lead to it or from "
                "it.",
                lambda: _draw_networks(unit),
            ),
            Picture(
                "gradients",
                "Gradient behind the first layer over that behind the last, for growing depth: it explodes with "
                "non-negative weights, dies out with sigmoids, and stays of one size with ReLU and leaky ReLU.",
                lambda: _draw_flow(growth, flow),
            ),
        ),
    )


def thinning(unit: int, seed: int) -> float:
    """The largest difference, of outputs and of gradients, between a network with one unit of its second hidden layer
    set to 0, and the network without that unit's row and column."""
    net, small = nn.mlp((8, 8), 2, activation="tanh", bias=nn.normal(0.3)), nn.mlp((8, 7), 2, activation="tanh")
    params = net.initialize(5, seed=seed).params
    X = np.random.default_rng(seed).normal(size=(20, 5))
    left = np.arange(8) != unit

    def dropped(p: Any) -> Any:
        first = np.tanh(X @ p["hidden1.weight"] + p["hidden1.bias"])
        second = np.tanh(first @ p["hidden2.weight"] + p["hidden2.bias"])
        return (second * left) @ p["output.weight"] + p["output.bias"]

    def without(p: Any) -> dict[str, Any]:
        columns = {name: p[name][..., left] for name in ("hidden2.weight", "hidden2.bias")}
        return {**p, **columns, "output.weight": p["output.weight"][left]}

    def cost(outputs: Any) -> Any:
        return np.mean(np.square(outputs - 1.0))

    before = pel.grad(lambda p: cost(dropped(p)))(params)
    after = pel.grad(lambda p: cost(small.predict(p, X)))(without(params))
    pairs = [(dropped(params), small.predict(without(params), X))]
    pairs += [(without(before)[name], after[name]) for name in params]
    return max(float(np.max(np.abs(x - y))) for x, y in pairs)


def ratio(kind: str, depth: int, width: int, seed: int, positive: float | None = None) -> float:
    """Root mean square of the gradient behind the first layer over that behind the last, for a random one from above.

    Weights are uniform from 0 to twice `positive`, or as usual for the activation.
    """
    deviation = np.sqrt((2.0 if "relu" in kind else 1.0) / width)
    rng = np.random.default_rng(seed)

    def weights() -> Any:
        if positive is not None:
            return rng.uniform(0, 2 * positive, (width, width))
        return deviation * rng.normal(size=(width, width))

    net = nn.Sequential(*chain.from_iterable((nn.Dense(width, init=weights()), kind) for _ in range(depth)))
    X = 0.1 * rng.normal(size=(50, width)) if positive is not None else rng.normal(size=(50, width))
    signals = nn.signals(net, net.initialize(width, seed=seed), X)
    return float(signals.adjoints[0].rms / signals.adjoints[-1].rms)


def _draw_networks(unit: int) -> Any:
    axes = figures.grid(2, (4.4, 3.4), who="thinned-unit")
    sizes = (5, 8, 8, 2)
    for ax, gone, title in zip(axes, (None, unit), ("whole", "thinned"), strict=True):
        ax.set_axis_off()
        ax.set_title(title)
        at = [np.linspace(-1, 1, n) * (n - 1) / 7 for n in sizes]
        for k in range(3):
            for i, y0 in enumerate(at[k]):
                for j, y1 in enumerate(at[k + 1]):
                    if gone is None or not ((k == 1 and j == gone) or (k == 2 and i == gone)):
                        ax.plot([k, k + 1], [-y0, -y1], color=figures.GREY, linewidth=0.6, zorder=1)
        for k, heights in enumerate(at):
            for j, y in enumerate(heights):
                dropped = gone is not None and k == 2 and j == gone
                fill = "none" if dropped else figures.BLUE
                edge = figures.ORANGE if dropped else figures.BLUE
                ax.plot(k, -y, "o", color=fill, markeredgecolor=edge, markersize=13, zorder=2)
                if dropped:
                    ax.plot(k, -y, "x", color=figures.ORANGE, markersize=9, markeredgewidth=2, zorder=3)
        for k, words in enumerate(("input", "hidden 1", "hidden 2", "output")):
            ax.text(k, -1.28, words, ha="center")
        ax.set(ylim=(-1.4, 1.15), xlim=(-0.35, 3.35))
    return figures.figure_of(axes)


def _draw_flow(growth: dict[int, float], flow: dict[str, dict[int, float]]) -> Any:
    ax = figures.axes(size=(7.2, 4.0))
    ends = []
    rows = [("non-negative, ReLU", growth, figures.INK)] + [(kind, flow[kind], COLOURS[kind]) for kind in KINDS]
    for (name, row, colour), mark in zip(rows, figures.MARKERS, strict=False):
        ax.plot(list(row), list(row.values()), f"{mark}-", color=colour, markersize=5)
        ends.append(figures.end_of(list(row), list(row.values()), name, colour))
    ax.axhspan(0.1, 10, color=figures.GRID, zorder=0)
    ax.set(yscale="log", xlabel="layers", ylabel="first gradient / last", title="Gradients in deep networks")
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
