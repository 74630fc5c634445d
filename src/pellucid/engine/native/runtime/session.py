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

from pellucid.engine.native.code.builtin_kernels import COPY, NOT_FINITE, check_finite
from pellucid.engine.native.code.run_loop import Job
from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime import blas, cache
from pellucid.engine.native.runtime.announcement import silent
from pellucid.engine.native.runtime.arrays import aligned, as_read, is_read_in_place
from pellucid.engine.native.runtime.binding import Binding
from pellucid.engine.native.runtime.memory import Memory
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
        self.finite = check_finite(X.dtype.name)
        self.copying = COPY.words.table(bytes=Y.nbytes, source=Y.ctypes.data)
        self.looking = self.finite.words.table(count=X.size, values=X.ctypes.data, status=NOT_FINITE)

    @functools.cached_property
    def entries(self) -> Any:
        """What is called for one of many blocks: a look at X, the program, and Y is put where it belongs."""
        finite, copy = cache.addresses([self.finite, COPY])
        look, put = [[finite, self.looking.address]], [[copy, self.copying.address]]
        return np.concatenate([look, self.binding.entries[0], put])


class Lane:
    """One thread's program, in memory for a block of rows."""

    def __init__(self, program: Program, fixed: Sequence[int]) -> None:
        inputs, (output,) = program.lowered.inputs, program.lowered.outputs
        if output.known or base(output).op in ("input", "constant"):
            raise CannotCompile("a result that is one of the arguments")
        most, places = {"n": BLOCK}, (*inputs, base(output))
        self.X, self.Y = (aligned(resolve(v.shape, most), v.dtype) for v in (inputs[-1], output))
        addresses = (*fixed, self.X.ctypes.data, self.Y.ctypes.data)
        outside = {x.number: address for x, address in zip(places, addresses, strict=True)}
        self.program, self.memory = program, Memory(program, most, outside)
        self.blocks: dict[int, Block] = {}

    def block(self, rows: int) -> Block:
        """Tables for a number of rows; those of whole blocks and of the last few numbers are kept."""
        if rows not in self.blocks:
            others = [number for number in self.blocks if number != BLOCK]
            if len(others) > 8:
                self.blocks.pop(others[0])
            self.blocks[rows] = Block(Binding(self.memory, {"n": rows}), self.X[:rows], self.Y[:rows])
        return self.blocks[rows]


class Plan:
    """Many rows of an array, block by block. Threads take blocks one after the other, so one that wakes late costs
    nothing. `look`: for what is not finite."""

    def __init__(self, lanes: Sequence[Lane], order: Any, rows: int, look: bool) -> None:
        count, rest = divmod(rows, BLOCK)
        self.lanes, self.order, X, Y = lanes, order, lanes[0].X, lanes[0].Y
        self.places = np.arange(count + 1) * Y.nbytes  # of the blocks of a result
        self.counter = np.zeros(1, np.int64)
        self.jobs: list[Any] = []
        self.gathers: list[Any] = []
        self.used: list[Any] = []  # what the jobs point to
        for lane in lanes:
            whole, short = lane.block(BLOCK if count else rest), lane.block(rest or BLOCK)
            entries, short_entries = (block.entries[0 if look else 1 :] for block in (whole, short))
            gather = np.array([0, lane.X.ctypes.data, X.nbytes // BLOCK])
            slots = np.array([block.copying.place("target") for block in (whole, short)])
            self.jobs.append(
                Job(
                    last=count + (rest > 0),
                    counter=self.counter.ctypes.data,
                    batch=BLOCK,
                    per_epoch=1 << 40,
                    short=count,
                    entries=entries.ctypes.data,
                    entry_count=len(entries),
                    last_row=BLOCK,
                    short_entries=short_entries.ctypes.data,
                    short_entry_count=len(short_entries),
                    short_last_row=rest,
                    order=order.ctypes.data,
                    gathers=gather.ctypes.data,
                    gather_count=1,
                    slots=slots.ctypes.data,
                    number_count=len(slots),
                )
            )
            self.gathers.append(gather)
            self.used.append((whole, short, entries, short_entries, slots))

    def run(self, X: Any, Y: Any, name: str) -> None:
        """From one array into another."""
        self.counter[0] = 0
        places = np.repeat(self.places + Y.ctypes.data, 2)  # for whole blocks and for the short one
        for job, gather in zip(self.jobs, self.gathers, strict=True):
            gather[0] = X.ctypes.data
            job.numbers = places.ctypes.data
        execute(self.jobs, name)


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
        self.plans: dict[tuple[int, bool], Block | Plan | None] = {}  # for the last few numbers of rows
        self.order = np.zeros(0, np.int64)
        self.lock = threading.Lock()
        self.run = runner()
        self._lane(0, 1).block(1)

    def __call__(self, X: Any, look: bool = False) -> Any:
        """The result for an array of the right dtype, as a new array. `look`: NotFinite if it holds NaN or infinity."""
        with self.lock:
            return self._run(X, look)

    def _run(self, X: Any, look: bool) -> Any:
        key = len(X), look
        plan = self.plans[key] if key in self.plans else self._plan(*key)
        if isinstance(plan, Block):
            return self._at_once(X, plan)
        if plan is None:
            return np.concatenate([self._run(rows, look) for rows in (X[:BLOCK], X[BLOCK:])])
        lane = plan.lanes[0]
        X = as_read(X, lane.X.dtype)
        Y = np.empty((len(X), *lane.Y.shape[1:]), lane.Y.dtype)
        plan.run(X, Y, self.graph.name)
        return Y

    def _at_once(self, X: Any, block: Block) -> Any:
        block.X[...] = X
        if blas.library() is None:
            check_status(self.run(block.address), self.graph.name)
        else:
            execute(block.binding.jobs, self.graph.name)
        return block.Y.copy()

    @silent()
    def _plan(self, count: int, look: bool) -> Block | Plan | None:
        """A block for few rows, else blocks for threads; none where the last block needs a program of its own."""
        threads = max(1, min(threads_for(self.graph, {"n": count}, self.available), -(-count // BLOCK)))
        rest = count % BLOCK or BLOCK
        lanes = [self._lane(thread, min(count, BLOCK)) for thread in range(threads)]
        plan: Block | Plan | None = None
        if threads == 1 and count <= BLOCK and not look:
            plan = lanes[0].block(count)
        elif all(lane.program.suits({"n": rest}) for lane in lanes):
            if len(self.order) < count:
                self.order = np.arange(count)
            plan = Plan(lanes, self.order, count, look)
        if len(self.plans) > 8:
            self.plans.pop(next(iter(self.plans)))
        self.plans[count, look] = plan
        return plan

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
