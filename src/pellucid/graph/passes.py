"""Passes: a graph in, a smaller graph with the same results out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.graph.node import Literal, Node

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph


def prune(graph: Graph) -> Graph:
    """Drop the operations that no output needs. Inputs stay, they are the signature."""
    needed = _needed(graph, graph.outputs)
    keep = [i for i in range(len(graph.nodes)) if i < graph.inputs or i in needed]
    if len(keep) == len(graph.nodes):
        return graph
    return _rebuild(graph, [(i, graph.nodes[i]) for i in keep], {})


def merge_equal(graph: Graph) -> Graph:
    """Common subexpressions: the same operation on the same arguments is computed once.

    Random nodes are no exception: they are pure functions of their key and counter.
    """
    stands_for: dict[int, int] = {}
    seen: dict[Any, int] = {}
    nodes = []
    for i, node in enumerate(graph.nodes):
        if node.op is not None:
            args = tuple(_key(stands_for.get(a, a) if not isinstance(a, Literal) else a) for a in node.args)
            first = seen.setdefault((node.op, args, _key(node.settings)), i)
            if first != i:
                stands_for[i] = first
                continue
        nodes.append((i, node))
    return _rebuild(graph, nodes, stands_for)


def short_products(graph: Graph, outputs: Sequence[int]) -> Graph:
    """The float32 matrix products that these outputs need are made of numbers rounded to bfloat16.

    Not those of depth 1, which add nothing up.
    """
    needed = _needed(graph, [graph.outputs[o] for o in outputs])

    def changed(i: int, node: Node) -> Node:
        if i not in needed or node.op is None or node.op.name != "matmul" or node.dtype != np.float32:
            return node
        left = node.args[0]
        depth = (left.spec if isinstance(left, Literal) else graph.nodes[left]).shape[-1]
        return node if depth == 1 else replace(node, settings={**node.settings, "precision": "bfloat16"})

    return replace(graph, nodes=tuple(changed(i, node) for i, node in enumerate(graph.nodes)))


def _needed(graph: Graph, outputs: Iterable[int | Literal]) -> set[int]:
    """The numbers of the nodes that outputs need."""
    needed = {out for out in outputs if not isinstance(out, Literal)}
    for i in range(len(graph.nodes) - 1, graph.inputs - 1, -1):
        if i in needed:
            needed.update(graph.nodes[i].parents)
    return needed


def _key(value: Any) -> Any:
    """Something hashable that is equal exactly where the values are interchangeable."""
    if isinstance(value, Literal):
        v = value.value
        scalar = isinstance(v, bool | int | float)
        return ("literal", type(v).__name__, repr(v) if scalar else v if hasattr(v, "terms") else id(v))
    if isinstance(value, Mapping):
        return tuple((k, _key(v)) for k, v in sorted(value.items()))
    if isinstance(value, tuple):
        return tuple(_key(v) for v in value)
    if isinstance(value, slice):
        return ("slice", _key(value.start), _key(value.stop), _key(value.step))
    return (type(value).__name__, value)


def _rebuild(graph: Graph, numbered: list[tuple[int, Node]], stands_for: dict[int, int]) -> Graph:
    """The graph of these nodes, with the numbers of all arguments brought up to date."""
    place = {old: new for new, (old, _) in enumerate(numbered)}

    def moved(a: int | Literal) -> int | Literal:
        return a if isinstance(a, Literal) else place[stands_for.get(a, a)]

    nodes = tuple(replace(node, args=tuple(moved(a) for a in node.args)) for _, node in numbered)
    return replace(graph, nodes=nodes, outputs=tuple(moved(out) for out in graph.outputs))
