"""Loops over few columns: blocks of rows side by side, so that the rows fill the processor's vectors.

Ten classes are too few for a vector of sixteen numbers. So a block of rows is turned on its side: working space holds,
for each column, a number of every row of the block, and the innermost loop runs over the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pellucid.engine.native.code import reductions
from pellucid.engine.native.code.llvm.code import INT32, Lanes
from pellucid.engine.native.code.llvm.places import Array
from pellucid.engine.native.code.products.packing import turned
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.code.vectormath.operations import select
from pellucid.engine.native.loops.loop_plan import BLOCK, Pass, Position, Scratch
from pellucid.engine.native.passes.instructions import along_row
from pellucid.engine.native.passes.values import Value

if TYPE_CHECKING:
    from pellucid.engine.native.loops.loop_code import LoopCode, Numbers


def write(loop: LoopCode, numbers: Numbers) -> None:
    """The loop over blocks."""
    code = loop.code
    with code.loop(loop.words.first, loop.words.last, BLOCK) as start:
        left = loop.words.last - start
        Block(loop, numbers, start, select(left < BLOCK, left, code.constant(BLOCK))).write()


class Block:
    """Some rows, at most BLOCK of them."""

    def __init__(self, loop: LoopCode, numbers: Numbers, start: Lanes, rows: Lanes) -> None:
        self.loop, self.plan, self.code = loop, loop.plan, loop.code
        self.numbers, self.start, self.rows = numbers, start, rows

    def write(self) -> None:
        loop, plan = self.loop, self.plan
        for x in loop.loop.leaves:
            if loop.zone(x) == "whole":
                self._turn(loop.leaf[x.number], self._slab(x), back=False)
        for p in plan.passes:
            self._rows(p.number)
            for x in loop.loop.body:
                if along_row(x) and plan.phase[x.number] == p.number + 1:
                    self._begin(x)
            if p.sums or p.roots:
                self._columns(p)
        for p in plan.passes:
            for x in p.roots:
                self._turn(loop.root[x.number], self._slab(x), back=True)

    # working space

    def _slab(self, x: Value) -> Array:
        return self.loop.scratch[Scratch("slab", x)]

    def _block(self, x: Value) -> Array:
        return self.loop.scratch[Scratch("block", x)]

    def _turn(self, whole: Array, slab: Array, back: bool) -> None:
        """From the whole array into working space, on its side, or back."""
        columns, item = self.loop.words.columns, whole.dtype.itemsize
        if self.loop.masked and item >= 4:
            self._turn_squares(whole, slab, back, self.code.processor.lanes(item))
            return
        with self.code.loop(0, self.rows) as i:
            base = (self.start + i) * columns
            with self.code.loop(0, columns) as j:
                there, here = base + j, j * BLOCK + i
                if back:
                    whole.store(there, slab.load(here))
                else:
                    slab.store(here, whole.load(there))

    def _turn_squares(self, whole: Array, slab: Array, back: bool, lanes: int) -> None:
        """... as many rows and columns at a time as a vector has lanes."""
        code, columns = self.code, self.loop.words.columns
        with code.loop(0, self.rows, lanes) as i, code.loop(0, columns, lanes) as j:
            wide = (columns - j).astype(INT32)
            last = self.rows - 1
            if back:
                lines = turned(code, [slab.load((j + c) * BLOCK + i, lanes) for c in range(lanes)])
                for r, line in enumerate(lines):
                    inside = code.positions(lanes, INT32) < (i + r <= last).select(wide, 0)
                    whole.store((self.start + i + r) * columns + j, line, inside)
            else:
                inside = code.positions(lanes, INT32) < wide
                rows = [(i + r < last).select(i + r, last) for r in range(lanes)]  # the last one again and again
                lines = [whole.load((self.start + row) * columns + j, lanes, inside) for row in rows]
                for c, line in enumerate(turned(code, lines)):
                    slab.store((j + c) * BLOCK + i, line)

    def _over_rows(self, body: Callable[[Lanes, int, Lanes | None], None]) -> None:
        if self.loop.masked:
            self.code.masked_span(self.rows, self.loop.lanes, body)
        else:
            self.code.span(0, self.rows, self.loop.lanes, body, masked=False)

    def _begin(self, x: Value) -> None:
        """The reduction of a row has seen nothing yet."""
        begin = self.code.constant(reductions.start(x.settings["kind"], x.dtype), x.dtype)
        self._over_rows(lambda i, lanes, mask: self._block(x).store(i, begin.spread(lanes), mask))

    def _of_row(self, x: Value, i: Lanes, lanes: int, mask: Lanes | None) -> Lanes:
        """A number of the row, of several rows."""
        if x in self.loop.loop.leaves:
            return self.loop.leaf[x.number].load(self.start + i, lanes, mask)
        return self._block(x).load(i, lanes, mask)

    # passes

    def _rows(self, number: int) -> None:
        """What a row gives between two passes over its columns."""
        loop = self.loop
        values, roots, totals = self.plan.of_rows(number)
        if not values and not roots and not totals:
            return
        here = {x.number for x in values}
        wanted = [*(a for x in [*values, *totals] for a in x.args), *roots]

        def body(i: Lanes, lanes: int, mask: Lanes | None) -> None:
            own = dict(self.numbers)
            for a in dict.fromkeys(wanted):
                if not a.known and loop.zone(a) == "row" and a.number not in here:
                    own[a.number] = self._of_row(a, i, lanes, mask)
            at = self._position(i, self.code.constant(0), lanes)
            for x in values:
                own[x.number] = loop.computed(x, own, at)
                self._block(x).store(i, own[x.number].spread(lanes), mask)
            for x in roots:
                loop.root[x.number].store(self.start + i, own[x.number].spread(lanes), mask)
            for x in totals:
                loop.totals[x.number].add(loop.operand(x.args[0], own).astype(x.dtype), lanes, mask)

        self._over_rows(body)

    def _columns(self, p: Pass) -> None:
        """One pass over the columns, all rows of the block at once."""
        loop, code = self.loop, self.code
        with code.loop(0, loop.words.columns) as j:
            of_column = dict(self.numbers)
            at_column = self._position(self.code.constant(0), j, 1)
            for x in p.needed:
                if loop.zone(x) == "column":
                    is_leaf = x.number not in self.plan.inside
                    of_column[x.number] = (
                        loop.leaf[x.number].load(j) if is_leaf else loop.computed(x, of_column, at_column)
                    )
            sums = {
                x.number: Accumulator(code, x.settings["kind"], x.dtype, loop.lanes)
                for x in p.sums
                if not along_row(x) and x.number not in loop.totals
            }
            self._over_rows(lambda i, lanes, mask: self._stretch(p, of_column, sums, i, j, lanes, mask))
            for x in p.sums:
                if x.number in sums:
                    root = loop.root[x.number]
                    root.store(j, reductions.combined(x.settings["kind"], root.load(j), sums[x.number].total()))

    def _stretch(
        self,
        p: Pass,
        of_column: Numbers,
        sums: dict[int, Accumulator],
        i: Lanes,
        j: Lanes,
        lanes: int,
        mask: Lanes | None,
    ) -> None:
        """Some rows of a column."""
        loop, own = self.loop, dict(of_column)
        computed = [x for x in p.needed if x.number in self.plan.inside and x not in p.remembered]
        wanted = [a for x in computed for a in x.args] + p.roots + [x.args[0] for x in p.sums]
        for a in dict.fromkeys(wanted):
            if not a.known and loop.zone(a) == "row":
                own[a.number] = self._of_row(a, i, lanes, mask)

        def where(what: str, x: Value) -> tuple[Array, Lanes]:
            return (self._block(x), i) if what == "sum" else (self._slab(x), j * BLOCK + i)

        loop.inner(p, own, sums, self._position(i, j, lanes), where, lanes, mask)

    def _position(self, i: Lanes, j: Lanes, lanes: int) -> Position:
        def row() -> Lanes:
            return self.start + i + self.code.positions(lanes)

        return Position(
            {
                "row": row,
                "column": lambda: j,
                "whole": lambda: row() * self.loop.words.columns + j,
                "one": lambda: self.code.constant(0),
            }
        )
