"""What a picture of a graph says, before anyone decides how it looks.

A `Drawing` is plain data: boxes with text, and arrows between them. `svg`, `dot` and `mermaid` each turn the
same drawing into their own language, so whoever describes a graph describes it once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

COLOURS = {  # kind of box: (fill, edge)
    "input": ("#e3f0fb", "#5b9bd0"),
    "constant": ("#eef0f2", "#a3adb8"),
    "operation": ("#ffffff", "#8b98a8"),
    "output": ("#fdeeda", "#dd9a3c"),
}
KINDS = tuple(COLOURS)


@dataclass(frozen=True)
class Box:
    """One value of the graph.

    `lines[0]` is the heading ("v₁ = ln v₋₁"), further lines are set smaller below it ("0.693", "v̄₁ = 5.5").
    `scope` names the part of the model the box belongs to; "/" nests: "hidden1/norm" lies inside "hidden1".
    """

    key: int
    lines: tuple[str, ...]
    kind: str
    scope: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Box {self.key} expects a kind out of {', '.join(KINDS)}, got {self.kind!r}")

    @property
    def scopes(self) -> tuple[str, ...]:
        """The enclosing scopes, outermost first: "a/b" -> ("a", "a/b")."""
        parts = [part for part in self.scope.split("/") if part]
        return tuple("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


@dataclass(frozen=True)
class Drawing:
    """Boxes in topological order, and arrows (from key, to key) between them.

    The same arrow may appear twice, as in x * x. Every arrow leads from an earlier box to a later one, so a
    drawing cannot hold a cycle.

    >>> x, y = Box(0, ("x",), "input"), Box(1, ("y = x × x",), "output")
    >>> Drawing("square", (x, y), ((0, 1), (0, 1))).users[0]
    (1, 1)
    """

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        place: dict[int, int] = {}
        for i, box in enumerate(self.boxes):
            if box.key in place:
                raise ValueError(f"Drawing {self.title!r} expects unique keys, got two boxes with key {box.key}")
            place[box.key] = i
        for arrow in self.arrows:
            for key in arrow:
                if key not in place:
                    raise ValueError(f"Drawing {self.title!r} has an arrow {arrow}, but no box with key {key}")
            if place[arrow[0]] >= place[arrow[1]]:
                raise ValueError(
                    f"Drawing {self.title!r} expects boxes in topological order, but the arrow {arrow} "
                    f"points back from box number {place[arrow[0]]} to {place[arrow[1]]}: were they sorted?"
                )

    @property
    def inputs(self) -> dict[int, tuple[int, ...]]:
        """For every box, the boxes its arrows come from, in the order of the arrows."""
        return self._ends((target, source) for source, target in self.arrows)

    @property
    def users(self) -> dict[int, tuple[int, ...]]:
        """For every box, the boxes its arrows lead to, in the order of the arrows."""
        return self._ends(self.arrows)

    def _ends(self, pairs: Iterable[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
        ends: dict[int, list[int]] = {box.key: [] for box in self.boxes}
        for key, other in pairs:
            ends[key].append(other)
        return {key: tuple(others) for key, others in ends.items()}
