"""The six-layer network on CIFAR-10 with and without batch normalisation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pellucid import Model, figures, inspect, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.cifar import Images, images
from pellucid.lab.signal_pictures import Histogram, histogram_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NORMS = {"with": "batch", "without": None}
SMALL, LARGE = 0.01, 0.5


@experiment(
    "batch-norm-cifar",
    "Batch normalisation on CIFAR-10: six layers, two rates",
    lectures=("kth", "cs231n"),
    topic="normalisation",
    claim="In a network 3072-50-10-10-10-10-10 on CIFAR-10, trained by plain mini-batch gradient descent from He's "
    "start, batch normalisation improves the gradient flow and allows a higher rate: at 0.5 the network with it "
    "learns well and fast, where the one without it does not. The slides show loss curves for rate 0.01 as well, "
    "without a word on them. Ours at that rate: both networks learn; on CIFAR-10 the one with batch normalisation is "
    "ahead in the first epochs, and not at the end.",
    setting="Inputs standardised column by column, batches of 100; activations and gradients are looked at before the "
    "first step and after a quarter, a half and all of the steps (the lecture: 0, 1000, 2000, 4000). Without `data` a "
    "made-up substitute of the same shape is used: smooth colour pictures of ten classes. `data` is a folder with "
    "CIFAR-10's binary version or an .npz file with X and y; full=True takes 45,000 rows and 4000 steps.",
    criterion="At rate 0.5 validation accuracy at the end is at least 5 points higher with batch normalisation than "
    "without, and its validation loss is lower than that of any of the other three runs; ahead of the first step and "
    "after a quarter of them the sizes of δ in the first and the last hidden layer are nearer to each other with it "
    "than without, at both rates.",
    notice=(
        "Panels have their own ends: read the two numbers below each.",
        "Without batch normalisation at the large rate units die until no gradient is left in the first layer.",
        "On CIFAR-10 itself (45,000 rows, 4000 steps, seed 0) we measured at rate 0.5 accuracy 0.473 with and 0.172 "
        "without; at rate 0.01 validation loss 1.701 with and 1.651 without: there it does not help.",
        "The network is narrow (10 units a layer): do not expect a high accuracy.",
    ),
    further=(
        'lab.run("batch-norm-cifar", data="cifar-10-batches-bin", full=True)',
        'lab.run("batch-norm-cifar", steps=1000)',
        'lab.run("batch-norm-rates")',
    ),
    knobs={
        "data": "folder of CIFAR-10's binary version, or .npz file with X and y; None: a substitute",
        "rows": "to train on",
        "held": "rows to validate with",
        "steps": "of gradient descent for each rate",
        "seed": "of the substitute, the weights and the order of rows",
    },
    full={"rows": 45_000, "held": 5000, "steps": 4000},
)
def batch_norm_cifar(
    data: str | Path | None = None, rows: int = 600, held: int = 300, steps: int = 60, seed: int = 0
) -> Outcome:
    pictures = images(data, rows, held, seed)
    runs = {
        (name, rate): _train(pictures, norm, rate, steps, seed)
        for name, norm in NORMS.items()
        for rate in (SMALL, LARGE)
    }
    loss = {key: run.val_loss[-1] for key, run in runs.items()}
    accuracy = {key: run.val_accuracy[-1] for key, run in runs.items()}
    gain = accuracy["with", LARGE] - accuracy["without", LARGE]
    flow = {key: {step: _flow(look) for step, look in run.looks.items()} for key, run in runs.items()}
    flows_better = all(
        _distance(flow["with", rate][step]) < _distance(flow["without", rate][step])
        for rate in (SMALL, LARGE)
        for step in (0, steps // 4)
    )
    passed = gain >= 0.05 and loss["with", LARGE] == min(loss.values()) and flows_better
    return Outcome(
        passed,
        f"On {pictures.what}, after {steps} steps: at rate 0.01 validation loss {loss['with', SMALL]:.3f} with and "
        f"{loss['without', SMALL]:.3f} without batch normalisation (accuracy {accuracy['with', SMALL]:.3f} and "
        f"{accuracy['without', SMALL]:.3f}); at rate 0.5 accuracy {accuracy['with', LARGE]:.3f} and "
        f"{accuracy['without', LARGE]:.3f}.",
        {
            "data": pictures.what,
            "val_loss": {f"{name}, rate {rate}": value for (name, rate), value in loss.items()},
            "val_accuracy": {f"{name}, rate {rate}": value for (name, rate), value in accuracy.items()},
            "gradient_ratio": {f"{name}, rate {rate}": ratios for (name, rate), ratios in flow.items()},
        },
        (
            Beside("rate 0.5: validation accuracy with", "higher", accuracy["with", LARGE]),
            Beside("rate 0.5: validation accuracy without", "lower", accuracy["without", LARGE]),
            Beside("rate 0.01: validation loss with", None, loss["with", SMALL]),
            Beside("rate 0.01: validation loss without", None, loss["without", SMALL]),
        ),
        (
            Table(
                f"{pictures.what}: {rows:,} rows, {steps:,} steps",
                ("network", "rate", "training loss", "validation loss", "validation accuracy"),
                [
                    (f"{name} batch norm", rate, run.loss[-1], run.val_loss[-1], run.val_accuracy[-1])
                    for (name, rate), run in runs.items()
                ],
            ),
            Table(
                "Gradient flow: size of δ in the first hidden layer over that in the last one",
                ("network", "rate", *(f"step {step}" for step in next(iter(flow.values())))),
                [(f"{name} batch norm", rate, *ratios.values()) for (name, rate), ratios in flow.items()],
            ),
        ),
        (
            *(
                Picture(
                    f"{what}-{rate}".replace(".", ""),
                    f"{kind} of each layer at rate {rate}, with (blue) and without (orange) batch normalisation, ahead "
                    "of these steps.",
                    lambda rate=rate, what=what, kind=kind: _histograms(runs, rate, what, kind),  # type: ignore[misc]
                )
                for rate in (SMALL, LARGE)
                for what, kind in (("a", "Activations that are not 0"), ("dweight", "Gradients of the weights"))
            ),
            Picture(
                "curves",
                "Training and validation loss, and validation accuracy, over the epochs at both rates.",
                lambda: _curves(runs),
            ),
        ),
    )


class Training(NamedTuple):
    """One run: curves by epoch, and looks at some steps."""

    loss: list[float]
    val_loss: list[float]
    val_accuracy: list[float]
    looks: dict[int, inspect.Look]


def _train(data: Images, norm: str | None, rate: float, steps: int, seed: int) -> Training:
    net = nn.mlp((50, 10, 10, 10, 10), 10, norm=norm, init="he", output_init="he")
    model = Model(net, "cross_entropy", optim.SGD(rate), ["accuracy"])
    watch = inspect.Watch(every=max(steps // 4, 1))
    history = model.fit(
        *(data.X, data.y),
        epochs=-(-steps * 100 // len(data.X)),
        batch_size=100,
        validation=(data.X_val, data.y_val),
        callbacks=[watch],
        seed=seed,
        verbose=False,
        on_divergence="stop",
    )
    marks = (0, steps // 4, steps // 2, steps)
    looks = {step: min(watch.looks, key=lambda look: abs(look.step - step)) for step in marks}
    return Training(history["loss"], history["val_loss"], history["val_accuracy"], looks)


def _flow(look: inspect.Look) -> float:
    """The root mean square of δ in the first hidden layer over that in the last one."""
    first, last = look.layers[0].dz, look.layers[-2].dz
    return first.rms / last.rms if first and last and last.rms > 0 else float("nan")


def _distance(ratio: float) -> float:
    """How far two sizes are from being equal, whichever is larger; no gradient at all is infinitely far."""
    return abs(float(np.log(ratio))) if ratio > 0 else float("inf")


def _histograms(runs: dict[tuple[str, float], Training], rate: float, what: str, kind: str) -> Figure:
    rows: dict[str, list[Histogram]] = {}
    colours: dict[str, str] = {}
    for name, colour in zip(NORMS, (figures.BLUE, figures.ORANGE), strict=True):
        for i, (step, look) in enumerate(runs[name, rate].looks.items()):
            if rate == SMALL or i < 2:  # the lecture shows two steps of the large rate
                rows[f"{name}\nstep {step}"] = [_histogram(layer, what) for layer in look.layers]
                colours[f"{name}\nstep {step}"] = colour
    layers = [layer.name for layer in runs["with", rate].looks[0].layers]
    title = f"{kind}, rate {rate}" + (", counts on a logarithmic axis" if what == "dweight" else "")
    return histogram_rows(rows, kind.lower(), title, log=what == "dweight", colours=colours, columns=layers)


def _histogram(layer: inspect.LayerLook, what: str) -> Histogram:
    """32 bins of what is not exactly 0."""
    statistics: inspect.Statistics = getattr(layer, what)
    if not statistics.finite or statistics.std == 0:
        return np.zeros(1), np.array([-1.0, 1.0])
    counts, edges = np.array(statistics.counts), statistics.edges
    counts[max(int(np.searchsorted(edges, 0.0, "right")) - 1, 0)] -= round(statistics.zeros * statistics.count)
    return np.maximum(counts.reshape(-1, 2).sum(1), 0), edges[::2]


def _curves(runs: dict[tuple[str, float], Training]) -> Figure:
    axes = figures.grid(4, (4.4, 2.9), columns=2, who="batch-norm-cifar")
    for column, rate in enumerate((SMALL, LARGE)):
        for row, (ylabel, parts) in enumerate(
            (("loss", (("loss", "--"), ("val_loss", "-"))), ("validation accuracy", (("val_accuracy", "-"),)))
        ):
            ax = figures.plain(axes[2 * row + column])
            ends = []
            for name, colour in (("with", figures.BLUE), ("without", figures.ORANGE)):
                for part, style in parts:
                    values: Any = getattr(runs[name, rate], part)
                    ax.plot(range(1, len(values) + 1), values, style, color=colour)
                    if style == "-":
                        ends.append(figures.end_of(range(1, len(values) + 1), values, name, colour))
            ax.set(xlabel="epoch", ylabel=ylabel, title=f"rate {rate}" + (" (dashes: training)" if not row else ""))
            figures.annotate(ax, ends)
    return figures.figure_of(axes)
