"""What a derivative costs in each mode: operations counted while the derivative graph really runs.

Lecture 000 (Speelpenning's product), lecture 004 (forward for R -> R^m, reverse for R^n -> R).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.autodiff import jacobian
from pellucid.engine import run
from pellucid.graph import Graph, Node, record
from pellucid.graph.primitives.control import custom_rule
from pellucid.markup import Brief

MODES = ("forward", "reverse")
PACKING = frozenset({"reshape", "concatenate", "transpose", "broadcast_to"})
"""Operations that only move numbers into the shape of the answer; they are not counted as work."""


def evaluated(graph: Graph, *args: Any) -> int:
    """How many arithmetic operations run when `graph` is run at `args`.

    >>> evaluated(record(lambda x: 4 * x * (1 - x), 0.1), 0.1)
    3
    """
    count = 0

    def watch(number: int, node: Node, value: Any) -> None:
        nonlocal count
        count += node.op is not None and node.op.name not in PACKING

    run(graph, *args, watch=watch)
    return count


def text_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns under their headings: words to the left, numbers to the right.

    >>> print(text_table(["mode", "passes"], [["forward", 1], ["reverse", 10]]))
    mode     passes
    ───────────────
    forward       1
    reverse      10
    """
    cells = [[_cell(c) for c in row] for row in rows]
    widths = [max(len(h), *(len(row[i]) for row in cells)) for i, h in enumerate(head)]
    words = [not cell.lstrip("+-")[:1].isdigit() for cell in cells[0]]

    def line(row: Sequence[str]) -> str:
        parts = [c.ljust(w) if is_word else c.rjust(w) for c, w, is_word in zip(row, widths, words, strict=True)]
        return "  ".join(parts).rstrip()

    return "\n".join([line(head), "─" * (sum(widths) + 2 * (len(head) - 1)), *map(line, cells)])


def _cell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3g}"
    return "" if value is None else str(value)


def speelpenning(w: Sequence[Any]) -> Any:
    """The product of all w_j as a chain:  v_1 = 1,  v_{j+1} = v_j w_j.

    A node is one multiplication of two numbers, so counting nodes is fair. It begins with v_1 = 1, of which the
    derivative is 0: forward mode needs no special first step. (The lecture's algorithm begins with dv_2/dw = e_1;
    then v_2 = w_1 has to be set as well.)

    Parameters
    ----------
    w : Sequence[Any]
        a list of numbers

    Returns
    -------
    number
        their product

    Examples
    --------
    >>> speelpenning([2.0, 3.0, 4.0])
    24.0
    """
    v: Any = 1.0
    for w_j in w:
        v = v * w_j
    return v


@dataclass(frozen=True, repr=False)
class SpeelpenningCosts(Brief):
    """Operations for the whole gradient of a product of d factors, and how they grow: about d to the exponent."""

    d: tuple[int, ...]
    forward: tuple[int, ...]
    reverse: tuple[int, ...]
    forward_exponent: float
    reverse_exponent: float

    def table(self) -> str:
        rows = [list(row) for row in zip(self.d, self.forward, self.reverse, strict=True)]
        return text_table(
            ["d", "forward", "reverse"],
            [*rows, ["d^", f"{self.forward_exponent:.2f}", f"{self.reverse_exponent:.2f}"]],
        )

    __str__ = table


def speelpenning_costs(ds: Sequence[int] = (4, 8, 16, 32, 64, 128, 256)) -> SpeelpenningCosts:
    """Count what both modes evaluate for the gradient of Speelpenning's product: O(d²) against O(d).

    The exponents are slopes of log(count) against log(d) over the upper half of `ds`.

    Parameters
    ----------
    ds : Sequence[int]
        numbers of factors

    Returns
    -------
    SpeelpenningCosts
        print it

    Examples
    --------
    >>> print(speelpenning_costs((4, 8, 16, 32)))
     d  forward  reverse
    ────────────────────
     4       12       10
     8       42       22
    16      150       46
    32      558       94
    d^     1.90     1.03
    """
    if len(ds) < 2:
        raise ValueError(f"speelpenning_costs needs two sizes or more to fit an exponent, got ds={tuple(ds)}")
    counts: dict[str, list[int]] = {mode: [] for mode in MODES}
    for d in ds:
        w = [float(w_j) for w_j in np.linspace(0.9, 1.1, d)]
        for mode in MODES:
            counts[mode].append(evaluated(record(jacobian(speelpenning, mode=mode), w), w))
    upper = slice(min(len(ds) // 2, len(ds) - 2), None)
    slopes = [np.polyfit(np.log(ds[upper]), np.log(counts[mode][upper]), 1)[0] for mode in MODES]
    return SpeelpenningCosts(
        tuple(ds), tuple(counts["forward"]), tuple(counts["reverse"]), float(slopes[0]), float(slopes[1])
    )


@dataclass(frozen=True)
class DirectionCost:
    """One function differentiated in one mode: sweeps over its graph, and operations evaluated in all."""

    function: str
    mode: str
    passes: int
    operations: int


@dataclass(frozen=True, repr=False)
class DirectionCosts(Brief):
    """Both modes for a function with many outputs and for one with many inputs."""

    n: int
    m: int
    costs: tuple[DirectionCost, ...]

    def passes(self, function: str, mode: str) -> int:
        """The number of passes, for example `passes("R^n -> R", "forward")`."""
        return next(c.passes for c in self.costs if (c.function, c.mode) == (function, mode))

    def table(self) -> str:
        rows = [[c.function, c.mode, c.passes, c.operations] for c in self.costs]
        return text_table([f"n = {self.n}, m = {self.m}", "mode", "passes", "operations"], rows)

    __str__ = table


def direction_costs(n: int = 100, m: int = 100) -> DirectionCosts:
    """Count passes and operations for the Jacobians of R -> R^m and R^n -> R in both modes.

    A pass is counted where it happens: both functions go through a gate that notes each use of its derivative rule.

    Parameters
    ----------
    n : int
        inputs of R^n -> R
    m : int
        outputs of R -> R^m

    Returns
    -------
    DirectionCosts
        print it

    Examples
    --------
    >>> print(direction_costs(n=50, m=20))
    n = 50, m = 20  mode     passes  operations
    ───────────────────────────────────────────
    R -> R^m        forward       1           4
    R -> R^m        reverse      20         102
    R^n -> R        forward      50         200
    R^n -> R        reverse       1           2
    """
    frequencies = np.arange(1.0, m + 1)
    cases: tuple[tuple[str, Callable[..., Any], Any], ...] = (
        ("R -> R^m", lambda x, gate: np.sin(frequencies * gate(x)), np.float64(0.5)),
        ("R^n -> R", lambda x, gate: gate(np.sum(np.sin(x))), np.linspace(0.0, 1.0, n)),
    )
    costs = []
    for name, f, x in cases:
        for mode in MODES:
            calls: list[str] = []

            def rule(d: Any, y: Any, x: Any, calls: list[str] = calls) -> Any:
                calls.append("once")
                return d * 1.0

            gate = custom_rule(lambda x: x * 1.0, slope=rule)
            graph = record(jacobian(lambda x, f=f, gate=gate: f(x, gate), mode=mode), x)
            costs.append(DirectionCost(name, mode, len(calls), evaluated(graph, x)))
    return DirectionCosts(n, m, tuple(costs))
