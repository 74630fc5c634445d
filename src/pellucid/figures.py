"""What all pictures share: colours, axes, and words that keep out of each other's way and off the curves.

Every function of the package that draws makes its own axes where none are given (`axes`, `grid`). matplotlib is an
extra: it is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart with every kind of colour vision, and in grey
BLUE, ORANGE, GREEN, PINK, SKY, YELLOW = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW)
MARKERS = "os^Dv*"
GREY, INK, GRID = "#8A8A8A", "#333333", "#E6E6E6"

GAP = 6.0
"""Points between a curve or a line and its words."""

SLACK = 1.05
"""Room is measured before everything is drawn, so a little more is taken."""


def pyplot() -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'pellucid[plot]'") from error
    return plt


def axes(ax: Axes | None = None, size: tuple[float, float] = (6.4, 3.8)) -> Axes:
    """The given axes, or new ones in a figure of this size (inches); with a light grid and two spines."""
    return plain(pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax)


def figure_of(axes: Any) -> Figure:
    """The whole figure that axes, or the first of several, are part of."""
    whole: Figure = np.ravel(axes)[0].figure.figure
    return whole


def grid(
    count: int, size: tuple[float, float], axes: Any = None, *, columns: int = 4, who: str, what: str = "pictures"
) -> Any:
    """An array of so many axes: the first of those given, or new ones of this size each, in rows."""
    if axes is None:
        columns = max(min(count, columns), 1)
        rows = -(-max(count, 1) // columns)
        inches = (size[0] * columns, size[1] * rows)
        axes = pyplot().subplots(rows, columns, figsize=inches, layout="constrained", squeeze=False)[1]
        for ax in np.ravel(axes)[count:]:
            ax.set_axis_off()
    flat = np.ravel(axes)
    if len(flat) < count:
        raise ValueError(f"{who}: {count} {what} for {len(flat)} axes: give one for each, or none")
    return flat[:count]


def plain(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


class End(NamedTuple):
    """The end of a curve, and its name."""

    x: float
    y: float
    text: str
    colour: str


class Mark(NamedTuple):
    """A vertical line at x, and its words."""

    x: float
    text: str
    colour: str
    style: Any = "--"


def end_of(x: Any, y: Any, text: str, colour: str) -> End:
    """The last point of a curve that can be seen: its last finite one."""
    heights = np.array([np.nan if value is None else value for value in y], float)
    last = int(np.flatnonzero(np.isfinite(heights))[-1]) if np.isfinite(heights).any() else len(heights) - 1
    return End(float(x[last]), float(heights[last]), text, colour)


def annotate(
    ax: Axes,
    ends: Iterable[End] = (),
    marks: Iterable[Mark] = (),
    *,
    bottom: float | None = None,
    top: float | None = None,
    **style: Any,
) -> None:
    """Name curves at their ends and lines at their tops, and widen the limits so that the words have room.

    Names of curves stand beside the last one, moved apart where they would meet. The words of lines are in rows above
    everything drawn. Call it last, once the scales of the axes are set; `bottom` and `top` fix limits of the data.
    """
    ax.autoscale()
    ax.set_ylim(bottom, top)
    figure: Any = ax.figure.figure  # of a subfigure, the whole
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().execute(figure)  # gives axes the sizes that room is measured by
    for end in ends:
        _name(ax, end, style)
    words = [t for t in ax.texts if _is_name(t)]
    if words:
        widest = max(_extent(word).width for word in words) + 2 * GAP * ax.figure.dpi / 72
        _widen(ax, "x", 0.0, widest)
    _write_marks(ax, list(marks))


def footer(ax: Axes, left: str, right: str) -> None:
    """Words in the lower corners, below everything drawn."""
    options: dict[str, Any] = {"color": GREY, "transform": ax.transAxes, "va": "bottom"}
    words = [ax.text(0.02, 0.02, left, **options), ax.text(0.98, 0.02, right, ha="right", **options)]
    _widen(ax, "y", 1.5 * max(word.get_window_extent().height for word in words), 0.0)


def legend(ax: Axes, columns: int, **options: Any) -> Any:
    """The names of what is drawn, in rows above it."""
    places: dict[str, Any] = {"loc": "upper center", "borderaxespad": 0.2, "columnspacing": 1.2, "handlelength": 1.5}
    box = ax.legend(ncols=columns, frameon=False, **places, **options)
    _widen(ax, "y", 0.0, box.get_window_extent().height)
    return box


def _name(ax: Axes, end: End, style: dict[str, Any]) -> None:
    place = _Beside()
    options: dict[str, Any] = {"color": end.colour, "va": "center", "ha": "left", **style}
    place.word = ax.annotate(end.text, (end.x, end.y), (0.0, 0.0), textcoords=place, **options)


class _Beside:
    """Where the name of a curve is put: reckoned anew whenever it is drawn, with all names of the same axes."""

    word: Any

    def __call__(self, renderer: Any) -> Any:
        from matplotlib.transforms import Affine2D

        ax = self.word.axes
        names = [t for t in ax.texts if _is_name(t)]
        ends = ax.transData.transform([name.xy for name in names])
        heights = [_extent(name, renderer).height for name in names]
        box, marks = ax.bbox, [t for t in ax.texts if t.get_gid() == MARK]
        ceiling = box.y1 - max((_extent(t, renderer).height + _rise(t) for t in marks), default=0.0)
        places = apart(ends[:, 1], heights, box.y0, ceiling)
        x = ends[:, 0].max() + GAP * ax.figure.dpi / 72
        return Affine2D().translate(x, places[names.index(self.word)])


MARK = "pellucid-mark"


def _is_name(text: Any) -> bool:
    return isinstance(getattr(text, "anncoords", None), _Beside)


def _rise(text: Any) -> float:
    """Pixels from the top of the axes down to the words of a mark."""
    return float(-text.xyann[1] * text.figure.dpi / 72)


def _extent(text: Any, renderer: Any = None) -> Any:
    """The size of words wherever they are (an annotation would ask for its place first)."""
    from matplotlib.text import Text

    return Text.get_window_extent(text, renderer)


def apart(wanted: Any, heights: Sequence[float], low: float, high: float) -> list[float]:
    """Centres as near as can be to those wanted (least squares), so that boxes do not overlap, between two limits.

    Boxes that meet are joined and share their displacement (pool adjacent violators).

    >>> apart([10.0, 11.0, 50.0], [8.0, 8.0, 8.0], 0.0, 100.0)
    [6.5, 14.5, 50.0]
    """
    order = np.argsort(np.nan_to_num(wanted, nan=low), kind="stable")
    sizes = np.asarray(heights, float)[order]
    offsets = np.concatenate([[0.0], np.cumsum((sizes[1:] + sizes[:-1]) / 2)])
    blocks: list[tuple[float, int]] = []  # the mean of a block, and how many are in it
    for target in np.nan_to_num(np.asarray(wanted, float), nan=low)[order] - offsets:
        mean, count = float(target), 1
        while blocks and blocks[-1][0] > mean:
            before, more = blocks.pop()
            mean, count = (before * more + mean * count) / (more + count), more + count
        blocks.append((mean, count))
    floor, ceiling = low + sizes[0] / 2, high - sizes[-1] / 2 - offsets[-1]
    centres = np.repeat([max(min(mean, ceiling), floor) for mean, _ in blocks], [n for _, n in blocks]) + offsets
    return [float(c) for c in centres[np.argsort(order, kind="stable")]]


def _write_marks(ax: Axes, marks: Sequence[Mark]) -> None:
    """Lines, and their words one below the other, each on the side of its line where there is more room."""
    box, points = ax.get_window_extent(), 72 / ax.figure.dpi  # in a pixel
    earlier = [t for t in ax.texts if t.get_gid() == MARK]
    depth = max((_rise(t) + _extent(t).height for t in earlier), default=0.0)
    for mark in marks:
        ax.axvline(mark.x, color=mark.colour, linewidth=1, linestyle=mark.style)
        x = ax.transData.transform((mark.x, ax.get_ylim()[0]))[0]
        side = 1 if x - box.x0 < box.x1 - x else -1
        word = ax.annotate(
            mark.text,
            (mark.x, 1.0),
            (0.0, -depth * points),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=mark.colour,
            ha="left" if side > 0 else "right",
            va="top",
            fontsize=9,
            gid=MARK,
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
        )
        size = _extent(word)
        room = (box.x1 - x if side > 0 else x - box.x0) - size.width
        word.xyann = (side * min(0.7 * GAP, room * points), -depth * points)  # too wide: back over its own line
        depth += size.height + 2
    if depth:
        _widen(ax, "y", 0.0, depth)


def _widen(ax: Axes, axis: str, below: float, above: float) -> None:
    """Move the limits apart, so that this many pixels below and above the data are free, on any scale."""
    limits, line = (ax.get_xlim(), ax.xaxis) if axis == "x" else (ax.get_ylim(), ax.yaxis)
    box = ax.get_window_extent()
    pixels = box.width if axis == "x" else box.height
    shares = [min(SLACK * part / pixels, 0.6) for part in (below, above)]
    low, high = line.get_transform().transform(np.array(limits))
    span = (high - low) / max(1 - sum(shares), 0.2)
    ends = line.get_transform().inverted().transform(np.array([low - shares[0] * span, high + shares[1] * span]))
    (ax.set_xlim if axis == "x" else ax.set_ylim)(*ends)
