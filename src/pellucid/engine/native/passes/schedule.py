"""The order of the instructions, and where threads wait for each other.

Every thread runs the same program on its own part of the first axis (rows of the batch, rows of a weight matrix). A
thread reads what it wrote itself without waiting; before it reads what others wrote, or overwrites what others may
still read, there is a barrier. Instructions that need no barrier go first, so that a training step of any depth has
two: before the gradients of the weights, and at the end. A sum over the split axis is made in parts, one for each
thread; after a barrier each thread adds up all the parts in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pellucid.engine.native.passes.instructions import Call, Instruction, Loop, along_row, base, flipped
from pellucid.engine.native.passes.values import Value
from pellucid.graph.core.dims import is_open


@dataclass
class Barrier:
    reads: ClassVar[tuple[Value, ...]] = ()
    writes: ClassVar[tuple[Value, ...]] = ()


@dataclass
class Combine:
    """Each thread adds up the parts of a reduction."""

    value: Value

    @property
    def reads(self) -> list[Value]:
        return [self.value]

    writes = reads


@dataclass
class Check:
    """Stop before anything is overwritten if one of these numbers is not finite."""

    reads: list[Value]
    writes: ClassVar[tuple[Value, ...]] = ()


class Circle(RuntimeError):
    """No order is possible."""


Step = Loop | Call | Barrier | Combine | Check


def extent(x: Value) -> Any:
    """The size of the axis along which an array is split; None for a single number, which each thread has."""
    return next((s for s in x.shape if s != 1), None)


def in_parts(loop: Loop) -> list[Value]:
    """The reductions over the split axis."""
    return [x for x in loop.roots if x.op == "reduce" and not along_row(x)]


def place_of(x: Value, overwrites: Mapping[int, Value]) -> Value:
    """The array in whose place a value lies."""
    x = base(x)
    while x.number in overwrites:
        x = overwrites[x.number]
    return x


def schedule(
    instructions: Sequence[Instruction], overwrites: Mapping[int, Value], check: Check | None, threads: int = 1
) -> list[Step]:
    """The steps of a program: each after those that it needs; with threads a barrier wherever nothing else can go on.

    `overwrites` says which values are written over which inputs.
    """
    steps: list[Step] = list(instructions)
    if threads > 1:
        steps += [Combine(x) for loop in instructions if isinstance(loop, Loop) for x in in_parts(loop)]
    if check is not None:
        steps.append(check)
    before, traffic = _dependencies(steps, overwrites), _Traffic(steps, overwrites)
    out: list[Step] = []
    done: set[int] = set()
    waiting = list(range(len(steps)))
    while waiting:
        able = (i for i in waiting if before[i] <= done and (threads == 1 or not traffic.clash(steps[i])))
        ready = next(able, None)
        if ready is not None:
            out.append(steps[ready])
            if threads > 1:
                traffic.note(steps[ready])
            done.add(ready)
            waiting.remove(ready)
        elif threads == 1 or (out and isinstance(out[-1], Barrier)):
            raise Circle("instructions wait for each other")
        else:
            out.append(Barrier())
            traffic = _Traffic([], overwrites)
    return out if threads == 1 else [*out, Barrier()]


def _dependencies(steps: Sequence[Step], overwrites: Mapping[int, Value]) -> list[set[int]]:
    """For each step those that must come before it."""
    makers: dict[int, set[int]] = {}
    readers: dict[int, set[int]] = {}
    for i, step in enumerate(steps):
        for x in step.writes:
            makers.setdefault(x.number, set()).add(i)  # a loop that makes parts, and what combines them
        for x in step.reads:
            readers.setdefault(base(x).number, set()).add(i)
    checks = {i for i, step in enumerate(steps) if isinstance(step, Check)}
    before: list[set[int]] = []
    for i, step in enumerate(steps):
        needed = set().union(*(makers.get(base(x).number, ()) for x in step.reads))
        for x in step.writes:
            if x.number in overwrites:  # what is overwritten must have been read by all
                old = overwrites[x.number]
                needed |= readers.get(old.number, set()) | (checks if old.op == "input" else set())
        before.append(needed - {i})
    return before


class _Traffic:
    """What has been written and read since the last barrier, and how: see `_uses`."""

    def __init__(self, steps: Sequence[Step], overwrites: Mapping[int, Value]) -> None:
        self.overwrites = overwrites
        self.written: dict[int, Any] = {}
        self.read: dict[int, set[Any]] = {}
        for x in (base(a) for step in steps for a in step.reads):
            if x.op == "input" and is_open(x.shape):  # rows of a batch: each thread gathers its own
                self.written[x.number] = extent(x)

    def place(self, x: Value) -> int:
        return place_of(x, self.overwrites).number

    def clash(self, step: Step) -> bool:
        """Does it read what others have written, or write what others may still read?"""
        reads, writes = _uses(step)
        return any(self.written.get(self.place(x), how) != how for x, how in reads) or any(
            self.read.get(self.place(x), set()) - {how} for x, how in writes
        )

    def note(self, step: Step) -> None:
        reads, writes = _uses(step)
        for x, how in reads:
            self.read.setdefault(self.place(x), set()).add(how)
        for x, how in writes:
            self.written[self.place(x)] = how


def by_rows(steps: Sequence[Step], overwrites: Mapping[int, Value]) -> set[int]:
    """The arrays of which each thread writes and reads its own part only: nobody else need see it."""
    ways: dict[Value, set[Any]] = {}
    for x, how in (use for step in steps for uses in _uses(step) for use in uses):
        ways.setdefault(place_of(x, overwrites), set()).add(how)
    return {x.number for x, how in ways.items() if extent(x) is not None and how == {extent(x)}}


Uses = list[tuple[Value, Any]]


def _uses(step: Step) -> tuple[Uses, Uses]:
    """What a thread reads and writes that others do, too, and along which axis it keeps to its own part, or "all".

    What is written otherwise has a name that is no way of reading: all threads have to wait for it.
    """
    if isinstance(step, Combine):
        return [(step.value, "all")], []  # each thread has its own sum
    if isinstance(step, Barrier | Check):
        return [], []
    if isinstance(step, Loop):
        axis = next((i for i, s in enumerate(step.space) if s != 1), -1)
        reads: Uses = [] if step.product is None else _uses(step.product)[0]
        for x in step.arrays:
            place = axis - (len(step.space) - len(x.shape))
            own = axis >= 0 and place >= 0 and x.shape[place] != 1 and extent(base(x)) == step.space[axis]
            reads.append((x, step.space[axis] if own else "all"))
        parts = in_parts(step)
        writes = [(x, "parts" if x in parts else extent(x)) for x in step.writes if x in parts or not x.single]
        return reads, writes
    x, settings = step.value, step.value.settings
    ways: list[Any] = ["all"] * len(step.args)
    made = extent(x) if x.op == "in_range" else "one thread"
    if x.op == "matmul":
        made = extent(x) if x.shape[0] != 1 else "one thread"
        if "shift" in settings:  # each thread's own part of the depth
            ways, made = 2 * [x.args[0].shape[-1]], "for others" if settings["shift"] else made
        elif "columns" in settings:
            ways, made = ["all", x.shape[1]], "columns"
        elif x.shape[0] != 1 and extent(step.args[0]) == extent(x):
            several = len(x.shape) > 2
            ways = [extent(x) if several or not flipped(x.args[0]) else "all", extent(x) if several else "all"]
    return list(zip(step.args, ways, strict=True)), [] if x.single else [(x, made)]
