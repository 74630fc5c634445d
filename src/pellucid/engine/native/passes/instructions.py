"""Instructions: loops and calls, and what they read and write."""

from __future__ import annotations

from dataclasses import dataclass, field

from pellucid.engine.native.code.expressions import FORMULAS
from pellucid.engine.native.passes.values import Value, real
from pellucid.graph.core.dims import Shape


@dataclass(eq=False)
class Call:
    """An instruction of its own: a matrix product or a move. `args` are the arrays it reads."""

    value: Value
    args: list[Value]

    @property
    def reads(self) -> list[Value]:
        return self.args

    @property
    def writes(self) -> list[Value]:
        return [self.value]


@dataclass(eq=False)
class Loop:
    """One loop nest: the kept values it makes (`roots`), what it computes on the way (`body`), what it reads.

    `product` is the matrix product among its leaves that is made in the same instruction.
    """

    space: Shape
    cut: int | None  # the first axis that belongs to the columns; None: one flat loop
    roots: list[Value]
    body: list[Value] = field(default_factory=list)
    leaves: list[Value] = field(default_factory=list)
    level: int = 0
    product: Call | None = None

    @property
    def arrays(self) -> list[Value]:
        """What it reads that is made before it."""
        return [x for x in self.leaves if self.product is None or x is not self.product.value]

    @property
    def reads(self) -> list[Value]:
        return self.arrays if self.product is None else [*self.product.args, *self.arrays]

    @property
    def writes(self) -> list[Value]:
        return self.roots if self.product is None else [self.product.value, *self.roots]


Instruction = Loop | Call


def base(x: Value) -> Value:
    """The array behind a view."""
    while x.op == "view":
        x = x.args[0]
    return x


def operands(x: Value) -> list[Value]:
    """The arrays that an instruction reads: a matrix product takes a transposed one as it is."""
    if x.op != "matmul":
        return [base(a) for a in x.args]
    return [base(a.args[0]) if flipped(a) else base(a) for a in x.args]


def flipped(x: Value) -> bool:
    """Is it a matrix whose last two axes are exchanged?"""
    rank = len(x.shape)
    return x.op == "transpose" and tuple(x.settings["axes"]) == (*range(rank - 2), rank - 1, rank - 2)


def in_loop(x: Value) -> bool:
    return x.op in FORMULAS or x.op == "reduce"


def along_row(x: Value) -> bool:
    """A reduction over the last axes, something being left of the others?"""
    if x.op != "reduce":
        return False
    real = [i for i, s in enumerate(x.args[0].shape) if s != 1]
    axes = x.settings["axes"]
    return len(axes) < len(real) and tuple(real[-len(axes) :]) == axes


def passes(loop: Loop) -> dict[int, int]:
    """After how many passes over a row each value of a loop is known: one more behind every sum along the row."""
    found = {x.number: 0 for x in loop.leaves}
    for x in loop.body:
        before = max((found[a.number] for a in x.args if not a.known), default=0)
        found[x.number] = before + (x.op == "reduce")
    return found


def is_written_last(root: Value, loop: Loop) -> bool:
    """Is a root stored in the last pass over a row? Only then may it lie where a leaf is: others read it again."""
    found = passes(loop)
    return found[root.number] == max(found[x.number] for x in loop.body if x.op != "reduce" or along_row(x))


def fills(x: Value, loop: Loop) -> bool:
    """Does a value differ along rows and columns of a loop?"""
    return real(x.shape) == real(loop.space)


def kind(shape: Shape, space: Shape) -> str:
    """How a shape lies in the rows and columns of a loop: "one" number, one for each "row" or "column", or "whole"."""
    axes = [i - len(space) for i, s in enumerate(space) if s != 1]
    present = [i for i in axes if len(shape) + i >= 0 and shape[i] != 1]
    if not present:
        return "one"
    return "whole" if present == axes else "row" if present[0] == axes[0] else "column"
