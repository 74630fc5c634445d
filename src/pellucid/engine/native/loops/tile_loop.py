"""A loop that is run with a matrix product: for each of its tiles, as soon as the sums of the tile are there.

They are still in the first cache, and the processor can wait for the loop's other arrays while it multiplies the next
tile. What a loop computes once (numbers, totals) it does before the first tile and after the last; in between it is
kept in working space.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pellucid.engine.native.code.llvm.code import Lanes
from pellucid.engine.native.code.products.tile import BEGIN, END, FINISH, TILE
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.loops.loop_plan import Scratch

if TYPE_CHECKING:
    from pellucid.engine.native.loops.loop_code import LoopCode, Numbers


class TileLoop:
    """The work of writing one: the function that a product gives its tiles to (`tile.FINISH`)."""

    def __init__(self, loop: LoopCode) -> None:
        self.loop, self.plan, self.code = loop, loop.plan, loop.code
        self.words = dict(zip(FINISH, loop.code.arguments, strict=True))
        assert loop.loop.product is not None
        self.product = loop.loop.product.value
        self.kept = {x: loop.scratch[Scratch("one", x)] for x in self.plan.numbers_of_tiles()}
        self.totals = {
            x: loop.scratch[Scratch("total", x)] for x in self.plan.ends() if x.number in loop.totals
        }  # in the making

    def write(self) -> None:
        code, loop, stage = self.code, self.loop, self.words["stage"]
        with code.when(stage == TILE):
            for x, place in self.totals.items():
                loop.totals[x.number].go_on(place)
            self.tile({x.number: place.load(0) for x, place in self.kept.items()})
            self.put_aside()
        with code.when(stage == BEGIN):
            numbers = loop.begin()
            for x, place in self.kept.items():
                place.store(0, numbers[x.number])
            self.put_aside()
        with code.when(stage == END):
            for x, place in self.totals.items():
                loop.totals[x.number].go_on(place)
            loop.end()

    def put_aside(self) -> None:
        for x, place in self.totals.items():
            self.loop.totals[x.number].put_aside(place)

    def tile(self, numbers: Numbers) -> None:
        """Row by row, as arrays lie; where columns are summed, a stretch of them at a time, all rows of it."""
        code, loop, only = self.code, self.loop, self.plan.passes[0]  # sums that end a loop leave an empty one behind
        row, rows, begin = self.words["row"], self.words["rows"], self.words["column"]
        sums_of_tile = code.anywhere(self.words["sums"], self.product.dtype)

        def part(r: Lanes, sums: dict[int, Accumulator], j: Lanes, lanes: int, mask: Lanes | None) -> None:
            own = numbers | loop.leaves_of_row(row + r)
            loop.numbers_of_rows(0, own, row + r)
            own[self.product.number] = sums_of_tile.load(r * self.words["sums_row"] + (j - begin), lanes, mask)
            loop.columns(only, own, sums, row + r)(j, lanes, mask)

        def stretch(j: Lanes, lanes: int, mask: Lanes | None) -> None:
            with loop.sums_of_columns(only, j, lanes, mask) as sums, code.loop(0, rows) as r:
                part(r, sums, j, lanes, mask)

        end = begin + self.words["columns"]
        if any(x.number not in loop.totals for x in only.sums):
            code.span(begin, end, loop.lanes, stretch, loop.masked)
        else:
            with code.loop(0, rows) as r:
                code.span(begin, end, loop.lanes, functools.partial(part, r, {}), loop.masked)
