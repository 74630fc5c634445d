"""Parts of a float32 matrix copied as bfloat16 numbers, the nearest ones, ties to even.

Where the processor multiplies pairs of them, two neighbours along the depth become one lane of int32, the first in its
lower half; behind an odd depth stands a zero. Elsewhere they are float32 numbers that have the same value.
"""

from __future__ import annotations

from typing import Any

from pellucid.engine.native.code.llvm.code import INT32, Code, Lanes, Text, internal
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.packing import COPY, turned, write_copy, write_turn

SHORT, LONG = "bfloat16", "float32"
"""What is multiplied, and what is read and summed."""


def write_short_copies(text: Text, name: str, processor: Processor) -> None:
    """`copy`, `turn` and `rows` for bfloat16 numbers.

    A copy's pairs come from two rows of the source, those of the others from one; `rows` leaves them where they are.
    """
    if processor.bfloat16:
        _write_copy(text, f"{name}.copy", processor)
        _write_turn(text, f"{name}.turn", processor)
        _write_rows(text, f"{name}.rows", processor)
    else:
        for copy in ("copy", "rows"):
            write_copy(text, f"{name}.{copy}", processor, LONG, rounded)
        write_turn(text, f"{name}.turn", processor, LONG, exactly=False, change=rounded)


def rounded(x: Lanes) -> Lanes:
    """float32 numbers with the value of the nearest bfloat16 numbers."""
    bits = x.viewed("uint32")
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return (x != x).select(x, nearest.viewed(LONG))


def _write_copy(text: Text, name: str, processor: Processor) -> None:
    """target[k, j] = source[2 k, j], source[2 k + 1, j]. Rows of the target have room for whole vectors."""
    code, w = internal(text, name, processor, COPY)
    source, target = code.array(w.source, LONG), code.array(w.target, INT32)
    lanes = processor.lanes(INT32.itemsize)
    order = [lane for i in range(lanes) for lane in (i, lanes + i)]

    def pairs(k: Lanes, alone: bool) -> None:
        first, second = (source.after((k + i) * w.source_row) for i in range(2))
        there = target.after((k >> 1) * w.target_row)

        def move(j: Lanes, _: int, mask: Lanes | None) -> None:
            beside = code.constant(0.0, LONG).spread(lanes) if alone else second.load(j, lanes, mask)
            both = code.as_bfloat16(first.load(j, lanes, mask), beside)
            there.store(j, code.chosen(both, both, order).viewed(INT32))

        code.span(0, w.columns, lanes, move, masked=True)

    last = w.rows - (w.rows & 1)
    with code.loop(0, last, 2) as k:
        pairs(k, alone=False)
    with code.when(last < w.rows):
        pairs(last, alone=True)
    code.finish(0)


def _write_turn(text: Text, name: str, processor: Processor) -> None:
    """target[k, i] = source[i, 2 k], source[i, 2 k + 1], by squares of vectors, for which there is room."""
    code, w = internal(text, name, processor, COPY)
    source, target = code.array(w.source, LONG), code.array(w.target, INT32)
    lanes = processor.lanes(INT32.itemsize)
    with code.loop(0, w.rows, lanes) as i:
        last = w.rows - 1
        starts = [source.after((i + r < last).select(i + r, last) * w.source_row) for r in range(lanes)]

        def square(j: Lanes, masks: Any) -> None:
            for r, row in enumerate(turned(code, [_pairs(code, start, j, lanes, masks) for start in starts])):
                target.store(((j >> 1) + r) * w.target_row + i, row)

        _span_of_pairs(code, w.columns, lanes, square)
    code.finish(0)


def _write_rows(text: Text, name: str, processor: Processor) -> None:
    """target[i, k] = source[i, 2 k], source[i, 2 k + 1]. Rows of the target have room for whole vectors."""
    code, w = internal(text, name, processor, COPY)
    source, target = code.array(w.source, LONG), code.array(w.target, INT32)
    lanes = processor.lanes(INT32.itemsize)
    with code.loop(0, w.rows) as i:
        here, there = source.after(i * w.source_row), target.after(i * w.target_row)

        def move(j: Lanes, masks: Any, here: Any = here, there: Any = there) -> None:
            there.store(j >> 1, _pairs(code, here, j, lanes, masks))

        _span_of_pairs(code, w.columns, lanes, move)
    code.finish(0)


def _pairs(code: Code, line: Any, j: Lanes, lanes: int, masks: Any) -> Lanes:
    """A vector of pairs from two vectors of a row."""
    first, second = (line.load(j + half * lanes, lanes, mask) for half, mask in enumerate(masks))
    return code.as_bfloat16(first, second).viewed(INT32)


def _span_of_pairs(code: Code, columns: Lanes, lanes: int, body: Any) -> None:
    """body(index, masks) for two vectors at a time, then for what is left."""
    whole = code.vectors(0, columns, 2 * lanes, lambda j, *_: body(j, (None, None)))
    with code.when(whole < columns):
        body(whole, [code.mask(columns - whole - start, lanes) for start in (0, lanes)])
