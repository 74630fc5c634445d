"""A tile of a matrix product: some rows times some vectors of columns, summed in registers.

Every element is one sum over the depth in its order, whatever the tile: results do not depend on how rows and columns
are divided, among tiles or among threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import INT32, INT64, Code, Lanes, Text, internal
from pellucid.engine.native.code.llvm.places import BYTE, Array
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.product_words import MOST_ASKED


@dataclass(frozen=True)
class Panel:
    """A kind of panel: its vectors by their lanes, and the rows of a tile.

    `masked`: of the last vector not all lanes need count.
    """

    lanes: tuple[int, ...]
    rows: int
    masked: bool

    @property
    def starts(self) -> list[int]:
        return [sum(self.lanes[:i]) for i in range(len(self.lanes))]

    @property
    def width(self) -> int:
        return sum(self.lanes)


def panels_for(processor: Processor, dtype: Any) -> list[Panel]:
    """The kinds of panels, wide ones first: the widest serves as long as it is full, the others what is left.

    Registers hold the sums of a tile beside a row of the right side and a number of the left one. Sums must be eight
    that they need not wait for each other. Where half a vector takes half the time, the last one may be half as long.
    """
    one = (processor.lanes(np.dtype(dtype).itemsize),)
    half = (one[0] // 2,)
    if processor.halves:
        kinds = {4 * one: 6, 2 * one + half: 6, 2 * one: 6, one: 6, half: 8}
    elif processor.registers >= 32:
        kinds = {4 * one: 6, 3 * one: 6, 2 * one: 6, one: 8}
    else:
        kinds = {2 * one: 6, one: 8}
    return [Panel(lanes, rows, masked=i > 0) for i, (lanes, rows) in enumerate(kinds.items())]


TURNS = 8
"""Of a tile's loop between two places where lines are asked for."""

ARGUMENTS = "a a_row a_step b b_row c c_row rows depth columns go_on finish table row column asked asked_count across"
"""The arguments of a panel: the left side with its steps from row to row and along the depth, the right side and the
target with their steps from row to row, sizes, and whether the target already holds the sums so far. Where the
processor has no masks, rows of the right side have room for whole vectors.

The address of `finish` may be 0: then sums are stored in the target. Otherwise it is given every tile as soon as its
sums are there, with its `table`, and the target is left alone; `row` and `column` are where the panel begins.

`asked` is a list of so many arrays, with the target's steps, whose elements are asked for while the sums are made: what
will be read and written then may be in another processor's cache, and everything would wait for it. The panel begins
`across` bytes behind the beginning of each."""

BEGIN, TILE, END = 0, 1, 2
"""What a product asks of `finish`: before all tiles, for each of them, and after the last."""

FINISH = ("table", "stage", "row", "column", "rows", "columns", "sums", "sums_row")
"""The arguments of `finish`: a part of the product, and where its sums lie with their step from row to row. Only a
tile has such."""


def write_panel(text: Text, name: str, processor: Processor, dtype: Any, panel: Panel, sides: Any = None) -> None:
    """All rows of the left side times a panel of the right one.   sides: their dtype, if not that of the result"""
    code, w = internal(text, name, processor, ARGUMENTS)
    mask = code.mask(w.columns - panel.starts[-1], panel.lanes[-1]) if panel.masked else None
    arrays = [*(code.array(side, sides or dtype) for side in (w.a, w.b)), code.array(w.c, dtype)]
    tile = code.address_of(code.stack_array(panel.rows * panel.width, dtype))
    asked = Asked(code, w, panel, np.dtype(dtype)) if len(panel.lanes) > 2 else None  # narrow tiles wait as it is
    with code.exactly():
        whole = w.rows - w.rows.rest(panel.rows)
        with code.loop(0, whole, panel.rows) as row:
            _tile(code, w, arrays, panel.rows, panel, row, mask, tile, asked)
        rest, done = w.rows - whole, code.variable(INT64, whole)
        for rows in [rows for rows in (8, 4, 2, 1) if rows < panel.rows]:  # the binary digits of what is left
            with code.when((rest & rows) != 0):
                _tile(code, w, arrays, rows, panel, done.get(), mask, tile)
                done.set(done.get() + rows)
    code.finish(0)


