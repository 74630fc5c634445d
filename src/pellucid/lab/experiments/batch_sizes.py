"""Small batches hurt batch normalisation; layer normalisation does not look at the batch."""

from __future__ import annotations

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import batch_size_sweep
from pellucid.lab.normalization_plots import plot_batch_sizes


@experiment(
    "batch-sizes",
    "Small batches hurt batch normalisation, not layer normalisation",
    lectures=("kth", "notes"),
    topic="normalisation",
    claim="Batch normalisation makes the loss depend on all members of a batch, and is less stable with small batches. "
    "Layer normalisation does not look at other rows. Wu and Johnson, Rethinking `Batch` in BatchNorm, collect what "
    "goes wrong.",
    setting="Networks with batch and with layer normalisation learn two rings with the same number of steps for every "
    "batch size; the loss is that on new points.",
    criterion="With batches of 2 the loss of batch normalisation is at least 1.3 times that of layer normalisation, "
    "and at least 1.5 times its own loss with the largest batches.",
    notice=(
        "All runs have the same number of steps, so small batches see fewer rows; compare the two curves, not their "
        "ends.",
        "With two rows the normalised values are nearly always −1 and +1, whatever the rows are.",
        "A batch of one has no variance: here it is normalised by the stored statistics, and leaves them alone.",
    ),
    further=(
        'lab.run("batch-sizes", full=True)',
        'lab.run("batch-sizes", sizes=(2, 3, 4, 5))',
        'lab.run("batch-means")',
    ),
    knobs={"sizes": "of the batches", "steps": "of training, for every size", "seed": "of data and weights"},
    full={"sizes": (2, 4, 8, 16, 32, 64, 128), "steps": 1000},
)
def batch_sizes(sizes: tuple[int, ...] = (2, 4, 16, 64), steps: int = 200, seed: int = 0) -> Outcome:
    sweep = batch_size_sweep(sizes, steps, seed, engine="native")
    over_layer, over_large = sweep.batch[0] / sweep.layer[0], sweep.batch[0] / sweep.batch[-1]
    return Outcome(
        over_layer > 1.3 and over_large > 1.5,
        f"With batches of {sizes[0]} batch normalisation has loss {sweep.batch[0]:.3f}, layer normalisation "
        f"{sweep.layer[0]:.3f}; with batches of {sizes[-1]} they have {sweep.batch[-1]:.3f} and {sweep.layer[-1]:.3f}.",
        {"sizes": sizes, "batch_norm": sweep.batch, "layer_norm": sweep.layer},
        (
            Beside("small batches with batch normalisation", "less stable", f"{over_large:.1f} times the loss"),
            Beside(f"the same against layer normalisation, batches of {sizes[0]}", None, f"{over_layer:.1f} times"),
        ),
        (
            Table(
                "Loss on new points after the same number of steps",
                ("batch size", "batch normalisation", "layer normalisation"),
                list(zip(sizes, sweep.batch, sweep.layer, strict=True)),
            ),
        ),
        (
            Picture(
                "sweep",
                "Loss on new points over the batch size: the smaller the batch, the further batch normalisation is "
                "behind.",
                lambda: figures.figure_of(plot_batch_sizes(sweep)),
            ),
        ),
    )
