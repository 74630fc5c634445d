"""A function of one array, its other arguments fixed: prediction, with as little as possible around the compiled code."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.engine.native import blas
from pellucid.engine.native.binding import Binding, Memory
from pellucid.engine.native.fuse import base
from pellucid.engine.native.lower import CannotCompile
from pellucid.engine.native.program import Program, build
from pellucid.engine.native.run import crew, job, runner
from pellucid.engine.native.schedule import is_single
from pellucid.engine.native.stepper import _aligned
from pellucid.engine.native.work import flops, threads_for
from pellucid.graph.core.dims import resolve
from pellucid.graph.graph import Graph

ALONE = 200_000
"""Floating-point operations below which BLAS stays on its thread by itself."""


class Session:
    """(fixed arrays ..., X) -> Y by a graph of one open size, bound to memory for up to `most` rows.

    The fixed arrays are read where they lie, each time; single numbers are copied by `refresh`.
    """

    def __init__(self, graph: Graph, fixed: Sequence[Any], most: int, threads: int) -> None:
        self.graph, self.most, self.available = graph, most, threads
        self.fixed = [np.ascontiguousarray(a) for a in fixed]
        self.addresses = tuple(a.ctypes.data for a in self.fixed)
        self.bound: dict[int, tuple[Any, ...]] = {}
        self.programs: list[tuple[Program, Memory, Any, Any, Any]] = []
        self.lock = threading.Lock()
        self.run = runner()
        self.bind(1)

    def bind(self, rows: int) -> tuple[Any, ...]:
        """(jobs, input, output, keep the library on one thread?) for a number of rows."""
        sizes = {"n": rows}
        threads = threads_for(self.graph, sizes, self.available)
        for program, memory, X, Y, counter in self.programs:
            if program.threads == threads and program.suits(sizes):
                break
        else:
            program = build(self.graph, sizes, threads)
            memory, X, Y, counter = self._place(program)
            self.programs.append((program, memory, X, Y, counter))
        binding = Binding(program, memory, sizes, int(counter.ctypes.data))
        jobs = [job(binding, t) for t in range(threads)]
        alone = threads == 1 and flops(self.graph, sizes) < ALONE
        if len(self.bound) > 8:
            self.bound.pop(next(iter(self.bound)))
        self.bound[rows] = (jobs, X[:rows], Y[:rows], alone, jobs[0].ctypes.data, binding)
        return self.bound[rows]

    def _place(self, program: Program) -> tuple[Any, ...]:
        inputs, (output,) = program.lowered.inputs, program.lowered.outputs
        if output.known or base(output).op in ("input", "constant"):
            raise CannotCompile("a result that is one of the arguments")
        largest = {"n": self.most}
        X, Y = (
            _aligned(tuple(int(resolve(s, largest)) for s in v.shape), v.dtype) for v in (inputs[-1], output)
        )
        outside = {x.number for x in (*inputs, base(output))}
        memory = Memory(program, largest, outside)
        memory.outside = {x.number: a for x, a in zip(inputs[:-1], self.addresses, strict=True)}
        memory.outside |= {inputs[-1].number: X.ctypes.data, base(output).number: Y.ctypes.data}
        return memory, X, Y, np.zeros(32, np.int64)

    def refresh(self, fixed: Sequence[Any]) -> None:
        """Bring single numbers up to date."""
        for mine, new in zip(self.fixed, fixed, strict=True):
            if not mine.shape:
                mine[...] = new

    def __call__(self, X: Any) -> Any:
        """The result for an array of the right dtype, as a new array."""
        rows = len(X)
        with self.lock:
            jobs, inside, outside, alone, address, _ = self.bound.get(rows) or self.bind(rows)
            inside[...] = X
            if alone:
                self.run(address)
            else:
                with blas.one_thread():
                    crew().run(jobs)
            return outside.copy()


__all__ = ["Session", "is_single"]
