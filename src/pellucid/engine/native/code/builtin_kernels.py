"""Kernels that are the same for every program: products, sums of parts, moves. Each has a layout of its table."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from pellucid.engine.native.code import reductions
from pellucid.engine.native.code.llvm.code import INT64, Code, Lanes, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.reductions import Accumulator
from pellucid.engine.native.code.vectormath.operations import select
from pellucid.engine.native.code.words import Words

BAD_INDEX, BAD_LABEL, NOT_FINITE = 2, 3, 4
"""What a program returns that met an index or a label out of range, or an input that is no finite number."""


def builtin(key: str, body: Callable[[Code], Lanes | int | None]) -> Kernel:
    """A kernel by its body, which gives the status; None is 0, all is well."""

    def write(name: str, processor: Processor) -> str:
        code = Code(Text(), name, processor)
        status = body(code)
        code.finish(0 if status is None else status)
        return str(code.text)

    return Kernel(key, write)


GEMM_WORDS = Words("function transb transa columns rows depth alpha b ldb a lda beta c ldc")
"""The address of BLAS's function, and the 13 pointers that it is given."""


def _gemm(code: Code) -> None:
    w = GEMM_WORDS.read(code)
    code.call_pointers(w.function, [getattr(w, name) for name in GEMM_WORDS.names[1:]])


GEMM = builtin("gemm", _gemm)

ZERO_WORDS = Words("bytes target")


def _zero(code: Code) -> None:
    w = ZERO_WORDS.read(code)
    code.clear(w.target, w.bytes)


ZERO = builtin("zero", _zero)

COPY_WORDS = Words("bytes source target")


def _copy(code: Code) -> None:
    w = COPY_WORDS.read(code)
    code.copy(w.target, w.source, w.bytes)


COPY = builtin("copy", _copy)


def _append(code: Code) -> None:
    """... and the next time behind it."""
    w = COPY_WORDS.read(code)
    code.copy(w.target, w.source, w.bytes)
    w.put("target", w.target + w.bytes)


APPEND = builtin("append", _append)

FINITE_WORDS = Words("count values")


@functools.cache
def check_finite(dtype: str) -> Kernel:
    """NOT_FINITE if a number is NaN or infinite."""

    def body(code: Code) -> Lanes:
        w = FINITE_WORDS.read(code)
        values, lanes = code.array(w.values, dtype), code.processor.lanes(np.dtype(dtype).itemsize)
        beyond = Accumulator(code, "any", np.dtype(bool), lanes)

        def look(i: Lanes, lanes: int, mask: Lanes | None) -> None:
            beyond.add(~(abs(values.load(i, lanes, mask)) < float("inf")), lanes, mask)

        code.span(0, w.count, lanes, look, masked=False)
        status = select(beyond.total(), code.constant(NOT_FINITE), code.constant(0))
        return status.astype(np.int32)  # type: ignore[no-any-return]

    return builtin(f"check_finite {dtype}", body)


COMBINE_WORDS = Words("count parts source between target")
"""Parts of a reduction lie `between` bytes apart."""


@functools.cache
def combine(kind: str, dtype: str) -> Kernel:
    """All parts in one, in their order."""

    def body(code: Code) -> None:
        w = COMBINE_WORDS.read(code)
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

    return builtin(f"combine {kind} {dtype}", body)


TRIPLE = 3
"""Size and two steps of an axis; address, size and step of an index array."""

MOVE_WORDS = Words("axes source target")
"""Behind it for each axis: the sizes, the steps in the source, the steps in the target, in elements."""


@functools.cache
def move(itemsize: int) -> Kernel:
    """Elements from one place to another."""
    dtype = np.dtype(f"i{itemsize}")

    def body(code: Code) -> None:
        w = MOVE_WORDS.read(code)
        source, target = code.array(w.source, dtype), code.array(w.target, dtype)
        last = w.axes - 1
        inner, across_in, across_out = (w.rest[last + w.axes * part] for part in range(TRIPLE))
        total = code.variable(INT64, 1)
        with code.loop(0, last) as axis:
            total.set(total.get() * w.rest[axis])
        with code.loop(0, total.get()) as number:
            rest, at, to = (code.variable(INT64, start) for start in (number, 0, 0))
            with code.loop(0, last) as back:
                size, step_in, step_out = (w.rest[last - 1 - back + w.axes * part] for part in range(TRIPLE))
                place = rest.get().rest(size)
                at.set(at.get() + place * step_in)
                to.set(to.get() + place * step_out)
                rest.set(rest.get().quotient(size))
            begin_in, begin_out = at.get(), to.get()
            whole = (across_in == 1) & (across_out == 1)
            with code.when(whole):
                code.copy(w.target + begin_out * itemsize, w.source + begin_in * itemsize, inner * itemsize)
            with code.when(~whole), code.loop(0, inner) as i:
                target.store(begin_out + i * across_out, source.load(begin_in + i * across_in))

    return builtin(f"move {itemsize}", body)


