"""Passes: a graph in, a smaller graph with the same results out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pellucid.graph.node import Literal, Node

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph


def prune(graph: Graph) -> Graph:
    """Drop the operations that no output needs. Inputs stay, they are the signature."""
    needed = {out for out in graph.outputs if not isinstance(out, Literal)}
    for i in range(len(graph.nodes) - 1, graph.inputs - 1, -1):
        if i in needed:
            needed.update(graph.nodes[i].parents)
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
