"""Other ways to start: orthogonal, without drift, and by looking at data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.signal_pictures import over_layers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "orthogonal-and-lsuv",
    "Other starts: orthogonal, random walk, data-dependent, LSUV",
    lectures=("cs231n", "kth"),
    topic="initialisation",
    claim="Proper initialisation is an active area of research: orthogonal matrices (Saxe et al., 2013), a gain "
    "without drift (Sussillo and Abbott, 2014), weights scaled by data (Krähenbühl et al., 2015), and "
    "layer-sequential unit variance, LSUV (Mishkin and Matas, 2015).",
    setting="A network of many ReLU layers on standard normal inputs that are shifted and scaled, so that rules which "
    "know nothing of the data are off from the first layer on. Besides, vectors are sent through many linear layers "
    "with weights of variance 1/n, orthogonal weights, and weights with the random walk's gain exp(1/(2n)).",
    criterion="LSUV gives every layer variance 1 within its tolerance of 0.01, the data-dependent start gives every "
    "unit mean 0 and deviation 1; orthogonal layers keep the length of a vector to rounding; the mean logarithm of the "
    "length drifts with 1/n by more than three standard errors, and by less than three with the random walk's gain.",
    notice=(
        "He's rule keeps whatever size the inputs have; LSUV and the data-dependent start make it 1.",
        "Both look at one batch: on other data of the same kind the variance is near 1, not equal to it.",
        "With 1/n the length is right on average, but its logarithm, a random walk through the layers, falls: most "
        "vectors shrink and few grow a lot.",
    ),
    further=(
        'lab.run("orthogonal-and-lsuv", activation="tanh")',
        'lab.run("orthogonal-and-lsuv", depth=30)',
        'lab.run("batch-norm-starts")',
    ),
    knobs={
        "activation": "of the deep network",
        "width": "units in each of its layers",
        "depth": "its number of layers",
        "walk": "layers of the linear networks",
        "seed": "of inputs and weights",
    },
)
def orthogonal_and_lsuv(
    activation: str = "relu", width: int = 100, depth: int = 10, walk: int = 100, seed: int = 0
) -> Outcome:
    rng = np.random.default_rng(seed)
    X, fresh = rng.normal(1.0, 3.0, (2, 300, width))
    outputs: dict[str, list[Any]] = {}
    new_batch: dict[str, float] = {}
    for name in ("he", "orthogonal", "random_walk", "data-dependent", "LSUV"):
        init = name if name in nn.INITIALIZERS else "he"
        net = nn.mlp((width,) * depth, width, activation=activation, init=init, output_init=init)
        variables = net.initialize(width, seed=seed)
        if name == "data-dependent":
            variables = nn.data_dependent(net, variables, X)
        elif name == "LSUV":
            variables = nn.lsuv(net, variables, X, tolerance=0.01, seed=seed)
        outputs[name] = _sums(net, variables, X)
        new_batch[name] = float(_sums(net, variables, fresh)[-1].var())
    variances = {name: [float(z.var()) for z in layers] for name, layers in outputs.items()}
    lsuv_off = max(abs(v - 1) for v in variances["LSUV"])
    units_off = max(float(np.abs(z.std(0) - 1).max() + np.abs(z.mean(0)).max()) for z in outputs["data-dependent"])
    lengths = {name: _walks(name, walk, seed) for name in ("lecun", "orthogonal", "random_walk")}
    ends = {name: paths[:, -1] for name, paths in lengths.items()}
    drift = {name: (float(e.mean()), float(e.std() / np.sqrt(len(e)))) for name, e in ends.items()}
    passed = (
        lsuv_off < 0.01
        and units_off < 1e-9
        and float(np.abs(ends["orthogonal"]).max()) < 1e-10
        and abs(drift["random_walk"][0]) < 3 * drift["random_walk"][1]
        and drift["lecun"][0] < -3 * drift["lecun"][1]
    )
    return Outcome(
        passed,
        f"LSUV: variance 1 within {lsuv_off:.2g} in all {depth + 1} layers; data-dependent: every unit within "
        f"{units_off:.1g}; through {walk} linear layers log length changes by "
        f"{float(np.abs(ends['orthogonal']).max()):.1g} (orthogonal), {drift['lecun'][0]:.2f} ± "
        f"{drift['lecun'][1]:.2f} (1/n), {drift['random_walk'][0]:.2f} ± {drift['random_walk'][1]:.2f} (random walk).",
        {"variances": variances, "new_batch": new_batch, "drift": drift, "lsuv_off": lsuv_off, "units_off": units_off},
        (
            Beside("variance of every layer after LSUV", 1, (min(variances["LSUV"]), max(variances["LSUV"]))),
            Beside("drift of the log length, random walk's gain", 0, drift["random_walk"][0]),
        ),
        (
            Table(
                "Variance of each layer's sums on the batch that was looked at, and of the last one on another batch",
                ("start", *(f"layer {i}" for i in (1, depth // 2, depth, depth + 1)), "other batch"),
                [
                    (name, *(variances[name][i - 1] for i in (1, depth // 2, depth, depth + 1)), new_batch[name])
                    for name in variances
                ],
            ),
        ),
        (
            Picture(
                "variances",
                "Variance of the sums of each layer: rules without data keep the size that the inputs happen to have "
                "(and scatter), the two that look at data hold it at 1.",
                lambda: over_layers(
                    {f"{activation}, {width} units": variances}, "variance of a layer's sums", log=True, size=(6.6, 3.6)
                ),
            ),
            Picture(
                "walks",
                "Logarithm of the length of vectors on their way through linear layers of 20 units. Left: with 1/n it "
                "falls on average (thick line). Middle: orthogonal layers keep it. Right: a gain a little above 1 "
                "takes the drift away, but not the scatter.",
                lambda: _draw(lengths),
            ),
        ),
    )


def _sums(net: nn.Sequential, variables: nn.Variables, X: Any) -> list[Any]:
    """What comes out of each layer before its activation."""
    taps: dict[str, Any] = {}
    net.apply(variables.params, X, variables.state, taps=taps)
    return [taps[name] for name, layer in net.children if isinstance(layer, nn.Dense)]


def _walks(init: str, layers: int, seed: int, n: int = 20, paths: int = 200) -> Any:
    """The logarithm of a vector's length behind each of many linear layers, for many draws.   -> (paths, layers)"""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(paths, n, 1))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    start, lengths = nn.initializer(init), []
    for _ in range(layers):
        W = np.stack([start(rng, (n, n), n, n, 1.0) for _ in range(paths)])
        x = W @ x
        lengths.append(np.log(np.linalg.norm(x, axis=1)[:, 0]))
    return np.stack(lengths, axis=1)


def _draw(lengths: dict[str, Any]) -> Figure:
    axes = figures.grid(3, (3.2, 3.0), who="orthogonal-and-lsuv")
    titles = {"lecun": "variance 1/n", "orthogonal": "orthogonal", "random_walk": "random walk's gain"}
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        figures.plain(ax)
        layers = np.arange(1, lengths[name].shape[1] + 1)
        ax.plot(layers, lengths[name][:25].T, color=figures.SKY, linewidth=0.6, alpha=0.7)
        ax.plot(layers, lengths[name].mean(0), color=figures.BLUE, linewidth=2.5)
        ax.set(xlabel="layer", title=title, ylim=(-9, 5))
    axes[0].set_ylabel("logarithm of the length")
    return figures.figure_of(axes)
