"""A function of one array, its other arguments fixed: prediction, with little around the compiled code."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.engine.native.code.builtin_kernels import NOT_FINITE
from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime import blas
from pellucid.engine.native.runtime.announcement import silent
from pellucid.engine.native.runtime.arrays import aligned, as_read, is_read_in_place
from pellucid.engine.native.runtime.binding import Binding, Memory, share
from pellucid.engine.native.runtime.program import Program, program_for
from pellucid.engine.native.runtime.row_blocks import BLOCK, Lane
from pellucid.engine.native.runtime.run import check_status, execute, job, runner
from pellucid.engine.native.runtime.work import flops, threads_for
from pellucid.graph.core.dims import resolve
from pellucid.graph.graph import Graph

BLOCKS = 4
"""Blocks of rows from which they are worked on one by one."""

ALONE = 200_000
"""Floating-point operations below which a library stays on its thread by itself."""


@dataclass
class Placed:
    """A program in memory for the largest number of rows, with its input and output."""

    program: Program
    memory: Memory
    X: Any
    Y: Any


@dataclass
class Bound:
    """A placed program for a number of rows."""

    jobs: list[Any]
    address: int  # of the first job
    X: Any
    Y: Any
    alone: bool  # on the caller's thread, and nothing else to look after
    binding: Binding


class Session:
    """(fixed arrays ..., X) -> Y by a graph of one open size, bound to memory for up to `most` rows.

    Fixed arrays are read where they lie, each time; but single numbers and what compiled code cannot read as it lies
    are copied, and `refresh` brings the copies up to date.
    """

    @silent()  # who predicts has not asked for anything that takes long
    def __init__(self, graph: Graph, fixed: Sequence[Any], most: int, threads: int) -> None:
        self.graph, self.most, self.available = graph, most, threads
        kinds = [node.dtype for node in graph.nodes[: len(fixed)]]
        self.fixed = [as_read(a if a.size > 1 else a.copy(), kind) for a, kind in zip(fixed, kinds, strict=True)]
        self.addresses = tuple(a.ctypes.data for a in self.fixed)
        self.copied = [i for i, a in enumerate(fixed) if a.ctypes.data != self.addresses[i]]
        self.bound: dict[int, Bound] = {}
        self.placed: list[Placed] = []
        self.lanes: list[Lane] = []
        self.order = np.zeros(0, np.int64)
        self.lock = threading.Lock()
        self.run = runner()
        self.bind(1)

    def __call__(self, X: Any) -> Any:
        """The result for an array of the right dtype, as a new array."""
        with self.lock:
            return self._by_blocks(X) if len(X) >= BLOCKS * BLOCK else self._whole(X).copy()

    def looked_at(self, X: Any) -> Any:
        """The result for many rows; NotFinite if one holds NaN or infinity."""
        with self.lock:
            return self._by_blocks(X, look=True)

    def _whole(self, X: Any) -> Any:
        """All rows at once. The result is overwritten by the next call."""
        bound = self.bound.get(len(X)) or self.bind(len(X))
        bound.X[...] = X
        status = self.run(bound.address) if bound.alone else execute(bound.jobs)
        check_status(status, self.graph.name)
        return bound.Y

    def _by_blocks(self, X: Any, look: bool = False) -> Any:
        """Whole blocks of rows, divided among threads, then the rest."""
        count, rest = divmod(len(X), BLOCK)
        threads = min(threads_for(self.graph, {"n": len(X)}, self.available), count)
        while len(self.lanes) < threads:
            self.lanes.append(self._lane())
        if len(self.order) < len(X):
            self.order = np.arange(len(X))
        X = as_read(X, self.lanes[0].X.dtype)
        Y = np.empty((len(X), *self.lanes[0].Y.shape[1:]), self.lanes[0].Y.dtype)
        parts = [share(count, threads, thread) for thread in range(threads)]
        jobs = [lane.job(X, Y, self.order, *part, look) for lane, part in zip(self.lanes, parts, strict=False)]
        check_status(execute(jobs), self.graph.name)
        if rest:
            check_status(NOT_FINITE if look and not np.isfinite(X[-rest:]).all() else 0, self.graph.name)
            Y[-rest:] = self._whole(X[-rest:])
        return Y

    @silent()
    def _lane(self) -> Lane:
        sizes = {"n": BLOCK}
        placed = self._place(program_for(self.graph, sizes, 1), BLOCK)
        return Lane(Binding(placed.program, placed.memory, sizes), placed.X, placed.Y)

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

    @silent()
    def bind(self, rows: int) -> Bound:
        """Tables for a number of rows; those of the last few are kept."""
        sizes = {"n": rows}
        placed = self._placed(sizes)
        binding = Binding(placed.program, placed.memory, sizes)
        jobs = [job(binding, t) for t in range(placed.program.threads)]
        alone = len(jobs) == 1 and (blas.library() is None or flops(self.graph, sizes) < ALONE)
        if len(self.bound) > 8:
            self.bound.pop(next(iter(self.bound)))
        self.bound[rows] = Bound(jobs, jobs[0].address, placed.X[:rows], placed.Y[:rows], alone, binding)
        return self.bound[rows]

    def _placed(self, sizes: dict[str, int]) -> Placed:
        threads = threads_for(self.graph, sizes, self.available)
        for known in self.placed:
            if known.program.threads == threads and known.program.suits(sizes):
                return known
        self.placed.append(self._place(program_for(self.graph, sizes, threads), self.most))
        return self.placed[-1]

    def _place(self, program: Program, most: int) -> Placed:
        """Memory for up to so many rows."""
        inputs, (output,) = program.lowered.inputs, program.lowered.outputs
        if output.known or base(output).op in ("input", "constant"):
            raise CannotCompile("a result that is one of the arguments")
        largest = {"n": most}
        X, Y = (aligned(tuple(int(resolve(s, largest)) for s in v.shape), v.dtype) for v in (inputs[-1], output))
        memory = Memory(program, largest, {x.number for x in (*inputs, base(output))})
        memory.outside = {x.number: a for x, a in zip(inputs[:-1], self.addresses, strict=True)}
        memory.outside |= {inputs[-1].number: X.ctypes.data, base(output).number: Y.ctypes.data}
        return Placed(program, memory, X, Y)
