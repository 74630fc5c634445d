"""From a recorded graph to the engine's values: what is made of other operations is taken apart.

A primitive that is not listed here and has a definition in NumPy (a function with a rule of its own) is recorded,
and its parts take its place: no formula is written a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from pellucid.engine.native.code.expressions import ELEMENTWISE
from pellucid.engine.native.code.reductions import REDUCTIONS
from pellucid.engine.native.passes.values import Builder, Value
from pellucid.errors import UnsupportedError
from pellucid.graph.core.dims import product
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.core.spec import Spec, broadcast
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal, Node
from pellucid.graph.record import record


class CannotCompile(UnsupportedError):
    """An operation that the native engine does not have."""


class EngineUnavailable(CannotCompile):
    """Nothing can be compiled here."""


@dataclass
class Lowered:
    """A graph in the engine's form."""

    inputs: list[Value]
    outputs: list[Value]
    values: list[Value]
    guards: list[tuple[Value, bool]]  # it holds only for sizes that answer these questions the same way


def lower(graph: Graph, sizes: Mapping[str, int], checked: bool = False) -> Lowered:
    """The values of a graph; `sizes` are the open sizes it will first run with.

    `checked` says that labels have been looked at before: they are not looked at again in every step.
    """
    build = Builder(sizes)
    build.checked = checked
    inputs: list[Value] = []
    for node in graph.nodes[: graph.inputs]:
        x = build.new("input", (), node.shape, node.dtype, {"position": len(inputs)})
        x.name = node.name
        inputs.append(x)
    outputs = inline(build, graph, inputs)
    return Lowered(inputs, outputs, build.values, build.guards)


