"""Kernels that look at an array: its distribution, the moments of its columns, which columns are copies of others."""

from __future__ import annotations

import functools

import numpy as np

from pellucid.engine.native.code.builtin_kernels import Builtin, builtin
from pellucid.engine.native.code.llvm.code import FLOAT64, INT32, INT64, Array, Code, Lanes
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.code.vectormath.operations import floats, select
from pellucid.engine.native.code.words import BYTES, Reader
from pellucid.graph.primitives.statistics import REACH, SAME, STILL

BLOCK = 1024
"""Numbers that are put into bins at a time."""

WAYS = 4
"""Places in which a bin is counted by turns: a count that was just written is slow to be read again."""

MEAN, DEVIATION, SMALLEST, LARGEST, ZEROS, COUNT, HISTOGRAM = range(7)
"""What stands where in the result."""


@functools.cache
def distribution(dtype: str, bins: int) -> Builtin:
    """Mean, deviation, smallest, largest, share of zeros, count, histogram, in float64.

    Nothing is fused: of equal numbers the mean square less the squared mean is 0.
    """

    def body(code: Code, w: Reader) -> None:
        source, target = code.array(w.source, dtype), code.array(w.target, FLOAT64)
        with code.exactly(fused=False):
            count = w.count.astype(FLOAT64)
            total, squares, zeros = _sums(code, source, w.count)
            low, high = _extremes(code, w.source, w.count, dtype)
            mean = total / count
            std = _deviation(squares / count - mean * mean)
            for place, number in ((MEAN, mean), (DEVIATION, std), (ZEROS, zeros / count), (COUNT, count)):
                target.store(place, number)
            target.store(SMALLEST, low + mean * 0.0)
            target.store(LARGEST, high + mean * 0.0)
            code.clear(w.target + BYTES * HISTOGRAM, code.constant(BYTES * bins))
            with code.when(abs(mean) + abs(std) < float("inf")):
                lower, upper = mean - REACH * std, mean + REACH * std
                lower, upper = select(low > lower, low, lower), select(high < upper, high, upper)
                spread = upper > lower
                lower, upper = select(spread, lower, lower - 0.5), select(spread, upper, lower + 0.5)
                _histogram(code, source, target, w.count, bins, lower, bins / (upper - lower))

    return builtin(f"distribution {dtype} {bins}", "count source target", body)


