"""How threads divide matrix products: what one thread has made and another needs changes hands, and that takes time.

By rows of the result each thread reads the others' part of the right side. Where that is much, there are other ways:

By the depth each thread stays with its own part of what is summed over, and gives the others their part of the result:
`matmul` with a `shift` of k is what thread t makes for thread t - k, and the results of all shifts are added up by the
thread that needs them, in their order. Shift 0 it keeps for itself.

By `columns` each thread makes its own columns of the result, for all rows.

The gradient of a weight matrix sums over the rows of the batch. It is divided by them where fewer numbers change hands.
The rows of a weight matrix belong to the thread that trains them. Where there are more weights than activations, they
stay with it: forward the depth is divided, backward the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pellucid.engine.native.passes.instructions import flipped, operands
from pellucid.engine.native.passes.lower import Lowered
from pellucid.engine.native.passes.values import Value
from pellucid.graph.core.dims import is_open, resolve

HIDDEN = 100
"""Rows of a thread from which its arithmetic on a line of weights takes longer than the line takes to come."""


@dataclass(frozen=True)
class Choice:
    """Products of a batch of n rows with weights of a rows and b columns: are they divided otherwise than by rows?

    The gradient, or (`trained`) the products that read the weights, forward and perhaps `backward`.
    """

    a: Any
    b: Any
    n: Any
    trained: bool = False
    backward: bool = False
    divided: bool = False

    def holds(self, sizes: Mapping[str, int], threads: int) -> bool:
        """Is it also the choice for these sizes?"""
        return self.answer(sizes, threads) == self.divided

    def answer(self, sizes: Mapping[str, int], threads: int) -> bool:
        """Do fewer numbers change hands? All counts are times T / (T - 1).

        For the gradient by rows a thread reads, of the others' rows of the batch, its own columns of the left side and
        all of the right one; by the depth the others' sums for its own rows. Weights that others read are read, and
        must be called back to be written. Where they stay, sums of the next layer and gradients of this one change
        hands, and what the gradient by rows reads.
        """
        a, b, n = (int(resolve(s, sizes)) for s in (self.a, self.b, self.n))
        activations = n * (a / threads + b)
        if not self.trained:
            return a * b < activations
        if n > HIDDEN * threads:
            return False
        return n * b + self.backward * n * a / threads + activations < 2 * a * b + min(a * b, activations)


def divide(lowered: Lowered, sizes: Mapping[str, int], threads: int, trained: Sequence[Value]) -> list[Choice]:
    """Choose for each product. The parts of one whose depth is divided, and their sum, are put in its place."""
    if threads == 1:
        return []
    choices: list[Choice] = []
    ways: dict[int, str] = {}
    for weights in trained:
        forward, backward, gradients = _uses(lowered, weights)
        if forward:
            (a, b), n = weights.shape, forward[0].shape[0]
            question = Choice(a, b, n, trained=True, backward=bool(backward))
            choices.append(_answered(question, sizes, threads))
            if choices[-1].divided:
                ways |= dict.fromkeys((x.number for x in forward), "depth")
                ways |= dict.fromkeys((x.number for x in backward), "columns")
                ways |= dict.fromkeys((x.number for x in gradients), "rows")
    for x in lowered.values:
        if _is_gradient(x) and x.number not in ways:
            (a, b), n = x.shape, x.args[0].shape[-1]
            choices.append(_answered(Choice(a, b, n), sizes, threads))
            ways[x.number] = "depth" if choices[-1].divided else "rows"
    values: list[Value] = []
    for x in lowered.values:
        way = ways.get(x.number)
        if way == "depth":
            values += _parts(x, threads, kept=_is_gradient(x))
        elif way == "columns":
            x.settings = {**x.settings, "columns": True}
        values.append(x)
    for number, x in enumerate(values):
        x.number = number
    lowered.values[:] = values
    return choices


def _answered(question: Choice, sizes: Mapping[str, int], threads: int) -> Choice:
    return replace(question, divided=question.answer(sizes, threads))


def _uses(lowered: Lowered, weights: Value) -> tuple[list[Value], list[Value], list[Value]]:
    """The products of batches with weights, with the weights turned, and the sums over the same batches of the weights'
    shape."""
    if len(weights.shape) != 2:
        return [], [], []
    products = [x for x in lowered.values if x.op == "matmul" and len(x.shape) == 2]
    of_batch = [x for x in products if is_open(x.shape[:1]) and not flipped(x.args[0]) and operands(x)[1] is weights]
    forward = [x for x in of_batch if not flipped(x.args[1])]
    inputs = [operands(x)[0] for x in forward]
    gradients = [x for x in products if _is_gradient(x) and x.shape == weights.shape and operands(x)[0] in inputs]
    return forward, [x for x in of_batch if flipped(x.args[1])], gradients


def _is_gradient(x: Value) -> bool:
    """Does a product sum over the rows of a batch?"""
    if x.op != "matmul" or len(x.shape) != 2 or is_open(x.shape):
        return False
    (left, right), depth = x.args, x.args[0].shape[-1]
    return is_open((depth,)) and flipped(left) and not flipped(right) and all(a.shape[0] == depth for a in operands(x))


def _parts(x: Value, threads: int, kept: bool) -> list[Value]:
    """The parts of a product, which becomes their sum; `kept`: in memory."""
    parts = [Value("matmul", x.args, x.shape, x.dtype, {**x.settings, "shift": k}) for k in range(threads)]
    total, *more = parts
    sums: list[Value] = []
    for part in more[:-1]:
        sums.append(Value("add", (total, part), x.shape, x.dtype))
        total = sums[-1]
    for made in (*parts, *sums):
        made.scope = x.scope
    x.op, x.args, x.settings = "add", (total, more[-1]), {"kept": True} if kept else {}
    return [*parts, *sums]
