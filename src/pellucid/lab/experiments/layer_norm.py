"""Layer normalisation: each example by itself, in training as in prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "layer-norm",
    "Layer normalisation: the same in training and at test",
    lectures=("kth",),
    topic="normalisation",
    claim="Layer normalisation takes mean and variance of the d numbers of each example, normalises the example by "
    "them, and scales and shifts by learned γ and β. It behaves the same at train and test. The slide multiplies the "
    "column s − 1μ by a matrix from the right: the matrix belongs on the left.",
    setting="Random numbers go through layer and batch normalisation, as in training and as in prediction; the "
    "gradient of layer normalisation is compared with differences; examples are normalised alone and in a batch.",
    criterion="Every example has mean 0 and deviation 1 behind it (1e-4); training and prediction are bit for bit the "
    "same; an example alone gives the same numbers as within a batch (1e-12); the gradient agrees with differences "
    "(1e-6); for batch normalisation training and prediction differ by more than 0.1.",
    notice=(
        "Batch normalisation looks down the columns (one unit, all rows), layer normalisation along the rows (one row, "
        "all units).",
        "So layer normalisation works with batches of one, and has no statistics to store.",
        "It mixes the units of an example: their common scale is lost. For a single unit nothing would be left.",
    ),
    further=(
        'lab.run("layer-norm", units=1)',
        'lab.run("batch-sizes")',
        'lab.run("influence-diagram")',
    ),
    knobs={"rows": "of the batch", "units": "of the layer", "seed": "of the numbers"},
)
def layer_norm(rows: int = 12, units: int = 8, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    Z = rng.normal(rng.normal(0, 2, (1, units)), rng.uniform(0.5, 3, (1, units)), (rows, units))
    layer, batch = nn.LayerNorm(), nn.BatchNorm()
    scale, shift = rng.normal(1, 0.3, units), rng.normal(size=units)
    params = {"scale": scale, "shift": shift}
    plain = {"scale": np.ones(units), "shift": np.zeros(units)}
    trained, predicted = layer.apply(params, Z, training=True)[0], layer.predict(params, Z)
    alone = np.concatenate([layer.apply(params, Z[i : i + 1], training=True)[0] for i in range(rows)])
    rows_normal = layer.predict(plain, Z)
    state = batch.initialize(units).state
    columns_normal, after = batch.apply(plain, Z, state, training=True)
    gap = float(np.abs(columns_normal - batch.predict(plain, Z, after)).max())
    centred = float(max(np.abs(rows_normal.mean(1)).max(), np.abs(rows_normal.std(1) - 1).max()))
    from_alone = float(np.abs(alone - trained).max())
    gradient_off = _gradient_difference(layer, params, Z, rng)
    same = bool(np.array_equal(trained, predicted))
    passed = (centred < 1e-4 or units == 1) and same and from_alone < 1e-12 and gradient_off < 1e-6 and gap > 0.1
    return Outcome(
        passed,
        f"Training and prediction are {'the same bits' if same else 'different'} with layer normalisation and differ "
        f"by {gap:.2f} with batch normalisation; examples alone and in a batch differ by {from_alone:.1g}.",
        {
            "same": same,
            "alone": from_alone,
            "centred": centred,
            "gradient_difference": gradient_off,
            "batch_norm_gap": gap,
        },
        (
            Beside("training − prediction, layer normalisation", 0, float(np.abs(trained - predicted).max())),
            Beside("training − prediction, batch normalisation (after one batch)", "differs", gap),
            Beside("mean and deviation of an example behind it, off by", 0, centred),
        ),
        (
            Table(
                "Two ways to normalise a batch of n rows and d units",
                ("", "batch normalisation", "layer normalisation"),
                [
                    ("mean and variance over", "the n rows, for each unit", "the d units, for each row"),
                    ("at prediction", "stored averages", "the same as in training"),
                    ("batch of one", "stored averages, no learning of them", "no difference"),
                    ("other rows matter", "yes", "no"),
                    ("γ, β", "one of each unit", "one of each unit"),
                ],
            ),
        ),
        (
            Picture(
                "directions",
                "The same numbers, normalised by unit and by row. Batch normalisation evens out the columns, layer "
                "normalisation the rows.",
                lambda: _draw({"before": Z, "batch normalisation": columns_normal, "layer normalisation": rows_normal}),
            ),
        ),
    )


def _gradient_difference(layer: nn.LayerNorm, params: dict[str, Any], Z: Any, rng: np.random.Generator) -> float:
    """The largest difference between automatic differentiation and central differences, by input, γ and β."""
    d = rng.normal(size=Z.shape)

    def loss(z: Any, scale: Any, shift: Any) -> Any:
        return np.sum(d * layer.predict({"scale": scale, "shift": shift}, z))

    at = Z, params["scale"], params["shift"]
    exact = pel.grad(loss, (0, 1, 2))(*at)
    numeric = pel.numerical_grad(lambda args: loss(*args), at)
    return max(float(np.abs(a - b).max()) for a, b in zip(exact, numeric, strict=True))


def _draw(arrays: dict[str, Any]) -> Figure:
    axes = figures.grid(3, (3.0, 3.4), who="layer-norm")
    for ax, (name, values) in zip(axes, arrays.items(), strict=True):
        size = max(float(np.abs(values).max()), 1e-9)
        ax.imshow(values, cmap="PuOr", vmin=-size, vmax=size, aspect="auto")
        ax.set(title=name, xlabel="unit", xticks=[0, values.shape[1] - 1], yticks=[0, len(values) - 1])
        ax.set_xticklabels([1, values.shape[1]])
        ax.set_yticklabels([1, len(values)])
    axes[0].set_ylabel("row of the batch")
    return figures.figure_of(axes)