RANGE_WORDS = Words("begin end count values status")


@functools.cache
def check_range(dtype: str) -> Kernel:
    """The status if a whole number is outside begin ... end - 1."""

    def body(code: Code) -> Lanes:
        w = RANGE_WORDS.read(code)
        values = code.array(w.values, dtype)
        outside = Accumulator(code, "any", np.dtype(bool), code.processor.lanes(8))

        def look(i: Lanes, lanes: int, mask: Lanes | None) -> None:
            x = values.load(i, lanes, mask).astype(INT64)
            outside.add((x < w.begin) | (x >= w.end), lanes, mask)

        code.span(0, w.count, code.processor.lanes(8), look, masked=False)
        return select(outside.total(), w.status, code.constant(0)).astype(np.int32)  # type: ignore[no-any-return]

    return builtin(f"check_range {dtype}", body)


GATHER_WORDS = Words("indexes count axes source target step")
"""Index arrays, gathered elements, other axes; the step of a gathered element on the other side. Behind it (address,
size, step) of each index array, and (size, step in the array, step on the other side) of each other axis."""


@functools.cache
def gather(dtype: str, scatter: bool) -> Kernel:
    """Elements by index arrays, out of an array or (adding) into one."""

    def body(code: Code) -> None:
        w = GATHER_WORDS.read(code)
        source, target = code.array(w.source, dtype), code.array(w.target, dtype)
        axes_at = TRIPLE * w.indexes
        total = code.variable(INT64, 1)
        with code.loop(0, w.axes) as axis:
            total.set(total.get() * w.rest[axes_at + TRIPLE * axis])
        elements = total.get()
        with code.loop(0, w.count) as g:
            at = code.variable(INT64, 0)
            with code.loop(0, w.indexes) as i:
                address, size, step = (w.rest[TRIPLE * i + part] for part in range(TRIPLE))
                index = code.array(address, INT64).load(g)
                at.set(at.get() + select(index < 0, index + size, index) * step)
            begin = at.get()
            with code.loop(0, elements) as number:
                rest, there, here = (code.variable(INT64, start) for start in (number, begin, g * w.step))
                with code.loop(0, w.axes) as back:
                    axis = axes_at + TRIPLE * (w.axes - 1 - back)
                    size, inside, outside = (w.rest[axis + part] for part in range(TRIPLE))
                    place = rest.get().rest(size)
                    there.set(there.get() + place * inside)
                    here.set(here.get() + place * outside)
                    rest.set(rest.get().quotient(size))
                indexed, flat = there.get(), here.get()
                if scatter:
                    target.store(indexed, target.load(indexed) + source.load(flat))
                else:
                    target.store(flat, source.load(indexed))

    return builtin(f"{'scatter' if scatter else 'gather'} {dtype}", body)


ALONG_WORDS = Words("rows columns source target")


@functools.cache
def along(op: str, dtype: str) -> Kernel:
    """argmax, argmin, cumsum along rows."""

    def sums(code: Code) -> None:
        w = ALONG_WORDS.read(code)
        source, target = code.array(w.source, dtype), code.array(w.target, dtype)
        with code.loop(0, w.rows) as i:
            total = code.variable(dtype, 0)
            with code.loop(i * w.columns, (i + 1) * w.columns) as k:
                total.set(total.get() + source.load(k))
                target.store(k, total.get())

    def places(code: Code) -> None:
        """The first NaN wins, as in NumPy."""
        w = ALONG_WORDS.read(code)
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

    return builtin(f"{op} {dtype}", sums if op == "cumsum" else places)
