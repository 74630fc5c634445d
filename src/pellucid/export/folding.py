"""Graphs made ready for other formats: rules taken apart, constants folded into the matrices before and behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.errors import ExportError
from pellucid.export.values import uses_of
from pellucid.graph import Graph, Spec, record
from pellucid.graph.core.dims import Dim, is_open, product
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.core.tree import flatten
from pellucid.graph.node import Literal, Node

SAME = ("stop_gradient", "positive")
"""Operations that give back what they get."""

Argument = int | Literal


def folded(graph: Graph) -> Graph:
    """The same results by fewer operations, all of them known by name.

    Batch normalisation, behind a matrix, becomes a part of it; so does a factor for each column ahead of it.
    """
    return _matrices(_plain(graph.simplify()).simplify()).simplify()


def bound(graph: Graph, columns: tuple[Spec, ...], weights: Any) -> Graph:
    """A graph of columns and weights as one of columns alone: the weights are constants in it."""
    arrays = flatten(weights)[0]
    first, shift = len(columns), len(arrays)

    def moved(a: Argument) -> Argument:
        if isinstance(a, Literal) or a < first:
            return a
        return Literal(np.asarray(arrays[a - first])) if a < first + shift else a - shift

    kept = [node for i, node in enumerate(graph.nodes) if not first <= i < first + shift]
    nodes = tuple(replace(node, args=tuple(moved(a) for a in node.args)) for node in kept)
    outputs = tuple(moved(out) for out in graph.outputs)
    return Graph(graph.name, nodes, first, outputs, flatten(columns)[1], graph.out_tree)


class _Builder:
    """A new graph, node by node, from those of an old one."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Node] = list(graph.nodes[: graph.inputs])
        self.place: dict[int, Argument] = {i: i for i in range(graph.inputs)}

    def moved(self, a: Argument) -> Argument:
        return a if isinstance(a, Literal) else self.place[a]

    def add(self, node: Node, args: tuple[Argument, ...]) -> int:
        self.nodes.append(replace(node, args=args))
        return len(self.nodes) - 1

    def spec(self, a: Argument) -> Spec:
        return a.spec if isinstance(a, Literal) else self.nodes[a].spec

    def done(self) -> Graph:
        outputs = tuple(self.moved(out) for out in self.graph.outputs)
        return replace(self.graph, nodes=tuple(self.nodes), outputs=outputs)


# functions with rules of their own, and operations that do nothing


def _plain(graph: Graph) -> Graph:
    build = _Builder(graph)
    for i, node in enumerate(graph.nodes):
        if node.op is not None:
            build.place[i] = _replaced(build, node, tuple(build.moved(a) for a in node.args))
    return build.done()


def _replaced(build: _Builder, node: Node, args: tuple[Argument, ...]) -> Argument:
    assert node.op is not None
    constants = [a.value for a in args if isinstance(a, Literal) and not isinstance(a.value, Dim)]
    if len(constants) == len(args) and not is_open(tuple(node.settings.values())):
        return Literal(node.op.value(*constants, **node.settings))
    if node.op.name in SAME or (node.op.name == "astype" and build.spec(args[0]).dtype == node.dtype):
        return args[0]
    if node.op.name == "concatenate":
        parts = tuple(a for a in args if product(build.spec(a).shape) != 0)
        return parts[0] if len(parts) == 1 else build.add(node, parts or args)
    if REGISTRY.get(node.op.name) is node.op:
        return build.add(node, args)
    return _inlined(build, node, args)


def _inlined(build: _Builder, node: Node, args: tuple[Argument, ...]) -> Argument:
    """The operations that a function with a rule of its own is made of."""
    op, settings = node.op, dict(node.settings)
    assert op is not None
    traced = [i for i, a in enumerate(args) if not isinstance(a, Literal)]

    def value(*xs: Any) -> Any:
        all_args = [a.value if isinstance(a, Literal) else None for a in args]
        for i, x in zip(traced, xs, strict=True):
            all_args[i] = x
        return op.value(*all_args, **settings)

    try:
        inner = record(value, *(build.spec(args[i]) for i in traced), name=op.name).simplify()
    except Exception as error:
        raise ExportError(
            f"the operation {op.name!r} is not made of operations that can be recorded, so it cannot be exported: "
            f"write it in plain NumPy ({error})"
        ) from error
    place: dict[int, Argument] = {k: args[i] for k, i in enumerate(traced)}
    for k, part in enumerate(inner.nodes):
        if part.op is not None:
            inside = tuple(a if isinstance(a, Literal) else place[a] for a in part.args)
            place[k] = _replaced(build, replace(part, scope=node.scope), inside)
    (out,) = inner.outputs
    return out if isinstance(out, Literal) else place[out]


