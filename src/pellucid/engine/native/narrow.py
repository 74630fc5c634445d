"""Loops over few columns: blocks of rows side by side, so that the rows fill the processor's vectors.

Ten classes are too few for a vector of sixteen numbers. So a block of rows is turned on its side: working space holds,
for each column, a number of every row of the block, and the innermost loop runs over the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid.engine.native.fuse import along_row
from pellucid.engine.native.values import Value

if TYPE_CHECKING:
    from pellucid.engine.native.source import Writing

BLOCK, NARROW = 64, 32
"""Rows in a block; loops over at most so many columns are written this way."""

AT = f"j * {BLOCK} + i"


def blocks(w: Writing) -> None:
    """Write the loop over blocks."""
    write, loop = w.write, w.loop
    w.row_index = "start + i"
    write("start = first")
    write("while start < last:")
    write.depth += 1
    write(f"rows = last - start if last - start < {BLOCK} else {BLOCK}")
    for x in loop.leaves:
        if w.zone[x.number] == "whole":
            _turn(w, w.to_scratch("slab", x, AT, w.load_text("leaf", x, "(start + i) * columns + j")))
    passes = max(w.phase.values(), default=0) + 1
    for phase in range(passes):
        _over_rows(w, phase)
        for x in loop.body:
            if along_row(x) and w.phase[x.number] == phase + 1:
                write("for i in range(rows):")
                write("    " + w.to_scratch("block", x, "i", w.start(x)))
        _over_columns(w, phase)
    for x in loop.roots:
        if w.kind(x) == "whole" and x.op != "reduce":
            _turn(w, w.store(x, "(start + i) * columns + j", w.from_scratch("slab", x, AT)))
    write(f"start += {BLOCK}")
    write.depth -= 1
    w.row_index = "i"


def _turn(w: Writing, line: str) -> None:
    w.write("for i in range(rows):")
    w.write("    for j in range(columns):")
    w.write("        " + line)


def _row_value(w: Writing, x: Value) -> str:
    """Load a number of the row."""
    if x in w.loop.leaves:
        return f"{w.name[x.number]} = {w.load_text('leaf', x, 'start + i')}"
    return f"{w.name[x.number]} = {w.from_scratch('block', x, 'i')}"


def _over_rows(w: Writing, phase: int) -> None:
    """What a row gives between two passes over its columns."""
    loop, write = w.loop, w.write
    nodes = [x for x in loop.body if w.zone[x.number] == "row" and w.phase[x.number] == phase and x.op != "reduce"]
    roots = [
        x
        for x in loop.roots
        if w.kind(x) == "row" and w.phase[x.number] == phase and w.zone[x.number] in ("row", "one")
    ]
    totals = [x for x in w.ends() if w.kind(x.args[0]) == "row" and w.phase[x.number] == phase + 1]
    if not nodes and not roots and not totals:
        return
    write("for i in range(rows):")
    write.depth += 1
    here = {x.number for x in nodes}
    wanted = [a for x in [*nodes, *totals] for a in x.args] + roots
    for a in dict.fromkeys(wanted):
        if not a.known and w.zone[a.number] == "row" and a.number not in here:
            write(_row_value(w, a))
    for x in nodes:
        w.assign(x, "start + i")
        write(w.to_scratch("block", x, "i"))
    for x in roots:
        write(w.store(x, "start + i", w.text(x, x.dtype)))
    for x in totals:
        write(f"{w.name[x.number]} = {w.combine(x, w.name[x.number])}")
    write.depth -= 1


def _over_columns(w: Writing, phase: int) -> None:
    """One pass over the columns, all rows of the block at once."""
    loop, write = w.loop, w.write
    sums = [
        x for x in loop.body if x.op == "reduce" and w.phase[x.number] == phase + 1 and w.kind(x.args[0]) == "whole"
    ]
    roots = [x for x in loop.roots if w.kind(x) == "whole" and w.phase[x.number] == phase and w.zone[x.number] != "end"]
    if not sums and not roots:
        return
    targets = [*roots, *(x.args[0] for x in sums)]
    needed = w.closure(targets, phase, "slab")
    body = [x for x in loop.body if x.number in needed]
    write("for j in range(columns):")
    write.depth += 1
    for x in loop.leaves:
        if x.number in needed and w.zone[x.number] == "column":
            w.load(x, "j")
    for x in body:
        if w.zone[x.number] == "column":
            w.assign(x)
    in_columns = [x for x in sums if not along_row(x) and not w.is_total(x)]
    for x in in_columns:
        write(f"{w.name[x.number]} = {w.start(x)}")
    write("for i in range(rows):")
    write.depth += 1
    for x in loop.leaves:
        if x.number in needed and w.zone[x.number] == "whole":
            write(f"{w.name[x.number]} = {w.from_scratch('slab', x, AT)}")
    known = [x for x in body if w.zone[x.number] == "whole" and w.has_scratch("slab", x) and w.phase[x.number] < phase]
    rows = [a for x in body if x not in known for a in x.args] + targets
    for a in dict.fromkeys(rows):
        if not a.known and w.zone[a.number] == "row":
            write(_row_value(w, a))
    for x in body:
        if w.zone[x.number] != "whole":
            continue
        if x in known:
            write(f"{w.name[x.number]} = {w.from_scratch('slab', x, AT)}")
            continue
        w.assign(x, "(start + i) * columns + j")
        if w.is_wanted_later(x, phase):
            write(w.to_scratch("slab", x, AT))
    for x in sums:
        if along_row(x):
            write(w.to_scratch("block", x, "i", w.combine(x, w.from_scratch("block", x, "i"))))
        else:
            write(f"{w.name[x.number]} = {w.combine(x, w.name[x.number])}")
    for x in roots:
        write(w.to_scratch("slab", x, AT, w.text(x, x.dtype)))
    write.depth -= 1
    for x in in_columns:
        write(w.store(x, "j", w.combine(x, w.load_text("root", x, "j"), w.name[x.number])))
    write.depth -= 1
