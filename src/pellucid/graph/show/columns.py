"""Step two of the layout: one left-to-right order of all columns (boxes, lanes of long arrows, edges of groups)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from math import inf

from pellucid.graph.show.drawing import Drawing
from pellucid.graph.show.layers import find_groups

GAP = 18.0  # least distance of neighbours in a layer
CROSSING = 60.0  # a crossing is as bad as this many pixels sideways
WORTHWHILE = 30.0  # smaller gains are no reason to give up the order in which things are written
GRAVITY = 0.02  # a weak pull to the middle holds unconnected parts together
EFFORT = 100_000  # bounds the work on large drawings, in visited columns and layers


@dataclass(frozen=True)
class Column:
    """Something with one x from layer `first` to layer `last`, in the innermost `group` around it (or -1)."""

    first: int
    last: int
    half: float
    group: int


class Search:
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
        self.groups, innermost = find_groups(drawing.boxes, layer)
        self.labels = [label(group.scope) for group in self.groups]
        self.columns = [Column(g.first, g.last, 0.0, g.parent) for g in self.groups for _ in range(2)]
        self.box: dict[int, int] = {}
        self.lane: dict[int, int] = {}
        self.segments: list[tuple[int, int, int]] = []
        for key, level in ((box.key, layer[box.key]) for box in drawing.boxes):
            self.box[key] = len(self.columns)
            self.columns.append(Column(level, level, half[key], innermost[key]))
        for source, users in drawing.users.items():
            first, last = layer[source] + 1, max((layer[user] - 1 for user in users), default=0)
            if first <= last:
                self.lane[source] = lane = len(self.columns)
                ends = [innermost[source], *(innermost[user] for user in users if layer[user] > first)]
                self.columns.append(Column(first, last, 0.0, self._home(ends, first, last)))
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
            pulled = sum(w * x[n] for n, w in ends) / (weight + GRAVITY)
            want.append(0.5 * (here + (pulled if ends else (1.0 - 2.0 * GRAVITY) * here)))
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
            if c < 2 * len(self.groups):  # c ^ 1 is the other edge: -inf until it is placed
                x[c] = max(x[c], x[c ^ 1] + self.labels[c // 2])
            free[levels] = [x[c] + column.half + GAP] * (column.last - column.first + 1)
        return x

    def cost(self, x: list[float]) -> float:
        """How often arrows cross, how far they go sideways, and how wide it all is."""
        ends: list[list[tuple[float, float]]] = [[] for _ in range(self.height)]
        for level, a, b in self.segments:
            ends[level].append((x[a], x[b]))
        crossings = 0
        for segments in ends:
            seen: list[float] = []
            for _, end in sorted(segments):
                crossings += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        sideways = sum(abs(x[a] - x[b]) for _, a, b in self.segments)
        return CROSSING * crossings + sideways + max(x, default=0.0) - min(x, default=0.0)
