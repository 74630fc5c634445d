"""The training step, many times over: state that lives in our memory, batches gathered and results collected inside.

The graph is (state ..., batch ..., numbers of the step ...) -> (new state ..., results ...). The state is overwritten
step by step; it is copied in at the beginning and out when somebody asks for it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.engine.native.code.run_loop import Job
from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.passes.schedule import by_rows
from pellucid.engine.native.passes.values import Value, evaluate, size_of
from pellucid.engine.native.runtime.arrays import aligned, as_read
from pellucid.engine.native.runtime.binding import Binding
from pellucid.engine.native.runtime.memory import GAP, PRIVATE, Memory
from pellucid.engine.native.runtime.program import Program, program_for
from pellucid.engine.native.runtime.run import execute, runner
from pellucid.engine.native.runtime.work import share
from pellucid.errors import ShapeError
from pellucid.graph.core.dims import resolve
from pellucid.graph.graph import Graph
from pellucid.locks import forkable

FLUSH = 0x9FC0
"""MXCSR: no exceptions, subnormal numbers in and out are zero."""


@dataclass(frozen=True)
class Roles:
    """Which inputs are state, rows of data, numbers; which outputs replace the state, and which are results."""

    state: Sequence[int]
    batch: Sequence[int]
    numbers: Sequence[int]
    updates: Mapping[int, int]  # output -> input
    results: Sequence[int]
    check: Sequence[int]  # results that must be finite before the state is overwritten
    checked: bool = False  # are the labels known to be in range?


def step_program(graph: Graph, roles: Roles, sizes: Mapping[str, int], threads: int) -> Program:
    """The program of a step."""
    return program_for(graph, sizes, threads, roles.updates, roles.check, roles.checked)


_idle: weakref.WeakValueDictionary[int, Stepper] = weakref.WeakValueDictionary()  # by identity, in their order
_lock = forkable()
IDLE = 64 << 20
"""Bytes of memory that steppers without work may keep for the next run of the same kind."""


def stepper(graph: Graph, roles: Roles, rows: int, threads: int) -> Stepper:
    """A stepper; one that has done its work is taken up again."""
    with _lock:
        for idle in _resting(graph):
            if idle.roles == roles and idle.rows == rows and idle.threads == threads and idle.suits():
                _wake(idle)
                return idle
    return Stepper(graph, roles, rows, threads)


def release(used: Stepper) -> None:
    """No longer needed: kept with its graph for the next run. Where they are many, the longest unused ones go."""
    used.forget()
    with _lock:
        _idle[id(used)] = used
        _resting(used.graph).append(used)
        steppers = list(_idle.values())
        while sum(s.bytes for s in steppers) > IDLE:
            _wake(steppers.pop(0))


def _resting(graph: Graph) -> list[Stepper]:
    """The steppers of a graph that have no work: they go when the graph goes."""
    return graph.kept.setdefault(Stepper, [])  # type: ignore[no-any-return]


def _wake(idle: Stepper) -> None:
    _resting(idle.graph).remove(idle)
    _idle.pop(id(idle))


class Stepper:
    """A step bound to memory for batches of up to `rows` rows."""

    def __init__(self, graph: Graph, roles: Roles, rows: int, threads: int) -> None:
        self.graph, self.roles, self.rows, self.threads = graph, roles, rows, threads
        self.program = step_program(graph, roles, {"n": rows}, threads)
        inputs, outputs = self.program.lowered.inputs, self.program.lowered.outputs
        self.pid = os.getpid()
        self.data: list[Any] = []
        self.jobs: list[Any] = []
        self.lists: list[Any] = []
        everything = (*roles.state, *roles.batch, *roles.numbers)
        self.numbers = {i for i in everything if inputs[i].single}
        apart = by_rows(self.program.steps, self.program.overwrites) if threads > 1 else set()
        self.own = self.numbers | {i for i in roles.batch if inputs[i].number in apart}  # each thread has its own
        self.storage: dict[int, Any] = {i: aligned(self._shape(i), inputs[i].dtype) for i in everything}
        for output in roles.updates:
            if outputs[output].known or base(outputs[output]).op == "constant":
                raise CannotCompile("a state that becomes a constant")
        outside = {inputs[i].number: a.ctypes.data for i, a in self.storage.items()}
        between = {inputs[i].number: self.storage[i].strides[0] for i in self.own}
        self.memory = Memory(self.program, {"n": rows}, outside, between)
        self.bindings: dict[int, Binding] = {}
        self.binding(rows)
        runner()  # everything is compiled before the first step

    def _shape(self, i: int) -> tuple[int, ...]:
        """Of the memory for an input. What each thread has for itself lies apart: numbers at the beginning of a row,
        rows of a batch, of which a thread uses its own, behind a gap."""
        x = self.program.lowered.inputs[i]
        shape: tuple[int, ...] = resolve(x.shape, {"n": self.rows})
        if i in self.numbers:
            return self.threads, PRIVATE // x.dtype.itemsize
        if i not in self.own:
            return shape
        _, *row = shape
        return self.threads, self.rows + GAP // max(size_of(tuple(row), {}) * x.dtype.itemsize, 1) + 1, *row

    @property
    def bytes(self) -> int:
        """The memory it holds."""
        return self.memory.size + sum(int(a.nbytes) for a in self.storage.values())

    def suits(self) -> bool:
        """May it be used here and now?"""
        return self.pid == os.getpid()

    def forget(self) -> None:
        """Let go of the data."""
        self.data, self.jobs, self.lists = [], [], []

    # state

    def load(self, arrays: Sequence[Any]) -> None:
        """Copy the state in."""
        for i, array in zip(self.roles.state, arrays, strict=True):
            if i in self.numbers:
                self.storage[i][:, 0] = np.reshape(array, ())
            else:
                np.copyto(self.storage[i], array)

    def read(self) -> list[Any]:
        """A copy of the state."""
        return [array.copy() for array in self.look()]

    def look(self) -> list[Any]:
        """The state where it lies: valid until the next step, not to be changed."""
        return [self._number(i) if i in self.numbers else self.storage[i] for i in self.roles.state]

    def _number(self, i: int) -> Any:
        return self.storage[i][0, :1].reshape(self.program.lowered.inputs[i].shape).copy()[()]

    # running

    def feed(self, data: Sequence[Any]) -> None:
        """The arrays from which batches are gathered, one for each array of a batch."""
        inputs = self.program.lowered.inputs
        self.data = [as_read(a, inputs[i].dtype) for i, a in zip(self.roles.batch, data, strict=True)]
        for i, array in zip(self.roles.batch, self.data, strict=True):
            expected = resolve(inputs[i].shape[1:], {"n": self.rows})
            if array.shape[1:] != expected:  # rows of another length would not fit into their places
                raise ShapeError(
                    f"{self.graph.name}: rows of shape {array.shape[1:]} where the first batch had "
                    f"{expected}: all batches have the same columns"
                )
        outputs, sizes = self.program.lowered.outputs, {"n": self.rows}
        self.jobs, self.lists = [], []
        for thread in range(self.threads):
            gathers: list[int] = []
            for i, array in zip(self.roles.batch, self.data, strict=True):
                place = self.memory.address(inputs[i], thread, sizes)
                gathers += [array.ctypes.data, place, array.nbytes // max(len(array), 1)]
            slots = [self.storage[i].ctypes.data + thread * PRIVATE for i in self.roles.numbers]
            given = [self._address(outputs[o]) for o in self.roles.results] if thread == 0 else []
            lists = [np.array(x or [0], np.int64) for x in (slots, gathers, given)]
            whole = self.binding(self.rows).entries[thread]
            job = Job(entries=whole.ctypes.data, entry_count=len(whole), batch=self.rows, float_mode=FLUSH)
            job.first_row, job.last_row = share(self.rows, self.threads, thread)
            job.number_count, job.gather_count, job.result_count = len(slots), len(self.data), len(given)
            job.slots, job.gathers, job.places = (x.ctypes.data for x in lists)
            self.jobs.append(job)
            self.lists.append(lists)  # the job points to them

    def run(self, orders: Any, first: int, last: int, numbers: Any) -> tuple[Any, int]:
        """Steps first ... last - 1, counted through the epochs that `orders` (epochs, rows) describes.

        Batch k of an epoch has the rows order[k * rows : (k + 1) * rows]. `numbers` has a row of 64-bit words for each
        step; only those that are run matter. Returns the results as float64 (a row for each step), and the number of
        the step that was not made, or `last`.
        """
        length = orders.shape[1]
        count, rest = -(-length // self.rows), length % self.rows
        results = np.zeros((last, max(len(self.roles.results), 1)), np.int64)
        starts = orders.ctypes.data, numbers.ctypes.data, results.ctypes.data
        for thread, job in enumerate(self.jobs):
            job.first, job.last, job.short = first, last, count - 1 if rest else -1
            job.order, job.numbers, job.results = starts
            job.per_epoch, job.epoch_rows = count, length
            if rest:
                part = self.binding(rest).entries[thread]
                job.short_entries, job.short_entry_count = part.ctypes.data, len(part)
                job.short_first_row, job.short_last_row = share(rest, self.threads, thread)
        execute(self.jobs, self.graph.name)
        return self._as_floats(results, count, rest), int(self.jobs[0].reached)

    def prepare(self, rows: int) -> None:
        """Make ready for batches of a number of rows."""
        self.binding(rows)

    def binding(self, rows: int) -> Binding:
        """The tables for batches of a number of rows."""
        if rows not in self.bindings:
            sizes = {"n": rows}
            if not self.program.suits(sizes):
                raise CannotCompile(f"a batch of {rows} rows takes another way through the network")
            old = [n for n in self.bindings if n != self.rows]  # the jobs point to the tables of whole batches
            if len(old) > 4:
                self.bindings.pop(old[0])
            self.bindings[rows] = Binding(self.memory, sizes)
        return self.bindings[rows]

    def _address(self, result: Value) -> int:
        """Where thread 0 finds a result. One that the sizes alone decide lies nowhere: zeros in its place."""
        return self.memory.counter if base(result).known else self.memory.address(result, 0, {"n": self.rows})

    def _as_floats(self, results: Any, count: int, rest: int) -> Any:
        """The results' 64-bit words as float64; the last of `count` batches has `rest` rows, if not 0."""
        out = np.empty(results.shape)
        for k, o in enumerate(self.roles.results):
            source = base(self.program.lowered.outputs[o])
            if source.known:
                out[:, k] = evaluate(source, {"n": self.rows})
                if rest:
                    out[count - 1 :: count, k] = evaluate(source, {"n": rest})
                continue
            column = np.ascontiguousarray(results[:, k])
            out[:, k] = column.view(np.float64) if source.dtype == np.float64 else column.view(np.float32)[::2]
        return out