# x @ W, and numbers for each column


@dataclass(frozen=True)
class _Affine:
    """x @ weight + bias, not yet written down; both in double precision."""

    x: Argument
    weight: Array
    bias: Array | None
    node: Node  # the product


def _matrices(graph: Graph) -> Graph:
    build, uses = _Builder(graph), uses_of(graph)
    pending: dict[int, _Affine] = {}

    def settled(a: Argument) -> Argument:
        if isinstance(a, Literal):
            return a
        if a in pending:
            build.place[a] = _written(build, pending.pop(a))
        return build.place[a]

    for i, node in enumerate(graph.nodes):
        if node.op is None:
            continue
        product_ = _product(graph, node, uses)
        if product_ is not None:
            pending[i] = replace(product_, x=settled(product_.x))
            continue
        behind = _behind(node, pending, uses)
        if behind is not None:
            place, affine = behind
            del pending[place]
            pending[i] = affine
            continue
        build.place[i] = build.add(node, tuple(settled(a) for a in node.args))
    for out in graph.outputs:
        settled(out)
    return build.done()


def _product(graph: Graph, node: Node, uses: list[int]) -> _Affine | None:
    """A product with a constant matrix, with a factor for each column ahead of it taken in."""
    assert node.op is not None
    if node.op.name != "matmul":
        return None
    x, weight = node.args
    if isinstance(x, Literal) or not isinstance(weight, Literal) or len(weight.spec.shape) != 2:
        return None
    if len(graph.nodes[x].shape) != 2:
        return None
    matrix = np.asarray(weight.value, np.float64)
    ahead = graph.nodes[x]
    if ahead.op is not None and ahead.op.name == "multiply" and uses[x] == 1 and ahead.dtype == node.dtype:
        for one, other in (ahead.args, ahead.args[::-1]):
            factors = _numbers(other, matrix.shape[0])
            if factors is not None and not isinstance(one, Literal) and graph.nodes[one].spec == ahead.spec:
                return _Affine(one, factors[:, None] * matrix, None, node)
    return _Affine(x, matrix, None, node)


def _behind(node: Node, pending: dict[int, _Affine], uses: list[int]) -> tuple[int, _Affine] | None:
    """A product with what follows it, where that is a number for each column."""
    assert node.op is not None
    if len(node.args) != 2:
        return None
    for one, other in (node.args, node.args[::-1]):
        if isinstance(one, Literal) or one not in pending or uses[one] != 1:
            continue
        affine = pending[one]
        numbers = _numbers(other, affine.weight.shape[1])
        if numbers is None or node.dtype != affine.node.dtype:
            continue
        bias = np.zeros(affine.weight.shape[1]) if affine.bias is None else affine.bias
        match node.op.name, one is node.args[0]:
            case ("add", _):
                return one, replace(affine, bias=bias + numbers)
            case ("subtract", True):
                return one, replace(affine, bias=bias - numbers)
            case ("multiply", _):
                changed = None if affine.bias is None else bias * numbers
                return one, replace(affine, weight=affine.weight * numbers, bias=changed)
            case ("divide", True) if np.all(numbers != 0):
                changed = None if affine.bias is None else bias / numbers
                return one, replace(affine, weight=affine.weight / numbers, bias=changed)
    return None


def _numbers(a: Argument, columns: int) -> Array | None:
    """A constant that is one number for each column; None for anything else."""
    if not isinstance(a, Literal) or np.dtype(a.spec.dtype).kind not in "iuf":
        return None
    shape = a.spec.shape
    if shape not in ((), (1,), (columns,), (1, 1), (1, columns)):
        return None
    numbers = np.broadcast_to(np.asarray(a.value, np.float64).reshape(-1), columns)
    return numbers if np.isfinite(numbers).all() else None


def _written(build: _Builder, affine: _Affine) -> int:
    dtype = affine.node.dtype
    out = build.add(affine.node, (affine.x, Literal(affine.weight.astype(dtype))))
    if affine.bias is None:
        return out
    plus = Node(REGISTRY["add"], (), {}, affine.node.spec, scope=affine.node.scope)
    return build.add(plus, (out, Literal(affine.bias.astype(dtype))))
