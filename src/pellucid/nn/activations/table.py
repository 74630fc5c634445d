"""The activations on paper: the table and the curves, both made from the records."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.autodiff import jvp
from pellucid.figures import BLUE, GRID, INK, ORANGE, grid, legend
from pellucid.nn.activations.activation import ACTIVATIONS, Activation, activation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADINGS = ("name", "g(x)", "g'(x)", "range", "continuity", "gain", "reference")
GREEK = {"alpha": "α", "beta": "β"}
SUPERSCRIPTS = {-1: "⁻¹", 0: "⁰", 1: "¹", 2: "²", 3: "³", inf: "^∞"}

LECTURE = (
    *("sigmoid", "tanh", "step", "softplus", "relu", "softsign", "elu", "log_sigmoid", "silu", "sinc"),
    *(activation("leaky_relu").with_(alpha=0.1), "mish"),
)
"""The twelve curves of the first lecture, in its order (its "swish" is our silu)."""


def activation_table(names: Iterable[Any] | None = None) -> str:
    """A Markdown table of activations: by default of all in the table of records that have a formula.

    Parameters
    ----------
    names : Iterable[Any] | None
        of activations; None is all in the table of records that have a formula

    Returns
    -------
    str
        Markdown

    Examples
    --------
    >>> print(activation_table(["relu"]))
    | name | g(x) | g'(x) | range | continuity | gain | reference |
    | --- | --- | --- | --- | --- | --- | --- |
    | `relu` | max(0, x) | 0 if x ≤ 0, 1 if x > 0 | [0, ∞) | C⁰ | 1.4142 | Nair and Hinton, 2010 |
    """
    records = [activation(name) for name in names] if names is not None else _with_formula()
    lines = [HEADINGS, ("---",) * len(HEADINGS), *map(_row, records)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _with_formula() -> list[Activation]:
    return [record for name, record in ACTIVATIONS.items() if record.formula and name == record.name]


def _row(a: Activation) -> tuple[str, ...]:
    numbers = [f"{GREEK.get(key, key)} = {value:g}" for key, value in a.parameters.items()]
    numbers += [f"{GREEK.get(key, key)} learned, from {value:g}" for key, value in a.learned.items()]
    name = f"`{a.name}`" + (f", {', '.join(numbers)}" if numbers else "")
    return (
        name,
        a.formula,
        a.derivative,
        str(a.range or ""),
        f"C{SUPERSCRIPTS.get(a.continuity, f'^{a.continuity:g}')}",
        f"{a.gain:.5g}",
        a.reference,
    )


def plot_activations(names: Iterable[Any] = LECTURE, axes: Any = None) -> Any:
    """Small pictures of activations (blue) and their derivatives (orange, dashed), the latter by forward mode.

    A dot is the value in use where a curve jumps.

    Parameters
    ----------
    names : Iterable[Any]
        of activations
    axes : matplotlib axes
        one for each; None makes new ones

    Returns
    -------
    matplotlib axes
        one for each activation
    """
    records = [activation(name) for name in names]
    axes = grid(len(records), (2.6, 2.1), axes, who="plot_activations", what="activations")
    for ax, record in zip(axes, records, strict=True):
        _draw(ax, record)
    for ax in axes[:1]:
        legend(ax, 2, handles=ax.lines[:2], labels=["g(x)", "g′(x)"], labelcolor="linecolor", fontsize=9)
    return axes


def _draw(ax: Axes, record: Activation) -> None:
    reach = 12.0 if record.name == "sinc" else 4.0
    kinks = [kink for kink in record.kinks if abs(kink) < reach]
    ends = [-reach, *kinks, reach]
    for a, b in pairwise(ends):
        x = np.linspace(a, b, 201)
        x[[0, -1]] += np.array([1e-9, -1e-9])  # the limits from inside: a line does not cross a jump
        y, slope = _with_slope(record, x)
        ax.plot(x, y, color=BLUE, linewidth=2.0)
        ax.plot(x, slope, color=ORANGE, linewidth=1.6, linestyle=(0, (4, 2)))  # dashed: both are seen where they meet
    y, slope = _with_slope(record, np.array(kinks))
    if record.continuity <= 0:
        ax.plot(kinks, slope, "o", color=ORANGE, markersize=4.5)
    if record.continuity < 0:
        ax.plot(kinks, y, "o", color=BLUE, markersize=4.5)
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(length=0, labelsize=8, labelcolor=INK)
    ax.grid(True, color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.margins(y=0.1)
    ax.locator_params(axis="y", nbins=4)
    ax.set(xlim=(-reach, reach), xticks=np.linspace(-reach, reach, 5))
    ax.set_title(record.label, fontsize=10, color=INK)


def _with_slope(record: Activation, x: Any) -> tuple[Any, Any]:
    y, slope = jvp(record, (x,), (np.ones_like(x),))
    return y, slope
