"""A program bound to sizes: for each thread a table of what to call with which words."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.engine.native.code.builtin_kernels import STOPPED, check_finite, combine
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import processor
from pellucid.engine.native.code.products.product import kernel as product_kernel
from pellucid.engine.native.code.products.product_plan import words_for
from pellucid.engine.native.code.products.product_words import PRODUCT_WORDS
from pellucid.engine.native.code.products.short_product import short_kernel
from pellucid.engine.native.code.run_loop import BARRIER, Job
from pellucid.engine.native.code.words import BYTES
from pellucid.engine.native.passes.instructions import Call, Loop
from pellucid.engine.native.passes.schedule import Barrier, Check, Combine, Step, in_parts, place_of
from pellucid.engine.native.passes.values import Value, evaluate, size_of
from pellucid.engine.native.runtime import blas, cache
from pellucid.engine.native.runtime.memory import Memory
from pellucid.engine.native.runtime.moves import Work, work_of
from pellucid.engine.native.runtime.product_share import ProductShare, product_share, products_of
from pellucid.engine.native.runtime.work import share
from pellucid.graph.core.dims import resolve


def _kernel_of(call: Call) -> Kernel:
    """The function that makes a matrix product."""
    return short_kernel() if "precision" in call.value.settings else product_kernel(call.value.dtype.name)


class ThreadTable:
    """Words for one thread, and the entries (kernel, its first word) of the program."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.entries: list[tuple[Kernel, int]] = []
        self.inside: list[tuple[int, int]] = []  # words that hold the address of another word
        self.functions: list[tuple[int, Kernel]] = []  # ... and of kernels

    @property
    def kernels(self) -> list[Kernel]:
        return [kernel for kernel, _ in self.entries] + [kernel for _, kernel in self.functions]

    def add(self, kernel: Kernel, words: list[int]) -> None:
        self.entries.append((kernel, len(self.words)))
        self.words += words

    def finish(self, place: Mapping[Kernel, int]) -> tuple[Any, Any]:
        """The words, and the entries (function, table)."""
        words = np.array(self.words, np.int64)
        start = words.ctypes.data
        for at, target in self.inside:
            words[at] = start + BYTES * target
        for at, kernel in self.functions:
            words[at] = place[kernel]
        entries = [(place[kernel], start + BYTES * at) for kernel, at in self.entries]
        return words, np.array(entries, np.int64).reshape(-1, 2)


