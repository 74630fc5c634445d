"""Fusion: which values are made in one loop nest, and which are written to memory at all.

A value is kept in memory ("kept") if something outside its loop needs it: a matrix product, an output, another
loop that would have to compute something costly again. Everything else lives in registers. A loop runs over rows and
columns; inside it there are whole arrays, columns of row numbers, rows of column numbers, and single numbers. Sums
along a row can be used further on in the same loop, other reductions end it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pellucid.engine.native.code.expressions import is_costly
from pellucid.engine.native.passes.instructions import (
    Call,
    Instruction,
    Loop,
    along_row,
    base,
    fills,
    in_loop,
    kind,
    operands,
)
from pellucid.engine.native.passes.lower import Lowered
from pellucid.engine.native.passes.values import LEAVES, Value, parents_first, pattern, real
from pellucid.graph.core.dims import Shape
from pellucid.graph.core.spec import broadcast

DIVISIONS = ("divide", "sqrt", "reciprocal")


def fuse(lowered: Lowered) -> list[Instruction]:
    """The instructions of a program, in an order in which each finds what it needs."""
    kept = _first_kept(lowered)
    again: list[Value] = []
    while True:
        kept |= {x.number for x in again}
        try:
            loops = _loops(lowered, kept)
        except _Keep as more:
            again = more.values
            continue
        again = _worth_keeping(loops)
        if not again:
            return _ordered(lowered, _with_scalars(lowered, loops), kept)


# what is kept


def _first_kept(lowered: Lowered) -> set[int]:
    """Outputs, what matrix products and moves read, and reductions that end a loop."""
    wanted = [base(x) for x in lowered.outputs]
    for x in parents_first(lowered.outputs):
        if x.op == "view":
            continue
        if not in_loop(x):
            wanted += operands(x)
            continue
        wanted += [base(a) for a in x.args if a.op == "view"]
        if (x.op == "reduce" and not along_row(x)) or "kept" in x.settings:
            wanted.append(x)
    return {x.number for x in wanted if in_loop(x)}


def _worth_keeping(loops: Sequence[Loop]) -> list[Value]:
    """What several loops would compute again at a cost: the last such value of each chain."""
    loops_of: dict[int, list[Loop]] = {}
    values: dict[int, Value] = {}
    for loop in loops:
        for x in loop.body:
            if x.shape:
                loops_of.setdefault(x.number, []).append(loop)
                values[x.number] = x
    chosen: list[Value] = []
    below: set[int] = set()
    for number in sorted(values, reverse=True):
        x = values[number]
        if any(x in loop.roots for loop in loops_of[number]):
            continue
        shared = len(loops_of[number]) > 1 and number not in below and (_costly(x) or _reads_much(x, loops_of[number]))
        per_column = kind(x.shape, loops_of[number][0].space) == "column" and (x.op in DIVISIONS or _costly(x))
        if shared or per_column:
            chosen.append(x)
            below.update(a.number for a in parents_first([x]) if a is not x)
    return chosen


def _costly(x: Value) -> bool:
    return x.op == "reduce" or is_costly(x)


def _reads_much(x: Value, loops: Sequence[Loop]) -> bool:
    """Made of two or more whole arrays?"""
    leaves = {leaf.number for loop in loops for leaf in loop.leaves if leaf.shape == x.shape}
    return sum(a.number in leaves for a in parents_first([x])) > 1


# loops


def _tree(root: Value, kept: set[int]) -> tuple[list[Value], list[Value]]:
    """What is computed on the way to a kept value, and the arrays it starts from."""
    body: dict[int, Value] = {root.number: root}
    leaves: dict[int, Value] = {}
    stack = list(root.args)
    while stack:
        x = stack.pop()
        if x.known or x.number in body or x.number in leaves:
            continue
        if in_loop(x) and x.number not in kept:
            body[x.number] = x
            stack.extend(x.args)
        else:
            leaves[x.number] = x
    return [body[n] for n in sorted(body)], [leaves[n] for n in sorted(leaves)]


def _space(body: Sequence[Value], leaves: Iterable[Value]) -> tuple[Shape, int | None] | None:
    """Rows and columns of a loop over these values; None if they do not go together."""
    shapes = [x.shape for x in body] + [x.shape for x in leaves]
    shapes += [x.args[0].shape for x in body if x.op == "reduce"]
    try:
        space = broadcast(shapes, "loop")
    except Exception:
        return None
    cut = pattern(space, shapes)
    if cut is None:
        return None
    cuts = {cut[0]} - {None}
    whole = [i for i, s in enumerate(space) if s != 1]
    for x in [x for x in body if x.op == "reduce"]:
        axes, operand = x.settings["axes"], x.args[0]
        lead = len(space) - len(operand.shape)
        present = [i for i in whole if i >= lead and operand.shape[i - lead] != 1]
        is_total = len(axes) == len(present)
        if present != (whole[: len(present)] if is_total else whole):  # a total: not of what stands in every row again
            return None
        if not is_total:
            cuts.add(axes[0] + lead if along_row(x) else whole[len(axes)])
    return (space, next(iter(cuts), None)) if len(cuts) < 2 else None


def _loops(lowered: Lowered, kept: set[int]) -> list[Loop]:
    """One loop for each kept value, then those that share their arrays joined."""
    level: dict[int, int] = {}
    loop_of: dict[int, Loop] = {}
    needed = [x for x in lowered.values if x.number in kept]
    values = {x.number: x for x in parents_first([*lowered.outputs, *needed])}
    for number in sorted(values):
        x = values[number]
        if in_loop(x) and number not in kept:
            continue
        if not in_loop(x):
            level[number] = 0 if not x.args else max(level.get(a.number, 0) for a in operands(x)) + (x.op != "view")
            continue
        loop = _own_loop(x, kept, level)
        partner = [loop_of[a.number] for a in loop.leaves if a.number in loop_of]
        loop.level = max((level[base(a).number] for a in loop.leaves), default=0) + 1
        for other in sorted(partner, key=lambda p: -p.level):
            joined = _join(other, loop, kept, level)
            if joined:
                loop = other
                break
        else:
            others = {id(p): p for p in loop_of.values()}
            for other in others.values():
                if other.level == loop.level and _shares(other, loop) and _join(other, loop, kept, level):
                    loop = other
                    break
        for root in loop.roots:
            loop_of[root.number] = loop
            level[root.number] = loop.level
    return list({id(loop): loop for loop in loop_of.values()}.values())


def _own_loop(x: Value, kept: set[int], level: dict[int, int]) -> Loop:
    """The loop of one kept value. What does not fit into it becomes a kept value itself, and is met earlier."""
    while True:
        body, leaves = _tree(x, kept)
        found = _space(body, leaves)
        if found is not None and all(a.number in level or base(a).number in level for a in leaves):
            return Loop(*found, [x], body, leaves)
        raise _Keep([a for a in body if a is not x and a.op == "reduce"] or [a for a in x.args if a in body])


class _Keep(Exception):
    def __init__(self, values: list[Value]) -> None:
        self.values = values
        super().__init__(values)


def _shares(a: Loop, b: Loop) -> bool:
    """Do two loops read the same whole array?"""
    whole = {x.number for x in a.leaves if x.shape and fills(x, a)}
    return a.space == b.space and any(x.number in whole and fills(x, b) for x in b.leaves)


def _join(host: Loop, guest: Loop, kept: set[int], level: dict[int, int]) -> bool:
    """Put the guest's values into the host's loop, if each is there when it is needed."""
    made = {x.number for x in host.roots}
    if not guest.space and host.space:
        return False
    rows = len(guest.space) == len(host.space) and kind(guest.space, host.space) == "row"  # a number for each of them
    if host.space != guest.space and guest.space != () and not rows:
        return False
    outside = [a for a in guest.leaves if a.number not in made]
    if any(base(a).number in made for a in outside if a.op == "view"):
        return False
    if any(level[base(a).number] >= host.level for a in outside):
        return False
    for a in guest.leaves:
        if a.number in made and a.op == "reduce" and not along_row(a):
            return False  # a total is known only after the loop
    found = _space([*host.body, *guest.body], [*host.leaves, *outside])
    if found is None or found[0] != host.space:
        return False
    _take_up(host, guest)
    host.cut = found[1]
    return True


def _take_up(host: Loop, guest: Loop) -> None:
    """The guest's values are made by the host."""
    body = {x.number: x for x in [*host.body, *guest.body]}
    leaves = {x.number: x for x in [*host.leaves, *guest.leaves] if x.number not in body}
    host.roots += guest.roots
    host.body, host.leaves = [body[n] for n in sorted(body)], [leaves[n] for n in sorted(leaves)]