def _tile(
    code: Code,
    w: Any,
    arrays: Sequence[Array],
    rows: int,
    panel: Panel,
    row: Lanes,
    mask: Lanes | None,
    tile: Lanes,
    asked: Asked | None = None,
) -> None:
    left, right, target = arrays
    dtype = target.dtype
    vectors = list(zip(panel.starts, panel.lanes, strict=True))
    masks = [None] * (len(vectors) - 1) + [mask]
    readable = masks if code.processor.masked else [None] * len(vectors)
    sums = [[code.variable(dtype, 0.0, lanes) for _, lanes in vectors] for _ in range(rows)]
    with code.when(w.go_on != 0):
        for r in range(rows):
            line = target.after((row + r) * w.c_row)
            for total, (start, lanes), which in zip(sums[r], vectors, masks, strict=True):
                total.set(line.load(start, lanes, which))
    starts = [left.after((row + r) * w.a_row) for r in range(rows)]
    turns = nullcontext((code.constant(0), w.depth)) if asked is None else asked.turns(row)
    with turns as (begin, end), code.loop(begin, end) as k:
        line, step = right.after(k * w.b_row), k * w.a_step
        factors = [line.load(start, lanes, which) for (start, lanes), which in zip(vectors, readable, strict=True)]
        for r in range(rows):
            number = starts[r].load(step)
            same = {lanes: number.spread(lanes) for lanes in dict.fromkeys(panel.lanes)}
            for total, factor in zip(sums[r], factors, strict=True):
                total.set(plus_product(code, same[factor.lanes], factor, total.get()))
    finished = w.finish != 0
    stored = code.anywhere(finished.select(tile, w.c + row * w.c_row * dtype.itemsize), dtype)
    step = finished.select(panel.width, w.c_row)
    for r in range(rows):
        line = stored.after(step * r)
        for total, start, which in zip(sums[r], panel.starts, masks, strict=True):
            line.store(start, total.get(), which)
    with code.when(finished):
        part = w.row + row, w.column, code.constant(rows), w.columns
        code.by_address(w.finish, INT32, w.table, code.constant(TILE), *part, tile, step)


class Asked:
    """The lines of a tile in several arrays, as many as its loop makes turns, some at a time.

    All at once would keep the processor from reading, and one at each turn would make a loop of many instructions.
    """

    def __init__(self, code: Code, w: Any, panel: Panel, dtype: np.dtype[Any]) -> None:
        """Where they lie for the first tile of a panel; for the others so many rows further. Behind the last line it
        stands some times more. Where there are no arrays, the table of places is asked for, which is near."""
        count, row = w.asked_count, w.c_row * dtype.itemsize
        starts = [start * dtype.itemsize for start in panel.starts]
        lines = [row * r + start for r in range(panel.rows) for start in starts]
        self.code, self.depth, self.lines = code, w.depth, count * len(lines)
        self.places = code.stack_array(MOST_ASKED * len(lines) + TURNS, INT64)
        self.row = (count > 0).select(row, 0)
        arrays, place = code.anywhere(w.asked, INT64), code.variable(INT64, code.address_of(self.places))
        with code.loop(0, count) as i:
            array = arrays.load(i) + w.across
            for number, line in enumerate(lines):
                place.set(array + line)
                self.places.store(i * len(lines) + number, place.get())
        for turn in range(TURNS):
            self.places.store(self.lines + turn, place.get())

    @contextmanager
    def turns(self, row: Lanes) -> Iterator[tuple[Lanes, Lanes]]:
        """Where some turns of a tile begin and end, ahead of which as many lines are asked for."""
        with self.code.loop(0, self.depth, TURNS) as first:
            at = (first < self.lines).select(first, self.lines)
            for i in range(TURNS):
                self.code.anywhere(self.places.load(at + i) + row * self.row, BYTE).ask_for(0)
            behind = first + TURNS
            yield first, (behind < self.depth).select(behind, self.depth)


def plus_product(code: Code, a: Lanes, b: Lanes, total: Lanes) -> Lanes:
    """total + a b, rounded once where the processor can. Whole numbers are the bits of pairs of bfloat16 numbers."""
    if a.dtype == INT32:
        return code.plus_pairs(a, b, total)
    return code.of_processor("fma", a, b, total) if code.processor.fused else total + a * b
