"""Gradients on their way back through ten layers of random weights."""

from __future__ import annotations

import numpy as np

from pellucid import nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.deep_signals import SCALES, deviation, tower
from pellucid.lab.signal_pictures import histogram_rows, over_layers

NAMES = {"tanh": "tanh", "relu": "ReLU"}
KEYS = tuple((activation, scale) for activation in NAMES for scale in SCALES)
ROWS_BEFORE = 1000
"""Of the reference numbers: the mean gradient over m rows of random signs is proportional to 1/√m."""


@experiment(
    "gradient-signals",
    "Gradients on the way back: they vanish, explode, or keep their size",
    lectures=("kth", "cs231n", "book"),
    topic="initialisation",
    claim="Small weights make gradients vanish, large weights make them explode towards the input, Xavier and He keep "
    "their range. One lecture says that with σ = 1 and tanh all gradients will be zero: most entries are tiny, but "
    "their size grows 3.5 times per layer, as another lecture says. A third one has gradients shrink backwards for any "
    "activation; they need not.",
    setting="The network of the experiment `initialisation`. The gradient starts at the output with random signs; "
    "δ is the derivative by a layer's sums for one row, dW the mean gradient of its weights over all rows.",
    criterion="For 10 layers of 500 units: with σ = 1, δ of tanh grows 3.48 times per layer backwards (within 5 %); "
    "with σ = 0.01 it falls from 2.0e-3 to 2.7e-9 (within 10 %) while dW stays flat (largest over smallest below 1.2); "
    "for ReLU, dW is flat for every σ (below 2). For other sizes: the same directions.",
    notice=(
        "dW is the product of δ from above and the activation from below. With small weights δ shrinks backwards as "
        "much as activations shrink forwards: their product is the same tiny number in all layers.",
        "Under σ = 1/√n layer 1 has the largest gradient: its input has deviation 1, that of the others 0.63 to 0.23.",
        "The slides say that 90 to 98 % of `activations` are zero below gradient histograms. Activations are 0 in half "
        "of the cases; the gradient of one row has 50 to 80 % zeros, and that of many rows fewer the more rows there "
        "are.",
    ),
    further=(
        'lab.run("gradient-signals", full=True)',
        'lab.run("gradient-signals", width=100, depth=30)',
        'lab.run("initialisation")',
        'lab.run("small-weights")',
    ),
    knobs={
        "width": "units in each layer",
        "depth": "number of layers",
        "rows": "of random input",
        "seed": "of inputs and weights",
    },
    full={"rows": 1000},
)
def gradient_signals(width: int = 500, depth: int = 10, rows: int = 100, seed: int = 0) -> Outcome:
    X = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    signals, one_row = {}, {}
    for key in KEYS:
        net = tower(key[0], deviation(key[1], width), width, depth)
        variables = net.initialize(width, seed=seed, dtype=np.float32)
        signals[key] = nn.signals(net, variables, X, seed=seed)
        if key[0] == "relu":
            one_row[key] = nn.signals(net, variables, X[:1], seed=seed)

    delta = {key: np.array([s.rms for s in it.adjoints]) for key, it in signals.items()}
    dW = {key: np.array([s.rms for s in it.weight_gradients]) for key, it in signals.items()}
    growth = float((delta["tanh", "large"][0] / delta["tanh", "large"][-1]) ** (1 / (depth - 1)))
    small, spread = delta["tanh", "small"], {key: float(values.max() / values.min()) for key, values in dW.items()}
    flat = spread["tanh", "small"] < 1.2 and all(spread["relu", scale] < 2 for scale in SCALES)
    if (width, depth) == (500, 10):
        passed = (
            flat and abs(growth / 3.48 - 1) < 0.05 and bool(np.allclose(small[[-1, 0]], [2.0e-3, 2.7e-9], rtol=0.1))
        )
    else:
        passed = spread["tanh", "small"] < 2 and growth > 1 and small[0] < small[-1]
    scale_to_1000 = np.sqrt(rows / ROWS_BEFORE)
    names = {key: f"{NAMES[key[0]]}, {SCALES[key[1]]}" for key in KEYS}
    reference = {("tanh", "small"): 8.4e-11, ("relu", "small"): 2.5e-12, ("relu", "large"): 2.5e6}
    return Outcome(
        passed,
        f"With σ = 1, δ of tanh grows {growth:.2f} times per layer backwards; with σ = 0.01 it goes from "
        f"{small[-1]:.1e} to {small[0]:.1e} while dW stays within a factor {spread['tanh', 'small']:.2f}; for ReLU dW "
        f"stays within {max(spread['relu', s] for s in SCALES):.2f} for every σ.",
        {
            "growth": growth,
            "delta": {names[key]: tuple(delta[key].tolist()) for key in KEYS},
            "dW": {names[key]: tuple(dW[key].tolist()) for key in KEYS},
            "spread": {names[key]: spread[key] for key in KEYS},
            "zeros_of_one_row": {
                names[key]: tuple(s.zeros for s in it.weight_gradients) for key, it in one_row.items()
            },
            "zeros_of_all_rows": {names[key]: tuple(s.zeros for s in signals[key].weight_gradients) for key in one_row},
        },
        (
            Beside("tanh, σ = 1: all gradients zero?", "yes (cs231n), no: they grow (KTH)", f"×{growth:.2f} per layer"),
            Beside("ReLU: share of zeros in dW of one row", "90 to 98 %", _range(one_row["relu", "he"])),
            Beside("ReLU: share of zeros in dW of all rows", None, _range(signals["relu", "he"])),
            *(
                Beside(f"{names[key]}: rms dW, as for 1000 rows (computed before)", f"{value:.1e}", f"{ours:.1e}")
                for key, value in reference.items()
                if (width, depth) == (500, 10)
                for ours in (float(np.median(dW[key]) * scale_to_1000),)
            ),
        ),
        (
            Table(
                "Root mean square of δ, layer by layer",
                ("layer", *names.values()),
                [(i + 1, *(f"{delta[key][i]:.1e}" for key in KEYS)) for i in range(depth)],
            ),
            Table(
                "Root mean square of dW, layer by layer",
                ("layer", *names.values()),
                [(i + 1, *(f"{dW[key][i]:.1e}" for key in KEYS)) for i in range(depth)],
            ),
        ),
        (
            Picture(
                "delta",
                "Size of δ over the layers. Read from right to left: with σ = 0.01 it vanishes, with σ = 1 it "
                "explodes.",
                lambda: over_layers(
                    {NAMES[a]: {SCALES[s]: delta[a, s].tolist() for s in SCALES} for a in NAMES},
                    "root mean square of δ",
                    log=True,
                ),
            ),
            Picture(
                "weights",
                "Size of the gradient of the weights: flat for ReLU, and for tanh but for σ = 1.",
                lambda: over_layers(
                    {NAMES[a]: {SCALES[s]: dW[a, s].tolist() for s in SCALES} for a in NAMES},
                    "root mean square of dW",
                    log=True,
                ),
            ),
            *(
                Picture(
                    f"histograms-{a}",
                    f"Gradients of the weights of each layer for {NAMES[a]}; the counts are on a logarithmic axis, and "
                    "the two numbers below a histogram are its ends.",
                    lambda a=a: histogram_rows(  # type: ignore[misc]
                        {SCALES[s]: [g.histogram for g in signals[a, s].weight_gradients] for s in SCALES},
                        "gradient of a weight",
                        f"{NAMES[a]}: gradients, counts on a logarithmic axis",
                        log=True,
                    ),
                )
                for a in NAMES
            ),
        ),
    )


def _range(signals: nn.Signals) -> str:
    shares = [s.zeros for s in signals.weight_gradients]
    return f"{min(shares):.0%} to {max(shares):.0%}"
