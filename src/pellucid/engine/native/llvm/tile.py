"""A tile of a matrix product: some rows times some vectors of columns, summed in registers.

Every element is one sum over the depth in its order, whatever the tile: results do not depend on how rows and columns
are divided, among tiles or among threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.engine.native.llvm.code import INT32, INT64, Array, Code, Lanes, Text
from pellucid.engine.native.llvm.processor import Processor


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

    Registers hold the sums of a tile beside a row of the right side and a number of the left one. With vectors of 64
    bytes the last one may be half as long: many processors work on two such at a time. Where they do, sums must be
    eight that they need not wait for each other; more rows would not stay beside each other in the first cache.
    """
    one = (processor.lanes(np.dtype(dtype).itemsize),)
    half = (one[0] // 2,)
    if processor.vector == 64:
        kinds = [4 * one, 2 * one + half, 2 * one, one, half]
    else:
        kinds = [4 * one, 2 * one, one] if processor.registers >= 32 else [2 * one, one]
    narrow = half if processor.vector == 64 else one
    return [Panel(kind, 8 if kind == narrow else 6, masked=kind is not kinds[0]) for kind in kinds]


@dataclass(frozen=True)
class Finished:
    """The sums of a tile, where they stand: rows from `row`, a vector for each of `columns`.

    `mask` says which lanes of the last vector count; None: all.
    """

    sums: Sequence[Sequence[Lanes]]
    row: Lanes
    columns: Sequence[int]
    mask: Lanes | None


Finish = Callable[[Code, Finished, Array, Lanes], None]
"""(code, tile, target, step from row to row of it): what becomes of a tile while it is in registers."""


def store(code: Code, tile: Finished, target: Array, target_row: Lanes) -> None:
    """The sums as they are."""
    for r, sums in enumerate(tile.sums):
        row = target.after((tile.row + r) * target_row)
        for column, value in zip(tile.columns, sums, strict=True):
            row.store(column, value, tile.mask if column == tile.columns[-1] else None)


ARGUMENTS = ("a", "a_row", "a_step", "b", "b_row", "c", "c_row", "rows", "depth", "columns", "go_on")
"""The arguments of a panel: the left side with its steps from row to row and along the depth, the right side and the
target with their steps from row to row, sizes, and whether the target already holds the sums so far. Where the
processor has no masks, rows of the right side have room for whole vectors."""


def write_panel(text: Text, name: str, processor: Processor, dtype: Any, panel: Panel, finish: Finish = store) -> None:
    """All rows of the left side times a panel of the right one."""
    code = Code(text, name, processor, (INT64,) * len(ARGUMENTS), internal=True)
    words = dict(zip(ARGUMENTS, code.arguments, strict=True))
    mask = None
    if panel.masked:
        last = words["columns"] - panel.starts[-1]
        mask = code.positions(panel.lanes[-1], INT32) < last.astype(INT32)
    arrays = [code.array(words[side], dtype) for side in ("a", "b", "c")]
    with code.exactly():
        whole = words["rows"] - words["rows"].rest(panel.rows)
        with code.loop(0, whole, panel.rows) as row:
            _tile(code, words, arrays, dtype, panel.rows, panel, row, mask, finish)
        rest, done = words["rows"] - whole, code.variable(INT64, whole)
        for rows in (4, 2, 1):  # the binary digits of what is left
            with code.when((rest & rows) != 0):
                _tile(code, words, arrays, dtype, rows, panel, done.get(), mask, finish)
                done.set(done.get() + rows)
    code.finish(0)


def _tile(
    code: Code,
    words: dict[str, Lanes],
    arrays: Sequence[Array],
    dtype: Any,
    rows: int,
    panel: Panel,
    row: Lanes,
    mask: Lanes | None,
    finish: Finish,
) -> None:
    left, right, target = arrays
    vectors = list(zip(panel.starts, panel.lanes, strict=True))
    masks = [None] * (len(vectors) - 1) + [mask]
    readable = masks if code.processor.masked else [None] * len(vectors)
    sums = [[code.variable(dtype, 0.0, lanes) for _, lanes in vectors] for _ in range(rows)]
    with code.when(words["go_on"] != 0):
        for r in range(rows):
            line = target.after((row + r) * words["c_row"])
            for total, (start, lanes), which in zip(sums[r], vectors, masks, strict=True):
                total.set(line.load(start, lanes, which))
    starts = [left.after((row + r) * words["a_row"]) for r in range(rows)]
    with code.loop(0, words["depth"]) as k:
        line, step = right.after(k * words["b_row"]), k * words["a_step"]
        factors = [line.load(start, lanes, which) for (start, lanes), which in zip(vectors, readable, strict=True)]
        for r in range(rows):
            number = starts[r].load(step)
            same = {lanes: number.spread(lanes) for lanes in dict.fromkeys(panel.lanes)}
            for total, factor in zip(sums[r], factors, strict=True):
                total.set(plus_product(code, same[factor.lanes], factor, total.get()))
    finish(code, Finished([[s.get() for s in line] for line in sums], row, panel.starts, mask), target, words["c_row"])


def plus_product(code: Code, a: Lanes, b: Lanes, total: Lanes) -> Lanes:
    """total + a b, rounded once where the processor can."""
    return code.of_processor("fma", a, b, total) if code.processor.fused else total + a * b
