"""Twelve activation functions and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.curves import derivative, difference


@experiment(
    "activation-gallery",
    "Twelve activation functions and their derivatives",
    lectures=("waterloo",),
    topic="activations",
    claim="Twelve curves serve as activation functions: sigmoid, tanh, step, softplus, ReLU, softsign, ELU, the "
    "logarithm of the sigmoid, Swish, sinc, leaky ReLU and Mish.",
    setting="Each formula of the lecture, typed as it is printed, beside the function of the library; each derivative, "
    "found by forward mode, beside a central difference.",
    criterion="All twelve agree with the printed formulas to 1e-12, and all twelve derivatives with the differences to "
    "1e-6, away from kinks.",
    notice=(
        "tanh(t) = 2 sigmoid(2t) - 1, so its slope at 0 is 1: four times that of the sigmoid.",
        "An earlier slide prints elu(t) = (t)₊ + (t)₋(exp(t) - 1), which is not the ELU: at -2 it gives 1.73 or -1.73 "
        "(depending on the sign of (t)₋) instead of -0.86, and it has no lower bound.",
        "The step has slope 0 everywhere, so nothing can be learned through it.",
        "Sinc is 1 at 0, and its slope there is 0, although the formula divides 0 by 0.",
    ),
    further=(
        'lab.run("activation-gallery", leak=0.01)',
        'lab.run("activation-gallery", alpha=0.5)',
        'lab.run("activation-table")',
    ),
    knobs={
        "leak": "slope of the leaky ReLU on the left (below 1)",
        "alpha": "of the ELU",
        "threshold": "where the step jumps, n in the lecture",
    },
)
def activation_gallery(leak: float = 0.1, alpha: float = 1.0, threshold: float = 0.0) -> Outcome:
    curves = {
        "leaky_relu": nn.activation("leaky_relu").with_(alpha=leak),
        "elu": nn.activation("elu").with_(alpha=alpha),
        "step": nn.activation("step").with_(threshold=threshold),
    }
    printed = as_printed(leak, alpha, threshold)
    records = {name: curves.get(name, nn.activation(name)) for name in printed}
    x = np.linspace(-6.0, 6.0, 600)  # 0 is not among them
    smooth = x[np.abs(x - threshold) > 1e-3]
    values = {name: float(np.max(np.abs(records[name](x) - f(x)))) for name, f in printed.items()}
    slopes = {
        name: float(np.max(np.abs(derivative(record, smooth) - difference(record, smooth))))
        for name, record in records.items()
    }

    sigmoid, elu = nn.activation("sigmoid"), nn.activation("elu")
    below = np.array([-0.5, -1.0, -2.0])
    slip = np.minimum(below, 0.0) * (np.exp(below) - 1.0)
    passed = max(values.values()) < 1e-12 and max(slopes.values()) < 1e-6
    return Outcome(
        passed,
        f"The largest difference from the printed formulas is {max(values.values()):.1e}, that of the derivatives "
        f"from central differences {max(slopes.values()):.1e}.",
        {"values": values, "slopes": slopes, "elu": elu(below), "elu_as_printed": slip},
        (
            Beside("ELU at -2 (the lecture's number: its earlier slide)", "1.729 or -1.729", float(elu(below)[-1])),
            Beside("tanh at 1 by 2 sigmoid(2t) - 1", float(2 * sigmoid(np.array(2.0)) - 1), float(np.tanh(1.0))),
        ),
        (
            Table(
                "The twelve functions",
                ("function", "formula", "off by", "derivative off by", "slope at 0"),
                [
                    (name, records[name].formula, values[name], slopes[name], float(derivative(records[name], 0.0)))
                    for name in printed
                ],
            ),
            Table(
                "The slip on an earlier slide",
                ("t", "ELU", "(t)₊ + (t)₋(exp(t) - 1)", "with (t)₋ = max(-t, 0)"),
                [
                    (float(t), f"{v:.6f}", f"{s:.4f}", f"{-s:.4f}")
                    for t, v, s in zip(below, elu(below), slip, strict=True)
                ],
            ),
        ),
        (
            Picture(
                "curves",
                "The twelve functions (blue) in the order of the lecture, with their derivatives (orange, dashed). "
                "Where a curve jumps, a dot is the value in use.",
                lambda: _draw(list(records.values())),
            ),
        ),
    )


def as_printed(leak: float, alpha: float, n: float) -> dict[str, Callable[[Any], Any]]:
    """The formulas of the lecture's slide, as they stand there."""
    return {
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "tanh": lambda x: 2 / (1 + np.exp(-2 * x)) - 1,
        "step": lambda x: np.where(x < n, 0.0, 1.0),
        "softplus": lambda x: np.log(1 + np.exp(x)),
        "relu": lambda x: np.where(x < 0, 0.0, x),
        "softsign": lambda x: x / (1 + np.abs(x)),
        "elu": lambda x: np.where(x < 0, alpha * (np.exp(x) - 1), x),
        "log_sigmoid": lambda x: np.log(1 / (1 + np.exp(-x))),
        "silu": lambda x: x / (1 + np.exp(-x)),
        "sinc": lambda x: np.sin(x) / x,
        "leaky_relu": lambda x: np.maximum(leak * x, x),
        "mish": lambda x: x * np.tanh(np.log(1 + np.exp(x))),
    }


def _draw(records: list[nn.Activation]) -> Any:
    axes = nn.plot_activations(records)
    for ax in axes[-4:]:
        ax.set_xlabel("x")
    return figures.figure_of(axes)
