"""Curves in a terminal: a line of eight heights, or several curves in dots of Braille."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from rich.text import Text

HEIGHTS = "▁▂▃▄▅▆▇█"
COLOURS = ("cyan", "yellow", "green", "magenta", "red", "blue")
MARKS = "ox+*#@"
"""Of curves, where there are several: they are told apart without colours too."""

BETWEEN = 8
"""Letters between two marks of a curve, at least."""

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots of a Braille letter, four rows of two."""


def spark(values: Sequence[float], width: int) -> str:
    """The course of numbers in one line.

    >>> spark([4.0, 2.0, 1.0, 1.5], 10)
    '█▃▁▂'
    """
    finite = np.array([value for value in values if math.isfinite(value)])
    if not len(finite):
        return ""
    if len(finite) > width:
        finite = finite[np.linspace(0, len(finite) - 1, width).astype(int)]
    low, span = finite.min(), np.ptp(finite) or 1.0
    return "".join(HEIGHTS[round((value - low) / span * (len(HEIGHTS) - 1))] for value in finite)


def braille(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], width: int, height: int = 12) -> Text:
    """Curves (x, y) by name on common axes, with their names below; several have colours and marks of their own.

    >>> print(braille({"a": ([0, 1], [0.0, 1.0])}, width=20, height=2).plain)
       1┤⠀⠀⠀⠀⠀⠀⢀⣀⡠⠤⠒⠒⠉
       0┤⣀⠤⠤⠒⠊⠉⠁⠀⠀⠀⠀⠀⠀
        └─────────────
         0           1
         ━ a
    >>> print(braille({"a": ([0, 1], [0.0, 1.0]), "b": ([0, 1], [1.0, 0.0])}, width=20, height=2).plain)
       1┤⠉⠒⠒⠤⢄⣀x⣀⡠⠤o⠒o
       0┤⣀⠤o⠒⠊⠉⠉⠉⠑⠒⠤⠤x
        └─────────────
         0           1
         o a   x b
    """
    points = [(x, y) for xs, ys in curves.values() for x, y in zip(xs, ys, strict=True) if math.isfinite(y)]
    if not points:
        return Text("no curves")
    (x_low, y_low), (x_high, y_high) = np.min(points, axis=0), np.max(points, axis=0)
    labels = [f"{y_high:.3g}", f"{y_low:.3g}"]
    edge = max(4, *map(len, labels))
    columns = width - edge - 3
    cells = np.zeros((height, columns), int)
    owners = np.full((height, columns), -1)
    marked = np.zeros((height, columns), bool)
    step = max(columns // 6, BETWEEN)
    for place, (xs, ys) in enumerate(curves.values()):
        x, y = np.asarray(xs, float), np.asarray(ys, float)
        sound = np.isfinite(y)
        if not sound.any():
            continue
        across = (x[sound] - x_low) / ((x_high - x_low) or 1) * (2 * columns - 1)
        fine = np.arange(math.ceil(across[0]), math.floor(across[-1]) + 1)
        up = (np.interp(fine, across, y[sound]) - y_low) / ((y_high - y_low) or 1) * (4 * height - 1)
        first = step * (2 * place + 1) // (2 * len(curves))  # where one has a mark, others have none
        for right, level in zip(fine, (4 * height - 1 - np.rint(up)).astype(int), strict=True):
            row, column = level // 4, right // 2
            cells[row, column] |= DOTS[level % 4][right % 2]
            if not marked[row, column]:
                owners[row, column] = place
            if right in (2 * (column // step * step + first), fine[-1]):
                owners[row, column], marked[row, column] = place, len(curves) > 1
    text = Text()
    for row in range(height):
        label = labels[0] if row == 0 else labels[1] if row == height - 1 else ""
        text.append(f"{label:>{edge}}{'┤' if label else '│'}", "dim")
        for column in range(columns):
            owner = owners[row, column]
            letter = MARKS[owner % len(MARKS)] if marked[row, column] else chr(0x2800 + cells[row, column])
            text.append(letter, COLOURS[owner % len(COLOURS)] if owner >= 0 else "")
        text.append("\n")
    ends = f"{x_low:g}", f"{x_high:g}"
    text.append(f"{'':>{edge}}└{'─' * columns}\n{'':>{edge}} {ends[0]}{ends[1]:>{columns - len(ends[0])}}\n", "dim")
    signs = MARKS if len(curves) > 1 else "━"
    names = [
        Text.assemble((f"{signs[place % len(signs)]} ", COLOURS[place % len(COLOURS)]), name)
        for place, name in enumerate(curves)
    ]
    return text.append(" " * (edge + 1)).append(Text("   ").join(names))
