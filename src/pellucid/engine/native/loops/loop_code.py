"""A loop nest as instructions: its values are walked once for every pass over the columns.

Rows are taken one after the other, columns a vector at a time; what a row gives by itself is computed number by
number. Reductions have a part for each lane, which are added up in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pellucid.engine.native.code import reductions
from pellucid.engine.native.code.expressions import written
from pellucid.engine.native.code.llvm.code import INT64, Code, Lanes, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.places import Array
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.tile import FINISH
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.loops import narrow_loop
from pellucid.engine.native.loops.loop_plan import NARROW, LoopPlan, Pass, Position, Scratch, is_inline, is_total
from pellucid.engine.native.loops.tile_loop import TileLoop
from pellucid.engine.native.passes.instructions import Loop, along_row
from pellucid.engine.native.passes.values import Value

SHORT = 8
"""Vectors of a row up to which sums of columns are made one after the other."""

Numbers = dict[int, Lanes]
"""Values by their numbers, as far as they are computed."""

Where = Callable[[str, Value], tuple[Array, Lanes]]
"""Where a "leaf" is read, a value "remembered" from pass to pass, a "sum" made and a "root" stored: array and index."""


@dataclass
class LoopKernel:
    """The kernel of a loop, and the plan by which its table is filled."""

    plan: LoopPlan
    kernel: Kernel


def kernel_of(loop: Loop, aliases: Mapping[int, int]) -> LoopKernel:
    """The kernel of a loop; `aliases` says which roots are written over which leaves."""
    plan = LoopPlan(loop, aliases)

    def write(name: str, processor: Processor) -> str:
        code = Code(Text(), name, processor, (INT64,) * (1 if loop.product is None else len(FINISH)))
        whole = LoopCode(plan, code)
        (whole if loop.product is None else TileLoop(whole)).write()
        code.finish(0)
        return str(code.text)

    return LoopKernel(plan, Kernel(plan.description(), write))


class LoopCode:
    """The work of writing one loop."""

    def __init__(self, plan: LoopPlan, code: Code) -> None:
        self.plan, self.loop, self.code = plan, plan.loop, code
        self.words = plan.read(code)
        processor = code.processor
        values = [*self.loop.leaves, *self.loop.body]
        items = [x.dtype.itemsize for x in values if x.dtype.kind == "f"] or [x.dtype.itemsize for x in values] or [8]
        self.lanes = processor.lanes(max(min(items), 4))
        small = any(a.dtype.itemsize < 4 for a in plan.arrays)  # most processors mask numbers of 4 and 8 bytes only
        self.masked = processor.masked and (processor.vector == 64 or not small)
        places = [self.code.array(a, x.dtype) for a, x in zip(self.words.arrays, plan.arrays, strict=True)]
        self.leaf = {x.number: places[plan.leaf_place[x.number]] for x in self.loop.leaves}
        self.root = {x.number: places[plan.root_place[x.number]] for x in self.loop.roots}
        self.scratch: dict[Scratch, Array] = {
            s: self.code.array(a, s.value.dtype) for a, s in zip(self.words.scratch, plan.scratch, strict=True)
        }
        self.totals = {
            x.number: Accumulator(self.code, x.settings["kind"], x.dtype, self.lanes)
            for x in plan.ends()
            if is_total(x)
        }

    def write(self) -> None:
        """All of it."""
        code, plan = self.code, self.plan
        numbers = self.begin()
        if plan.flat:
            self.elements(numbers)
        elif plan.narrow:
            few = self.words.columns <= NARROW
            with code.when(few):
                narrow_loop.write(self, numbers)
            with code.when(~few):
                self.rows(numbers)
        elif plan.rows_are_alike:
            self.alike_rows(numbers)
        else:
            self.rows(numbers)
        self.end()

    def begin(self) -> Numbers:
        """Single numbers, which are computed once; sums of columns have seen nothing yet."""
        zero = self.code.constant(0)
        nowhere = Position({"one": lambda: zero})
        numbers: Numbers = {x.number: self.leaf[x.number].load(0) for x in self.loop.leaves if self.zone(x) == "one"}
        for x in self.loop.body:
            if self.zone(x) == "one":
                numbers[x.number] = self.computed(x, numbers, nowhere)
        for x in self.loop.roots:
            if self.zone(x) == "one" and self.plan.kind(x) == "one":
                self.root[x.number].store(0, numbers[x.number])
        for x in self.plan.ends():
            if x.number not in self.totals:
                self._clear(x)
        return numbers

    def end(self) -> None:
        """Totals are stored."""
        for x in self.plan.ends():
            if x.number in self.totals:
                self.root[x.number].store(0, self.totals[x.number].total())

    def _clear(self, x: Value) -> None:
        """Sums of the columns begin."""
        begin = self.code.constant(reductions.start(x.settings["kind"], x.dtype), x.dtype)

        def store(j: Lanes, lanes: int, mask: Lanes | None) -> None:
            self.root[x.number].store(j, begin.spread(lanes), mask)

        self.code.span(0, self.words.columns, self.lanes, store, self.masked)

    # the ways through a loop

    def elements(self, numbers: Numbers) -> None:
        """All elements in one run."""
        (only,) = self.plan.passes
        if not only.sums and not only.roots:
            return

        def body(k: Lanes, lanes: int, mask: Lanes | None) -> None:
            at = Position({"whole": lambda: k + self.code.positions(lanes), "one": lambda: self.code.constant(0)})
            self.inner(only, dict(numbers), {}, at, self.of_row(k, k), lanes, mask)

        self.code.span(self.words.first, self.words.last, self.lanes, body, self.masked)

    def alike_rows(self, numbers: Numbers) -> None:
        """Rows that give nothing by themselves: their whole vectors first, then a stretch of columns of all rows.

        So the rest of a row is done behind its whole vectors. A masked write ends where the next row begins; read soon
        after, the processor would wait for it. Sums of short rows stay in registers: in memory they would be wanted
        again before they are there.
        """
        code, columns = self.code, self.words.columns
        only = self.plan.passes[0]  # sums that end a loop leave an empty one behind
        if not self.masked or self.lanes == 1:
            with code.loop(self.words.first, self.words.last) as i:
                code.span(0, columns, self.lanes, self.columns(only, numbers, {}, i), masked=False)
            return
        whole = columns & -self.lanes
        if any(x.number not in self.totals for x in only.sums) and code.processor.vector == 64:
            whole = (columns > SHORT * self.lanes).select(whole, 0)
        with code.loop(self.words.first, self.words.last) as i:
            code.vectors(0, whole, self.lanes, self.columns(only, numbers, {}, i))
        with code.loop(whole, columns, self.lanes) as j:
            mask = code.mask(columns - j, self.lanes)
            rows = code.loop(self.words.first, self.words.last)
            with self.sums_of_columns(only, j, self.lanes, mask) as sums, rows as i:
                self.columns(only, numbers, sums, i)(j, self.lanes, mask)

    @contextmanager
    def sums_of_columns(self, p: Pass, j: Lanes, lanes: int, mask: Lanes | None) -> Iterator[dict[int, Accumulator]]:
        """What is added to the sums of a stretch of columns."""
        ends = [x for x in p.sums if x.number not in self.totals]
        sums = {x.number: Accumulator(self.code, x.settings["kind"], x.dtype, lanes) for x in ends}
        yield sums
        for x in ends:
            root = self.root[x.number]
            so_far = root.load(j, lanes, mask)
            root.store(j, reductions.combined(x.settings["kind"], so_far, sums[x.number].parts()), mask)

    def rows(self, numbers: Numbers) -> None:
        """Row by row, with as many passes over the columns as its reductions need."""
        code, plan = self.code, self.plan
        with code.loop(self.words.first, self.words.last) as i:
            own = dict(numbers)
            for x in self.loop.leaves:
                if self.zone(x) == "row":
                    own[x.number] = self.leaf[x.number].load(i)
            at_row = Position({"row": lambda: i, "one": lambda: code.constant(0)})
            for p in plan.passes:
                values, roots, totals = plan.of_rows(p.number)
                for x in values:
                    own[x.number] = self.computed(x, own, at_row)
                for x in roots:
                    self.root[x.number].store(i, own[x.number])
                for x in totals:
                    self.totals[x.number].add(self.operand(x.args[0], own).astype(x.dtype))
                sums = {
                    x.number: Accumulator(code, x.settings["kind"], x.dtype, self.lanes) for x in p.sums if along_row(x)
                }
                if p.sums or p.roots:
                    code.span(0, self.words.columns, self.lanes, self.columns(p, own, sums, i), self.masked)
                own |= {number: accumulator.total() for number, accumulator in sums.items()}

    def columns(
        self, p: Pass, own: Numbers, sums: dict[int, Accumulator], i: Lanes
    ) -> Callable[[Lanes, int, Lanes | None], None]:
        """What is done with a stretch of columns of row i."""
        code, base = self.code, i * self.words.columns

        def body(j: Lanes, lanes: int, mask: Lanes | None) -> None:
            at = Position(
                {
                    "row": lambda: i,
                    "column": lambda: j + code.positions(lanes),
                    "whole": lambda: base + j + code.positions(lanes),
                    "one": lambda: code.constant(0),
                }
            )
            self.inner(p, dict(own), sums, at, self.of_row(j, base + j), lanes, mask)

        return body

    def inner(
        self,
        p: Pass,
        numbers: Numbers,
        sums: dict[int, Accumulator],
        at: Position,
        where: Where,
        lanes: int,
        mask: Lanes | None,
    ) -> None:
        """A stretch of columns, or of rows: what this pass needs and is not there yet, its sums and its stores."""
        for x in p.needed:
            if x.number in numbers:
                continue
            is_leaf = x.number in self.leaf and x.number not in self.plan.inside
            if is_leaf or x in p.remembered:
                array, index = where("leaf" if is_leaf else "remembered", x)
                numbers[x.number] = array.load(index, lanes, mask)
            else:
                numbers[x.number] = self.computed(x, numbers, at)
                if x in p.remembering:
                    array, index = where("remembered", x)
                    array.store(index, numbers[x.number].spread(lanes), mask)
        for x in p.sums:
            new = self.operand(x.args[0], numbers).astype(x.dtype)
            if x.number in sums or x.number in self.totals:
                (sums.get(x.number) or self.totals[x.number]).add(new, lanes, mask)
            else:
                array, index = where("sum", x)
                so_far = array.load(index, lanes, mask)
                array.store(index, reductions.combined(x.settings["kind"], so_far, new.spread(lanes)), mask)
        for x in p.roots:
            array, index = where("root", x)
            array.store(index, self.operand(x, numbers).spread(lanes), mask)

    def of_row(self, column: Lanes, whole: Lanes) -> Where:
        """Where numbers of a row lie, from a column on and from a place in a whole array on."""

        def where(what: str, x: Value) -> tuple[Array, Lanes]:
            if what == "remembered":
                return self.scratch[Scratch("row", x)], column
            if what == "leaf":
                return self.leaf[x.number], column if self.zone(x) == "column" else whole
            return self.root[x.number], column if what == "sum" else whole

        return where

    # values

    def zone(self, x: Value) -> str:
        return self.plan.zone[x.number]

    def operand(self, x: Value, numbers: Numbers) -> Lanes:
        if not x.known:
            return numbers[x.number]
        if is_inline(x):
            return self.code.constant(x.settings["value"], x.dtype)
        return self.words.numbers[self.plan.numbers.index(x)]

    def computed(self, x: Value, numbers: Numbers, at: Position) -> Lanes:
        return written(x, [self.operand(a, numbers) for a in x.args], lambda: at(self.plan.kind(x)))
