"""Step one of the layout: which layer every box lies in, and which neighbouring boxes of a scope form a group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pellucid.graph.show.drawing import Box, Drawing


@dataclass(frozen=True)
class Group:
    """The boxes of one scope in neighbouring layers, inside the group `parent` (or -1)."""

    scope: str
    first: int
    last: int
    parent: int


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


def find_groups(boxes: Sequence[Box], layer: dict[int, int]) -> tuple[list[Group], dict[int, int]]:
    """The groups, outer before inner, and the innermost group of every box.

    A scope that returns more than one empty layer later (a backward pass) becomes a second group.
    """
    groups: list[Group] = []
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
                groups.append(Group(scope, first, last, parent))
    return groups, innermost
