"""The table of activation functions, made from the library's records and checked cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy import special

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.curves import continuity, derivative

LAMBDA, ALPHA = 1.0507009873554805, 1.6732632423543772
Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """A row of the lecture's table: its name there, ours, its derivative, order of continuity, slope at 0."""

    name: str
    ours: str
    slope: Function
    order: float
    at_zero: float | None


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _soboleva_slope(x: Any) -> Any:
    """The cell is blank in the lecture; for a = b = c = d = 1 the function is tanh."""
    return 1 - np.tanh(x) ** 2


def _gelu_slope(x: Any) -> Any:
    return special.ndtr(x) + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


ROWS = (
    Row("Identity", "identity", np.ones_like, inf, 1.0),
    Row("Binary step", "step", np.zeros_like, -1, 0.0),
    Row("Logistic, sigmoid or soft step", "sigmoid", lambda x: sigmoid(x) * (1 - sigmoid(x)), inf, 0.25),
    Row("Hyperbolic tangent", "tanh", lambda x: 1 - np.tanh(x) ** 2, inf, 1.0),
    Row("Soboleva modified tanh", "soboleva", _soboleva_slope, inf, None),
    Row("Rectified linear unit", "relu", lambda x: np.where(x < 0, 0.0, 1.0), 0, None),
    Row("Gaussian error linear unit", "gelu", _gelu_slope, inf, 0.5),
    Row("Softplus", "softplus", sigmoid, inf, 0.5),
    Row("Exponential linear unit", "elu", lambda x: np.where(x < 0, np.exp(x), 1.0), 1, None),
    Row(
        "Scaled exponential linear unit", "selu", lambda x: LAMBDA * np.where(x < 0, ALPHA * np.exp(x), 1.0), 0, LAMBDA
    ),
    Row("Leaky rectified linear unit", "leaky_relu", lambda x: np.where(x < 0, 0.01, 1.0), 0, None),
    Row("Parametric rectified linear unit", "prelu", lambda x: np.where(x < 0, 0.25, 1.0), 0, 1.0),
    Row("Sigmoid linear unit, Swish-1", "silu", lambda x: (1 + np.exp(-x) * (1 + x)) / (1 + np.exp(-x)) ** 2, inf, 0.5),
)


@experiment(
    "activation-table",
    "The table of activation functions, checked cell by cell",
    lectures=("kth",),
    topic="activations",
    claim="Many activation functions have been explored: thirteen of them with function, derivative, range and order "
    "of continuity.",
    setting="The table is made from the library's own records. The derivative printed in the lecture is compared with "
    "automatic differentiation, the range with the smallest and largest value on a wide grid, the order of continuity "
    "with jumps of the derivatives at 0.",
    criterion="Every derivative agrees to 1e-12 away from 0, every range is filled and never left, and every order of "
    "continuity is the measured one.",
    notice=(
        "The lecture gives PReLU the slope 1 at 0 and SELU the slope λ. Here the left side counts at 0: α and λα. Both "
        "are allowed, as the derivative does not exist there.",
        "Soboleva's tanh is printed with the same exponents above and below, which is just tanh((a+b)x/2); the right "
        "form has four parameters, and the blank cell of its derivative is filled in here.",
        "The range of GELU is closed on the left: its least value, -0.16997, is attained.",
        "C⁰ means: no jump, but a kink. C¹: no kink, but the curvature jumps.",
    ),
    further=(
        'lab.run("activation-table", reach=20.0)',
        'lab.run("smooth-activations")',
        'lab.run("activation-gallery")',
    ),
    knobs={"reach": "how far to both sides the range is looked at"},
)
def activation_table(reach: float = 60.0) -> Outcome:
    records = {row.ours: nn.activation(row.ours) for row in ROWS}
    off, filled, order, zero = {}, {}, {}, {}
    x = np.linspace(-6.0, 6.0, 600)
    for row in ROWS:
        record = records[row.ours]
        off[row.ours] = float(np.max(np.abs(derivative(record, x) - row.slope(x))))
        filled[row.ours] = fills(record, reach)
        order[row.ours] = continuity(record)
        zero[row.ours] = float(derivative(record, 0.0))
    ordered = all(order[row.ours] == min(row.order, 3) for row in ROWS)
    passed = max(off.values()) < 1e-12 and all(filled.values()) and ordered
    differing = [row for row in ROWS if row.at_zero is not None and abs(zero[row.ours] - row.at_zero) > 1e-12]
    return Outcome(
        passed,
        f"The derivatives differ by at most {max(off.values()):.0e}, all {sum(filled.values())} ranges and all orders "
        f"of continuity are as printed; the slope at 0 differs for {' and '.join(row.ours for row in differing)}.",
        {"off": off, "range_filled": filled, "continuity": order, "slope_at_zero": zero},
        (
            *(Beside(f"slope of {row.ours} at 0", row.at_zero, zero[row.ours]) for row in differing),
            Beside("least value of GELU", "-0.17...", f"{record_low(records['gelu']):.5f}"),
            Beside("least value of SiLU", "-0.278...", f"{record_low(records['silu']):.5f}"),
            Beside("SELU's lower bound, -λα", "-λα", f"{record_low(records['selu']):.4f}"),
        ),
        (
            Table(
                "The table, from the library's records",
                ("name", "g(x)", "g'(x)", "range", "continuity"),
                [
                    (row.name, r.formula, r.derivative, str(r.range), symbol(r.continuity))
                    for row, r in zip(ROWS, records.values(), strict=True)
                ],
            ),
            Table(
                "What was measured",
                ("name", "g' off by", "range is filled", "derivatives without a jump", "slope at 0"),
                [(row.ours, off[row.ours], filled[row.ours], jumps(order[row.ours]), zero[row.ours]) for row in ROWS],
            ),
        ),
        (
            Picture(
                "table",
                "The lecture's table with its plots: the function in blue, its derivative dashed in orange, from -4 to "
                "4; the grey lines are the axes.",
                lambda: _draw(records),
            ),
        ),
    )


