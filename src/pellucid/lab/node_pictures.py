"""Drawings of nodes and arrows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pellucid.figures import BLUE, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = tuple[float, float]


def draw_nodes(
    ax: Axes,
    places: Mapping[str, Place],
    arrows: Iterable[tuple[str, str]],
    *,
    colours: Mapping[str, str] | None = None,
    arrow_colours: Mapping[tuple[str, str], str] | None = None,
    size: float = 11,
) -> Axes:
    """Named circles at their places, and arrows from one to the other, on axes without ticks.

    >>> from pellucid import figures
    >>> draw_nodes(figures.axes(), {"z": (0, 0), "u": (1, 0)}, [("z", "u")]).axison
    False
    """
    colours, arrow_colours = colours or {}, arrow_colours or {}
    for start, end in arrows:
        colour = arrow_colours.get((start, end), INK)
        style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 15, "shrinkB": 15, "linewidth": 1.4}
        ax.annotate("", places[end], places[start], arrowprops=style)
    for name, place in places.items():
        colour = colours.get(name, BLUE)
        box = {"boxstyle": "circle,pad=0.35", "facecolor": colour, "edgecolor": "none"}
        ax.text(*place, name, ha="center", va="center", fontsize=size, color="white", bbox=box)
    across, up = [p[0] for p in places.values()], [p[1] for p in places.values()]
    ax.set_xlim(min(across) - 0.5, max(across) + 0.5)
    ax.set_ylim(min(up) - 0.5, max(up) + 0.5)
    ax.set_axis_off()
    return ax
