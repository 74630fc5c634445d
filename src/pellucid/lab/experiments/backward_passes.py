"""The lectures' backward passes, written by hand, beside the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab import backward as passes
from pellucid.lab.backward import Layers
from pellucid.lab.backward_agreement import Agreement, agreement, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "backward-passes",
    "Seven backward passes of the lectures give the engine's gradient",
    lectures=("kth", "book", "waterloo"),
    topic="derivatives",
    claim="The lectures derive backpropagation seven times: in six steps for one sample, for k layers, by whole "
    "Jacobians, as a loop over a mini-batch, vectorised, in four steps for a regression, and as the recursion of "
    "δ. Corrected here: after g ← g W_i comes the slope of layer i − 1, where three slides print i; the penalty λ‖W‖² "
    "gives 2λW everywhere; the gradient of the first bias has m numbers, not d.",
    setting="Random ReLU networks of 2 to 10 layers with a penalty, softmax and cross-entropy (for the last two half "
    "the squared error). Each algorithm is written as on its slides and compared with the gradient of the engine, "
    "which knows none of them. The two misprints are tried as well.",
    criterion="For every depth all seven agree with the engine to 1e-12; with the printed index, or with λW in place "
    "of 2λW, the gradients are wrong by more than 1e-3.",
    notice=(
        "They are one algorithm: reverse mode, for the loss of a network.",
        "The vectorised form does the same sums as the loop over samples, as one product of matrices.",
        "δ of a layer needs the δ of the layer after it, so it depends on all deeper layers; so does the gradient of a "
        "bias, which is δ itself.",
    ),
    further=(
        'lab.run("backward-passes", deepest=5)',
        'lab.run("backward-passes", rows=50)',
        'lab.run("jacobians")',
        'lab.run("gradient-checking")',
    ),
    knobs={
        "deepest": "layers of the deepest network",
        "rows": "samples of a mini-batch",
        "penalty": "λ",
        "seed": "of networks and data",
    },
)
def backward_passes(deepest: int = 10, rows: int = 5, penalty: float = 0.01, seed: int = 0) -> Outcome:
    found = agreement(range(2, deepest + 1), rows, penalty, seed)
    index, factor = misprints(penalty, seed)
    shapes = first_bias(seed)
    seconds = timed(200)
    example = by_hand()
    return Outcome(
        found.largest < 1e-12 and index > 1e-3 and (factor > 1e-3 or penalty < 0.01) and shapes == (4,),
        f"{len(found.differences)} algorithms and depths 2 to {deepest} agree with the engine to {found.largest:.1g}; "
        f"the printed index is wrong by {index:.2f}, λW in place of 2λW by {factor:.3f}.",
        {
            "differences": found.differences,
            "largest": found.largest,
            "printed_index": index,
            "printed_factor": factor,
            "seconds": seconds,
        },
        (Beside("numbers in the gradient of the first bias, d = 3 inputs, m = 4 units", "d = 3", f"m = {shapes[0]}"),),
        (
            Table(
                "Largest difference to the engine",
                ("algorithm", *(f"{d} layers" for d in found.depths[:: max(1, len(found.depths) // 4)])),
                [
                    (name, *("for 2 layers" if np.isnan(d) else f"{d:.1g}" for d in row[:: max(1, len(row) // 4)]))
                    for name, row in found.differences.items()
                ],
            ),
            Table(
                "Four steps by hand: x = (1, 0, 1), y = 4, two ReLU units, one of them closed",
                ("step", "value"),
                example,
            ),
            Table(
                f"Time for {seconds.rows} samples, network 20-50-50-3 (on this machine, this time)",
                ("form", "milliseconds"),
                [
                    ("loop over samples", 1e3 * seconds.loop),
                    ("vectorised", 1e3 * seconds.vectorised),
                    ("engine", 1e3 * seconds.engine),
                ],
            ),
        ),
        (
            Picture(
                "differences",
                "Largest difference between each algorithm and the engine, for networks of growing depth: all are at "
                "the level of rounding (dashed: the criterion; a difference of exactly 0 is drawn at 1e-17).",
                lambda: _draw(found),
            ),
        ),
    )


def misprints(penalty: float, seed: int) -> tuple[float, float]:
    """How wrong gradients are with the slope of layer i in place of i − 1, and with λW in place of 2λW."""
    rng = np.random.default_rng(seed)
    layers = Layers(tuple(rng.normal(size=(4, 4)) for _ in range(3)), tuple(rng.normal(size=4) for _ in range(3)))
    x, y = rng.normal(size=4), np.eye(4)[1]
    right = passes.aggregated(layers, x, y, penalty).gradients.W
    scores, inputs = passes.forward(layers, x)
    g = -(y - passes.softmax(scores[-1]))[None, :]
    wrong: list[Any] = []
    for i in range(3, 0, -1):
        wrong.insert(0, g.T @ inputs[i - 1][None, :] + 2 * penalty * layers.W[i - 1])
        g = g @ layers.W[i - 1] @ np.diag((scores[i - 1] > 0).astype(float))  # as printed: i, not i − 1
    half = max(float(np.abs(penalty * W).max()) for W in layers.W)
    return max(float(np.abs(a - b).max()) for a, b in zip(wrong, right, strict=True)), half


def first_bias(seed: int) -> tuple[int, ...]:
    """The shape of ∂J/∂b₁ for 3 inputs and 4 hidden units."""
    rng = np.random.default_rng(seed)
    layers = Layers((rng.normal(size=(4, 3)), rng.normal(size=(2, 4))), (rng.normal(size=4), rng.normal(size=2)))
    return tuple(np.shape(passes.single_sample(layers, rng.normal(size=3), np.array([1.0, 0.0])).gradients.b[0]))


def by_hand() -> list[tuple[str, str]]:
    layers = Layers(
        (np.array([[1.0, 0.0, 2.0], [-1.0, 1.0, 0.0]]), np.array([[2.0, 3.0]])),
        (np.array([0.0, 0.5]), np.array([-1.0])),
    )
    lines = passes.four_steps(layers, np.array([1.0, 0.0, 1.0]), 4.0).lines
    return [(text.strip(), str(np.asarray(value).tolist())) for text, value in lines]


def _draw(found: Agreement) -> Figure:
    ax = figures.axes(size=(7.6, 3.8))
    for i, (name, row) in enumerate(found.differences.items()):
        colour, marker = (*figures.COLOURS, figures.INK)[i], (*figures.MARKERS, "x")[i]
        places = np.array(found.depths) + 0.07 * (i - 3)
        ax.semilogy(places, np.maximum(row, 1e-17), marker, color=colour, label=name, markersize=5)
    ax.axhline(1e-12, color=figures.GREY, linestyle="--", linewidth=1)
    ax.set(xlabel="layers", ylabel="largest difference to the engine", ylim=(5e-18, 1e-10), xticks=found.depths)
    ax.set_title("Backward passes by hand beside the engine")
    ax.legend(ncols=3, frameon=False, loc="upper center", fontsize=9)
    return figures.figure_of(ax)
