"""A program for people: its instructions as lines, and what each of them costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pellucid.engine.native.code.expressions import ELEMENTWISE
from pellucid.engine.native.passes.instructions import Call, Loop, base, flipped
from pellucid.engine.native.passes.schedule import Barrier, Check, Combine, Step
from pellucid.engine.native.passes.values import Value, size_of
from pellucid.engine.native.runtime.program import Program
from pellucid.graph.core.dims import resolve
from pellucid.graph.core.spec import Spec
from pellucid.graph.show.names import CONSTANTS, VARIABLES, distinct, free_letter, open_sizes
from pellucid.graph.show.program import type_text
from pellucid.markup import table

INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "equal": "==",
    "not_equal": "!=",
    "power": "**",
}


class Names:
    """Inputs by their names, kept arrays a1, a2, ..., what lives in registers v1, v2, ..., constants c1, c2, ...

    Where an input has such a name, ours take another letter.
    """

    def __init__(self, program: Program) -> None:
        names = distinct([_short(x.name) for x in program.lowered.inputs])
        self.of: dict[int, str] = dict(zip((x.number for x in program.lowered.inputs), names, strict=True))
        most = range(1, len(program.lowered.values) + 1)
        self.array, self.register, self.constant = (
            free_letter(letters, lambda letter: [f"{letter}{i}" for i in most], set(names))
            for letters in (("a", "b", "d"), VARIABLES, CONSTANTS)
        )
        kept = [x for step in program.steps for x in step.writes]
        self.kept = {x.number for x in kept}
        for x in kept:
            if x.number not in self.of:
                self.of[x.number] = f"{self.array}{len(self.of) - len(program.lowered.inputs) + 1}"
        self.overwrites = program.overwrites
        self.counts = {self.register: 0, self.constant: 0}

    def __call__(self, x: Value) -> str:
        if x.op == "number":
            return f"{x.settings['value']:.10g}" if isinstance(x.settings["value"], float) else str(x.settings["value"])
        if x.op == "size":
            if "expression" in x.settings:
                return str(x.settings["expression"])
            inside = formula(x.settings["f"], [self(a) for a in x.args])
            return f"({inside})" if " " in inside else inside
        x = base(x)
        if x.number not in self.of:
            letter = self.constant if x.op == "constant" else self.register
            self.counts[letter] += 1
            self.of[x.number] = f"{letter}{self.counts[letter]}"
        return self.of[x.number]


def _short(name: str) -> str:
    """now[0]['hidden1.weight'] -> hidden1.weight"""
    return re.sub(r"^\w+(?:\[\d+\])?\['([^']*)'\]$", r"\1", name)


def formula(op: str, args: list[str]) -> str:
    if op in INFIX and len(args) == 2:
        return f"{args[0]} {INFIX[op]} {args[1]}"
    if op == "negative":
        return f"-{args[0]}"
    return f"{op}({', '.join(args)})"


def title(program: Program) -> str:
    """What it is, in a line."""
    wait = sum(isinstance(s, Barrier) for s in program.steps)
    count = len(program.steps) - wait
    threads = f"{program.threads} thread{'s' if program.threads > 1 else ''}"
    return f"{program.graph.name}: {count} instructions, {threads}" + (f", {wait} barriers" if wait else "")


def listing(program: Program) -> str:
    """The whole program: what is kept in memory stands at the left, what passes through registers is indented."""
    names = Names(program)
    lines = [f"program {title(program)}"]
    for i, step in enumerate(program.steps, 1):
        first, *more = _lines(step, names)
        lines += [f"{i:3d}  {first}", *(f"     {line}" for line in more)]
    outputs = ", ".join(names(x) for x in program.lowered.outputs)
    return "\n".join([*lines, f"     return {outputs}"])


def _lines(step: Step, names: Names) -> list[str]:
    if isinstance(step, Barrier):
        return ["barrier: every thread waits for the others"]
    if isinstance(step, Combine):
        return [f"combine the threads' parts of {names(step.value)}"]
    if isinstance(step, Check):
        return [f"stop unless {', '.join(names(x) for x in step.reads)} are finite"]
    if isinstance(step, Call):
        return [_call_line(step, names)]
    head = f"loop over {' x '.join(map(str, step.space))}" if step.space else "numbers"
    if step.product is not None:
        head = _call_line(step.product, names).split("   ")[0] + ", tile by tile, and for each"
    scope = next((f"   # {x.scope}" for x in step.body if x.scope), "")
    return [head + scope, *(f"    {_value_line(x, names)}" for x in step.body)]


def _value_line(x: Value, names: Names) -> str:
    args = [names(a) for a in x.args]
    if x.op == "reduce":
        text = f"{x.settings['kind']}({args[0]}, axis={', '.join(map(str, x.settings['axes']))})"
    elif x.op == "broadcast_to":
        text = args[0]
    elif x.op == "astype":
        text = f"{x.dtype.name}({args[0]})"
    else:
        text = formula(x.op, args)
    return f"{names(x)} = {text}{_place(x, names) if x.number in names.kept else ''}"


def _place(x: Value, names: Names) -> str:
    """Of which kind a kept value is, and what it is written over."""
    over = f", over {names(names.overwrites[x.number])}" if x.number in names.overwrites else ""
    return f"   -> {type_text(Spec(x.shape, x.dtype))}{over}"


def _call_line(step: Call, names: Names) -> str:
    x, place = step.value, _place(step.value, names)
    if x.op == "matmul":
        left, right = (f"{names(a.args[0] if flipped(a) else a)}{'.T' if flipped(a) else ''}" for a in x.args)
        part = ", columns of each thread" if "columns" in x.settings else ""
        if "shift" in x.settings:
            part = ", a part of each thread" + (" for another" if x.settings["shift"] else "")
        rounded = f", {x.settings['precision']}" if "precision" in x.settings else ""
        return f"{names(x)} = {left} @ {right}{rounded}{part}{place}"
    return f"{names(x)} = {x.op}({', '.join(names(a) for a in x.args)}){place}"


# what it costs


@dataclass(frozen=True)
class Row:
    """One instruction: what it is, its kernel, floating-point operations, bytes read and written."""

    number: int
    what: str
    kernel: str
    flops: int
    bytes: int

    @property
    def cells(self) -> list[str]:
        each = f"{self.flops / self.bytes:.1f}" if self.bytes else ""
        return [str(self.number), self.what, self.kernel, _count(self.flops), _bytes(self.bytes), each]


@dataclass(frozen=True)
class Explanation:
    """The cost of a program at given sizes. Print it for a table."""

    program: str
    sizes: dict[str, int]
    rows: list[Row]
    arena: int

    HEAD: ClassVar[list[str]] = ["", "instruction", "kernel", "flops", "memory", "flops/byte"]

    @property
    def flops(self) -> int:
        return sum(row.flops for row in self.rows)

    @property
    def bytes(self) -> int:
        return sum(row.bytes for row in self.rows)

    def __repr__(self) -> str:
        cost = f"{_count(self.flops)} flops, {_bytes(self.bytes)} moved"
        return f"<Explanation of {self._title(' at ')}: {cost}; print it for the table>"

    def _repr_html_(self) -> str:
        caption = f"{self._title(', ')}: arena of {_bytes(self.arena)}"
        return table(self._cells(), self.HEAD, caption=caption, numbers=(0, 3, 4, 5))

    def __str__(self) -> str:
        lines = [self.HEAD, *self._cells()]
        what = max((len(r.what) for r in self.rows), default=0)
        form = f"{{:>3}}  {{:{what}}}  {{:13}}  {{:>9}}  {{:>9}}  {{:>10}}"
        head = f"{self._title(' at ')}: arena of {_bytes(self.arena)}"
        return "\n".join([head, *(form.format(*cells).rstrip() for cells in lines)])

    def _title(self, link: str) -> str:
        """Of what it is the cost, and at which sizes."""
        sizes = ", ".join(f"{k} = {v}" for k, v in self.sizes.items())
        return self.program + (f"{link}{sizes}" if sizes else "")

    def _cells(self) -> list[list[str]]:
        """The rows of the table, and their sum."""
        return [*(row.cells for row in self.rows), ["", "all", "", _count(self.flops), _bytes(self.bytes), ""]]


def explanation(program: Program, sizes: Mapping[str, int]) -> Explanation:
    from pellucid.engine.native.runtime.memory import Memory

    lacking = sorted(set(open_sizes(program.graph)) - set(sizes))
    if lacking:
        raise TypeError(f"explain needs the open sizes: explain({', '.join(f'{n}=...' for n in lacking)})")
    names = Names(program)
    rows = [_row(i, step, names, program, sizes) for i, step in enumerate(program.steps, 1)]
    outside = {x.number: 0 for x in [*program.lowered.inputs, *map(base, program.lowered.outputs)]}
    return Explanation(program.graph.name, dict(sizes), rows, Memory(program, sizes, outside).size)


def _row(number: int, step: Step, names: Names, program: Program, sizes: Mapping[str, int]) -> Row:
    what = _lines(step, names)[0].split("   ")[0]
    moved = sum(size_of(base(x).shape, sizes) * x.dtype.itemsize for x in [*step.reads, *step.writes])
    if isinstance(step, Call) and step.value.op == "matmul":
        return Row(number, what, "product", _product_flops(step, sizes, program.threads), moved)
    if isinstance(step, Loop):
        work = sum(size_of(_of(x), sizes) for x in step.body if x.op in ELEMENTWISE or x.op == "reduce")
        if step.product is not None:
            work += _product_flops(step.product, sizes, program.threads)
            moved -= size_of(step.product.value.shape, sizes) * step.product.value.dtype.itemsize  # it is not written
        return Row(
            number,
            what + " -> " + ", ".join(names(x) for x in step.roots),
            program.kernels[step].name[:12],
            work,
            moved,
        )
    return Row(number, what, type(step).__name__.lower(), 0, 0 if isinstance(step, Barrier) else moved)


def _product_flops(call: Call, sizes: Mapping[str, int], threads: int) -> int:
    parts = threads if "shift" in call.value.settings else 1
    return 2 * int(resolve(call.value.args[0].shape[-1], sizes)) * size_of(call.value.shape, sizes) // parts


def _of(x: Value) -> Any:
    return x.args[0].shape if x.op == "reduce" else x.shape


def _count(n: int) -> str:
    for unit in ("", "k", "M", "G"):
        if n < 1000:
            return f"{n:.3g} {unit}".strip()
        n /= 1000  # type: ignore[assignment]
    return f"{n:.3g} T"


def _bytes(n: int) -> str:
    return f"{n} B" if n < 1024 else f"{n / 1024:.1f} KB" if n < 1024**2 else f"{n / 1024**2:.1f} MB"
