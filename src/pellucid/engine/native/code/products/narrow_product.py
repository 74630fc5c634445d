"""A product of few columns: vectors go along the depth, and the lanes of each sum are added up at the end.

A tile would leave most of its lanes empty. Which rows are worked on together changes nothing in any of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import Code, Lanes, Text, internal
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.packing import exchanged
from pellucid.engine.native.code.products.tile import plus_product

NARROW = "a a_row b b_row c rows depth go_on"
"""The arguments: rows of the left side, columns of the right side each in one piece, the result in one piece, and
whether it already holds the sums so far."""

DEEP = 1024
"""Of the depth at a time: so much of the columns stays in the first cache."""


def write_narrow(text: Text, name: str, processor: Processor, dtype: Any, columns: int) -> None:
    """c[i, j] = the sum over k of a[i, k] b[j, k], or is increased by it"""
    code, w = internal(text, name, processor, NARROW)
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    two = 3 * columns < processor.registers  # two rows of sums and a row of factors find registers
    together = max(lanes // columns, 2 if two else 1)  # rows
    a, b, c = (code.array(side, dtype) for side in (w.a, w.b, w.c))
    lines = [b.after(w.b_row * j) for j in range(columns)]
    with code.exactly(), code.loop(0, w.rows, together) as row:
        last = w.rows - 1
        places = [(row + r < last).select(row + r, last) for r in range(together)]
        starts = [a.after(place * w.a_row) for place in places]
        sums = [[code.variable(dtype, 0.0, lanes) for _ in lines] for _ in starts]

        def add(k: Lanes, _: int, mask: Lanes | None) -> None:
            factors = [line.load(k, lanes, mask) for line in lines]
            for start, totals in zip(starts, sums, strict=True):
                number = start.load(k, lanes, mask)
                for total, factor in zip(totals, factors, strict=True):
                    total.set(plus_product(code, number, factor, total.get()))

        code.span(0, w.depth, lanes, add, masked=True)
        totals = [total.get() for line in sums for total in line]
        for first in range(0, len(totals), lanes):  # more than one vector of results: more columns than lanes
            part = totals[first : first + lanes]
            left = (w.rows - row) * columns - first
            mask = code.mask((left < len(part)).select(left, len(part)), lanes)
            place, so_far = row * columns + first, code.variable(dtype, 0.0, lanes)
            with code.when(w.go_on != 0):
                so_far.set(c.load(place, lanes, mask))
            c.store(place, so_far.get() + added_up(code, part), mask)
    code.finish(0)


APART = "source target target_row rows"


def write_apart(text: Text, name: str, processor: Processor, dtype: Any, columns: int) -> None:
    """target[j, i] = source[i, j], the source in one piece, of as many rows as a vector has lanes or more."""
    code, w = internal(text, name, processor, APART)
    lanes = processor.lanes(np.dtype(dtype).itemsize)
    source, target = code.array(w.source, dtype), code.array(w.target, dtype)

    def part(i: Lanes, *_: Any) -> None:
        numbers = source.load(i * columns, lanes * columns)
        for j in range(columns):
            target.store(w.target_row * j + i, code.chosen(numbers, numbers, range(j, lanes * columns, columns)))

    whole = code.vectors(0, w.rows, lanes, part)
    with code.when(whole < w.rows):
        part(w.rows - lanes)  # some of them once more
    code.finish(0)


def added_up(code: Code, vectors: list[Lanes]) -> Lanes:
    """The sum of each vector's lanes, in the lane of its number: two vectors become one, again and again."""
    lanes, step = vectors[0].lanes, 1
    zero = code.constant(0.0, vectors[0].dtype).spread(lanes)
    places = [*vectors, *[zero] * (lanes - len(vectors))]
    while step < lanes:
        for r in range(0, lanes, 2 * step):
            first, second = exchanged(code, places[r], places[r + step], step)
            places[r] = first + second
        step *= 2
    return places[0]