def _sums(code: Code, source: Array, count: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    lanes = code.processor.lanes(8)
    total, squares, zeros = (Accumulator(code, "sum", FLOAT64, lanes) for _ in range(3))

    def add(i: Lanes, lanes: int, mask: Lanes | None) -> None:
        x = source.load(i, lanes, mask).astype(FLOAT64)
        total.add(x, lanes, mask)
        squares.add(x * x, lanes, mask)
        zeros.add((x == 0.0).astype(FLOAT64), lanes, mask)

    code.span(0, count, lanes, add, code.processor.masked)
    return total.total(), squares.total(), zeros.total()


def _extremes(code: Code, address: Lanes, count: Lanes, dtype: str) -> tuple[Lanes, Lanes]:
    """Looked for among the bits, turned into whole numbers of the same order: those need no second look for NaN."""
    kind = np.dtype(f"i{np.dtype(dtype).itemsize}")
    source, lanes = code.array(address, kind), code.processor.lanes(kind.itemsize)
    mask_bits = 2 ** (8 * kind.itemsize - 1) - 1
    least, most = (Accumulator(code, what, kind, lanes) for what in ("min", "max"))

    def ordered(x: Lanes) -> Lanes:
        below_zero: Lanes = (x >> (8 * kind.itemsize - 1)) & mask_bits
        return x ^ below_zero

    def look(i: Lanes, lanes: int, mask: Lanes | None) -> None:
        key = ordered(source.load(i, lanes, mask))
        least.add(key, lanes, mask)
        most.add(key, lanes, mask)

    code.span(0, count, lanes, look, code.processor.masked)
    low, high = (floats(ordered(x.total())).astype(FLOAT64) for x in (least, most))
    return low, high


def _deviation(variance: Lanes) -> Lanes:
    """Its root; what rounding made negative is 0, and NaN stays."""
    return (variance > 0.0).select(variance.code.of_processor("sqrt", variance), variance * 0.0)


def _histogram(code: Code, source: Array, target: Array, count: Lanes, bins: int, lower: Lanes, scale: Lanes) -> None:
    """By blocks: bins first, many at a time; then they are counted, in several places by turns."""
    places, counts = code.stack_array(BLOCK, INT32), code.stack_array(WAYS * bins, INT64)
    with code.loop(0, WAYS * bins) as k:
        counts.store(k, 0)
    with code.loop(0, count, BLOCK) as start:
        left = count - start
        block = select(left < BLOCK, left, code.constant(BLOCK))

        def place(i: Lanes, lanes: int, mask: Lanes | None) -> None:
            at = (source.load(start + i, lanes, mask).astype(FLOAT64) - lower) * scale
            at = select(at > 0.0, at, 0.0)
            places.store(i, select(at < bins - 1.0, at, bins - 1.0).astype(INT32), mask)

        code.span(0, block, code.processor.lanes(8), place, code.processor.masked)
        whole = block & -WAYS
        with code.loop(0, whole, WAYS) as i:
            for way in range(WAYS):
                _count(counts, places.load(i + way), way)
        with code.loop(whole, block) as i:
            _count(counts, places.load(i), 0)
    with code.loop(0, bins) as k:
        counted = code.constant(0)
        for way in range(WAYS):
            counted = counted + counts.load(k * WAYS + way)
        target.store(k + HISTOGRAM, counted.astype(FLOAT64))


def _count(counts: Array, place: Lanes, way: int) -> None:
    at = place.astype(INT64) * WAYS + way
    counts.store(at, counts.load(at) + 1)


@functools.cache
def column_moments(dtype: str) -> Builtin:
    """Mean, deviation, smallest and largest of each column, in float64."""

    def body(code: Code, w: Reader) -> None:
        source, lanes, masked = code.array(w.source, dtype), code.processor.lanes(8), code.processor.masked
        # four rows of the target, which do not overlap
        sums, squares, low, high = (code.array(w.target + w.columns * (BYTES * row), FLOAT64) for row in range(4))

        def begin(j: Lanes, lanes: int, mask: Lanes | None) -> None:
            x = source.load(j, lanes, mask).astype(FLOAT64)
            for row, value in ((sums, x), (squares, x * x), (low, x), (high, x)):
                row.store(j, value, mask)

        def finish(j: Lanes, lanes: int, mask: Lanes | None) -> None:
            count = w.rows.astype(FLOAT64)
            mean = sums.load(j, lanes, mask) / count
            variance = squares.load(j, lanes, mask) / count - mean * mean
            sums.store(j, mean, mask)
            squares.store(j, _deviation(variance), mask)
            low.store(j, low.load(j, lanes, mask) + mean * 0.0, mask)
            high.store(j, high.load(j, lanes, mask) + mean * 0.0, mask)

        with code.exactly(fused=False):
            code.span(0, w.columns, lanes, begin, masked)
            with code.loop(1, w.rows) as i:
                base = i * w.columns

                def add(j: Lanes, lanes: int, mask: Lanes | None) -> None:
                    x = source.load(base + j, lanes, mask).astype(FLOAT64)
                    least, most = low.load(j, lanes, mask), high.load(j, lanes, mask)
                    sums.store(j, sums.load(j, lanes, mask) + x, mask)
                    squares.store(j, squares.load(j, lanes, mask) + x * x, mask)
                    low.store(j, (x < least).select(x, least), mask)
                    high.store(j, (x > most).select(x, most), mask)

                code.span(0, w.columns, lanes, add, masked)
            code.span(0, w.columns, lanes, finish, masked)

    return builtin(f"column_moments {dtype}", "rows columns source target", body)


@functools.cache
def likeness(dtype: str) -> Builtin:
    """(trace)^2 / sum of squares, and for each column the first that it is a copy of."""

    def body(code: Code, w: Reader) -> None:
        source, target = code.array(w.source, dtype), code.array(w.target, FLOAT64)
        columns = w.columns
        trace, largest = code.variable(FLOAT64, 0.0), code.variable(FLOAT64, 0.0)
        with code.exactly(fused=False):
            with code.loop(0, columns) as j:
                square = source.load(j * columns + j).astype(FLOAT64)
                size = select(square > 0.0, code.of_processor("sqrt", square), 0.0)
                target.store(j + 1, size)
                trace.set(trace.get() + size * size)
                largest.set(select(size > largest.get(), size, largest.get()))
            _, total, _ = _sums(code, source, columns * columns)
            ratio = trace.get() * trace.get() / total
            target.store(0, select(total > 0.0, ratio, 0.0))
            least = STILL * largest.get()
            with code.loop(0, columns) as back:
                j = columns - 1 - back
                first = _first_copy(code, source, target, j, columns, least)
                target.store(j + 1, first.astype(FLOAT64))

    return builtin(f"likeness {dtype}", "columns source target", body)


def _first_copy(code: Code, source: Array, target: Array, j: Lanes, columns: Lanes, least: Lanes) -> Lanes:
    """The first column before j that points the same way, or j."""
    size = target.load(j + 1)
    first, i = code.variable(INT64, j), code.variable(INT64, 0)
    with code.when(size > least), code.repeat(lambda: (i.get() < j) & (first.get() == j)):
        at = i.get()
        other = target.load(at + 1)
        alike = source.load(at * columns + j).astype(FLOAT64) >= (1 - SAME) * other * size
        first.set(select((other > least) & alike, at, first.get()))
        i.set(at + 1)
    return first.get()
