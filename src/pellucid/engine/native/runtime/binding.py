"""A program bound to sizes: the arena, and for each thread a table of what to call with which words."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from pellucid.engine.native.code.builtin_kernels import STOPPED, check_finite, combine
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import processor
from pellucid.engine.native.code.products.product import kernel as product_kernel
from pellucid.engine.native.code.products.product_plan import Product, Room, room_for, words_for
from pellucid.engine.native.code.products.product_words import PRODUCT_WORDS
from pellucid.engine.native.code.products.short_product import short_kernel
from pellucid.engine.native.code.run_loop import BARRIER, Job
from pellucid.engine.native.code.words import BYTES
from pellucid.engine.native.passes.instructions import Call, Loop, flipped
from pellucid.engine.native.passes.memory import ALIGN, plan, up
from pellucid.engine.native.passes.schedule import Barrier, Check, Combine, Step, in_parts, place_of
from pellucid.engine.native.passes.values import Value, evaluate, size_of
from pellucid.engine.native.runtime import blas, cache
from pellucid.engine.native.runtime.arrays import aligned, as_read
from pellucid.engine.native.runtime.moves import Work, work_of
from pellucid.engine.native.runtime.program import Program
from pellucid.engine.native.runtime.work import share
from pellucid.graph.core.dims import product, resolve

PRIVATE = 64
"""Between the copies of a number that each thread has for itself."""


class Memory:
    """Where every kept array of a program lies, for sizes up to a largest one, and the counter of its barriers.

    `outside` has the addresses of arrays from outside; of those in `own` each thread has its own, PRIVATE bytes apart.
    """

    def __init__(
        self, program: Program, largest: Mapping[str, int], outside: Mapping[int, int], own: Collection[int] = ()
    ) -> None:
        self.program, self.outside, self.own, threads = program, outside, own, range(program.threads)
        loops = [step for step in program.steps if isinstance(step, Loop)]
        made = {x.number: x for step in program.steps for x in step.writes}
        bytes_of = {number: size_of(x.shape, largest) * x.dtype.itemsize for number, x in made.items()}
        several = program.private if program.threads > 1 else set()  # thread 0 may use an array from outside
        wanted = {
            number: size
            for number, size in bytes_of.items()
            if number not in program.overwrites and (number not in outside or number in several)
        }
        outputs = {place_of(x, program.overwrites).number for x in program.lowered.outputs}
        places, self.size = plan(program.steps, program.overwrites, wanted, program.private, program.threads, outputs)
        self.offsets = {
            (number, thread): place.offset + (place.size * thread if place.copies > 1 else 0)
            for number, place in places.items()
            for thread in threads
        }
        partial = {x.number for loop in loops for x in in_parts(loop)} if program.threads > 1 else set()
        self.parts = {(number, thread): self._more(bytes_of[number]) for number in partial for thread in threads}
        self.scratch = {
            (loop, i, thread): self._more(scratch.bytes(_columns(loop, largest)))
            for loop in loops
            for i, scratch in enumerate(program.kernels[loop].plan.scratch)
            for thread in threads
        }
        self.room = _room(program, largest)
        self.work = [tuple(map(self._more, self.room)) for _ in threads]  # where products put panels and copies
        self.counter_at = self._more(ALIGN)
        self.arena = aligned((self.size,), np.uint8)
        self.start = int(self.arena.ctypes.data)
        constants = [x for x in program.lowered.values if x.op == "constant"]
        self.constants = {x.number: as_read(x.settings["array"], x.dtype) for x in constants}

    def _more(self, size: int) -> int:
        """Where so many bytes lie behind all others."""
        at = self.size
        self.size += up(size) if size else 0
        return at

    @property
    def counter(self) -> int:
        """The address of the word at which threads meet."""
        return self.start + self.counter_at

    def address(self, x: Value, thread: int) -> int:
        x = place_of(x, self.program.overwrites)
        if x.number in self.outside and (thread == 0 or x.number not in self.program.private or x.op == "input"):
            return self.outside[x.number] + (thread * PRIVATE if x.number in self.own else 0)
        if x.op == "constant":
            return int(self.constants[x.number].ctypes.data)
        return self.start + self.offsets[x.number, thread]

    def workspace(self, thread: int) -> tuple[int, int, Room]:
        """Where a thread's products put panels and copies, and how much room there is."""
        panel, copies = self.work[thread]
        return self.start + panel, self.start + copies, self.room

    def part(self, x: Value, thread: int) -> int:
        """Where a thread puts its part of a reduction."""
        if self.program.threads == 1:
            return self.address(x, thread)
        return self.start + self.parts[x.number, thread]


def _columns(loop: Loop, sizes: Mapping[str, int]) -> int:
    return 1 if loop.cut is None else int(resolve(product(loop.space[loop.cut :]), sizes))


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


def _room(program: Program, sizes: Mapping[str, int]) -> Room:
    """What the products of a thread need beside their arrays."""
    parts = [
        product_share(call, sizes, thread, program.threads).product
        for step in program.steps
        for call in products_of(step)
        for thread in range(program.threads)
    ]
    rooms = [room_for(product, processor()) for product in parts if product.short or blas.library() is None]
    return Room(max((r.panel for r in rooms), default=0), max((r.copies for r in rooms), default=0))


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
        address, threads = functools.partial(self.memory.address, thread=thread), self.program.threads
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
                first, second = (self.memory.part(x, other) for other in (0, 1))
                places = {"source": first, "between": second - first, "target": address(x)}
                add_up = combine(x.settings["kind"], x.dtype.name)
                return [add_up(count=size_of(x.shape, self.sizes), parts=threads, **places)]

    def _loop(self, loop: Loop, thread: int, table: ThreadTable) -> tuple[Kernel, list[int]]:
        """A loop, or a product that runs it: then its table stands among the words."""
        kernel = self.program.kernels[loop]
        plan = kernel.plan
        parts = set(in_parts(loop))
        arrays = [self.memory.address(x, thread) for x in loop.leaves]
        arrays += [self.memory.part(x, thread) if x in parts else self.memory.address(x, thread) for x in loop.roots]
        scratch = [self.memory.start + self.memory.scratch[loop, i, thread] for i in range(len(plan.scratch))]
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
        asked = [self.memory.address(x, thread) + offset for x in self._used_by(loop)]
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
        a, b, c = (self.memory.address(x, thread) for x in (*call.args, call.value))
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
