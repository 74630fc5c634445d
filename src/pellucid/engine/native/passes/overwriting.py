"""What is written over what: new state over the old, and what a loop makes over what nobody reads after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pellucid.engine.native.passes.instructions import Call, Instruction, Loop, base, fills, is_written_last, operands
from pellucid.engine.native.passes.lower import Lowered
from pellucid.engine.native.passes.schedule import Check, Circle, in_parts, schedule
from pellucid.engine.native.passes.values import Value, real
from pellucid.graph.core.dims import product


def overwrites_of(
    lowered: Lowered, instructions: list[Instruction], updates: Mapping[int, int], check: Check | None
) -> dict[int, Value]:
    """Values by their numbers, and the arrays in whose places they are written.

    `updates` says which outputs replace which inputs. Those that cannot be made there are brought there by instructions
    that are added.
    """
    over = _in_place(lowered, instructions, updates, check)
    taken = set(over.values())
    over |= _over_dying(instructions, over, {base(x).number for x in lowered.outputs})
    copies: list[Call] = []
    for output, place in updates.items():
        new, old = lowered.outputs[output], lowered.inputs[place]
        if old in taken or base(new) is old or new.known:
            continue
        if base(new).op == "input":  # an old value that is replaced, too: put aside first
            copies.append(_copy(lowered, new))
            new = copies[-1].value
        copies.append(_copy(lowered, new))
        over[copies[-1].value.number] = old
    instructions += copies
    return over


def _copy(lowered: Lowered, x: Value) -> Call:
    """The same elements once more, as a row."""
    flat = Value("view", (x,), (product(x.shape),), x.dtype)
    made = Value("spread", (flat,), flat.shape, x.dtype)
    made.number, made.scope = len(lowered.values), x.scope
    lowered.values.append(made)
    return Call(made, operands(made))


def _in_place(
    lowered: Lowered, instructions: Sequence[Instruction], updates: Mapping[int, int], check: Check | None
) -> dict[int, Value]:
    """The outputs that can be made where the inputs lie that they replace, as many as find an order."""
    sources = [base(x) for x in lowered.outputs]
    found: dict[int, Value] = {}
    for output, place in updates.items():
        new, old = sources[output], lowered.inputs[place]
        alone = sources.count(new) == 1 and old not in sources and old not in found.values()
        if alone and _can_overwrite(instructions, new, old):
            found[new.number] = old
    if _has_order(instructions, found, check):
        return found
    kept: dict[int, Value] = {}
    for number, old in found.items():
        if _has_order(instructions, {**kept, number: old}, check):
            kept[number] = old
    return kept


def _has_order(instructions: Sequence[Instruction], overwrites: Mapping[int, Value], check: Check | None) -> bool:
    """Can all of these be overwritten in one program?

    Two that each read the other's old value cannot; nor can one that is made in the loop that makes what is checked.
    """
    try:
        schedule(instructions, overwrites, check)
    except Circle:
        return False
    return True


def _can_overwrite(instructions: Sequence[Instruction], new: Value, old: Value) -> bool:
    """May `new` be made where `old` lies? Not if someone who needs `new` still reads `old`."""
    writer = next((i for i in instructions if new in i.writes), None)
    if not isinstance(writer, Loop) or not _fits(writer, new, old):
        return False
    after = {id(writer)}
    made = {x.number for x in writer.writes}
    for step in instructions:  # in an order in which each finds what it needs
        if any(base(x).number in made for x in step.reads) and step is not writer:
            after.add(id(step))
            made |= {x.number for x in step.writes}
    return not any(id(i) in after and i is not writer for i in instructions if old in map(base, i.reads))


def _fits(writer: Loop, new: Value, old: Value) -> bool:
    """Does a loop read each element of `old` before it writes the one of `new`?"""
    if new.op == "reduce" or new.dtype != old.dtype or real(new.shape) != real(old.shape):
        return False
    if new.single:  # numbers are read before the loop begins
        return True
    if writer.product is not None and old in writer.product.args:
        return False  # the next tile needs it
    return is_written_last(new, writer) and all(
        real(x.shape) == real(new.shape) for x in writer.leaves if base(x) is old
    )


def _over_dying(instructions: Sequence[Instruction], taken: Mapping[int, Value], outputs: set[int]) -> dict[int, Value]:
    """Roots that may be written over an array that only this loop reads: the bias added where the product lies."""
    readers: dict[int, list[Instruction]] = {}
    for step in instructions:
        made_here = [] if not isinstance(step, Loop) or step.product is None else [step.product.value]
        for x in [*step.reads, *made_here]:
            readers.setdefault(base(x).number, []).append(step)
    loops = [step for step in instructions if isinstance(step, Loop)]
    free = {x.number for step in instructions for x in step.writes} - outputs
    free -= {x.number for loop in loops for x in in_parts(loop)}
    over: dict[int, Value] = {}
    for loop in loops:
        # what another thread has made is best written over: the processor then has it alone, and so the other next
        dying = [x for x in loop.leaves if x.number in free and readers[x.number] == [loop]]
        dying.sort(key=lambda x: not x.settings.get("shift"))
        for root in loop.roots:
            if root.number not in taken and root.number not in outputs and fills(root, loop) and not root.single:
                old = next((x for x in dying if _fits(loop, root, x)), None)
                if old is not None:
                    over[root.number] = old
                    dying.remove(old)
    return over