class Binding:
    """The tables of a program for one assignment of sizes."""

    def __init__(self, memory: Memory, sizes: Mapping[str, int]) -> None:
        self.program, self.memory, self.sizes = memory.program, memory, sizes
        self.tables = []
        self.entries = []
        tables = [ThreadTable() for _ in range(self.program.threads)]
        for thread, table in enumerate(tables):
            for step in self.program.steps:
                for kernel, words in self._work(step, thread, table):
                    table.add(kernel, words)
        used = dict.fromkeys(kernel for table in tables for kernel in table.kernels)
        place = dict(zip(used, cache.addresses(used), strict=True))  # all at once
        for table in tables:
            words, entries = table.finish(place)
            self.tables.append(words)
            self.entries.append(entries)
        one_run = functools.partial(Job, last=1, short=-1, per_epoch=1)  # without batches
        self.jobs = [one_run(entries=entries.ctypes.data, entry_count=len(entries)) for entries in self.entries]

    def _work(self, step: Step, thread: int, table: ThreadTable) -> Work:
        """What a thread does of an instruction."""
        address, threads = functools.partial(self.memory.address, thread=thread, sizes=self.sizes), self.program.threads
        match step:
            case Loop():
                return [self._loop(step, thread, table)]
            case Call():
                if step.value.op == "matmul":
                    return self._product(step, thread)
                return work_of(step.value, self.sizes, address, thread, threads)
            case Barrier():
                return [BARRIER(counter=self.memory.counter, threads=threads)]
            case Check():
                finite = [(check_finite(x.dtype.name), address(x)) for x in step.reads]
                return [check(count=1, values=place, status=STOPPED) for check, place in finite]
            case Combine(value=x):
                first, second = (self.memory.part(x, other, self.sizes) for other in (0, 1))
                places = {"source": first, "between": second - first, "target": address(x)}
                add_up = combine(x.settings["kind"], x.dtype.name)
                return [add_up(count=size_of(x.shape, self.sizes), parts=threads, **places)]

    def _loop(self, loop: Loop, thread: int, table: ThreadTable) -> tuple[Kernel, list[int]]:
        """A loop, or a product that runs it: then its table stands among the words."""
        kernel = self.program.kernels[loop]
        plan = kernel.plan
        parts = set(in_parts(loop))
        memory, sizes = self.memory, self.sizes
        arrays = [memory.address(x, thread, sizes) for x in loop.leaves]
        arrays += [(memory.part if x in parts else memory.address)(x, thread, sizes) for x in loop.roots]
        scratch = memory.scratch_of(loop, thread)
        numbers = [evaluate(x, self.sizes) for x in plan.numbers]
        words = plan.words(self._range(loop, thread), arrays, scratch, numbers)
        if loop.product is None:
            return kernel, words
        product = len(table.words) + len(words)  # where its table will stand
        table.functions.append((product + PRODUCT_WORDS.place("finish"), kernel))
        table.inside.append((product + PRODUCT_WORDS.place("finish_table"), len(table.words)))
        table.words += words
        return self._product_with_loop(loop, loop.product, thread)

    def _range(self, loop: Loop, thread: int) -> tuple[int, int, int]:
        """Rows of the thread and columns; a flat loop counts elements."""
        space = resolve(loop.space, self.sizes)
        axis = next((i for i, s in enumerate(loop.space) if s != 1), None)
        if axis is None:
            return 0, 1, 1
        end = len(space) if loop.cut is None else loop.cut
        unit = int(np.prod(space[axis + 1 : end], dtype=np.int64))
        first, last = share(space[axis], self.program.threads, thread)
        columns = 1 if loop.cut is None else int(np.prod(space[loop.cut :], dtype=np.int64))
        return first * unit, last * unit, columns

    def _product_with_loop(self, loop: Loop, call: Call, thread: int) -> tuple[Kernel, list[int]]:
        """A product that a loop is run with; also where a thread has no rows of it."""
        part = product_share(call, self.sizes, thread, self.program.threads)
        (places,), work = self._places(call, part, thread), self.memory.workspace(thread)
        offset = part.row * part.product.columns * part.product.item
        asked = [self.memory.address(x, thread, self.sizes) + offset for x in self._used_by(loop)]
        words = words_for(part.product, processor(), places, work, part.row, asked)
        return _kernel_of(call), words

    def _used_by(self, loop: Loop) -> list[Value]:
        """What a loop with a product reads that other threads have made, and writes that their products read; then
        whatever else it reads."""
        overwrites = self.program.overwrites
        read = {place_of(x, overwrites) for step in self.program.steps for call in products_of(step) for x in call.args}
        assert loop.product is not None
        parts_of_others = [x for x in loop.arrays if x.settings.get("shift")]
        read_by_others = [x for x in loop.roots if place_of(x, overwrites) in read]
        dtype, arrays = loop.product.value.dtype, [*parts_of_others, *read_by_others, *loop.arrays]
        by_place = {place_of(x, overwrites).number: x for x in arrays if x.shape == loop.space and x.dtype == dtype}
        return list(by_place.values())

    def _places(self, call: Call, part: ProductShare, thread: int) -> list[tuple[int, int, int]]:
        """Where a thread's part of the left side, the right side, and its part of the result lie, of each product."""
        a, b, c = (self.memory.address(x, thread, self.sizes) for x in (*call.args, call.value))
        return [(a + left, b + right, c + result) for left, right, result in part.starts]

    def _product(self, step: Call, thread: int) -> Work:
        part = product_share(step, self.sizes, thread, self.program.threads)
        if part.product.rows <= 0 or part.product.columns == 0:
            return []
        used, places = None if part.product.short else blas.library(), self._places(step, part, thread)
        if used is not None:
            return [blas.gemm(used, part.product, place) for place in places]
        kernel, work, several = _kernel_of(step), self.memory.workspace(thread), self.program.threads > 1
        return [
            (kernel, words_for(part.product, processor(), place, work, asked=[place[2]] * several)) for place in places
        ]
