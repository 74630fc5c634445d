"""The source of a kernel: one loop nest as Python that Numba compiles.

    kernel(a)    a: the address of a table of 64-bit words
                 [first row, last row + 1, columns, addresses of arrays ..., numbers ..., addresses of functions ...]

Sizes, addresses and numbers are all in the table, so one kernel serves every width, batch size and learning rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.engine.native.expressions import ELEMENTWISE, NAMES, source_of
from pellucid.engine.native.fuse import Loop, along_row, passes
from pellucid.engine.native.narrow import BLOCK, NARROW, blocks
from pellucid.engine.native.values import REDUCTIONS, Value

INLINE = {0, 1, -1}  # and so False and True
"""Numbers that stand in the source; all others are arguments: a mean over two columns is no kernel of its own."""

RANK = {"one": 0, "row": 1, "column": 2, "whole": 3}


@dataclass(frozen=True)
class Scratch:
    """Working space: for a value of each column ("row"), of each row of a block ("block"), or both ("slab")."""

    kind: str
    value: int  # the number of the value it holds
    itemsize: int

    def bytes(self, columns: int) -> int:
        return self.itemsize * {"row": columns, "block": BLOCK, "slab": BLOCK * NARROW}[self.kind]


@dataclass
class Kernel:
    """Source, and what goes into the table behind the three sizes."""

    source: str
    arrays: list[Value]  # leaves, then roots
    scratch: list[Scratch]  # working space of each thread
    numbers: list[Value]
    functions: list[str]


@dataclass
class Writer:
    """Lines at a depth of indentation."""

    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def __call__(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)


class Writing:
    """The work of writing one kernel."""

    def __init__(self, loop: Loop, aliases: Mapping[int, int]) -> None:
        self.loop = loop
        self.flat = loop.cut is None
        self.write = Writer()
        self.arrays = [*loop.leaves, *loop.roots]
        self.name: dict[int, str] = {}
        for i, x in enumerate(loop.leaves):
            self.name[x.number] = f"x{i}"
        for i, x in enumerate(loop.body):
            self.name[x.number] = f"v{i}"
        self.numbers: list[Value] = []
        self.functions: list[str] = []
        self.scratch: list[Scratch] = []
        self.row_index = "i"
        places = {x.number: i for i, x in enumerate(loop.leaves)}
        self.scope = {("leaf", x.number): places[x.number] for x in loop.leaves}
        for i, x in enumerate(loop.roots):
            # the same variable for both, or the compiler would check whether they overlap, and they do
            self.scope["root", x.number] = places.get(aliases.get(x.number, -1), len(loop.leaves) + i)
        self.phase = passes(loop)
        self.zone = {x.number: self.kind(x) for x in loop.leaves}
        for x in loop.body:
            self._place(x)

    def kind(self, x: Value) -> str:
        """How a shape lies in the loop."""
        space = self.loop.space
        lead = len(space) - len(x.shape)
        real = [i for i, s in enumerate(space) if s != 1]
        present = [i for i in real if i >= lead and x.shape[i - lead] != 1]
        if not present:
            return "one"
        if present == real:
            return "whole"
        return "row" if present[0] == real[0] else "column"

    def _place(self, x: Value) -> None:
        """On what a value depends: row, column, both."""
        inside = [a for a in x.args if not a.known]
        if x.op in ("iota", "uniform"):
            self.zone[x.number] = self.kind(x)
        elif x.op == "reduce":
            self.zone[x.number] = "row" if along_row(x) else "end"
        else:
            zones = {self.zone[a.number] for a in inside} - {"one"}
            self.zone[x.number] = "whole" if len(zones) > 1 else next(iter(zones), "one")

    # the parts

    def kernel(self) -> Kernel:
        loop, write = self.loop, self.write
        for x in loop.body:
            if self.zone[x.number] == "one":
                self.assign(x)
        for x in loop.roots:
            if self.zone[x.number] == "one" and self.kind(x) == "one":
                write(self.store(x, "0", self.text(x, x.dtype)))
        for x in self.ends():
            if self.is_total(x):
                write(f"{self.name[x.number]} = {self.start(x)}")
            else:
                write("for j in range(columns):")
                write("    " + self.store(x, "j", self.start(x)))
        if self.flat:
            self.flat_loop()
        elif any(along_row(x) for x in loop.body):
            write(f"if columns <= {NARROW}:")
            write.depth += 1
            blocks(self)
            write.depth -= 1
            write("else:")
            write.depth += 1
            self.rows()
            write.depth -= 1
        else:
            self.rows()
        for x in self.ends():
            if self.is_total(x):
                write(self.store(x, "0", self.name[x.number]))
        write("return 0")
        return Kernel(self.whole_source(), self.arrays, self.scratch, self.numbers, self.functions)

    def flat_loop(self) -> None:
        write = self.write
        write("for k in range(first, last):")
        write.depth += 1
        self.inner(0, "k", [x for x in self.loop.roots if self.kind(x) == "whole" or not self.loop.space])
        write.depth -= 1
        if write.lines[-1].endswith(":"):
            write.lines.pop()

    def rows(self) -> None:
        loop, write = self.loop, self.write
        write("for i in range(first, last):")
        write.depth += 1
        write("base = i * columns")
        begin = len(write.lines)
        for phase in range(max(self.phase.values(), default=0) + 1):
            for x in loop.leaves:
                if phase == 0 and self.zone[x.number] == "row":
                    self.load(x, "i")
            for x in loop.body:
                if self.zone[x.number] == "row" and self.phase[x.number] == phase and x.op != "reduce":
                    self.assign(x)
            self.row_results(phase)
            wanted = [x for x in loop.body if x.op == "reduce" and self.phase[x.number] == phase + 1]
            in_row = [x for x in wanted if self.zone[x.number] == "row"]
            for x in in_row:
                write(f"{self.name[x.number]} = {self.start(x)}")
            roots = [x for x in loop.roots if self.kind(x) == "whole" and self.phase[x.number] == phase]
            roots = [x for x in roots if self.zone[x.number] != "end"]
            mark = len(write.lines)
            write("for j in range(columns):")
            write.depth += 1
            self.inner(phase, "base + j", roots)
            write.depth -= 1
            if len(write.lines) == mark + 1:
                write.lines.pop()
        if len(write.lines) == begin:
            write("pass")
        write.depth -= 1

    def row_results(self, phase: int) -> None:
        """What a row gives once its passes so far are done."""
        for x in self.loop.roots:
            if self.kind(x) == "row" and self.phase[x.number] == phase and self.zone[x.number] in ("row", "one"):
                self.write(self.store(x, "i", self.text(x, x.dtype)))
        for x in self.ends():
            if self.kind(x.args[0]) == "row" and self.phase[x.number] == phase + 1:
                self.write(f"{self.name[x.number]} = {self.combine(x, self.name[x.number])}")

    def inner(self, phase: int, index: str, roots: Sequence[Value]) -> None:
        """The innermost loop: everything that this pass needs, its stores and its sums."""
        write = self.write
        sums = [
            x
            for x in self.loop.body
            if x.op == "reduce" and self.phase[x.number] == phase + 1 and self.kind(x.args[0]) == "whole"
        ]
        needed = self.closure([*roots, *(x.args[0] for x in sums)], phase, "row")
        for x in self.loop.leaves:
            if x.number in needed and self.zone[x.number] in ("whole", "column"):
                self.load(x, "j" if self.zone[x.number] == "column" else index)
        for x in self.loop.body:
            if x.number in needed and self.zone[x.number] in ("whole", "column"):
                if self.has_scratch("row", x) and self.phase[x.number] < phase:
                    write(f"{self.name[x.number]} = {self.from_scratch('row', x, 'j')}")
                    continue
                self.assign(x, index)
                if self.is_wanted_later(x, phase):
                    write(self.to_scratch("row", x, "j"))
        for x in sums:
            if along_row(x) or self.is_total(x):
                write(f"{self.name[x.number]} = {self.combine(x, self.name[x.number])}")
            else:
                write(self.store(x, "j", self.combine(x, self.load_text("root", x, "j"))))
        for x in roots:
            write(self.store(x, index, self.text(x, x.dtype)))

    # passes over a row

    def closure(self, targets: Sequence[Value], phase: int, scratch: str) -> set[int]:
        """What must be computed for these, down to arrays, numbers of the row and what lies in scratch of a kind."""
        needed: set[int] = set()
        stack = [x for x in targets if not x.known]
        while stack:
            x = stack.pop()
            if x.number in needed or self.zone[x.number] not in ("whole", "column"):
                continue
            needed.add(x.number)
            if self.phase[x.number] < phase and self.has_scratch(scratch, x):
                continue
            if x.number in {b.number for b in self.loop.body}:
                stack.extend(a for a in x.args if not a.known)
        return needed

    def is_wanted_later(self, x: Value, phase: int) -> bool:
        """A costly value that a later pass needs again."""
        if self.zone[x.number] != "whole" or self.phase[x.number] != phase:
            return False
        if x.op != "uniform" and (x.op not in ELEMENTWISE or not ELEMENTWISE[x.op].costly):
            return False
        seen, stack = set(), [x.number]
        while stack:  # through cheap values, which are computed again
            number = stack.pop()
            for u in self.loop.body:
                if any(a.number == number for a in u.args) and u.number not in seen:
                    if self.phase[u.number] - (u.op == "reduce") > phase:
                        return True
                    seen.add(u.number)
                    if u.op != "reduce":
                        stack.append(u.number)
        return False

    # working space

    def has_scratch(self, kind: str, x: Value) -> bool:
        return any(s.kind == kind and s.value == x.number for s in self.scratch)

    def scratch_place(self, kind: str, x: Value) -> int:
        wanted = Scratch(kind, x.number, x.dtype.itemsize)
        if wanted not in self.scratch:
            self.scratch.append(wanted)
        return self.scratch.index(wanted)

    def from_scratch(self, kind: str, x: Value, index: str) -> str:
        place = self.scratch_place(kind, x)
        return f"load_{NAMES[x.dtype.name]}(t{place}, {index}, {len(self.arrays) + place})"

    def to_scratch(self, kind: str, x: Value, index: str, text: str | None = None) -> str:
        place = self.scratch_place(kind, x)
        text = self.name[x.number] if text is None else text
        return f"store_{NAMES[x.dtype.name]}(t{place}, {index}, {text}, {len(self.arrays) + place})"

    # expressions

    def ends(self) -> list[Value]:
        """The reductions that end the loop."""
        return [x for x in self.loop.body if self.zone[x.number] == "end"]

    def is_total(self, x: Value) -> bool:
        return all(s == 1 for s in x.shape)

    def start(self, x: Value) -> str:
        begin = REDUCTIONS[x.settings["kind"]]
        T = NAMES[x.dtype.name]
        if x.dtype.kind in "iu" and isinstance(begin, float):
            info = np.iinfo(x.dtype)
            return f"{T}({info.min if begin < 0 else info.max})"
        text = {float("inf"): "INFINITY", float("-inf"): "-INFINITY"}.get(begin, repr(begin))
        return f"{T}({text})"

    def combine(self, x: Value, so_far: str, new: str | None = None) -> str:
        """The reduction with one element more."""
        new = self.text(x.args[0], x.dtype) if new is None else new
        kind = x.settings["kind"]
        if kind == "sum":
            return f"{so_far} + {new}"
        if kind == "prod":
            return f"{so_far} * {new}"
        if kind in ("any", "all"):
            return f"{so_far} {'|' if kind == 'any' else '&'} {new}"
        sign = ">" if kind == "max" else "<"
        nan = f" | ({new} != {new})" if x.dtype.kind == "f" else ""
        return f"({new} if ({new} {sign} {so_far}){nan} else {so_far})"

    def text(self, x: Value, dtype: np.dtype[Any]) -> str:
        """A value, in a dtype."""
        name = self.operand(x)
        if x.dtype == dtype and not x.known:
            return name
        return f"({name} != 0)" if dtype.kind == "b" else f"{NAMES[dtype.name]}({name})"

    def operand(self, x: Value) -> str:
        if not x.known:
            return self.name[x.number]
        if x.op == "number" and x.settings["value"] in INLINE:
            return repr(x.settings["value"])
        if x not in self.numbers:
            self.numbers.append(x)
        return f"n{self.numbers.index(x)}"

    def assign(self, x: Value, index: str = "0") -> None:
        name = self.name[x.number]
        if x.op == "random_start":
            key, counter = (self.operand(a) for a in x.args)
            self.write(f"{name} = random_start({key}, {counter}, {x.settings['stream']})")
            return
        if x.op in ("iota", "uniform"):
            place = {"row": self.row_index, "column": "j", "whole": index, "one": "0"}[self.kind(x)]
            if x.op == "iota":
                self.write(f"{name} = {place}")
            else:
                self.write(f"{name} = uniform{x.dtype.itemsize * 8}({self.operand(x.args[0])}, {place})")
            return
        text = source_of(x, [self.operand(a) for a in x.args])
        for function in re.findall(r"@(\w+)@", text):
            if function not in self.functions:
                self.functions.append(function)
            text = text.replace(f"@{function}@", f"f{self.functions.index(function)}")
        self.write(f"{name} = {text}")

    def load(self, x: Value, index: str) -> None:
        self.write(f"{self.name[x.number]} = {self.load_text('leaf', x, index)}")

    def load_text(self, what: str, x: Value, index: str) -> str:
        place = self.scope[what, x.number]
        return f"load_{NAMES[x.dtype.name]}(p{place}, {index}, {place})"

    def store(self, x: Value, index: str, text: str) -> str:
        place = self.scope["root", x.number]
        return f"store_{NAMES[x.dtype.name]}(p{place}, {index}, {text}, {place})"

    def whole_source(self) -> str:
        """Imports and head before the body."""
        head = Writer()
        head("first, last, columns = word(a, 0), word(a, 1), word(a, 2)")
        at = 3
        for i in range(len(self.arrays)):
            head(f"p{i} = word(a, {at + i})")
        at += len(self.arrays)
        for i in range(len(self.scratch)):
            head(f"t{i} = word(a, {at + i})")
        at += len(self.scratch)
        for i, x in enumerate(self.numbers):
            head(f"n{i} = {'word' if x.dtype.kind in 'iub' else 'number'}(a, {at + i})")
        at += len(self.numbers)
        for i in range(len(self.functions)):
            head(f"f{i} = word(a, {at + i})")
        for x in self.loop.leaves:
            if self.zone[x.number] == "one":
                head(f"{self.name[x.number]} = {self.load_text('leaf', x, '0')}")
        body = "\n".join([*head.lines, *self.write.lines])
        names = sorted(set(re.findall(r"\b([a-zA-Z_]\w*)\(", body)) | set(re.findall(r"\bINFINITY\b", body)))
        names = [n for n in names if n not in ("range", "abs", "not", "if", "else")]
        return f"from pellucid.engine.native.kernel_parts import {', '.join(names)}\n\n\ndef kernel(a):\n{body}\n"


def kernel_of(loop: Loop, aliases: Mapping[int, int]) -> Kernel:
    """The kernel of a loop; `aliases` says which roots are written over which leaves."""
    return Writing(loop, aliases).kernel()
