"""Where everything goes: a layered layout in the spirit of Sugiyama, Tagawa and Toda (1981).

1. Every box gets a layer: one below the lowest box it reads from. Arrows therefore always point down.
2. An arrow that skips layers runs through them in a *lane*, a vertical line of its own. All long arrows of
   one box share its lane, so that a weight used in twenty places is one line with twenty branches.
3. Boxes, lanes and the two edges of every scope are *columns*: each keeps one x over all of its layers, which
   is what keeps long arrows straight and scopes rectangular. The search looks for one left-to-right order of
   all columns: pull every column to the mean of its neighbours, sort, make room (the barycentre heuristic);
   then try to move single boxes, lanes and scopes, and keep what makes the picture better.

Everything is a loop and nothing is random: the same drawing always gives the same picture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pellucid.graph.show.columns import Search
from pellucid.graph.show.drawing import Box, Drawing
from pellucid.graph.show.layers import Group, layers

ROW_GAP = 40.0  # least distance of two layers
STUB = 6.0  # arrows leave and arrive straight
SCOPE_HEAD, SCOPE_FOOT = 26.0, 12.0  # room for the name of a scope above its boxes, and below them

Point = tuple[float, float]


@dataclass(frozen=True)
class Place:
    """A rectangle: centre, width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Coordinates for a drawing, y growing downward, the top left corner at (0, 0).

    `routes` has one entry per arrow, an even number of points: straight down from the first to the second, a
    curve on to the third, straight down to the fourth, and so on.
    """

    boxes: dict[int, Place]
    groups: tuple[tuple[str, Place], ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def arrange(drawing: Drawing, size: Callable[[Box], tuple[float, float]], label: Callable[[str], float]) -> Layout:
    """Place boxes of the given `size` (width, height); `label` gives the width of a scope's name."""
    layer = layers(drawing)
    sizes = {box.key: size(box) for box in drawing.boxes}
    search = Search(drawing, layer, {key: width / 2 for key, (width, _) in sizes.items()}, label)
    x = search.solve()
    left = min((x[c] - column.half for c, column in enumerate(search.columns)), default=0.0)
    x = [a - left for a in x]

    top, bottom = _rows(search, x, [(layer[key], height) for key, (_, height) in sizes.items()])
    boxes = {key: Place(x[search.box[key]], (top[layer[key]] + bottom[layer[key]]) / 2, *sizes[key]) for key in sizes}
    groups = []
    for g, (group, head, foot) in enumerate(zip(search.groups, *_margins(search.groups), strict=True)):
        (x0, x1), y0, y1 = x[2 * g : 2 * g + 2], top[group.first] - head, bottom[group.last] + foot
        groups.append((group.scope, Place((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0)))
    routes = []
    ports = _ports(drawing, search, layer, x)
    for (source, target), port in zip(drawing.arrows, ports, strict=True):
        start, end = boxes[source], boxes[target]
        a, b = layer[source], layer[target]
        route = [(start.x, start.y + start.height / 2), (start.x, bottom[a] + STUB)]
        if b > a + 1:
            lane = x[search.lane[source]]
            route += [(lane, top[a + 1]), (lane, bottom[b - 1])]
        route += [(end.x + port, top[b] - STUB), (end.x + port, end.y - end.height / 2)]
        routes.append(tuple(route))
    width = max((x[c] + column.half for c, column in enumerate(search.columns)), default=0.0)
    height = max([*bottom, *(place.y + place.height / 2 for _, place in groups)], default=0.0)
    return Layout(boxes, tuple(groups), tuple(routes), width, height)


def _margins(groups: Sequence[Group]) -> tuple[list[float], list[float]]:
    """The room each group takes above its first layer and below its last, with groups that share them."""
    head, foot = [SCOPE_HEAD] * len(groups), [SCOPE_FOOT] * len(groups)
    for g in reversed(range(len(groups))):
        group, parent = groups[g], groups[groups[g].parent]
        if group.parent >= 0 and parent.first == group.first:
            head[group.parent] = max(head[group.parent], head[g] + SCOPE_HEAD)
        if group.parent >= 0 and parent.last == group.last:
            foot[group.parent] = max(foot[group.parent], foot[g] + SCOPE_FOOT)
    return head, foot


def _rows(search: Search, x: list[float], heights: Iterable[tuple[int, float]]) -> tuple[list[float], list[float]]:
    """Top and bottom of every layer. Arrows that go far sideways get a higher gap, to stay readable."""
    row: dict[int, float] = defaultdict(float)
    for level, height in heights:
        row[level] = max(row[level], height)
    count = max(row, default=-1) + 1
    head, foot, sideways = [0.0] * (count + 1), [0.0] * (count + 1), [0.0] * (count + 1)
    for group, above, below in zip(search.groups, *_margins(search.groups), strict=True):
        head[group.first] = max(head[group.first], above)
        foot[group.last] = max(foot[group.last], below)
    for level, a, b in search.segments:
        sideways[level] = max(sideways[level], abs(x[a] - x[b]))
    top, bottom, y = [], [], 0.0
    for level in range(count):
        top.append(y + head[level])
        bottom.append(top[-1] + row[level])
        y = bottom[-1] + foot[level] + ROW_GAP + min(80.0, 0.1 * sideways[level])
    return top, bottom


def _ports(drawing: Drawing, search: Search, layer: dict[int, int], x: list[float]) -> list[float]:
    """Where each arrow meets the top of its box, from the middle: side by side, by where they come from."""
    arriving: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for i, (source, target) in enumerate(drawing.arrows):
        start = search.box[source] if layer[target] == layer[source] + 1 else search.lane[source]
        arriving[target].append((x[start], i))
    ports = [0.0] * len(drawing.arrows)
    for target, arrows in arriving.items():
        middle, half = x[search.box[target]], search.columns[search.box[target]].half
        step = min(22.0, 1.4 * half / len(arrows))
        for place, (begin, i) in enumerate(sorted(arrows)):
            ports[i] = step * (place - (len(arrows) - 1) / 2)
            if abs(begin - middle - ports[i]) < step / 3:  # nearly straight is worse than straight
                ports[i] = begin - middle
    return ports