def _with_scalars(lowered: Lowered, loops: list[Loop]) -> list[Loop]:
    """A number of its own (the factor of a rule's correction) is computed by the first loop that needs it.

    Not if a call needs it too: that might have to come before the loop.
    """
    out = list(loops)
    called = {a.number for x in lowered.values if not in_loop(x) and x.op != "view" for a in operands(x)}
    for scalar in [loop for loop in loops if not real(loop.space)]:
        made = {x.number for x in scalar.roots}
        hosts = [loop for loop in out if loop is not scalar and any(x.number in made for x in loop.leaves)]
        if not hosts or made & called or any(x.op == "reduce" for x in scalar.body):
            continue
        host = min(hosts, key=lambda loop: (loop.level, out.index(loop)))
        if not real(host.space):
            continue
        _take_up(host, scalar)
        out.remove(scalar)
    return out


def _ordered(lowered: Lowered, loops: list[Loop], kept: set[int]) -> list[Instruction]:
    """All instructions by level: each comes after those whose results it reads."""
    made: dict[int, Instruction] = {root.number: loop for loop in loops for root in loop.roots}
    out: list[Instruction] = []
    done: set[int] = set()

    def instruction(x: Value) -> Instruction | None:
        x = base(x)
        if x.number in made:
            return made[x.number]
        if x.op in LEAVES:
            return None
        made[x.number] = Call(x, operands(x))
        return made[x.number]

    def to_do(values: Iterable[Value]) -> list[tuple[Instruction, bool]]:
        return [(i, False) for i in map(instruction, values) if i is not None and id(i) not in done]

    stack = to_do(reversed([*lowered.outputs, *(x for x in lowered.values if x.number in kept)]))
    while stack:
        now, ready = stack.pop()
        if id(now) in done:
            continue
        if ready:
            done.add(id(now))
            out.append(now)
            continue
        stack += [(now, True), *(before for before in to_do(now.reads) if before[0] is not now)]
    return out
