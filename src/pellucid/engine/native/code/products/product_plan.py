"""How a product is made, from its sizes alone: which side vectors go along, what is copied or turned before it is read.

All ways but the narrow one give the same bits: every element is one sum over the depth in its order. The narrow one is
chosen by columns and depth, not by rows. So a row's result does not depend on the rows beside it, nor on the number of
threads that divide them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.product_words import (
    COPY_LEFT,
    COPY_RIGHT,
    COPY_ROWS,
    FINISH_LATER,
    GROUP,
    MOST_ASKED,
    NARROW,
    PRODUCT_WORDS,
    TURN_RESULT,
    TURN_RIGHT,
    most_narrow,
)

DEPTH = 2048
"""Of the right side at a time: a panel of so many rows stays in the second cache."""

HALF = 0.6
"""What half a vector costs, of a whole one's time."""

LARGE = 1 << 20
"""Bytes of a matrix from which reading it across its rows misses the caches."""

FAR = 8192
"""Bytes between rows from which rows get into each other's way in the caches."""


SHALLOW = 48
"""Depth below which a tile is made so soon that what follows had better not interrupt."""


ASKING = 24
"""Depth from which a tile has turns enough to ask for its lines."""


@dataclass(frozen=True)
class Product:
    """rows x depth times depth x columns. A turned side is stored the other way round; steps are from row to row.

    short: numbers are rounded to bfloat16 before they are multiplied
    """

    rows: int
    columns: int
    depth: int
    left_turned: bool
    right_turned: bool
    left_step: int
    right_step: int
    result_step: int
    item: int
    short: bool = False


class Room(NamedTuple):
    """Bytes that a product needs beside its arrays: for panels of the right side, and for copies of other things."""

    panel: int
    copies: int


class Way(NamedTuple):
    """How: the ways as a table has them, and whether the sides change places (and the result is turned back)."""

    ways: int
    swapped: bool
    block: int


def room_for(product: Product, target: Processor) -> Room:
    """For the best way, and for what must be turned in any."""
    best, plain = way_of(product, target, None), way_of(product, target, Room(1 << 62, 0))
    rooms = [_needs(product, way, target) for way in (best, plain)]
    return Room(max(r.panel for r in rooms), max(r.copies for r in rooms))


def words_for(
    product: Product,
    target: Processor,
    places: tuple[int, int, int],
    work: tuple[int, int, Room],
    first_row: int = 0,
    asked: Sequence[int] = (),
) -> list[int]:
    """The table: `places` of left side, right side and result; `work` is where panels and copies go, and the room.

    What follows the product has yet to be put in its place; it counts rows from `first_row`. `asked` is where arrays
    lie that it uses and other threads have used.
    """
    left, right, result = places
    panel, copies, room = work
    way = way_of(product, target, room)
    sides = _Side(left, product.left_step, product.left_turned), _Side(right, product.right_step, product.right_turned)
    rows, columns, step = product.rows, product.columns, product.result_step
    stored, turned = (result, step), (0, 0)
    if way.swapped:
        sides = sides[1].turned(), sides[0].turned()
        rows, columns = columns, rows
        stored = result, columns
        if way.ways & TURN_RESULT:
            beside = _short_room(product, rows, target).copies if product.short else 0
            stored, turned = (copies + beside, _up(columns, target.lanes(product.item))), (result, step)
    a, b = sides
    alike = not way.swapped and not way.ways & NARROW
    later = not alike or product.depth < SHALLOW
    asked = asked[:MOST_ASKED] if alike and product.depth >= ASKING else ()
    return PRODUCT_WORDS(
        asked,
        ways=way.ways | (FINISH_LATER if later else 0),
        rows=rows,
        columns=columns,
        depth=product.depth,
        block=way.block,
        a=a.place,
        a_row=1 if a.is_turned else a.step,
        a_step=a.step if a.is_turned else 1,
        b=b.place,
        b_row=b.step,
        c=stored[0],
        c_row=stored[1],
        left=copies,
        right=panel,
        turned=turned[0],
        turned_row=turned[1],
        finish=0,
        finish_table=0,
        first_row=first_row,
        result=result,
        result_rows=product.rows,
        result_columns=product.columns,
        asked_count=len(asked),
    )


class _Side(NamedTuple):
    place: int
    step: int
    is_turned: bool

    def turned(self) -> _Side:
        return self._replace(is_turned=not self.is_turned)


def way_of(product: Product, target: Processor, room: Room | None) -> Way:
    """The best way for which there is room; None: any."""
    lanes = target.lanes(product.item)
    if product.short:
        return _short_way(product, target, room)
    narrow = product.columns <= most_narrow(lanes) and product.depth >= (lanes if product.columns <= 4 else 4 * lanes)
    in_one_piece = product.right_turned or product.right_step == product.columns
    in_one_piece = in_one_piece and product.result_step == product.columns
    if narrow and in_one_piece and not product.left_turned:
        turns = TURN_RIGHT if not product.right_turned and product.columns > 1 else 0
        return Way(NARROW | turns, False, _up(product.depth, lanes) + lanes)
    block = _block(product.depth, lanes)
    swapped = _swapped_cost(product, lanes, target) < 0.98 * _plain_cost(product, lanes, target)
    for swap in (True, False) if swapped else (False,):
        for copies in (True, False):
            way = Way(_ways(product, swap, copies), swap, max(block, 1))
            if _fits(product, way, target, room):
                return way
    return way


