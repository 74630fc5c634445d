"""What a thread does of a matrix product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pellucid.engine.native.code.llvm.processor import processor
from pellucid.engine.native.code.products.product_plan import Product, Room, room_for
from pellucid.engine.native.passes.instructions import Call, Loop, flipped
from pellucid.engine.native.passes.schedule import Step
from pellucid.engine.native.runtime import blas
from pellucid.engine.native.runtime.program import Program
from pellucid.engine.native.runtime.work import share
from pellucid.graph.core.dims import resolve


class ProductShare(NamedTuple):
    """What a thread does of a product, or of many: a part of each, or some of them as a whole."""

    product: Product
    row: int  # where its part of the rows begins
    starts: list[tuple[int, int, int]]  # of each: from which bytes on it reads the sides and writes the result


def products_of(step: Step) -> list[Call]:
    """The matrix products of an instruction."""
    if isinstance(step, Loop):
        return [] if step.product is None else [step.product]
    return [step] if isinstance(step, Call) and step.value.op == "matmul" else []


def product_share(step: Call, sizes: Mapping[str, int], thread: int, threads: int) -> ProductShare:
    out, (left, right), item = step.value, step.value.args, step.value.dtype.itemsize
    *lead, rows, columns = resolve(out.shape, sizes)
    depth, shift = int(resolve(left.shape[-1], sizes)), out.settings.get("shift")
    (row, end), (column, last), (low, high) = (0, rows), (0, columns), (0, depth)
    many = range(int(np.prod(lead, dtype=np.int64)))
    if lead and not out.single:
        unit = len(many) // max(lead[0], 1)
        many = range(*(unit * s for s in share(lead[0], threads, thread)))
    elif "columns" in out.settings:
        column, last = share(columns, threads, thread)
    elif not out.single:  # else each thread has its own
        row, end = share(rows, threads, (thread - (shift or 0)) % threads)
    if shift is not None:
        low, high = share(depth, threads, thread)
    turned = flipped(left), flipped(right)
    left_step, right_step = (rows if turned[0] else depth), (depth if turned[1] else columns)
    starts = (
        row + low * left_step if turned[0] else row * left_step + low,
        low + column * right_step if turned[1] else low * right_step + column,
        row * columns + column,
    )
    whole = rows * depth, depth * columns, rows * columns
    steps, short = (left_step, right_step, columns), "precision" in out.settings
    product = Product(end - row, last - column, high - low, *turned, *steps, item, short)
    a, b, c = ([(start + size * i) * item for i in many] for start, size in zip(starts, whole, strict=True))
    return ProductShare(product, row, list(zip(a, b, c, strict=True)))


def room_of(program: Program, sizes: Mapping[str, int]) -> Room:
    """What the products of a thread need beside their arrays."""
    parts = [
        product_share(call, sizes, thread, program.threads).product
        for step in program.steps
        for call in products_of(step)
        for thread in range(program.threads)
    ]
    rooms = [room_for(product, processor()) for product in parts if product.short or blas.library() is None]
    return Room(max((r.panel for r in rooms), default=0), max((r.copies for r in rooms), default=0))
