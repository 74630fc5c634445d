"""Parts of a matrix copied to where a product reads them one after the other, as they are or turned on their side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import Code, Lanes, Text, internal
from pellucid.engine.native.code.llvm.processor import Processor

COPY = "source source_row target target_row rows columns"
"""The arguments of both: steps are from row to row."""


Change = Callable[[Lanes], Lanes]
"""What becomes of numbers on the way."""


def write_copy(text: Text, name: str, processor: Processor, dtype: Any, change: Change = lambda x: x) -> None:
    """target[i, j] = source[i, j]. Rows of the target have room for whole vectors."""
    code, w = internal(text, name, processor, COPY)
    source, target = code.array(w.source, dtype), code.array(w.target, dtype)
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    with code.loop(0, w.rows) as i:
        here, there = source.after(i * w.source_row), target.after(i * w.target_row)

        def move(j: Lanes, count: int, mask: Lanes | None, here: Any = here, there: Any = there) -> None:
            there.store(j, change(here.load(j, count, mask)))

        code.span(0, w.columns, lanes, move, processor.masked)
    code.finish(0)


def write_turn(
    text: Text, name: str, processor: Processor, dtype: Any, exactly: bool, change: Change = lambda x: x
) -> None:
    """target[j, i] = source[i, j], by squares of vectors.

    The target has room for whole squares: beyond the last row of the source its last row stands again, beyond its last
    column zeros. Or `exactly`: nothing is written beyond, and the source has room for whole squares.
    """
    code, w = internal(text, name, processor, COPY)
    source, target = code.array(w.source, dtype), code.array(w.target, dtype)
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    with code.loop(0, w.rows, lanes) as i:
        last, inside = w.rows - 1, code.mask(w.rows - i, lanes) if exactly else None
        places = [i + r if exactly else (i + r < last).select(i + r, last) for r in range(lanes)]
        starts = [source.after(place * w.source_row) for place in places]

        def square(j: Lanes, _: int, mask: Lanes | None) -> None:
            for r, row in enumerate(turned(code, [change(start.load(j, lanes, mask)) for start in starts])):
                place = (j + r) * w.target_row + i
                if not exactly:
                    target.store(place, row)
                    continue
                with code.when(j + r < w.columns):
                    target.store(place, row, inside)

        if exactly:
            with code.loop(0, w.columns, lanes) as j:
                square(j, lanes, None)
        else:
            code.span(0, w.columns, lanes, square, masked=True)
    code.finish(0)


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