def _short_way(product: Product, target: Processor, room: Room | None) -> Way:
    """Both sides are copied. They change places where none is turned for it. Parts of the depth are whole pairs."""
    lanes = target.lanes(product.item)
    block = _up(max(_block(product.depth, lanes), 1), 2 * lanes)
    left = COPY_LEFT if product.left_turned else COPY_ROWS
    right = TURN_RIGHT if product.right_turned else COPY_RIGHT
    swapped = Way(left | right | (TURN_RESULT if product.result_step > 1 else 0), True, block)
    gains = _swapped_cost(product, lanes, target) < 0.9 * _plain_cost(product, lanes, target)
    if gains and swapped.ways & COPY_LEFT and swapped.ways & COPY_RIGHT and _fits(product, swapped, target, room):
        return swapped
    return Way(left | right, False, block)


def _fits(product: Product, way: Way, target: Processor, room: Room | None) -> bool:
    return room is None or all(n <= r for n, r in zip(_needs(product, way, target), room, strict=True))


def _block(depth: int, lanes: int) -> int:
    """The depth, or an even part of it."""
    return depth if depth <= DEPTH else _up(-(-depth // -(-depth // DEPTH)), lanes)


def _ways(product: Product, swap: bool, copies: bool) -> int:
    turned = not product.left_turned if swap else product.right_turned
    ways = (TURN_RIGHT if turned else 0) | (TURN_RESULT if swap and product.result_step > 1 else 0)
    if copies and not swap:
        across = product.item * product.depth
        if product.left_turned and across * product.left_step >= LARGE and product.columns >= 128:
            ways |= COPY_LEFT
        far = product.item * product.right_step >= FAR
        if not turned and far and product.rows >= GROUP:
            ways |= COPY_RIGHT
    return ways


def _needs(product: Product, way: Way, target: Processor) -> Room:
    lanes = target.lanes(product.item)
    rows, columns = (product.columns, product.rows) if way.swapped else (product.rows, product.columns)
    if product.short:
        panel, copies = _short_room(product, rows, target)
        turned = _up(rows, lanes) * _up(columns, lanes) * product.item if way.ways & TURN_RESULT else 0
        return Room(panel, copies + turned)
    panel = copies = 0
    if way.ways & NARROW:
        panel = columns * way.block if way.ways & TURN_RIGHT else 0
    elif way.ways & (TURN_RIGHT | COPY_RIGHT) or not target.masked:
        panel = 4 * lanes * _up(min(way.block, product.depth), lanes)
    if way.ways & COPY_LEFT:
        copies = _up(rows, GROUP) * way.block
    if way.ways & TURN_RESULT:
        copies = _up(rows, lanes) * _up(columns, lanes)
    return Room(panel * product.item, copies * product.item)


def _short_room(product: Product, rows: int, target: Processor) -> Room:
    """For a panel and for the copy of a left side of so many rows. The parts of a smaller depth may be longer."""
    lanes = target.lanes(product.item)
    block = _up(min(product.depth, DEPTH), 2 * lanes) // (2 if target.bfloat16 else 1)
    return Room(4 * lanes * block * product.item, _up(rows, GROUP) * block * product.item)


def _plain_cost(product: Product, lanes: int, target: Processor) -> float:
    turning = _turning(lanes, target) * product.columns if product.right_turned else 0.0
    return product.rows * _vectors(product.columns, lanes, target) + turning


def _swapped_cost(product: Product, lanes: int, target: Processor) -> float:
    turning = _turning(lanes, target) * (not product.left_turned) * product.rows
    back = 4 / 3 * _turning(lanes, target) * product.rows * product.columns / max(product.depth, 1)
    return product.columns * _vectors(product.rows, lanes, target) + turning + (product.columns > 1) * back


def _turning(lanes: int, target: Processor) -> float:
    """What it costs to turn a number on its side, in multiplications of a vector.

    A square of vectors is read, its lanes are exchanged again and again, and it is written. Processors that do not
    divide vectors multiply two at a time, but exchange fewer.
    """
    return (lanes.bit_length() + 1) / lanes * (1.0 if target.halves else 4 / 3)


def _vectors(columns: int, lanes: int, target: Processor) -> float:
    """How many vectors are multiplied for a row of the left side, and a row of the right."""
    whole, rest = divmod(columns, lanes)
    half = target.halves and 0 < rest <= lanes // 2
    return whole + (HALF if half else 1.0 if rest else 0.0)


def _up(count: int, unit: int) -> int:
    return -(-count // unit) * unit
