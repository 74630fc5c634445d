"""Matrix products of float32 numbers that are rounded to bfloat16 first; their products are summed in float32.

Both sides are copied, which is where numbers are rounded: the left one as a whole, the right one panel by panel. Where
the processor has them, pairs of neighbours along the depth are multiplied and added in one step.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from pellucid.engine.native.code.llvm.code import INT32, Code, Lanes, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.packing import write_turn
from pellucid.engine.native.code.products.product import Driver
from pellucid.engine.native.code.products.product_words import COPY_ROWS, PRODUCT_WORDS
from pellucid.engine.native.code.products.short_packing import LONG, SHORT, write_short_copies
from pellucid.engine.native.code.products.tile import panels_for, write_panel


@functools.cache
def short_kernel() -> Kernel:
    """The function int32 product(int64 table)."""
    return Kernel(f"product {SHORT}", write, settled=True)


def write(name: str, target: Processor) -> str:
    """The IR of it."""
    text, panels = Text(), panels_for(target, LONG)
    if target.bfloat16:
        panels = [replace(panel, rows=max(panel.rows, 12 // len(panel.lanes))) for panel in panels]
    for number, panel in enumerate(panels):
        write_panel(text, f"{name}.panel.{number}", target, LONG, panel, INT32 if target.bfloat16 else LONG)
    write_short_copies(text, name, target)
    write_turn(text, f"{name}.turn_exactly", target, LONG, exactly=True)
    code = Code(text, name, target)
    _ShortDriver(code, LONG, panels, PRODUCT_WORDS.read(code)).write()
    code.finish(0)
    return str(text)


class _ShortDriver(Driver):
    """The loops around panels of copied sides."""

    def rows_of_left(self, a: Lanes, length: Lanes) -> tuple[Lanes, Lanes, Lanes]:
        code, w = self.code, self.words
        step = self.deep(w.block)
        with code.when((w.ways & COPY_ROWS) != 0):
            self.call("rows", a, w.a_row, w.left, step, w.rows, length)
        return w.left, step, code.constant(1)

    def deep(self, length: Lanes) -> Lanes:
        return (length + 1) >> 1 if self.code.processor.bfloat16 else length

    def narrow(self) -> None:
        """There is no such way."""
