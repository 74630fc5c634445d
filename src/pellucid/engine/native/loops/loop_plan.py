"""What a loop nest needs before it is written: where its values lie, its passes, and the table of words it reads.

Sizes, addresses and numbers are all in the table, so one kernel serves every width, batch size and learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.engine.native.code.expressions import FORMULAS, exponent, is_costly
from pellucid.engine.native.code.words import Words, as_word
from pellucid.engine.native.passes.instructions import Loop, along_row, kind, passes
from pellucid.engine.native.passes.values import Value

INLINE = {0, 1, -1}  # and so False and True
"""Numbers that stand in the code; all others are arguments: a mean over two columns is no kernel of its own."""

BLOCK, NARROW = 64, 32
"""Rows in a block; loops over at most so many columns are written by blocks (`narrow_loop`)."""

MOST_LANES = 32
"""Of a vector of any processor that code is written for."""

SIZES = Words("first last columns")
"""The rows of a thread, and the columns; a loop without columns counts elements. Behind it: addresses of arrays, of
working space, numbers."""


@dataclass(frozen=True)
class Scratch:
    """Working space: for a value of each column ("row"), of each row of a block ("block"), or both ("slab").

    What a loop over tiles keeps from one to the next: a number ("one"), or a total in the making ("total").
    """

    kind: str
    value: Value

    def bytes(self, columns: int) -> int:
        count = {"row": columns, "block": BLOCK, "slab": BLOCK * NARROW, "one": 1, "total": MOST_LANES + 1}
        return self.value.dtype.itemsize * count[self.kind]


@dataclass(frozen=True)
class Pass:
    """One run over the columns: the reductions and stores it makes, and what must be computed for them."""

    number: int
    sums: list[Value]
    roots: list[Value]
    needed: list[Value]  # leaves and values that differ along the columns
    remembered: list[Value]  # of these, what an earlier pass has put into working space
    remembering: list[Value]  # ... and what a later one will need


class LoopPlan:
    """A loop, looked at: zones ("one", "row", "column", "whole", "end"), passes, working space, numbers."""

    def __init__(self, loop: Loop, overwrites: Mapping[int, Value]) -> None:
        self.loop = loop
        self.flat = loop.cut is None
        self.arrays = [*loop.leaves, *loop.roots]
        self.leaf_place = {x.number: i for i, x in enumerate(loop.leaves)}
        # one array for both where a root is written over a leaf: others do not overlap
        self.root_place = {
            x.number: self.leaf_place.get(overwrites.get(x.number, x).number, len(loop.leaves) + i)
            for i, x in enumerate(loop.roots)
        }
        self.phase = passes(loop)
        self.inside = {x.number for x in loop.body}
        self.zone = {x.number: self.kind(x) for x in loop.leaves}
        for x in loop.body:
            self.zone[x.number] = self._zone(x)
        known = [a for x in loop.body for a in x.args if a.known and not is_inline(a)]
        self.numbers = list(dict.fromkeys(known))
        self.narrow = not self.flat and any(along_row(x) for x in loop.body)
        self.passes = self._passes()
        self.rows_are_alike = "row" not in self.zone.values()
        self.scratch = list(dict.fromkeys(self._scratch()))

    # where values lie

    def kind(self, x: Value) -> str:
        """How a shape lies in the loop."""
        return kind(x.shape, self.loop.space)

    def _zone(self, x: Value) -> str:
        """On what a value depends: row, column, both."""
        if x.op != "reduce" and FORMULAS[x.op].placed:
            return self.kind(x)
        if x.op == "reduce":
            return "row" if along_row(x) else "end"
        zones = {self.zone[a.number] for a in x.args if not a.known} - {"one"}
        return "whole" if len(zones) > 1 else next(iter(zones), "one")

    def ends(self) -> list[Value]:
        """The reductions that end the loop."""
        return [x for x in self.loop.body if self.zone[x.number] == "end"]

    def of_rows(self, number: int) -> tuple[list[Value], list[Value], list[Value]]:
        """What a row gives before a pass: values, roots, and what is added to totals."""
        values = [
            x
            for x in self.loop.body
            if self.zone[x.number] == "row" and self.phase[x.number] == number and x.op != "reduce"
        ]
        roots = [
            x
            for x in self.loop.roots
            if self.kind(x) == "row" and self.phase[x.number] == number and self.zone[x.number] in ("row", "one")
        ]
        totals = [x for x in self.ends() if self.kind(x.args[0]) == "row" and self.phase[x.number] == number + 1]
        return values, roots, totals

    def numbers_of_tiles(self) -> list[Value]:
        """Single numbers that other values are made of: where they came from may be overwritten at the first tile."""
        users = [x for x in self.loop.body if self.zone[x.number] != "one"]
        wanted = [*(a for x in users for a in x.args), *(x for x in self.loop.roots if self.kind(x) == "whole")]
        return [x for x in dict.fromkeys(wanted) if not x.known and self.zone[x.number] == "one"]

    # passes

    def _passes(self) -> list[Pass]:
        numbers = range(1 if self.flat else max(self.phase.values(), default=0) + 1)
        made = [self._made_in(number) for number in numbers]
        targets = [[*roots, *(x.args[0] for x in sums)] for sums, roots in made]
        found: list[Pass] = []
        kept: set[int] = set()
        for number, (sums, roots) in enumerate(made):
            needed = self._closure(targets[number], number, kept)
            values = [x for x in [*self.loop.leaves, *self.loop.body] if x.number in needed]
            earlier = [x for x in values if x.number in kept and self.phase[x.number] < number]
            again = set().union(*(self._closure(targets[later], later, set()) for later in numbers[number + 1 :]))
            later = [x for x in values if x not in earlier and x.number in again and self._is_first_made(x, number)]
            kept |= {x.number for x in later}
            found.append(Pass(number, sums, roots, values, earlier, later))
        return found

    def _made_in(self, number: int) -> tuple[list[Value], list[Value]]:
        """The sums and the roots of a pass."""
        sums = [
            x
            for x in self.loop.body
            if x.op == "reduce" and self.phase[x.number] == number + 1 and self.kind(x.args[0]) == "whole"
        ]
        roots = [
            x
            for x in self.loop.roots
            if self.kind(x) == "whole" and self.phase[x.number] == number and self.zone[x.number] != "end"
        ]
        return sums, roots if self.loop.space else []

    def _is_first_made(self, x: Value, number: int) -> bool:
        """A costly value of whole rows that this pass is the first to make?"""
        return is_costly(x) and self.zone[x.number] == "whole" and self.phase[x.number] == number

    def _closure(self, targets: Sequence[Value], number: int, kept: set[int]) -> set[int]:
        """What must be computed for these, down to arrays, numbers of the row and what lies in working space."""
        needed: set[int] = set()
        stack = [x for x in targets if not x.known]
        while stack:
            x = stack.pop()
            if x.number in needed or self.zone[x.number] not in ("whole", "column"):
                continue
            needed.add(x.number)
            if x.number in self.inside and not (self.phase[x.number] < number and x.number in kept):
                stack.extend(a for a in x.args if not a.known)
        return needed

    def _scratch(self) -> Iterator[Scratch]:
        if self.loop.product is not None:
            yield from (Scratch("one", x) for x in self.numbers_of_tiles())
            yield from (Scratch("total", x) for x in self.ends() if x.single)
        for p in self.passes:
            yield from (Scratch("row", x) for x in p.remembering)
        if not self.narrow:
            return
        for x in self.loop.leaves:
            if self.zone[x.number] == "whole":
                yield Scratch("slab", x)
        for x in self.loop.body:
            if self.zone[x.number] == "row":
                yield Scratch("block", x)
        for p in self.passes:
            yield from (Scratch("slab", x) for x in [*p.remembering, *p.roots])

    # the table

    def words(
        self, sizes: tuple[int, int, int], arrays: list[int], scratch: list[int], numbers: list[Any]
    ) -> list[int]:
        first, last, columns = sizes
        floats = [as_word(n if x.dtype.kind in "iub" else float(n)) for x, n in zip(self.numbers, numbers, strict=True)]
        return SIZES(arrays, scratch, floats, first=first, last=last, columns=columns)

    # the name

    def description(self) -> str:
        """All that shapes the code, in words: loops that are described alike are one kernel."""
        names = {x.number: f"x{i}" for i, x in enumerate(self.loop.leaves)}
        names |= {x.number: f"v{i}" for i, x in enumerate(self.loop.body)}
        lines = ["loop over elements" if self.flat else "loop over rows and columns"]
        if self.loop.product is not None:
            lines = [f"loop over tiles of {names[self.loop.product.value.number]}"]
        lines += [f"{names[x.number]} = {x.dtype.name} {self.kind(x)}" for x in self.loop.leaves]
        for x in self.loop.body:
            inside = ", ".join(self._operand(a, names) for a in x.args)
            lines.append(f"{names[x.number]} = {x.op}({inside}){self._settings(x)} {x.dtype.name} {self.kind(x)}")
        lines += [f"p{self.root_place[x.number]} <- {names[x.number]}" for x in self.loop.roots]
        return "\n".join(lines)

    def _operand(self, x: Value, names: Mapping[int, str]) -> str:
        if not x.known:
            return names[x.number]
        what = x.settings["value"] if is_inline(x) else f"n{self.numbers.index(x)}"
        return f"{what}:{x.op}:{x.dtype.name}{':weak' if x.weak else ''}"

    def _settings(self, x: Value) -> str:
        if x.op == "reduce":
            where = "row" if along_row(x) else "all" if x.single else "columns"
            return f" {x.settings['kind']} over {where}, {self.kind(x.args[0])}"
        if x.op == "random_start":
            return f" stream {x.settings['stream']}"
        return f" exponent {exponent(x)}" if x.op == "power" else ""


def is_inline(x: Value) -> bool:
    return x.op == "number" and x.settings["value"] in INLINE