def inline(build: Builder, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
    """The values of the operations of a graph at these inputs."""
    made: list[Value] = list(inputs)

    def argument(a: int | Literal) -> Value:
        return build.literal(a.value) if isinstance(a, Literal) else made[a]

    for node in graph.operations:
        build.scope = node.scope
        value = lower_node(build, node, [argument(a) for a in node.args])
        if not value.name and node.name:
            value.name = node.name
        made.append(value)
    return [argument(out) for out in graph.outputs]


def lower_node(build: Builder, node: Node, args: list[Value]) -> Value:
    assert node.op is not None
    name, settings, spec = node.op.name, node.settings, node.spec
    if spec.dtype in (np.dtype(np.float16), np.dtype(np.longdouble)) or np.dtype(spec.dtype).kind not in "biuf":
        raise CannotCompile(f"the native engine computes in float32 and float64, not in {np.dtype(spec.dtype)}")
    registered = node.op.bind is not None and RULES.get(name)
    if registered:
        return registered(build, node, args)
    if name in REDUCTIONS:
        return _reduced(build, name, args[0], settings["axis"], settings["keepdims"], spec)
    if name in ELEMENTWISE and REGISTRY.get(name) is node.op:  # not a function of the user's with the same name
        return build.elementwise(name, args, np.dtype(spec.dtype), spec.shape, spec.weak)
    return _expanded(build, node, args)


def _expanded(build: Builder, node: Node, args: list[Value]) -> Value:
    """The parts of a primitive that is made of others."""
    op, settings = node.op, dict(node.settings)
    assert op is not None
    try:
        specs = [Spec(a.shape, a.dtype) for a in args]
        inner = record(lambda *xs: op.value(*xs, **settings), *specs, name=op.name).simplify()
    except Exception as error:
        raise CannotCompile(f"{op.name!r} is not made of operations that can be recorded: {error}") from error
    if any(n.op is op for n in inner.operations):
        raise CannotCompile(f"the native engine has no {op.name!r}")
    (made,) = inline(build, inner, args)
    if made.dtype != node.dtype:
        made = build.elementwise("astype", (made,), node.dtype, made.shape)
    return made


def _reduced(build: Builder, kind: str, x: Value, axis: Any, keepdims: bool, spec: Spec) -> Value:
    axes = tuple(range(len(x.shape))) if axis is None else axis
    made = build.reduce(kind, x, axes, np.dtype(spec.dtype))
    return build.view(made, spec.shape)


def _mean(build: Builder, node: Node, args: list[Value]) -> Value:
    (x,), dtype = args, np.dtype(node.dtype)
    axes = node.settings["axis"]
    count = build.literal(product(x.shape[a] for a in axes))
    total = build.reduce("sum", x if x.dtype == dtype else build.elementwise("astype", (x,), dtype), axes, dtype)
    return build.view(build.elementwise("divide", (total, count), dtype), node.shape)


def _elementwise(build: Builder, node: Node, args: list[Value]) -> Value:
    """Whatever the settings: how a tie of maximum and minimum shares its derivative is no matter here."""
    assert node.op is not None
    return build.elementwise(node.op.name, args, np.dtype(node.dtype), node.shape)


def _full_like(build: Builder, node: Node, args: list[Value]) -> Value:
    fill = build.elementwise("astype", (args[1],), np.dtype(node.dtype))
    return build.elementwise("broadcast_to", (fill,), np.dtype(node.dtype), node.shape)


def transposed(build: Builder, x: Value, axes: tuple[int, ...]) -> Value:
    shape = tuple(x.shape[a] for a in axes)
    if [a for a in axes if x.shape[a] != 1] == sorted(a for a in axes if x.shape[a] != 1):
        return build.view(x, shape)  # only axes of size 1 change places
    if x.op == "transpose":
        return transposed(build, x.args[0], tuple(x.settings["axes"][a] for a in axes))
    return build.new("transpose", (x,), shape, x.dtype, {"axes": axes})


def _matmul(build: Builder, node: Node, args: list[Value]) -> Value:
    """Rows times columns; vectors become matrices of one row or column."""
    dtype = np.dtype(node.dtype)
    a, b = (x if x.dtype == dtype else build.elementwise("astype", (x,), dtype) for x in args)
    a = build.view(a, (1, *a.shape)) if len(a.shape) == 1 else a
    b = build.view(b, (*b.shape, 1)) if len(b.shape) == 1 else b
    lead = max(a.shape[:-2], b.shape[:-2], key=len)
    shape = (*(node.shape[: len(lead)]), a.shape[-2], b.shape[-1])
    if dtype.kind != "f" or a.shape[-1] == 1:  # whole numbers, and outer products: a tile has nothing for them
        letters = ascii_uppercase[: len(lead)]
        terms = [letters[len(lead) + 2 - len(a.shape) :] + "ij", letters[len(lead) + 2 - len(b.shape) :] + "jk"]
        return build.view(_sum_of_products(build, [a, b], terms, letters + "ik", dtype), node.shape)
    if lead:
        wide = [(x, (*shape[:-2], *x.shape[-2:])) for x in (a, b)]
        a, b = (build.elementwise("broadcast_to", (x,), x.dtype, whole) for x, whole in wide)
    return build.view(build.new("matmul", (a, b), shape, dtype, dict(node.settings)), node.shape)


def _einsum(build: Builder, node: Node, args: list[Value]) -> Value:
    dtype = np.dtype(node.dtype)
    inputs, output = node.settings["subscripts"].split("->")
    terms = inputs.split(",")
    made = _contraction(build, args, terms, output, dtype) if len(args) == 2 else None
    return build.view(made or _sum_of_products(build, args, terms, output, dtype), node.shape)


def _sum_of_products(build: Builder, args: list[Value], terms: list[str], output: str, dtype: Any) -> Value:
    """All operands over all letters, multiplied and summed."""
    letters = output + "".join(dict.fromkeys(c for t in terms for c in t if c not in output))
    total: Value | None = None
    for term, x in zip(terms, args, strict=True):
        x = build.elementwise("astype", (x,), dtype)
        order = sorted(range(len(term)), key=lambda i: letters.index(term[i]))
        x = transposed(build, x, tuple(order))
        present = {term[i]: x.shape[k] for k, i in enumerate(order)}
        x = build.view(x, tuple(present.get(c, 1) for c in letters))
        total = x if total is None else build.elementwise("multiply", (total, x), dtype)
    assert total is not None
    axes = tuple(range(len(output), len(letters)))
    return build.reduce("sum", total, axes, dtype) if axes else total


def _contraction(build: Builder, args: list[Value], terms: list[str], output: str, dtype: Any) -> Value | None:
    """A pair with one group of summed letters is a matrix product."""
    a, b = args
    ta, tb = terms
    summed = [c for c in ta if c in tb and c not in output]
    rows, columns = [c for c in ta if c not in tb], [c for c in tb if c not in ta]
    shared = any(c in tb and c in output for c in ta)
    sizes = {c: s for t, x in zip(terms, args, strict=True) for c, s in zip(t, x.shape, strict=True)}
    uneven = any(a.shape[ta.index(c)] != b.shape[tb.index(c)] for c in summed)
    if shared or uneven or not summed or dtype.kind != "f" or any(c not in output for c in rows + columns):
        return None
    left = transposed(build, build.elementwise("astype", (a,), dtype), tuple(ta.index(c) for c in rows + summed))
    right = transposed(build, build.elementwise("astype", (b,), dtype), tuple(tb.index(c) for c in summed + columns))
    m, k, n = (product(sizes[c] for c in group) for group in (rows, summed, columns))
    made = build.new("matmul", (build.view(left, (m, k)), build.view(right, (k, n))), (m, n), dtype)
    found = rows + columns
    return transposed(build, build.view(made, tuple(sizes[c] for c in found)), tuple(found.index(c) for c in output))


def _one_hot(build: Builder, node: Node, args: list[Value]) -> Value:
    """A label out of range gives a row of NaN, where NumPy's executor raises: a training step stops there."""
    (labels,), classes = args, node.settings["classes"]
    if labels.dtype.kind not in "iu":
        raise CannotCompile(f"labels must be integers, got {labels.dtype}")
    labels = _in_memory(build, labels)
    if not build.checked:
        labels = build.new("in_range", (labels,), labels.shape, labels.dtype, {"end": classes})
    positions = build.new("iota", (), (classes,), np.int64)
    hit = build.elementwise("equal", (build.view(labels, (*labels.shape, 1)), positions), np.bool_)
    return build.elementwise("astype", (hit,), np.dtype(node.dtype))


def _uniform(build: Builder, node: Node, args: list[Value]) -> Value:
    stream = node.settings.get("stream", 0)
    start = build.new("random_start", args[:2], (), np.uint64, {"stream": stream})
    return build.new("uniform", (start,), node.shape, np.float32 if len(args) == 3 else node.dtype)


def _bernoulli(build: Builder, node: Node, args: list[Value]) -> Value:
    less = build.elementwise("less", (_uniform(build, node, args), args[2]), np.bool_, node.shape)
    return build.elementwise("astype", (less,), np.dtype(node.dtype))


def _along(build: Builder, node: Node, args: list[Value]) -> Value:
    """argmax, argmin, cumsum: along the last axis of what is brought there."""
    assert node.op is not None
    (x,), axis, op = args, node.settings["axis"], node.op.name
    if axis is None:
        x, axis = build.view(x, (product(x.shape),)), 0
    if op == "cumsum":
        x = build.elementwise("astype", (x,), np.dtype(node.dtype))
    order = (*(i for i in range(len(x.shape)) if i != axis), axis)
    last = transposed(build, x, order)
    if op == "cumsum":
        made = build.new(op, (last,), last.shape, last.dtype)
        return transposed(build, made, tuple(np.argsort(order).tolist()))
    return build.view(build.new(op, (last,), (*last.shape[:-1], 1), np.int64), node.shape)


def _in_memory(build: Builder, x: Value) -> Value:
    """A place in memory, for a number, too."""
    return build.new("broadcast_to", (x,), x.shape, x.dtype) if x.known else x


def _looked_at(build: Builder, node: Node, args: list[Value]) -> Value:
    """distribution, column_moments, likeness: of an array at a place in memory."""
    assert node.op is not None
    (x,) = args
    if x.dtype.kind != "f":
        x = build.elementwise("astype", (x,), np.dtype(np.float64))
    return build.new(node.op.name, (_in_memory(build, x),), node.shape, np.dtype(node.dtype), dict(node.settings))


def _move(build: Builder, node: Node, args: list[Value]) -> Value:
    """concatenate, pad, flip, getitem, scatter_add: elements go to other places."""
    assert node.op is not None
    dtype, settings = np.dtype(node.dtype), dict(node.settings)
    whole = (None, Ellipsis, slice(None))
    if len(args) == 1 and "spec" in settings and all(any(part == w for w in whole) for part in settings["spec"]):
        return build.view(args[0], node.shape)  # nothing but new axes
    first = 1 if node.op.name in ("getitem", "scatter_add") else len(args)
    cast = [build.elementwise("astype", (a,), dtype if i < first else np.int64) for i, a in enumerate(args)]
    if len(cast) > first:
        common = broadcast([a.shape for a in cast[first:]], "index arrays")
        cast[first:] = [build.elementwise("broadcast_to", (a,), a.dtype, common) for a in cast[first:]]
    return build.new(node.op.name, [_in_memory(build, a) for a in cast], node.shape, dtype, settings)


RULES: dict[str, Callable[[Builder, Node, list[Value]], Value]] = {
    "mean": _mean,
    "stop_gradient": lambda build, node, args: args[0],
    "full_like": _full_like,
    "reshape": lambda build, node, args: build.view(args[0], node.shape),
    "transpose": lambda build, node, args: transposed(build, args[0], node.settings["axes"]),
    "matmul": _matmul,
    "einsum": _einsum,
    "one_hot": _one_hot,
    "random_uniform": _uniform,
    "random_bernoulli": _bernoulli,
    **dict.fromkeys(("astype", "broadcast_to", "maximum", "minimum"), _elementwise),
    **dict.fromkeys(("argmax", "argmin", "cumsum"), _along),
    **dict.fromkeys(("distribution", "column_moments", "likeness"), _looked_at),
    **dict.fromkeys(("concatenate", "pad", "flip", "getitem", "scatter_add"), _move),
}
"""What is not simply elementwise."""