def fills(record: nn.Activation, reach: float) -> bool:
    """Do the values on a wide grid stay inside the range, and come near its ends (or grow, where it has none)?"""
    values = record(np.linspace(-reach, reach, 200_001))
    low, high = record_low(record), record.range.high if record.range else inf
    inside = bool(values.min() >= low - 1e-12 and values.max() <= high + 1e-12)
    down = values.min() < -0.005 * reach if np.isinf(low) else values.min() < low + 1e-6
    up = values.max() > 0.5 * reach if np.isinf(high) else values.max() > high - 1e-6
    return inside and bool(down) and bool(up)


def record_low(record: nn.Activation) -> float:
    return record.range.low if record.range else -inf


def symbol(order: float) -> str:
    return {-1: "C⁻¹", 0: "C⁰", 1: "C¹", inf: "C∞"}[order]


def jumps(order: int) -> str:
    return {-1: "none: it jumps itself", 3: "all that were tried (3)"}.get(order, str(order))


def _draw(records: dict[str, nn.Activation]) -> Any:
    heads = ("name", "plot", "g(x)", "g′(x)", "range", "order")
    places = (0.01, 0.245, 0.34, 0.61, 0.87, 0.955)
    fig = figures.pyplot().figure(figsize=(13.0, 0.62 * (len(ROWS) + 1)))
    height = 1 / (len(ROWS) + 1)
    for head, place in zip(heads, places, strict=True):
        fig.text(place, 1 - height / 2, head, weight="bold", va="center", color=figures.INK)
    for i, (row, record) in enumerate(zip(ROWS, records.values(), strict=True)):
        y = 1 - (i + 1.5) * height
        words = (row.name, "", record.formula, record.derivative, str(record.range), symbol(record.continuity))
        for text, place in zip(words, places, strict=True):
            fig.text(place, y, text.replace("; ", ";\n"), va="center", fontsize=9.5, color=figures.INK)
        _thumbnail(fig.add_axes((places[1], y - 0.44 * height, 0.075, 0.88 * height)), record)
    return fig


def _thumbnail(ax: Any, record: nn.Activation) -> None:
    for x in (np.linspace(-4, -1e-9, 60), np.linspace(1e-9, 4, 60)):
        ax.plot(x, record(x), color=figures.BLUE, linewidth=1.6)
        ax.plot(x, derivative(record, x), color=figures.ORANGE, linewidth=1.2, linestyle=(0, (3, 1.5)))
    ax.axhline(0, color=figures.GREY, linewidth=0.5)
    ax.axvline(0, color=figures.GREY, linewidth=0.5)
    ax.set_axis_off()
    ax.set(xlim=(-4, 4), ylim=(-2.2, 2.6))
