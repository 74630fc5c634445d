"""Ten layers of random weights: what comes out of each, beside the lecture's printouts."""

from __future__ import annotations

import numpy as np

from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.deep_signals import PRINTED, SCALES, activations, deviation, infinite_width
from pellucid.lab.signal_pictures import histogram_rows, over_layers

NAMES = {"tanh": "tanh", "relu": "ReLU"}


@experiment(
    "initialisation",
    "Ten layers of random weights: signals die, saturate, or live",
    lectures=("cs231n", "kth"),
    topic="initialisation",
    claim="In a network of ten layers of 500 tanh units, weights of deviation 0.01 let all activations become zero and "
    "weights of deviation 1 saturate them; 1/√n is reasonable. For ReLU, 1/√n halves the variance in every layer, and "
    "√(2/n) keeps it. Under 1/√n the deviation of tanh is not constant, as one lecture says, but falls from 0.63 to "
    "0.23, as the other one prints; a gain of 5/3 holds it at 0.65.",
    setting="Standard normal inputs, no biases, weights N(0, σ²) with four deviations σ for tanh and for ReLU. All "
    "settings use the same random draws. `activation` and `gain` add a setting of your own with σ = gain/√n.",
    criterion="For the lecture's width of 500: deviations agree with the printouts within 3 % (tanh) and 40 % (ReLU, "
    "where draws of the weights differ from each other by 3 % in layer 2 and by 14 % in layer 10), the mean factor per "
    "layer of ReLU under 1/√n is 1/√2 within 5 %, and over 75 % of the tanh units are beyond 0.99 for σ = 1. For other "
    "sizes: the theory of infinitely many units instead of the printouts.",
    notice=(
        "With σ = 0.01 each layer multiplies the deviation by about 0.01·√500 = 0.22.",
        "With σ = 1 nearly all tanh units are at −1 or +1, and the deviation is that of a coin.",
        "Half of the ReLU activations are exactly 0, whatever σ is: the sign of a sum does not depend on its scale.",
        "The column `theory` needs no random number: a sum of very many terms is a normal number.",
    ),
    further=(
        'lab.run("initialisation", full=True)',
        'lab.run("initialisation", activation="sigmoid", gain=1.0)',
        'lab.run("initialisation", width=50, depth=20)',
        'lab.run("gradient-signals")',
    ),
    knobs={
        "activation": "of your own setting",
        "gain": "of your own setting: σ = gain/√width",
        "width": "units in each layer",
        "depth": "number of layers",
        "rows": "of random input",
        "seed": "of inputs and weights",
    },
    full={"rows": 1000},
)
def initialisation(
    activation: str = "tanh",
    gain: float = 5 / 3,
    width: int = 500,
    depth: int = 10,
    rows: int = 400,
    seed: int = 0,
) -> Outcome:
    rng = np.random.default_rng(seed)
    draws = [rng.normal(size=(width, width)) for _ in range(depth)]
    X = rng.normal(size=(rows, width))
    own = f"{activation}, σ = {gain:.3g}/√n"
    sigmas = {(act, scale): deviation(scale, width) for act in NAMES for scale in SCALES}
    layers = {key: activations(key[0], sigma, draws, X) for key, sigma in sigmas.items()}
    layers[activation, "own"] = activations(activation, gain / np.sqrt(width), draws, X)
    theory = {key: infinite_width(key[0], sigma, width, depth) for key, sigma in sigmas.items()}
    theory[activation, "own"] = infinite_width(activation, gain / np.sqrt(width), width, depth)

    asked = PRINTED if (width, depth) == (500, 10) else {key: tuple(zip(*theory[key], strict=True)) for key in PRINTED}
    off = {key: _largest_difference(layers[key].stds, asked[key][1]) for key in PRINTED}
    stds = layers["relu", "xavier"].stds
    factor = (stds[-1] / stds[0]) ** (1 / (depth - 1))
    saturated = min(layers["tanh", "large"].large)
    passed = (
        all(off[key] < (0.03 if key[0] == "tanh" else 0.4) for key in PRINTED)
        and abs(factor * np.sqrt(2) - 1) < 0.05
        and saturated > 0.75
    )
    names = {key: f"{NAMES[key[0]]}, {SCALES[key[1]]}" for key in sigmas} | {(activation, "own"): own}
    return Outcome(
        passed,
        "Deviations differ from those asked for by at most "
        + ", ".join(f"{100 * value:.2g} % ({names[key]})" for key, value in off.items())
        + f"; ReLU under 1/√n shrinks by {factor:.3f} per layer (1/√2 = 0.707).",
        {
            "stds": {names[key]: layers[key].stds for key in layers},
            "means": {names[key]: layers[key].means for key in layers},
            "zeros": {names[key]: layers[key].zeros for key in layers},
            "theory": {names[key]: theory[key] for key in theory},
            "saturated": layers["tanh", "large"].large,
            "relu_factor": factor,
        },
        tuple(
            Beside(f"{names[key]}: deviation of layer {i + 1}", f"{printed[i]:.6f}", f"{layers[key].stds[i]:.6f}")
            for key, (_, printed) in PRINTED.items()
            if (width, depth) == (500, 10)
            for i in (0, 1, 4, 9)
        ),
        tuple(
            Table(
                names[key],
                ("layer", "mean: lecture", "here", "deviation: lecture", "here", "theory", "zeros", "beyond 0.99"),
                [
                    (
                        *(i + 1, printed[0][i], _six(it.means[i]), printed[1][i], _six(it.stds[i])),
                        *(theory[key][i][1], f"{it.zeros[i]:.0%}", f"{it.large[i]:.0%}"),
                    )
                    for i in range(depth)
                ],
            )
            for key, it in layers.items()
            for printed in (_printed(key, width, depth),)
        ),
        (
            Picture(
                "curves",
                "Deviation of the activations over the layers, on a logarithmic axis: for tanh the smallest weights "
                "lose the signal and the largest saturate; for ReLU only √(2/n) keeps it.",
                lambda: over_layers(
                    {NAMES[act]: {SCALES[s]: layers[act, s].stds for s in SCALES} for act in NAMES},
                    "deviation of the activations",
                    log=True,
                ),
            ),
            Picture(
                "means",
                "Mean of the activations over the layers: about 0 for tanh, positive for ReLU. σ = 1 is left out for "
                "ReLU: it explodes.",
                lambda: over_layers(
                    {
                        NAMES[act]: {
                            SCALES[s]: layers[act, s].means for s in SCALES if act == "tanh" or s in ("xavier", "he")
                        }
                        for act in NAMES
                    },
                    "mean of the activations",
                ),
            ),
            *(
                Picture(
                    f"histograms-{act}",
                    words,
                    lambda act=act: histogram_rows(  # type: ignore[misc]
                        {SCALES[s]: layers[act, s].histograms for s in SCALES},
                        "activation" if act == "tanh" else "activations that are not 0",
                        f"{NAMES[act]}: histograms of 30 bins",
                    ),
                )
                for act, words in (
                    ("tanh", "What comes out of each layer, on the axis from −1 to 1 of the lecture."),
                    ("relu", "What is not 0 behind each layer (about half is); the ends of the axes shrink or grow."),
                )
            ),
        ),
    )


def _largest_difference(ours: tuple[float, ...], asked: tuple[float, ...]) -> float:
    """The largest relative difference, where six decimals of a printout say enough."""
    return max(abs(a / b - 1) for a, b in zip(ours, asked, strict=True) if b > 1e-4)


def _six(value: float) -> str:
    """Six decimals, as the lecture prints them."""
    return f"{value:.6f}" if abs(value) < 1e3 else f"{value:.3e}"


def _printed(key: tuple[str, str], width: int, depth: int) -> list[list[str]]:
    """Means and deviations as the lecture prints them, or blanks."""
    if key not in PRINTED or (width, depth) != (500, 10):
        return [[""] * depth] * 2
    return [[_six(value) for value in values] for values in PRINTED[key]]
