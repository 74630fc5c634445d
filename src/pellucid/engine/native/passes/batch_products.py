"""Products that sum over the rows of a batch: which of two ways they are divided among threads.

The gradient of a weight matrix is such a product, inputs' x gradients. By rows of the result each thread reads what the
others have made of their rows of the batch. By the depth each thread stays with its own rows of the batch, and gives
the others their part of the result: `matmul` with a `shift` of k is what thread t makes for thread t - k, and the
results of all shifts are added up by the thread that needs them, in their order. Shift 0 it keeps for itself.

Either way threads wait for each other once. What differs is how many numbers change hands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.engine.native.passes.instructions import flipped, operands
from pellucid.engine.native.passes.lower import Lowered
from pellucid.engine.native.passes.values import Value
from pellucid.graph.core.dims import is_open, resolve


@dataclass(frozen=True)
class Choice:
    """A product over the rows of a batch, and whether its depth is divided."""

    rows: Any
    columns: Any
    depth: Any
    by_depth: bool

    def holds(self, sizes: Mapping[str, int], threads: int) -> bool:
        """Is it also the choice for these sizes?"""
        return _by_depth(self.rows, self.columns, self.depth, sizes, threads) == self.by_depth


def divide(lowered: Lowered, sizes: Mapping[str, int], threads: int) -> list[Choice]:
    """Put the parts of each product whose depth is divided, and their sum, in its place."""
    choices: list[Choice] = []
    values: list[Value] = []
    for x in lowered.values:
        if threads > 1 and _sums_over_batch(x):
            (rows, columns), depth = x.shape, x.args[0].shape[-1]
            choices.append(Choice(rows, columns, depth, _by_depth(rows, columns, depth, sizes, threads)))
            if choices[-1].by_depth:
                values += _parts(x, threads)
        values.append(x)
    for number, x in enumerate(values):
        x.number = number
    lowered.values[:] = values
    return choices


def _sums_over_batch(x: Value) -> bool:
    if x.op != "matmul" or len(x.shape) != 2 or is_open(x.shape):
        return False
    (left, right), depth = x.args, x.args[0].shape[-1]
    return is_open((depth,)) and flipped(left) and not flipped(right) and all(a.shape[0] == depth for a in operands(x))


def _by_depth(rows: Any, columns: Any, depth: Any, sizes: Mapping[str, int], threads: int) -> bool:
    """Do fewer numbers change hands? A thread reads, of the others' rows of the batch, its own columns of the left side
    and all of the right one; or the others' sums for its own rows of the result."""
    a, b, n = (int(resolve(s, sizes)) for s in (rows, columns, depth))
    others = (threads - 1) / threads
    return others * a * b < others * n * (a / threads + b)


def _parts(x: Value, threads: int) -> list[Value]:
    """The parts of a product, which becomes their sum."""
    parts = [Value("matmul", x.args, x.shape, x.dtype, {**x.settings, "shift": k}) for k in range(threads)]
    total, *more = parts
    sums: list[Value] = []
    for part in more[:-1]:
        sums.append(Value("add", (total, part), x.shape, x.dtype))
        total = sums[-1]
    for made in (*parts, *sums):
        made.scope = x.scope
    x.op, x.args, x.settings = "add", (total, more[-1]), {"kept": True}
    return [*parts, *sums]
