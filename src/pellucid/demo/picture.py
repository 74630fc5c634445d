"""A small picture in the terminal: how often something is so, over the plane of two columns."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from pellucid.data.types import Array

SHADES = " ░▒▓█"
STOPS = np.array([[33, 60, 110], [60, 140, 170], [150, 200, 130], [245, 215, 90]], float)
"""Colours from seldom to often: told apart with every kind of colour vision."""

FEW = 3
"""Rows below which a cell stays empty."""


def shares(
    x: Array, y: Array, is_so: Array, columns: int, rows: int
) -> tuple[Array, tuple[float, float], tuple[float, float]]:
    """How often it is so in each cell, NaN where there are few rows; and the ends of x and y.   -> (rows, columns)"""
    ends = [tuple(np.quantile(values, (0.01, 0.99))) for values in (x, y)]
    edges = [np.linspace(low, high, count + 1) for (low, high), count in zip(ends, (columns, rows), strict=True)]
    all_rows = np.histogram2d(y, x, [edges[1], edges[0]])[0]
    those = np.histogram2d(y[is_so], x[is_so], [edges[1], edges[0]])[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(all_rows >= FEW, those / all_rows, np.nan)[::-1], *ends  # type: ignore[return-value]


def picture(
    x: Array, y: Array, is_so: Array, names: tuple[str, str], *, columns: int = 56, rows: int = 9, colour: bool = True
) -> Text:
    """The plane of two columns, lighter where it is often so; by shades where there are no colours.

    x, y: (n,) numbers.   is_so: (n,) booleans
    """
    grid, (left, right), (low, high) = shares(x, y, is_so, columns, rows)
    edge = max(len(f"{high:.0f}"), len(f"{low:.0f}"))
    text = Text(f"{names[1]}\n", "dim")
    for place, row in enumerate(grid):
        mark = f"{high:.0f}" if place == 0 else f"{low:.0f}" if place == len(grid) - 1 else ""
        text.append(f"{mark:>{edge}} │", "dim")
        for share in row:
            text.append(*_cell(share, colour))
        text.append("\n")
    ends = f"{left:.0f}", f"{right:.0f}"
    return text.append(f"{'':>{edge}} └{ends[0]}{names[0]:^{columns - len(ends[0]) - len(ends[1])}}{ends[1]}", "dim")


def _cell(share: float, colour: bool) -> tuple[str, str]:
    if share != share:
        return "·" if not colour else " ", "dim"
    if not colour:
        return SHADES[min(int(share * len(SHADES)), len(SHADES) - 1)], ""
    place = share * (len(STOPS) - 1)
    below = min(int(place), len(STOPS) - 2)
    red, green, blue = (STOPS[below] + (place - below) * (STOPS[below + 1] - STOPS[below])).astype(int)
    return " ", f"on rgb({red},{green},{blue})"
