"""The order of the instructions, and where threads wait for each other.

Every thread runs the same program on its own part of the first axis (rows of the batch, rows of a weight matrix). A
thread reads what it wrote itself without waiting; before it reads what others wrote, or overwrites what others may
still read, there is a barrier. Instructions that need no barrier go first, so that a training step of any depth has
two: before the gradients of the weights, and at the end. A sum over the split axis is made in parts, one for each
thread; after a barrier each thread adds up all the parts in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pellucid.engine.native.passes.instructions import (
    Call,
    Instruction,
    Loop,
    along_row,
    base,
    flipped,
    is_written_last,
)
from pellucid.engine.native.passes.values import Value
from pellucid.graph.core.dims import is_open


@dataclass
class Barrier:
    reads: list[Value] = field(default_factory=list)
    writes: list[Value] = field(default_factory=list)


@dataclass
class Combine:
    """Each thread adds up the parts of a reduction."""

    value: Value

    @property
    def reads(self) -> list[Value]:
        return [self.value]

    @property
    def writes(self) -> list[Value]:
        return [self.value]


@dataclass
class Check:
    """Stop before anything is overwritten if one of these numbers is not finite."""

    values: list[Value]

    @property
    def reads(self) -> list[Value]:
        return self.values

    @property
    def writes(self) -> list[Value]:
        return []


class Circle(RuntimeError):
    """No order is possible."""


Step = Loop | Call | Barrier | Combine | Check


def extent(x: Value) -> Any:
    """The size of the axis along which an array is split; None for a single number, which each thread has."""
    return next((s for s in x.shape if s != 1), None)


def is_single(x: Value) -> bool:
    return extent(x) is None


def in_parts(loop: Loop) -> list[Value]:
    """The reductions over the split axis."""
    return [x for x in loop.roots if x.op == "reduce" and not along_row(x)]


def schedule(
    instructions: Sequence[Instruction],
    threads: int,
    overwrites: Mapping[int, Value],
    check: Check | None = None,
) -> list[Step]:
    """The steps of a program. `overwrites` says which values are written over which inputs."""
    steps: list[Step] = list(instructions)
    for loop in instructions:
        if isinstance(loop, Loop) and threads > 1:
            steps += [Combine(x) for x in in_parts(loop)]
    if check is not None:
        steps.append(check)
    before = _dependencies(steps, overwrites, check)
    if threads == 1:
        return _in_order(steps, before)
    return _with_barriers(steps, before, overwrites)


def _dependencies(steps: list[Step], overwrites: Mapping[int, Value], check: Check | None) -> list[set[int]]:
    """For each step those that must come before it."""
    maker: dict[int, int] = {}
    for i, step in enumerate(steps):
        for x in step.writes:
            maker[x.number] = i  # a Combine comes after the loop that made the parts
    before: list[set[int]] = []
    for i, step in enumerate(steps):
        needed = {maker[base(x).number] for x in step.reads if base(x).number in maker} - {i}
        if isinstance(step, Combine):
            needed = {j for j, s in enumerate(steps) if isinstance(s, Loop) and step.value in s.roots}
        before.append(needed)
    for i, step in enumerate(steps):  # what is overwritten must have been read by all
        for x in step.writes:
            if x.number in overwrites:
                old = overwrites[x.number]
                before[i] |= {j for j, s in enumerate(steps) if j != i and old in map(base, s.reads)}
                if check is not None and old.op == "input":
                    before[i].add(steps.index(check))
    return before


def place_of(x: Value, overwrites: Mapping[int, Value]) -> Value:
    """The array in whose place a value lies."""
    x = base(x)
    while x.number in overwrites:
        x = overwrites[x.number]
    return x


def has_order(instructions: Sequence[Instruction], overwrites: Mapping[int, Value], check: Check | None) -> bool:
    """Can all of these be overwritten in one program?

    Two that each read the other's old value cannot; nor can one that is made in the loop that makes what is checked.
    """
    steps: list[Step] = [*instructions, *([] if check is None else [check])]
    try:
        _in_order(steps, _dependencies(steps, overwrites, check))
    except Circle:
        return False
    return True


def can_overwrite(instructions: Sequence[Instruction], new: Value, old: Value) -> bool:
    """May `new` be written where `old` lies? Not if someone who needs `new` still reads `old`."""
    writer = next((i for i in instructions if new in i.writes), None)
    if not isinstance(writer, Loop) or new.op == "reduce" or new.dtype != old.dtype or real(new) != real(old):
        return False
    after = {id(writer)}
    made = {x.number for x in writer.writes}
    for step in instructions:  # in an order in which each finds what it needs
        if any(base(x).number in made for x in step.reads) and step is not writer:
            after.add(id(step))
            made |= {x.number for x in step.writes}
    if any(id(i) in after and i is not writer for i in instructions if old in map(base, i.reads)):
        return False
    if writer.product is not None and old in writer.product.args:
        return False  # the next tile needs it
    # inside the loop itself each element is read before it is written
    return is_written_last(new, writer) and all(real(x) == real(new) for x in writer.leaves if base(x) is old)


def real(x: Value) -> tuple[Any, ...]:
    """The axes that are not of size 1."""
    return tuple(s for s in x.shape if s != 1)


def _in_order(steps: list[Step], before: list[set[int]]) -> list[Step]:
    done: set[int] = set()
    out: list[Step] = []
    waiting = list(range(len(steps)))
    while waiting:
        ready = next((i for i in waiting if before[i] <= done), None)
        if ready is None:
            raise Circle("instructions wait for each other")
        out.append(steps[ready])
        done.add(ready)
        waiting.remove(ready)
    return out


class _Traffic:
    """What has been written and read since the last barrier."""

    def __init__(self, overwrites: Mapping[int, Value]) -> None:
        self.overwrites = overwrites
        self.written: dict[int, Any] = {}  # array -> along which axis it was split (None: by one thread)
        self.read: dict[int, set[Any]] = {}  # array -> how: an extent, or "all"

    def place(self, x: Value) -> int:
        return place_of(x, self.overwrites).number

    def clash(self, step: Step) -> bool:
        if isinstance(step, Combine):
            return step.value.number in self.written
        if isinstance(step, Barrier | Check):
            return False
        parts = {x.number for x in in_parts(step)} if isinstance(step, Loop) else set()
        for x, how in _reads(step):
            if self.place(x) in self.written and not is_single(base(x)):
                written = self.written[self.place(x)]
                if how == "all" or written != how:
                    return True
        for x in step.writes:
            if x.number in parts or is_single(x):
                continue
            used = self.read.get(self.place(x), set())
            if used - {_written_along(step, x)}:
                return True
        return False

    def note(self, step: Step) -> None:
        if isinstance(step, Barrier | Check):
            return
        if isinstance(step, Combine):
            return  # each thread has its own sum
        for x, how in _reads(step):
            self.read.setdefault(self.place(x), set()).add(how)
        for x in step.writes:
            if isinstance(step, Loop) and x in in_parts(step):
                self.written[x.number] = "parts"
            elif not is_single(x):
                self.written[self.place(x)] = _written_along(step, x)

    def clear(self) -> None:
        self.written.clear()
        self.read.clear()


def _reads(step: Step) -> list[tuple[Value, Any]]:
    """What a thread reads: along which axis it keeps to its own part, or "all"."""
    if isinstance(step, Loop):
        first = next((s for s in step.space if s != 1), None)
        out: list[tuple[Value, Any]] = []
        for x in step.arrays:
            lead = len(step.space) - len(x.shape)
            whole = first is not None and _first_axis(step.space) >= lead
            own = whole and x.shape[_first_axis(step.space) - lead] != 1 and extent(base(x)) == first
            out.append((x, first if own else "all"))
        return out if step.product is None else [*_reads(step.product), *out]
    assert isinstance(step, Call)
    if step.value.op == "matmul" and "shift" in step.value.settings:
        return [(x, step.value.args[0].shape[-1]) for x in step.args]  # each thread's own part of the depth
    if "columns" in step.value.settings:
        return [(step.args[0], "all"), (step.args[1], step.value.shape[1])]
    if step.value.op == "matmul":
        rows = extent(step.value) if step.value.shape[0] != 1 else None
        left = step.value.args[0]
        batched = len(step.value.shape) > 2
        own = rows is not None and (batched or not flipped(left)) and extent(step.args[0]) == rows
        return [(step.args[0], rows if own else "all"), (step.args[1], rows if batched and own else "all")]
    return [(x, "all") for x in step.args]


def _first_axis(shape: Any) -> int:
    return next(i for i, s in enumerate(shape) if s != 1)


def _written_along(step: Step, x: Value) -> Any:
    if isinstance(step, Loop):
        return extent(x)
    assert isinstance(step, Call)
    if step.value.settings.get("shift"):
        return "for others"
    if "columns" in step.value.settings:
        return "columns"
    split = step.value.op == "in_range" or (step.value.op == "matmul" and step.value.shape[0] != 1)
    return extent(x) if split else "one thread"


def _with_barriers(steps: list[Step], before: list[set[int]], overwrites: Mapping[int, Value]) -> list[Step]:
    out: list[Step] = []
    done: set[int] = set()
    waiting = list(range(len(steps)))
    traffic = _Traffic(overwrites)
    for x in (base(a) for step in steps for a in step.reads):
        if x.op == "input" and is_open(x.shape):  # rows of a batch: each thread gathers its own
            traffic.written[x.number] = extent(x)
    while waiting:
        ready = next((i for i in waiting if before[i] <= done and not traffic.clash(steps[i])), None)
        if ready is None:
            if out and isinstance(out[-1], Barrier):
                raise Circle("instructions wait for each other")
            out.append(Barrier())
            traffic.clear()
            continue
        step = steps[ready]
        out.append(step)
        traffic.note(step)
        done.add(ready)
        waiting.remove(ready)
    out.append(Barrier())
    return out
