"""Kernels that are the same for every program: products, sums of parts, moves. Each knows the layout of its table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from pellucid.engine.native.code import reductions
from pellucid.engine.native.code.llvm.code import INT32, INT64, Code, Lanes, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.code.vectormath.operations import select
from pellucid.engine.native.code.words import BYTES, Reader, Words

STOPPED, BAD_INDEX, BAD_LABEL, NOT_FINITE = range(1, 5)
"""What a program returns that was stopped by a number it makes, or that met an index or a label out of range, or an
input that is no finite number."""


@dataclass(frozen=True, kw_only=True)
class Builtin(Kernel):
    """A kernel and the layout of its table. Called with the words, it gives what a program has to run."""

    words: Words = field(compare=False, repr=False)

    def __call__(self, *lists: Iterable[int], **values: int) -> tuple[Kernel, list[int]]:
        return self, self.words(*lists, **values)


def builtin(key: str, names: str, body: Callable[[Code, Reader], Lanes | int | None]) -> Builtin:
    """A kernel by its words and its body, which reads them and gives the status; None is 0, all is well."""
    words = Words(names)

    def write(name: str, processor: Processor) -> str:
        code = Code(Text(), name, processor)
        status = body(code, words.read(code))
        code.finish(0 if status is None else status)
        return str(code.text)

    return Builtin(key, write, words=words)


def _gemm(code: Code, w: Reader) -> None:
    """It takes addresses: those of the matrices, and of the words in which its numbers stand."""
    table, matrices, words = code.arguments[0], {"a": w.a, "b": w.b, "c": w.c}, GEMM.words
    numbers = [matrices.get(name, table + BYTES * words.place(name)) for name in words.names[1:]]
    code.call_pointers(w.function, numbers)


GEMM = builtin("gemm", "function transb transa columns rows depth alpha b ldb a lda beta c ldc", _gemm)
"""The address of BLAS's function, and what it is given."""

ZERO = builtin("zero", "bytes target", lambda code, w: code.clear(w.target, w.bytes))
COPY = builtin("copy", "bytes source target", lambda code, w: code.copy(w.target, w.source, w.bytes))


@functools.cache
def check_finite(dtype: str) -> Builtin:
    """The status if a number is NaN or infinite."""

    def body(code: Code, w: Reader) -> Lanes:
        found = _any(code, w, dtype, np.dtype(dtype).itemsize, lambda x: ~(abs(x) < float("inf")))
        return found.select(w.status, 0).astype(INT32)

    return builtin(f"check_finite {dtype}", "count values status", body)


@functools.cache
def check_range(dtype: str) -> Builtin:
    """The status if a whole number is outside begin ... end - 1."""

    def body(code: Code, w: Reader) -> Lanes:
        found = _any(code, w, dtype, INT64.itemsize, lambda x: (x.astype(INT64) < w.begin) | (x.astype(INT64) >= w.end))
        return found.select(w.status, 0).astype(INT32)

    return builtin(f"check_range {dtype}", "count values begin end status", body)


def _any(code: Code, w: Reader, dtype: str, itemsize: int, question: Callable[[Lanes], Lanes]) -> Lanes:
    """Is the answer yes for one of the values? They are computed with in so many bytes each."""
    values, lanes = code.array(w.values, dtype), code.processor.lanes(itemsize)
    answers = Accumulator(code, "any", np.dtype(bool), lanes)

    def look(i: Lanes, lanes: int, mask: Lanes | None) -> None:
        answers.add(question(values.load(i, lanes, mask)), lanes, mask)

    code.span(0, w.count, lanes, look, masked=False)
    return answers.total()


@functools.cache
def combine(kind: str, dtype: str) -> Builtin:
    """All parts of a reduction in one, in their order. They lie `between` bytes apart."""

    def body(code: Code, w: Reader) -> None:
        target = code.array(w.target, dtype)
        lanes = code.processor.lanes(max(np.dtype(dtype).itemsize, 4))
        masked = code.processor.masked and np.dtype(dtype).itemsize >= 4
        code.copy(w.target, w.source, w.count * np.dtype(dtype).itemsize)
        with code.loop(1, w.parts) as part:
            source = code.array(w.source + part * w.between, dtype)

            def add(i: Lanes, lanes: int, mask: Lanes | None) -> None:
                so_far, new = target.load(i, lanes, mask), source.load(i, lanes, mask)
                target.store(i, reductions.combined(kind, so_far, new), mask)

            code.span(0, w.count, lanes, add, masked)

    return builtin(f"combine {kind} {dtype}", "count parts source between target", body)


TRIPLE = 3
"""Size and two steps of an axis; address, size and step of an index array."""


