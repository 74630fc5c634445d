"""A function of one array, its other arguments fixed: prediction, with little around the compiled code.

Rows go through in blocks, so that what is made on the way stays in the cache. Each thread has a program and memory of
its own and takes every row of its part from where it lies: threads neither wait for each other nor write what another
has read.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.engine.native.code.builtin_kernels import APPEND, COPY_WORDS, FINITE_WORDS, check_finite
from pellucid.engine.native.code.run_loop import Job
from pellucid.engine.native.code.words import BYTES
from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime import blas, cache
from pellucid.engine.native.runtime.announcement import silent
from pellucid.engine.native.runtime.arrays import aligned, as_read, is_read_in_place
from pellucid.engine.native.runtime.binding import Binding, Memory, share
from pellucid.engine.native.runtime.program import Program, program_for
from pellucid.engine.native.runtime.run import check_status, execute, runner
from pellucid.engine.native.runtime.work import threads_for
from pellucid.graph.core.dims import resolve
from pellucid.graph.graph import Graph

BLOCK = 256
"""Rows of a block."""


class Block:
    """Tables for a number of rows: X and Y are where the program finds them and leaves their results."""

    def __init__(self, binding: Binding, X: Any, Y: Any) -> None:
        self.binding, self.X, self.Y = binding, X, Y
        self.address = binding.jobs[0].address
        self.copying = np.array(COPY_WORDS(bytes=Y.nbytes, source=Y.ctypes.data, target=0), np.int64)
        self.looking = np.array(FINITE_WORDS(count=X.size, values=X.ctypes.data), np.int64)

    @functools.cached_property
    def entries(self) -> Any:
        """What is called for one of many blocks: a look at X, the program, and Y is put where the next one goes on."""
        finite, append = cache.addresses([check_finite(self.X.dtype.name), APPEND])
        look, put = [[finite, self.looking.ctypes.data]], [[append, self.copying.ctypes.data]]
        return np.concatenate([look, self.binding.entries[0], put])


class Lane:
    """One thread's program, in memory for a block of rows."""

    def __init__(self, program: Program, fixed: Sequence[int]) -> None:
        inputs, (output,) = program.lowered.inputs, program.lowered.outputs
        if output.known or base(output).op in ("input", "constant"):
            raise CannotCompile("a result that is one of the arguments")
        most, places = {"n": BLOCK}, (*inputs, base(output))
        self.X, self.Y = (aligned(tuple(int(resolve(s, most)) for s in v.shape), v.dtype) for v in (inputs[-1], output))
        self.program, self.memory = program, Memory(program, most, {x.number for x in places})
        addresses = (*fixed, self.X.ctypes.data, self.Y.ctypes.data)
        self.memory.outside = {x.number: a for x, a in zip(places, addresses, strict=True)}
        self.gathers = np.zeros(3, np.int64)
        self.blocks: dict[int, Block] = {}

    def block(self, rows: int) -> Block:
        """Tables for a number of rows; those of whole blocks and of the last few numbers are kept."""
        if rows not in self.blocks:
            others = [number for number in self.blocks if number != BLOCK]
            if len(others) > 8:
                self.blocks.pop(others[0])
            binding = Binding(self.program, self.memory, {"n": rows})
            self.blocks[rows] = Block(binding, self.X[:rows], self.Y[:rows])
        return self.blocks[rows]

    def job(self, X: Any, Y: Any, order: Any, first: int, last: int, look: bool) -> Job:
        """Rows first ... last - 1 of X, whose results go into Y. `look`: for what is not finite."""
        count, rest = divmod(last - first, BLOCK)
        whole, short = self.block(BLOCK if count else rest), self.block(rest or BLOCK)
        for block, start in ((short, last - rest), (whole, first)):
            block.copying[COPY_WORDS.place("target")] = Y.ctypes.data + start * (Y.nbytes // len(Y))
        self.gathers[:] = X.ctypes.data, self.X.ctypes.data, X.nbytes // len(X)
        entries, short_entries = (block.entries[0 if look else 1 :] for block in (whole, short))
        return Job(
            last=count + (rest > 0),
            batch=BLOCK,
            per_epoch=1 << 40,
            short=count,
            entries=entries.ctypes.data,
            entry_count=len(entries),
            last_row=BLOCK,
            short_entries=short_entries.ctypes.data,
            short_entry_count=len(short_entries),
            short_last_row=rest,
            order=order.ctypes.data + BYTES * first,
            gathers=self.gathers.ctypes.data,
            gather_count=1,
        )


class Session:
    """(fixed arrays ..., X) -> Y by a graph of one open size, bound to memory for blocks of rows.

    Fixed arrays are read where they lie, each time; but single numbers and what compiled code cannot read as it lies
    are copied, and `refresh` brings the copies up to date.
    """

    @silent()  # who predicts has not asked for anything that takes long
    def __init__(self, graph: Graph, fixed: Sequence[Any], threads: int) -> None:
        self.graph, self.available = graph, threads
        kinds = [node.dtype for node in graph.nodes[: len(fixed)]]
        self.fixed = [as_read(a if a.size > 1 else a.copy(), kind) for a, kind in zip(fixed, kinds, strict=True)]
        self.addresses = tuple(a.ctypes.data for a in self.fixed)
        self.copied = [i for i, a in enumerate(fixed) if a.ctypes.data != self.addresses[i]]
        self.lanes: list[list[Lane]] = []  # of each thread; its programs differ by what sizes answer
        self.few: dict[int, Block] = {}  # for numbers of rows that go through at once
        self.order = np.zeros(0, np.int64)
        self.lock = threading.Lock()
        self.run = runner()
        self._lane(0, 1).block(1)

    def __call__(self, X: Any, look: bool = False) -> Any:
        """The result for an array of the right dtype, as a new array. `look`: NotFinite if it holds NaN or infinity."""
        with self.lock:
            block = self.few.get(len(X))
            return self._by_blocks(X, look) if block is None or look else self._at_once(X, block)

    def _at_once(self, X: Any, block: Block) -> Any:
        block.X[...] = X
        if blas.library() is None:
            check_status(self.run(block.address), self.graph.name)
        else:
            execute(block.binding.jobs, self.graph.name)
        return block.Y.copy()

    @silent()
    def _by_blocks(self, X: Any, look: bool) -> Any:
        """Rows divided among threads, and each part into blocks."""
        threads = max(1, min(threads_for(self.graph, {"n": len(X)}, self.available), len(X)))
        parts = [share(len(X), threads, thread) for thread in range(threads)]
        lanes = [self._lane(thread, min(last - first, BLOCK)) for thread, (first, last) in enumerate(parts)]
        if threads == 1 and len(X) <= BLOCK and not look:
            if len(self.few) > 8:
                self.few.pop(next(iter(self.few)))
            self.few[len(X)] = lanes[0].block(len(X))
            return self._at_once(X, self.few[len(X)])
        rests = {(last - first) % BLOCK or BLOCK for first, last in parts}
        if not all(lane.program.suits({"n": rest}) for lane in lanes for rest in rests):  # the rest by another program
            return np.concatenate([self._by_blocks(rows, look) for rows in (X[:BLOCK], X[BLOCK:])])
        if len(self.order) < len(X):
            self.order = np.arange(len(X))
        X = as_read(X, lanes[0].X.dtype)
        Y = np.empty((len(X), *lanes[0].Y.shape[1:]), lanes[0].Y.dtype)
        jobs = [lane.job(X, Y, self.order, *part, look) for lane, part in zip(lanes, parts, strict=True)]
        execute(jobs, self.graph.name)
        return Y

    def _lane(self, thread: int, rows: int) -> Lane:
        """The lane of a thread for a number of rows."""
        sizes = {"n": rows}
        self.lanes += [[] for _ in range(thread + 1 - len(self.lanes))]
        lane = next((lane for lane in self.lanes[thread] if lane.program.suits(sizes)), None)
        if lane is None:
            lane = Lane(program_for(self.graph, sizes, 1), self.addresses)
            self.lanes[thread].append(lane)
        return lane

    def refresh(self, fixed: Sequence[Any]) -> None:
        """Bring the copies up to date."""
        for i in self.copied:
            self.fixed[i][...] = fixed[i]

    def reads(self, fixed: Sequence[Any]) -> bool:
        """Are these the arrays that it reads, but for what is copied?"""
        return len(fixed) == len(self.fixed) and all(
            i in self.copied or (is_read_in_place(a, mine.dtype) and a.ctypes.data == address)
            for i, (a, mine, address) in enumerate(zip(fixed, self.fixed, self.addresses, strict=True))
        )
