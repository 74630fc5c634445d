"""At prediction batch normalisation is an affine map: it can be folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import Model, figures, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "folding",
    "Folding batch normalisation into the weights",
    lectures=("notes",),
    topic="normalisation",
    claim="At inference ẑ = (γ/√(σ² + ε))·z + (β − γμ/√(σ² + ε)): an affine map for each unit, so it can be taken into "
    "the weights and the bias before it.",
    setting="A network with batch normalisation learns two rings; `nn.fold_batchnorm` makes one without it. For one "
    "unit the formula of the notes is drawn against what the layer does.",
    criterion="Predictions of the folded network agree within 1e-6 relative to the largest score, no normalisation is "
    "left, and the formula of the notes agrees with the layer within 1e-12.",
    notice=(
        "The folded network has fewer arrays and fewer operations, and predicts the same.",
        "In training this is impossible: μ and σ² then depend on the batch.",
        "A bias before the normalisation is not lost: it goes into the new one.",
    ),
    further=(
        'lab.run("folding", place="after")',
        'lab.run("population-statistics")',
        'lab.run("batch-norm-cost")',
    ),
    knobs={
        "place": "of the normalisation: before or after the activation",
        "epochs": "of training",
        "seed": "of data and weights",
    },
)
def folding(place: str = "before", epochs: int = 10, seed: int = 0) -> Outcome:
    X, y = rings(seed=seed)
    net = nn.mlp((16, 16), 1, norm="batch", norm_place=place, activation="tanh")
    model = Model(net, "binary_cross_entropy", optim.Adam(0.01), ["accuracy"], dtype="float64", engine="numpy")
    model.fit(X, y, epochs=epochs, batch_size=32, seed=seed, verbose=False)
    small = nn.fold_batchnorm(net, model.params, model.state)
    scores, folded = net.predict(model.params, X, model.state), small.net.predict(small.params, X, small.state)
    difference = float(np.abs(scores - folded).max() / np.abs(scores).max())
    left = sum(isinstance(layer, nn.BatchNorm) for _, layer in small.net.children)

    part = {key: model.params[f"hidden1.norm.{key}"] for key in ("scale", "shift")}
    state = {key: model.state[f"hidden1.norm.{key}"] for key in ("mean", "var", "batches")}
    z = np.linspace(-3, 3, 50)[:, None] * np.ones(16)
    a = part["scale"] / np.sqrt(state["var"] + 1e-5)
    line = a * z + (part["shift"] - a * state["mean"])
    formula = float(np.abs(line - nn.BatchNorm().predict(part, z, state)).max())
    counts = {"with": model.params | model.state, "folded": small.params | small.state}
    numbers = {name: sum(int(np.size(v)) for v in arrays.values()) for name, arrays in counts.items()}
    passed = difference < 1e-6 and left == 0 and formula < 1e-12
    return Outcome(
        passed,
        f"Scores differ by {difference:.1g} of their size, no normalisation is left, and {numbers['with']} stored "
        f"numbers have become {numbers['folded']}.",
        {"difference": difference, "left": left, "formula": formula, "stored": numbers},
        (
            Beside("scores of the folded network − scores, relative", 0, difference),
            Beside("formula of the notes − layer", 0, formula),
        ),
        (
            Table(
                "The network before and behind folding",
                ("network", "layers", "stored numbers"),
                [
                    ("as trained", " → ".join(name for name, _ in net.children), numbers["with"]),
                    ("folded", " → ".join(name for name, _ in small.net.children), numbers["folded"]),
                ],
            ),
        ),
        (
            Picture(
                "lines",
                "What batch normalisation does to four units at prediction: a straight line each. Dots: the layer; "
                "lines: the formula of the notes.",
                lambda: _draw(z, line, nn.BatchNorm().predict(part, z, state)),
            ),
        ),
    )


def _draw(z: Any, line: Any, layer: Any) -> Figure:
    ax = figures.axes(size=(6.4, 3.6))
    ends = []
    for unit in range(4):
        colour = figures.COLOURS[unit]
        ax.plot(z[:, unit], line[:, unit], color=colour)
        ax.plot(z[::7, unit], layer[::7, unit], "o", color=colour, markersize=5)
        ends.append(figures.end_of(z[:, unit], line[:, unit], f"unit {unit + 1}", colour))
    ax.set(xlabel="z", ylabel="normalised, scaled and shifted", title="Batch normalisation at prediction")
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