@functools.cache
def move(dtype: str, scatter: bool) -> Builtin:
    """Elements from one place to another, by index arrays out of an array (or without any), or adding into one.

    Its words: index arrays, elements of each, axes beside them; the step of an index on the side that is not indexed.
    Behind them (address, size, step) of each index array, and (size, step on the indexed side, step on the other) of
    each axis, of which there is at least one. Steps are in elements. Without index arrays the count is 1.
    """
    item = np.dtype(dtype).itemsize

    def body(code: Code, w: Reader) -> None:
        source, target = code.array(w.source, dtype), code.array(w.target, dtype)
        axes_at, last = TRIPLE * w.indexes, w.axes - 1
        total = code.variable(INT64, 1)
        with code.loop(0, last) as axis:
            total.set(total.get() * w.rest.load(axes_at + TRIPLE * axis))
        lines = total.get()
        inner, inside, outside = (w.rest.load(axes_at + TRIPLE * last + part) for part in range(TRIPLE))
        with code.loop(0, w.count) as g, code.loop(0, lines) as line:
            rest, there, here = (code.variable(INT64, start) for start in (line, 0, g * w.step))
            with code.loop(0, w.indexes) as i:
                address, size, step = (w.rest.load(TRIPLE * i + part) for part in range(TRIPLE))
                index = code.array(address, INT64).load(g)
                there.set(there.get() + select(index < 0, index + size, index) * step)
            with code.loop(0, last) as back:
                size, *steps = (w.rest.load(axes_at + TRIPLE * (last - 1 - back) + part) for part in range(TRIPLE))
                place = rest.get().rest(size)
                for side, step in zip((there, here), steps, strict=True):
                    side.set(side.get() + place * step)
                rest.set(rest.get().quotient(size))
            indexed, flat = there.get(), here.get()
            if scatter:
                with code.loop(0, inner) as i:
                    at = indexed + i * inside
                    target.store(at, target.load(at) + source.load(flat + i * outside))
            else:
                whole = (inside == 1) & (outside == 1)
                with code.when(whole):
                    code.copy(w.target + flat * item, w.source + indexed * item, inner * item)
                with code.when(~whole), code.loop(0, inner) as i:
                    target.store(flat + i * outside, source.load(indexed + i * inside))

    return builtin(f"{'scatter' if scatter else 'move'} {dtype}", "indexes count axes source target step", body)


@functools.cache
def along(op: str, dtype: str) -> Builtin:
    """argmax, argmin, cumsum along rows."""

    def sums(code: Code, w: Reader) -> None:
        source, target = code.array(w.source, dtype), code.array(w.target, dtype)
        with code.loop(0, w.rows) as i:
            total = code.variable(dtype, 0)
            with code.loop(i * w.columns, (i + 1) * w.columns) as k:
                total.set(total.get() + source.load(k))
                target.store(k, total.get())

    def places(code: Code, w: Reader) -> None:
        """The first NaN wins, as in NumPy."""
        source, target = code.array(w.source, dtype), code.array(w.target, INT64)
        with code.loop(0, w.rows) as i:
            base = i * w.columns
            best, place = code.variable(dtype, source.load(base)), code.variable(INT64, 0)
            with code.loop(1, w.columns) as j:
                x, so_far = source.load(base + j), best.get()
                better = x > so_far if op == "argmax" else x < so_far
                better = better | ((x != x) & (so_far == so_far))
                best.set(better.select(x, so_far))
                place.set(better.select(j, place.get()))
            target.store(i, place.get())

    return builtin(f"{op} {dtype}", "rows columns source target", sums if op == "cumsum" else places)


def _shuffle(code: Code, w: Reader) -> Lanes:
    """Rows in the order that NumPy's generators give them; 1 where the random numbers do not suffice.

    From the last place to the second: the row there and the one at a place drawn from those up to there are exchanged.
    A draw has as many bits as the last place; one beyond it does not count, so the row is exchanged with itself.
    """
    numbers, order = code.array(w.numbers, np.uint32), code.array(w.order, INT64)
    with code.loop(0, w.rows) as i:
        order.store(i, i)
    place, draw, half = (code.variable(INT64, start) for start in (w.rows - 1, 0, w.half))
    with code.repeat(lambda: half.get() > 0):
        with code.repeat(lambda: (place.get() >= half.get()) & (draw.get() < w.draws)):
            last = place.get()
            drawn = numbers.load(draw.get()).astype(INT64) & (half.get() * 2 - 1)
            counts = drawn <= last
            other = counts.select(drawn, last)
            here, there = order.load(last), order.load(other)
            order.store(last, there)
            order.store(other, here)
            place.set(last - counts.astype(INT64))
            draw.set(draw.get() + 1)
        half.set(half.get() >> 1)
    return (place.get() > 0).astype(INT32)


SHUFFLE = builtin("shuffle", "draws numbers rows order half", _shuffle)
"""Random numbers of 32 bits; rows; the largest power of two below their count, 0 for one row."""
