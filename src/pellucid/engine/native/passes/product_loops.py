"""Loops that are run with the matrix product that they alone read, tile by tile: it is never written as a whole."""

from __future__ import annotations

from pellucid.engine.native.code.products.product_plan import SHALLOW
from pellucid.engine.native.passes.instructions import Call, Instruction, Loop, along_row, base, fills
from pellucid.engine.native.passes.lower import Lowered
from pellucid.engine.native.passes.values import Value

FEW = 32
"""Columns below which a loop had better run over all elements in one go than over tiles."""


def with_products(lowered: Lowered, instructions: list[Instruction]) -> list[Instruction]:
    """Matrix products in one instruction with the loop that reads them, if it is the only one."""
    outputs = {base(x).number for x in lowered.outputs}
    readers: dict[int, list[Instruction]] = {}
    for instruction in instructions:
        for x in instruction.reads:
            readers.setdefault(base(x).number, []).append(instruction)
    joined: set[int] = set()
    for call in reversed(instructions):  # of two products in one loop the last: nothing waits for the other
        if not isinstance(call, Call) or call.value.op != "matmul" or call.value.number in outputs:
            continue
        if not call.value.settings.get("shift") and "columns" not in call.value.settings:  # rows of its own thread
            (reader, *others) = readers[call.value.number]
            if not others and isinstance(reader, Loop) and _takes_tiles(reader, call.value):
                reader.product, reader.cut = call, 1
                joined.add(call.value.number)
    return [x for x in instructions if not isinstance(x, Call) or x.value.number not in joined]


def _takes_tiles(loop: Loop, product: Value) -> bool:
    """Can a loop be run for one tile of a product after the other, and is it worth it?

    Not if it needs a whole row, or makes one number of each: a row meets several tiles. Nor where a tile is made so
    soon that calling the loop takes longer than writing and reading the sums.
    """
    sums, (depth, columns) = [x for x in loop.body if x.op == "reduce"], (product.args[0].shape[-1], product.shape[-1])
    return (
        loop.product is None
        and loop.space == product.shape
        and len(product.shape) == 2
        and 1 not in product.shape
        and not any(isinstance(size, int) and size < least for size, least in ((columns, FEW), (depth, SHALLOW)))
        and product in loop.leaves
        and loop.cut in (None, 1)
        and all(fills(x.args[0], loop) and not along_row(x) for x in sums)
        and all(fills(x, loop) or x.single or x in sums for x in loop.roots)
    )
