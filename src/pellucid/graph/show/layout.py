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

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import inf

from pellucid.graph.show.drawing import Box, Drawing

GAP = 18.0  # least distance of neighbours in a layer
ROW_GAP = 40.0  # least distance of two layers
STUB = 6.0  # arrows leave and arrive straight
SCOPE_HEAD, SCOPE_FOOT = 26.0, 12.0  # room for the name of a scope above its boxes, and below them
CROSSING = 60.0  # a crossing is as bad as this many pixels sideways
WORTHWHILE = 30.0  # smaller gains are no reason to give up the order in which things are written
GRAVITY = 0.02  # a weak pull to the middle holds unconnected parts together
EFFORT = 100_000  # bounds the work on large drawings, in visited columns and layers

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


@dataclass(frozen=True)
class _Group:
    """The boxes of one scope in neighbouring layers, inside the group `parent` (or -1)."""

    scope: str
    first: int
    last: int
    parent: int


@dataclass(frozen=True)
class _Column:
    """Something with one x from layer `first` to layer `last`, in the innermost `group` around it (or -1)."""

    first: int
    last: int
    half: float
    group: int


def layers(drawing: Drawing) -> dict[int, int]:
    """The layer of every box: by longest path, except that some boxes wait until they are needed.

    Boxes without inputs sit right above their first user. So does a box made of one earlier value and used
    only far below (h * h, kept for the backward pass): the long arrow then comes from the value itself.
    """
    inputs, users = drawing.inputs, drawing.users
    late = {key for key, above in inputs.items() if not above}
    layer = _descend(drawing, late)
    for key in reversed(inputs):
        if users[key] and len(set(inputs[key]) - late) <= 1:
            lowest = min(layer[user] for user in users[key]) - 1
            if lowest > layer[key] + 1:
                late.add(key)
                layer[key] = lowest
    layer = _descend(drawing, late)
    for key in reversed(inputs):
        if key in late and users[key]:
            layer[key] = min(layer[user] for user in users[key]) - 1
    return layer


def _descend(drawing: Drawing, late: set[int]) -> dict[int, int]:
    """Layers by longest path. Where an arrow enters a scope it leaves rows for the scope's own late boxes
    (its weights), so that one scope can start below the end of another."""
    inputs = drawing.inputs
    scope = {box.key: box.scopes[:1] for box in drawing.boxes}
    layer: dict[int, int] = {}
    rows: dict[int, int] = {}
    for key, above in inputs.items():
        own = (rows[i] for i in above if i in late and scope[i] == scope[key] != ())
        rows[key] = 1 + max(own, default=0)
        enters = {i: i not in late and scope[i] != scope[key] for i in above}
        layer[key] = max((layer[i] + (rows[key] if enters[i] else 1) for i in above), default=0)
    return layer


def _find_groups(boxes: Sequence[Box], layer: dict[int, int]) -> tuple[list[_Group], dict[int, int]]:
    """The groups, outer before inner, and the innermost group of every box.

    A scope that returns more than one empty layer later (a backward pass) becomes a second group.
    """
    groups: list[_Group] = []
    innermost = {box.key: -1 for box in boxes}
    for depth in range(max((len(box.scopes) for box in boxes), default=0)):
        members: dict[tuple[int, str], list[Box]] = defaultdict(list)
        for box in boxes:
            if len(box.scopes) > depth:
                members[innermost[box.key], box.scopes[depth]].append(box)
        for (parent, scope), inside in members.items():
            inside.sort(key=lambda box: layer[box.key])
            starts = [0] + [i for i, (a, b) in enumerate(pairwise(inside), 1) if layer[b.key] - layer[a.key] > 2]
            for start, end in zip(starts, [*starts[1:], len(inside)], strict=True):
                for box in inside[start:end]:
                    innermost[box.key] = len(groups)
                first, last = layer[inside[start].key], layer[inside[end - 1].key]
                groups.append(_Group(scope, first, last, parent))
    return groups, innermost


