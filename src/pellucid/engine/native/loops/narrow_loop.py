"""Loops over few columns: blocks of rows side by side, so that the rows fill the processor's vectors.

Ten classes are too few for a vector of sixteen numbers. So a block of rows is turned on its side: working space holds,
for each column, a number of every row of the block, and the innermost loop runs over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pellucid.engine.native.code import reductions
from pellucid.engine.native.code.llvm.code import INT32, Array, Lanes
from pellucid.engine.native.code.products.packing import turned
from pellucid.engine.native.code.vectormath.operations import select
from pellucid.engine.native.loops.loop_plan import BLOCK, Pass, Scratch
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


@dataclass(frozen=True)
class TurnedStretch:
    """Numbers of a column of a block that are computed side by side, from a row of it on."""

    block: Block
    row: Lanes
    column: Lanes
    lanes: int
    mask: Lanes | None

    def position(self, x: Value) -> Lanes:
        """Of each number, in the whole array."""
        rows = self.block.start + self.row + self.block.code.positions(self.lanes)
        place: Lanes = rows * self.block.loop.words.columns + self.column
        return place

    def place(self, what: str, x: Value) -> tuple[Array, Lanes]:
        """In working space: a "sum", or what stands in whole arrays."""
        if what == "sum":
            return self.block.of_row(x), self.row
        return self.block.slab(x), self.column * BLOCK + self.row


class Block:
    """Some rows, at most BLOCK of them."""

    def __init__(self, loop: LoopCode, numbers: Numbers, start: Lanes, rows: Lanes) -> None:
        self.loop, self.plan, self.code = loop, loop.plan, loop.code
        self.numbers, self.start, self.rows = numbers, start, rows

    def write(self) -> None:
        loop, plan = self.loop, self.plan
        for x in loop.loop.leaves:
            if loop.zone(x) == "whole":
                self._turn(loop.leaf[x.number], self.slab(x), back=False)
        for p in plan.passes:
            self._rows(p.number)
            for x in loop.loop.body:
                if along_row(x) and plan.phase[x.number] == p.number + 1:
                    self._begin(x)
            if p.sums or p.roots:
                self._columns(p)
        for p in plan.passes:
            for x in p.roots:
                self._turn(loop.root[x.number], self.slab(x), back=True)

    # working space

    def slab(self, x: Value) -> Array:
        return self.loop.scratch[Scratch("slab", x)]

    def of_row(self, x: Value) -> Array:
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
        """All rows; under a mask all of them are, which is half the code: they are few."""
        code, lanes = self.code, self.loop.lanes
        if not self.loop.masked:
            code.span(0, self.rows, lanes, body, masked=False)
            return
        with code.loop(0, self.rows, lanes) as i:
            body(i, lanes, code.mask(self.rows - i, lanes))

    def _begin(self, x: Value) -> None:
        """The reduction of a row has seen nothing yet."""
        begin = self.code.constant(reductions.start(x.settings["kind"], x.dtype), x.dtype)
        self._over_rows(lambda i, lanes, mask: self.of_row(x).store(i, begin.spread(lanes), mask))

    def _numbers_of_rows(self, wanted: Iterable[Value], i: Lanes, lanes: int, mask: Lanes | None) -> Numbers:
        """Those of these values that several rows have by themselves."""
        own: Numbers = {}
        for x in dict.fromkeys(wanted):
            if x.known or self.loop.zone(x) != "row":
                continue
            if x in self.loop.loop.leaves:
                own[x.number] = self.loop.leaf[x.number].load(self.start + i, lanes, mask)
            else:
                own[x.number] = self.of_row(x).load(i, lanes, mask)
        return own

    # passes

    def _rows(self, number: int) -> None:
        """What a row gives between two passes over its columns."""
        values, roots, totals = self.plan.of_rows(number)
        if not values and not roots and not totals:
            return
        wanted = [*(a for x in [*values, *totals] for a in x.args), *roots]

        def body(i: Lanes, lanes: int, mask: Lanes | None) -> None:
            own = self.numbers | self._numbers_of_rows([a for a in wanted if a not in values], i, lanes, mask)
            self.loop.numbers_of_rows(number, own, self.start + i, lanes, mask)
            for x in values:
                self.of_row(x).store(i, own[x.number].spread(lanes), mask)

        self._over_rows(body)

    def _columns(self, p: Pass) -> None:
        """One pass over the columns, all rows of the block at once."""
        loop = self.loop
        computed = [x for x in p.needed if x.number in self.plan.inside and x not in p.remembered]
        wanted = [a for x in computed for a in x.args] + p.roots + [x.args[0] for x in p.sums]
        with self.code.loop(0, loop.words.columns) as j:
            of_column = dict(self.numbers)
            for x in p.needed:
                if loop.zone(x) == "column":
                    is_leaf = x.number not in self.plan.inside
                    made = loop.leaf[x.number].load(j) if is_leaf else loop.computed(x, of_column, lambda: j)
                    of_column[x.number] = made
            ends = [x for x in p.sums if not along_row(x) and x.number not in loop.totals]
            sums = loop.accumulators(ends, loop.lanes)

            def body(i: Lanes, lanes: int, mask: Lanes | None) -> None:
                own = of_column | self._numbers_of_rows(wanted, i, lanes, mask)
                loop.inner(p, own, sums, TurnedStretch(self, i, j, lanes, mask))

            self._over_rows(body)
            for x in ends:
                root = loop.root[x.number]
                root.store(j, reductions.combined(x.settings["kind"], root.load(j), sums[x.number].total()))
