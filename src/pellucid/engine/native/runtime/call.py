"""A graph as a function: arrays in, new arrays out."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.passes.values import LEAVES, Value, evaluate
from pellucid.engine.native.runtime.arrays import as_read
from pellucid.engine.native.runtime.binding import Binding
from pellucid.engine.native.runtime.memory import Memory
from pellucid.engine.native.runtime.program import Program, program_for
from pellucid.engine.native.runtime.run import execute
from pellucid.engine.native.runtime.work import threads_for
from pellucid.graph.core.dims import resolve
from pellucid.graph.core.tree import unflatten
from pellucid.graph.graph import Graph
from pellucid.processors import default_threads

FIRST, STEP = 1 << 56, 1 << 40
"""While tables are made, array k from outside stands at FIRST + k * STEP, where there is no memory; its real address
comes with each call."""


class Bound:
    """A program with its memory for one assignment of sizes, ready to be called."""

    def __init__(self, program: Program, sizes: Mapping[str, int]) -> None:
        self.program, self.sizes = program, dict(sizes)
        lowered = program.lowered
        self.made = list(
            {base(x).number: base(x) for x in lowered.outputs if base(x).op not in LEAVES}.values()
        )  # every output array once
        outside = [*lowered.inputs, *self.made]
        self.memory = Memory(program, sizes, {x.number: FIRST + i * STEP for i, x in enumerate(outside)})
        self.binding = Binding(self.memory, sizes)
        self.patches = [self._patches(words, len(outside)) for words in self.binding.tables]
        self.shapes = [resolve(x.shape, sizes) for x in self.made]
        self.lock = threading.Lock()

    def _patches(self, words: Any, count: int) -> tuple[Any, Any, Any]:
        where = np.flatnonzero((words >= FIRST) & (words < FIRST + count * STEP))
        which, offset = np.divmod(words[where] - FIRST, STEP)
        return where, which, offset

    def __call__(self, leaves: list[Any]) -> list[Any]:
        """The output arrays for input arrays of the right shape and dtype."""
        given = [as_read(leaf, x.dtype) for leaf, x in zip(leaves, self.program.lowered.inputs, strict=True)]
        made = [np.empty(shape, x.dtype) for shape, x in zip(self.shapes, self.made, strict=True)]
        places = np.array([a.ctypes.data for a in (*given, *made)], np.int64)
        with self.lock:
            for words, (where, which, offset) in zip(self.binding.tables, self.patches, strict=True):
                words[where] = places[which] + offset
            execute(self.binding.jobs, self.program.graph.name)
        arrays = {x.number: array for x, array in zip(self.made, made, strict=True)}
        return [self._output(x, arrays, given) for x in self.program.lowered.outputs]

    def _output(self, x: Value, arrays: dict[int, Any], given: list[Any]) -> Any:
        source = base(x)
        shape = resolve(x.shape, self.sizes)
        if source.known:
            value = evaluate(source, self.sizes)
            return value if source.weak else np.dtype(source.dtype).type(value)
        if source.op == "input":
            return given[source.settings["position"]].reshape(shape).copy()[()]
        if source.op == "constant":
            return source.settings["array"].reshape(shape).copy()[()]
        return arrays[source.number].reshape(shape)[()]


class Function:
    """A compiled graph. Programs are made for the answers that sizes give, tables for the sizes."""

    def __init__(self, graph: Graph, threads: int | None = None) -> None:
        self.graph = graph
        self.threads = threads
        self.bound: dict[tuple[tuple[str, int], ...], Bound] = {}
        self.lock = threading.Lock()
        self.refused: CannotCompile | None = None  # why it cannot be compiled

    def program(self, sizes: Mapping[str, int]) -> Program:
        """The program for these sizes."""
        return program_for(self.graph, sizes, threads_for(self.graph, sizes, self.threads or default_threads()))

    def __call__(self, *args: Any) -> Any:
        leaves, sizes = self.graph.read_inputs(args)
        key = tuple(sorted(sizes.items()))
        with self.lock:
            if key not in self.bound:
                if len(self.bound) > 16:
                    self.bound.pop(next(iter(self.bound)))
                self.bound[key] = Bound(self.program(sizes), sizes)
            bound = self.bound[key]
        return unflatten(self.graph.out_tree, bound(leaves))


def function(graph: Graph) -> Function:
    """The compiled form of a graph, made once in a process: a forked child does not know what its parent was doing."""
    key = (Function, os.getpid())
    if key not in graph.kept:
        graph.kept.setdefault(key, Function(graph))
    return graph.kept[key]  # type: ignore[no-any-return]
