"""Parts of a matrix copied to where a product reads them one after the other, as they are or turned on their side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import INT32, INT64, Code, Lanes, Text
from pellucid.engine.native.code.llvm.processor import Processor

COPY = ("source", "source_row", "target", "target_row", "rows", "columns")
"""The arguments of both: steps are from row to row."""


def write_copy(text: Text, name: str, processor: Processor, dtype: Any) -> None:
    """target[i, j] = source[i, j]. Rows of the target have room for whole vectors."""
    code = Code(text, name, processor, (INT64,) * len(COPY), internal=True)
    words = dict(zip(COPY, code.arguments, strict=True))
    source, target = (code.array(words[side], dtype) for side in ("source", "target"))
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    with code.loop(0, words["rows"]) as i:
        here, there = source.after(i * words["source_row"]), target.after(i * words["target_row"])

        def move(j: Lanes, count: int, mask: Lanes | None, here: Any = here, there: Any = there) -> None:
            there.store(j, here.load(j, count, mask))

        code.span(0, words["columns"], lanes, move, processor.masked)
    code.finish(0)


def write_turn(text: Text, name: str, processor: Processor, dtype: Any) -> None:
    """target[j, i] = source[i, j], by squares of vectors. The target has room for whole squares.

    Beyond the last row of the source its last row stands again, beyond its last column zeros.
    """
    code = Code(text, name, processor, (INT64,) * len(COPY), internal=True)
    words = dict(zip(COPY, code.arguments, strict=True))
    source, target = (code.array(words[side], dtype) for side in ("source", "target"))
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    with code.loop(0, words["rows"], lanes) as i:
        last = words["rows"] - 1
        places = [(i + r < last).select(i + r, last) * words["source_row"] for r in range(lanes)]
        starts = [source.after(place) for place in places]

        def square(j: Lanes, mask: Lanes | None) -> None:
            rows = turned(code, [start.load(j, lanes, mask) for start in starts])
            for r, row in enumerate(rows):
                target.store((j + r) * words["target_row"] + i, row)

        _squares(code, words["columns"], lanes, square)
    code.finish(0)


def write_turn_exactly(text: Text, name: str, processor: Processor, dtype: Any) -> None:
    """target[j, i] = source[i, j] and nothing beyond. The source has room for whole squares."""
    code = Code(text, name, processor, (INT64,) * len(COPY), internal=True)
    words = dict(zip(COPY, code.arguments, strict=True))
    source, target = (code.array(words[side], dtype) for side in ("source", "target"))
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    with code.loop(0, words["rows"], lanes) as i:
        count = words["rows"] - i
        mask = code.positions(lanes, INT32) < count.astype(INT32)
        with code.loop(0, words["columns"], lanes) as j:
            rows = turned(code, [source.load((i + r) * words["source_row"] + j, lanes) for r in range(lanes)])
            for r, row in enumerate(rows):
                with code.when(j + r < words["columns"]):
                    target.store((j + r) * words["target_row"] + i, row, mask)
    code.finish(0)


def _squares(code: Code, columns: Lanes, lanes: int, square: Callable[[Lanes, Lanes | None], None]) -> None:
    whole = columns & -lanes
    with code.loop(0, whole, lanes) as j:
        square(j, None)
    with code.when(whole < columns):
        rest = columns - whole
        square(whole, code.positions(lanes, INT32) < rest.astype(INT32))


def turned(code: Code, rows: list[Lanes]) -> list[Lanes]:
    """A square of numbers turned on its side: squares of 1, of 2, of 4, ... change places inside it."""
    lanes, rows, step = len(rows), list(rows), 1
    while step < lanes:
        for r in range(lanes):
            if not r & step:
                rows[r], rows[r + step] = exchanged(code, rows[r], rows[r + step], step)
        step *= 2
    return rows


def exchanged(code: Code, a: Lanes, b: Lanes, step: int) -> tuple[Lanes, Lanes]:
    """Groups of `step` lanes: the odd ones of a change places with the even ones of b."""
    lanes = range(a.lanes)
    first = [lane if not lane & step else a.lanes + lane - step for lane in lanes]
    second = [lane + step if not lane & step else a.lanes + lane for lane in lanes]
    return code.chosen(a, b, first), code.chosen(a, b, second)
