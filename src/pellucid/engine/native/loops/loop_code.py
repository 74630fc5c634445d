"""A loop nest as instructions: its values are walked once for every pass over the columns.

Rows are taken one after the other, columns a vector at a time; what a row gives by itself is computed number by
number. Reductions have a part for each lane, which are added up in a fixed order.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pellucid.engine.native.code import reductions
from pellucid.engine.native.code.expressions import is_costly, written
from pellucid.engine.native.code.llvm.code import FLOAT64, INT64, Array, Code, Lanes, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.tile import FINISH
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.loops import narrow_loop
from pellucid.engine.native.loops.loop_plan import NARROW, SIZES, LoopPlan, Pass, Scratch, is_inline
from pellucid.engine.native.loops.narrow_loop import TurnedStretch
from pellucid.engine.native.loops.tile_loop import TileLoop
from pellucid.engine.native.passes.instructions import Loop, along_row
from pellucid.engine.native.passes.values import Value

SHORT = 8
"""Vectors of a row up to which sums of columns are made one after the other."""

Numbers = dict[int, Lanes]
"""Values by their numbers, as far as they are computed."""


@dataclass(frozen=True, kw_only=True)
class LoopKernel(Kernel):
    """The kernel of a loop, and the plan by which its table is filled."""

    plan: LoopPlan = field(compare=False, repr=False)


def kernel_of(loop: Loop, overwrites: Mapping[int, Value]) -> LoopKernel:
    """The kernel of a loop; `overwrites` says which values are written over which arrays."""
    plan = LoopPlan(loop, overwrites)

    def write(name: str, processor: Processor) -> str:
        code = Code(Text(), name, processor, (INT64,) * (1 if loop.product is None else len(FINISH)))
        whole = LoopCode(plan, code)
        (whole if loop.product is None else TileLoop(whole)).write()
        code.finish(0)
        return str(code.text)

    return LoopKernel(plan.description(), write, plan=plan)


@dataclass(frozen=True)
class Stretch:
    """Numbers of a row that are computed side by side: from a column on, and from a place in a whole array on.

    `mask` says which of them count.
    """

    loop: LoopCode
    column: Lanes
    whole: Lanes
    lanes: int
    mask: Lanes | None

    def position(self, x: Value) -> Lanes:
        """Of each number, in its row or in the whole array."""
        return (self.column if self.loop.zone(x) == "column" else self.whole) + self.loop.code.positions(self.lanes)

    def place(self, what: str, x: Value) -> tuple[Array, Lanes]:
        """Where a "leaf" is read, a value "remembered" from pass to pass, a "sum" made and a "root" stored."""
        if what == "remembered":
            return self.loop.scratch[Scratch("row", x)], self.column
        if what == "leaf":
            return self.loop.leaf[x.number], self.column if self.loop.zone(x) == "column" else self.whole
        return self.loop.root[x.number], self.column if what == "sum" else self.whole


class LoopCode:
    """The work of writing one loop."""

    def __init__(self, plan: LoopPlan, code: Code) -> None:
        self.plan, self.loop, self.code = plan, plan.loop, code
        self.words, processor = SIZES.read(code), code.processor
        rest = map(self.words.rest.load, itertools.count())
        arrays, scratch, numbers = ([next(rest) for _ in x] for x in (plan.arrays, plan.scratch, plan.numbers))
        self.numbers = {
            x: number.viewed(FLOAT64) if x.dtype.kind == "f" else number
            for x, number in zip(plan.numbers, numbers, strict=True)
        }
        values = [*self.loop.leaves, *self.loop.body]
        items = [x.dtype.itemsize for x in values if x.dtype.kind == "f"] or [x.dtype.itemsize for x in values] or [8]
        self.lanes = processor.lanes(max(min(items), 4)) * (2 if any(map(is_costly, self.loop.body)) else 1)
        small = any(a.dtype.itemsize < 4 for a in plan.arrays)  # most processors mask numbers of 4 and 8 bytes only
        self.masked = processor.masked and (processor.vector == 64 or not small)
        places = [code.array(a, x.dtype) for a, x in zip(arrays, plan.arrays, strict=True)]
        self.leaf = {x.number: places[plan.leaf_place[x.number]] for x in self.loop.leaves}
        self.root = {x.number: places[plan.root_place[x.number]] for x in self.loop.roots}
        self.scratch: dict[Scratch, Array] = {
            s: code.array(a, s.value.dtype) for a, s in zip(scratch, plan.scratch, strict=True)
        }
        self.totals = self.accumulators((x for x in plan.ends() if x.single), self.lanes)

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
        elif plan.rows_are_alike and self.masked and self.lanes > 1:
            self.alike_rows(numbers)
        else:
            self.rows(numbers)
        self.end()

    def begin(self) -> Numbers:
        """Single numbers, which are computed once; sums of columns have seen nothing yet."""
        zero = self.code.constant(0)
        numbers: Numbers = {x.number: self.leaf[x.number].load(0) for x in self.loop.leaves if self.zone(x) == "one"}
        for x in self.loop.body:
            if self.zone(x) == "one":
                numbers[x.number] = self.computed(x, numbers, lambda: zero)
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
            self.inner(only, dict(numbers), {}, Stretch(self, k, k, lanes, mask))

        self.code.span(self.words.first, self.words.last, self.lanes, body, self.masked)

    def alike_rows(self, numbers: Numbers) -> None:
        """Rows that give nothing by themselves: their whole vectors first, then a stretch of columns of all rows.

        So the rest of a row is done behind its whole vectors. A masked write ends where the next row begins; read soon
        after, the processor would wait for it. Sums of short rows stay in registers: in memory they would be wanted
        again before they are there.
        """
        code, columns = self.code, self.words.columns
        only = self.plan.passes[0]  # sums that end a loop leave an empty one behind
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
        sums = self.accumulators(ends, lanes)
        yield sums
        for x in ends:
            root = self.root[x.number]
            so_far = root.load(j, lanes, mask)
            root.store(j, reductions.combined(x.settings["kind"], so_far, sums[x.number].parts()), mask)

    def rows(self, numbers: Numbers) -> None:
        """Row by row, with as many passes over the columns as its reductions need."""
        code, plan = self.code, self.plan
        with code.loop(self.words.first, self.words.last) as i:
            own = numbers | self.leaves_of_row(i)
            for p in plan.passes:
                self.numbers_of_rows(p.number, own, i)
                sums = self.accumulators(filter(along_row, p.sums), self.lanes)
                if p.sums or p.roots:
                    code.span(0, self.words.columns, self.lanes, self.columns(p, own, sums, i), self.masked)
                own |= {number: accumulator.total() for number, accumulator in sums.items()}

    def leaves_of_row(self, i: Lanes) -> Numbers:
        return {x.number: self.leaf[x.number].load(i) for x in self.loop.leaves if self.zone(x) == "row"}

    def numbers_of_rows(self, number: int, own: Numbers, i: Lanes, lanes: int = 1, mask: Lanes | None = None) -> None:
        """What rows give by themselves before a pass over their columns: row i, or several from there on."""
        values, roots, totals = self.plan.of_rows(number)
        for x in values:
            own[x.number] = self.computed(x, own, lambda: i + self.code.positions(lanes))
        for x in roots:
            self.root[x.number].store(i, own[x.number].spread(lanes), mask)
        for x in totals:
            self.totals[x.number].add(self.operand(x.args[0], own).astype(x.dtype), lanes, mask)

    def columns(
        self, p: Pass, own: Numbers, sums: dict[int, Accumulator], i: Lanes
    ) -> Callable[[Lanes, int, Lanes | None], None]:
        """What is done with a stretch of columns of row i."""
        base = i * self.words.columns

        def body(j: Lanes, lanes: int, mask: Lanes | None) -> None:
            self.inner(p, dict(own), sums, Stretch(self, j, base + j, lanes, mask))

        return body

    def inner(self, p: Pass, numbers: Numbers, sums: dict[int, Accumulator], stretch: Stretch | TurnedStretch) -> None:
        """A stretch of columns, or of rows: what this pass needs and is not there yet, its sums and its stores."""
        lanes, mask = stretch.lanes, stretch.mask
        for x in p.needed:
            if x.number in numbers:
                continue
            is_leaf = x.number in self.leaf and x.number not in self.plan.inside
            if is_leaf or x in p.remembered:
                array, index = stretch.place("leaf" if is_leaf else "remembered", x)
                numbers[x.number] = array.load(index, lanes, mask)
            else:
                numbers[x.number] = self.computed(x, numbers, functools.partial(stretch.position, x))
                if x in p.remembering:
                    array, index = stretch.place("remembered", x)
                    array.store(index, numbers[x.number].spread(lanes), mask)
        for x in p.sums:
            new = self.operand(x.args[0], numbers).astype(x.dtype)
            if x.number in sums or x.number in self.totals:
                (sums.get(x.number) or self.totals[x.number]).add(new, lanes, mask)
            else:
                array, index = stretch.place("sum", x)
                so_far = array.load(index, lanes, mask)
                array.store(index, reductions.combined(x.settings["kind"], so_far, new.spread(lanes)), mask)
        for x in p.roots:
            array, index = stretch.place("root", x)
            array.store(index, self.operand(x, numbers).spread(lanes), mask)

    # values

    def accumulators(self, sums: Iterable[Value], lanes: int) -> dict[int, Accumulator]:
        return {x.number: Accumulator(self.code, x.settings["kind"], x.dtype, lanes) for x in sums}

    def zone(self, x: Value) -> str:
        return self.plan.zone[x.number]

    def operand(self, x: Value, numbers: Numbers) -> Lanes:
        if not x.known:
            return numbers[x.number]
        if is_inline(x):
            return self.code.constant(x.settings["value"], x.dtype)
        return self.numbers[x]

    def computed(self, x: Value, numbers: Numbers, place: Callable[[], Lanes]) -> Lanes:
        return written(x, [self.operand(a, numbers) for a in x.args], place)
