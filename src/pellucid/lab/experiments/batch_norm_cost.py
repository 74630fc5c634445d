"""What batch normalisation costs: operations counted, and times measured."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NORMS = {"without": None, "with batch norm": "batch", "with layer norm": "layer"}


@experiment(
    "batch-norm-cost",
    "What batch normalisation costs: operations and time",
    lectures=("kth",),
    topic="normalisation",
    claim="Batch normalisation increases training time.",
    setting="Loss and gradient of a network of ReLU layers on one batch are recorded as a graph, with and without "
    "normalisation. Its operations are counted, and the numbers that they compute; then the graphs are run in turn, "
    "many times, and the shortest times are compared (what else the machine does can only make them longer).",
    criterion="With batch normalisation the graph has more operations and computes more numbers, but the same number "
    "of matrix products. Times are shown, but not judged: they depend on the machine and what else it does.",
    notice=(
        "The multiplications of matrices are the same; what is added are passes over the activations, which cost time "
        "because memory is slow, not because there is much to reckon.",
        "The share falls with the width: a matrix product grows with its square, a normalisation does not. Try "
        "width=300.",
        "Fewer steps may be needed with it, so the whole training may still be shorter.",
    ),
    further=(
        'lab.run("batch-norm-cost", width=300)',
        'lab.run("batch-norm-cost", rows=10)',
        'lab.run("folding")',
    ),
    knobs={
        "width": "units in each hidden layer",
        "depth": "hidden layers",
        "rows": "of the batch",
        "rounds": "of measuring",
        "seed": "of data and weights",
    },
    full={"rounds": 200},
)
def batch_norm_cost(width: int = 50, depth: int = 4, rows: int = 100, rounds: int = 25, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(rows, width)), rng.integers(0, 5, rows)
    graphs = {name: _graph(norm, X, y, width, depth, seed) for name, norm in NORMS.items()}
    counts = {name: _count(*pair) for name, pair in graphs.items()}
    times = np.array([[_seconds(*pair) for pair in graphs.values()] for _ in range(rounds)])  # in turn: noise hits all
    shortest = {name: float(times[:, i].min()) for i, name in enumerate(NORMS)}
    longer = {name: value / shortest["without"] for name, value in shortest.items()}
    products = {name: graph.count()["matmul"] for name, (graph, _) in graphs.items()}
    more = {name: tuple(b / a for a, b in zip(counts["without"], counts[name], strict=True)) for name in NORMS}
    passed = all(ratio > 1.0 for ratio in more["with batch norm"]) and len(set(products.values())) == 1
    return Outcome(
        passed,
        f"With batch normalisation a step has {more['with batch norm'][0]:.2f} times the operations, computes "
        f"{more['with batch norm'][1]:.2f} times the numbers, and took {longer['with batch norm']:.2f} times as long "
        f"(shortest of {rounds} rounds each); matrix products: {products['with batch norm']} as before.",
        {
            "operations": {name: pair[0] for name, pair in counts.items()},
            "numbers": {name: pair[1] for name, pair in counts.items()},
            "matrix_products": products,
            "time_ratio": longer,
        },
        (
            Beside("operations, with over without", "more", more["with batch norm"][0]),
            Beside("time of a step, with over without", "more", longer["with batch norm"]),
        ),
        (
            Table(
                "One step (loss and gradient), NumPy engine",
                ("network", "operations", "matrix products", "numbers computed", "shortest time, ms", "over without"),
                [
                    (name, counts[name][0], products[name], counts[name][1], 1e3 * shortest[name], longer[name])
                    for name in NORMS
                ],
            ),
        ),
        (
            Picture(
                "times",
                "Times of a step, from short to long. The lowest ends compare the networks; the rise to the right is "
                "what else the machine did.",
                lambda: _draw({name: np.sort(times[:, i]) for i, name in enumerate(NORMS)}),
            ),
        ),
    )


def _graph(norm: str | None, X: Any, y: Any, width: int, depth: int, seed: int) -> tuple[pel.Graph, Any]:
    """Loss and gradient as a graph, and the parameters to run it at."""
    net, cost = nn.mlp((width,) * depth, 5, norm=norm), nn.loss("cross_entropy")
    params, state = net.initialize(width, seed=seed)
    target = cost.prepare(y)
    step = pel.value_and_grad(lambda p: cost(net.apply(p, X, state, training=True)[0], target))
    return pel.record(step, params).simplify(), params


def _count(graph: pel.Graph, params: Any) -> tuple[int, int]:
    """Operations that are run, and the numbers that come out of them."""
    sizes: list[int] = []

    def watch(number: int, node: Any, value: Any) -> None:
        if node.op is not None:
            sizes.append(int(np.size(value)))

    pel.run(graph, params, watch=watch)
    return len(sizes), sum(sizes)


def _seconds(graph: pel.Graph, params: Any) -> float:
    start = time.perf_counter()
    pel.run(graph, params)
    return time.perf_counter() - start


def _draw(times: dict[str, Any]) -> Figure:
    ax = figures.axes(size=(6.4, 3.4))
    ends = []
    for (name, values), colour in zip(times.items(), figures.COLOURS, strict=False):
        rounds = range(1, len(values) + 1)
        ax.plot(rounds, 1e3 * values, "o-", markersize=3, color=colour)
        ends.append(figures.end_of(rounds, 1e3 * values, name, colour))
    ax.set(xlabel="round, ordered by its time", ylabel="time in ms", yscale="log", title="Time of a step")
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
