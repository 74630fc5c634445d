"""A recorded graph as a figure: the boxes and arrows of `Graph.svg`, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid import figures
from pellucid.graph import Graph
from pellucid.graph.show.drawing import COLOURS, Box
from pellucid.graph.show.layout import Point, arrange
from pellucid.graph.show.picture import drawing
from pellucid.graph.show.svg import text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADING, SMALL, ROW = 13.0, 11.0, 17.0


def graph_figure(graph: Graph, mode: str = "reverse", *, title: str = "") -> Figure:
    """The graph from top to bottom, with values and tangents ("forward") or adjoints ("reverse") in the boxes.

    >>> import numpy as np
    >>> from pellucid.graph import record
    >>> graph_figure(record(lambda x: np.sin(x) * x, 2.0)).axes[0].axison
    False
    """
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path

    picture = drawing(graph, mode, seed=None, output=0, digits=3)
    layout = arrange(picture, _size, lambda scope: text_width(scope, SMALL))
    inches = (layout.width / 80 + 0.3, layout.height / 80 + (0.6 if title else 0.3))
    plt = figures.pyplot()
    _, ax = plt.subplots(figsize=inches, layout="constrained")
    ax.set(xlim=(-12, layout.width + 12), ylim=(layout.height + 12, -12), aspect="equal")
    ax.set_axis_off()
    for route in layout.routes:
        points, codes = _curve(route, Path)
        arrow = FancyArrowPatch(path=Path(points, codes), arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0)
        arrow.set(color=figures.GREY, linewidth=1.1)
        ax.add_patch(arrow)
    for box in picture.boxes:
        place, (fill, edge) = layout.boxes[box.key], COLOURS[box.kind]
        corner = (place.x - place.width / 2, place.y - place.height / 2)
        shape = FancyBboxPatch(corner, place.width, place.height, boxstyle="round,pad=0,rounding_size=6")
        shape.set(facecolor=fill, edgecolor=edge, linewidth=1.2)
        ax.add_patch(shape)
        top = place.y - ROW * (len(box.lines) - 1) / 2
        for i, line in enumerate(box.lines):
            size = (HEADING if i == 0 else SMALL) * 0.72
            ax.text(place.x, top + ROW * i, line, ha="center", va="center", fontsize=size, color="#1f2933")
    if title:
        ax.set_title(title)
    return figures.figure_of(ax)


def _size(box: Box) -> tuple[float, float]:
    widths = [text_width(line, HEADING if i == 0 else SMALL) for i, line in enumerate(box.lines)]
    return max(widths) + 22, ROW * len(box.lines) + 12


def _curve(route: tuple[Point, ...], path: type) -> tuple[list[Point], list[int]]:
    """Straight down from the first point to the second, a curve on to the third, straight to the fourth, and so on."""
    move, line, curve = path.MOVETO, path.LINETO, path.CURVE4  # type: ignore[attr-defined]
    points, codes = [route[0]], [move]
    for i, (x, y) in enumerate(route[1:], start=1):
        if i % 2:
            points.append((x, y))
            codes.append(line)
        else:
            x0, y0 = route[i - 1]
            points += [(x0, (y0 + y) / 2), (x, (y0 + y) / 2), (x, y)]
            codes += [curve] * 3
    return points, codes
