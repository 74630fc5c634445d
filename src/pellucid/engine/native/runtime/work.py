"""How much work a graph is, from sizes alone: who decides about threads and engines asks here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pellucid.graph.core.dims import product, resolve
from pellucid.graph.graph import Graph

PER_THREAD = 600_000
"""Floating-point operations that are worth a thread of their own (about 15 microseconds)."""


def flops(graph: Graph, sizes: Mapping[str, int]) -> int:
    """Multiplications and additions of the matrix products, and one for each element of everything else."""
    return sum(_counts(graph, sizes))


def compiled_seconds(graph: Graph, sizes: Mapping[str, int]) -> float:
    """About how long one thread takes for the compiled graph on a slow machine."""
    products, elements = _counts(graph, sizes)
    return products / 4e10 + elements / 1e9 + 1e-6


def _counts(graph: Graph, sizes: Mapping[str, int]) -> tuple[int, int]:
    counts: dict[Any, tuple[int, int]] = graph.kept.setdefault("work", {})
    key = tuple(sizes.items())
    if key not in counts:
        counts[key] = _count(graph, sizes)
    return counts[key]


def _count(graph: Graph, sizes: Mapping[str, int]) -> tuple[int, int]:
    products = elements = 0
    for node in graph.operations:
        assert node.op is not None
        count = int(resolve(product(node.shape), sizes))
        if node.op.name == "matmul":
            first = node.args[0]
            shape = first.spec.shape if not isinstance(first, int) else graph.nodes[first].shape
            products += count * 2 * int(resolve(shape[-1], sizes)) if shape else 2
        else:
            elements += count
    return products, elements


def share(count: int, threads: int, thread: int) -> tuple[int, int]:
    """The part of `count` rows that a thread works on."""
    return count * thread // threads, count * (thread + 1) // threads


def threads_for(graph: Graph, sizes: Mapping[str, int], available: int) -> int:
    """As many threads as have enough to do. The answer depends on sizes and the limit alone: same call, same bits."""
    return max(1, min(available, flops(graph, sizes) // PER_THREAD))