class _Search:
    """All columns of a drawing, and the moves that place them.

    Group g has its edges in columns 2g and 2g + 1; the boxes follow, then the lanes. `segments` are the
    pieces of arrows between one layer and the next: (upper layer, column there, column below).
    """

    def __init__(
        self,
        drawing: Drawing,
        layer: dict[int, int],
        half: dict[int, float],
        label: Callable[[str], float],
    ) -> None:
        self.groups, innermost = _find_groups(drawing.boxes, layer)
        self.labels = [label(group.scope) for group in self.groups]
        self.columns = [_Column(g.first, g.last, 0.0, g.parent) for g in self.groups for _ in range(2)]
        self.box: dict[int, int] = {}
        self.lane: dict[int, int] = {}
        self.segments: list[tuple[int, int, int]] = []
        for key, level in ((box.key, layer[box.key]) for box in drawing.boxes):
            self.box[key] = len(self.columns)
            self.columns.append(_Column(level, level, half[key], innermost[key]))
        for source, users in drawing.users.items():
            first, last = layer[source] + 1, max((layer[user] - 1 for user in users), default=0)
            if first <= last:
                self.lane[source] = lane = len(self.columns)
                ends = [innermost[source], *(innermost[user] for user in users if layer[user] > first)]
                self.columns.append(_Column(first, last, 0.0, self._home(ends, first, last)))
                self.segments.append((first - 1, self.box[source], lane))
                self.segments += [(level, lane, lane) for level in range(first, last)]
            for user in users:
                start = self.box[source] if layer[user] == first else self.lane[source]
                self.segments.append((layer[user] - 1, start, self.box[user]))
        self.height = max((column.last for column in self.columns), default=0) + 1
        self.above: list[list[tuple[int, float]]] = [[] for _ in self.columns]
        self.below: list[list[tuple[int, float]]] = [[] for _ in self.columns]
        lanes = set(self.lane.values())
        for _, a, b in self.segments:
            if a != b:  # a long lane pulls weakly: neighbours stay together, and lanes go around them
                length = max(self.columns[c].last - self.columns[c].first + 1 for c in (a, b))
                weight = 1.0 / (1.0 + 0.3 * length) if lanes & {a, b} else 1.0
                self.below[a].append((b, weight))
                self.above[b].append((a, weight))
        self.members: list[list[int]] = [[] for _ in self.groups]
        for c in range(2 * len(self.groups), len(self.columns)):
            g = self.columns[c].group
            while g >= 0:
                self.members[g].append(c)
                g = self.groups[g].parent
        # (column inside, column above or below, weight) for every arrow that leaves a group up or down
        self.ties = [
            [
                (c, n, w)
                for c in members
                for n, w in self.above[c] + self.below[c]
                if self.columns[n].last < group.first or self.columns[n].first > group.last
            ]
            for group, members in zip(self.groups, self.members, strict=True)
        ]

    def _home(self, groups: Iterable[int], first: int, last: int) -> int:
        """The innermost of these groups, or of those around them, that spans the layers `first` to `last`."""
        home = -1
        for group in groups:
            while group > home and not (self.groups[group].first <= first and last <= self.groups[group].last):
                group = self.groups[group].parent
            home = max(home, group)
        return home

    def solve(self) -> list[float]:
        """The x of every column, around 0."""
        size = 1 + sum(column.last - column.first + 1 for column in self.columns)
        rounds = max(12, min(96, EFFORT // size))
        order = list(range(len(self.columns)))
        x = [1e-6 * c for c in order]
        best, best_order, best_x = inf, order, x
        for i in range(rounds):
            want = self.pull(x, 1.0, 0.0) if i % 8 < 4 else self.pull(x, 0.0, 1.0)
            order = self.sort(want, order)
            x = self.spread(order, want)
            if (cost := self.cost(x)) < best - WORTHWHILE:
                best, best_order, best_x = cost, order, x
        order, x = best_order, self.relax(best_order, best_x, 20)
        for _ in range(min(4, EFFORT // (size * (1 + len(order))))):
            order, x = self.improve(order, x)
        return self.relax(order, x, rounds)

    def improve(self, order: list[int], x: list[float]) -> tuple[list[int], list[float]]:
        """Move boxes, lanes and whole groups aside, a little or all the way, while that lowers the cost."""
        edges = 2 * len(self.groups)
        units = [*({c} for c in range(edges, len(order))), *map(set, self.members)]
        best = self.cost(x)
        for unit, aside in product(units, (-1e6, -100.0, 100.0, 1e6)):
            moved = self.sort(self.fit([a + aside * (c in unit) for c, a in enumerate(x)]), order)
            if moved != order:
                trial = self.relax(moved, self.spread(moved, x), 3)
                if (cost := self.cost(trial)) < best - WORTHWHILE:
                    best, order, x = cost, moved, trial
        return order, x

    def relax(self, order: list[int], x: list[float], rounds: int) -> list[float]:
        for _ in range(rounds):
            x = self.spread(order, self.pull(x, 1.0, 1.0))
        return x

    def pull(self, x: list[float], up: float, down: float) -> list[float]:
        """Every column halfway to the mean of its neighbours above (weight `up`) and below (`down`)."""
        want = []
        for here, above, below in zip(x, self.above, self.below, strict=True):
            ends = [(n, up * w) for n, w in above if up] + [(n, down * w) for n, w in below if down]
            weight = sum(w for _, w in ends)
            mean = sum(w * x[n] for n, w in ends) / (weight + GRAVITY) if ends else (1.0 - 2.0 * GRAVITY) * here
            want.append(0.5 * (here + mean))
        for members, ties in zip(self.members, self.ties, strict=True):
            if ties:  # a group also moves as a whole: one by one, its columns would hold each other back
                shift = 0.4 * sum(w * (x[n] - x[c]) for c, n, w in ties) / sum(w for _, _, w in ties)
                for c in members:
                    want[c] += shift
        return self.fit(want)

    def fit(self, want: list[float]) -> list[float]:
        """The edges of every group around its columns."""
        edges = 2 * len(self.groups)
        want[:edges] = [inf, -inf] * len(self.groups)
        for c in reversed(range(len(want))):  # inner groups come after outer ones
            column, g = self.columns[c], 2 * self.columns[c].group
            if g >= 0:
                want[g] = min(want[g], want[c] - column.half - GAP)
                want[g + 1] = max(want[g + 1], want[c] + column.half + GAP)
        return want

    def sort(self, want: list[float], order: list[int]) -> list[int]:
        """All columns from left to right as they want to be, each group one run between its two edges."""
        rank = {c: i for i, c in enumerate(order)}
        path: list[tuple[tuple[float, int], ...]] = []
        for g, group in enumerate(self.groups):
            around = path[group.parent] if group.parent >= 0 else ()
            path.append((*around, (0.5 * (want[2 * g] + want[2 * g + 1]), rank[2 * g])))

        def key(c: int) -> tuple[tuple[float, int], ...]:
            if c < 2 * len(self.groups):
                return (*path[c // 2], ((-inf, inf)[c % 2], 0))
            around = path[self.columns[c].group] if self.columns[c].group >= 0 else ()
            return (*around, (want[c], rank[c]))

        return sorted(order, key=key)

    def spread(self, order: list[int], want: list[float]) -> list[float]:
        """Make room: push everything to the right, everything to the left, and take the mean.

        Distances that hold in both hold in the mean, and a crowd around one wish ends up centred on it.
        """
        right = self._push(order, want)
        left = self._push(order[::-1], [-w for w in want])
        return [0.5 * (a - b) for a, b in zip(right, left, strict=True)]

    def _push(self, order: list[int], want: list[float]) -> list[float]:
        x = [-inf] * len(order)
        free = [-inf] * self.height  # per layer, where the next column may begin
        for c in order:
            column = self.columns[c]
            levels = slice(column.first, column.last + 1)
            x[c] = max(want[c], max(free[levels]) + column.half)
            if c < 2 * len(self.groups):
                x[c] = max(x[c], x[c ^ 1] + self.labels[c // 2])  # the other edge, if it was placed before this one
            free[levels] = [x[c] + column.half + GAP] * (column.last - column.first + 1)
        return x

    def cost(self, x: list[float]) -> float:
        """How far all arrows go sideways, and how often they cross."""
        ends: list[list[Point]] = [[] for _ in range(self.height)]
        for level, a, b in self.segments:
            ends[level].append((x[a], x[b]))
        crossings = 0
        for segments in ends:
            seen: list[float] = []
            for _, end in sorted(segments):
                crossings += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return CROSSING * crossings + sum(abs(x[a] - x[b]) for _, a, b in self.segments)


def arrange(drawing: Drawing, size: Callable[[Box], tuple[float, float]], label: Callable[[str], float]) -> Layout:
    """Place boxes of the given `size` (width, height); `label` gives the width of a scope's name."""
    layer = layers(drawing)
    sizes = {box.key: size(box) for box in drawing.boxes}
    search = _Search(drawing, layer, {key: width / 2 for key, (width, _) in sizes.items()}, label)
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


def _margins(groups: Sequence[_Group]) -> tuple[list[float], list[float]]:
    """The room each group takes above its first layer and below its last, with groups that share them."""
    head, foot = [SCOPE_HEAD] * len(groups), [SCOPE_FOOT] * len(groups)
    for g in reversed(range(len(groups))):
        group, parent = groups[g], groups[groups[g].parent]
        if group.parent >= 0 and parent.first == group.first:
            head[group.parent] = max(head[group.parent], head[g] + SCOPE_HEAD)
        if group.parent >= 0 and parent.last == group.last:
            foot[group.parent] = max(foot[group.parent], foot[g] + SCOPE_FOOT)
    return head, foot


def _rows(search: _Search, x: list[float], heights: Iterable[tuple[int, float]]) -> tuple[list[float], list[float]]:
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


def _ports(drawing: Drawing, search: _Search, layer: dict[int, int], x: list[float]) -> list[float]:
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
