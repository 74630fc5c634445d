"""How much work a graph is, from sizes alone: who decides about threads and engines asks here."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from pellucid.graph.core.dims import product, resolve
from pellucid.graph.graph import Graph

PER_THREAD = 600_000
"""Floating-point operations that are worth a thread of their own (about 15 microseconds)."""


_known: weakref.WeakKeyDictionary[Graph, dict[Any, int]] = weakref.WeakKeyDictionary()


def flops(graph: Graph, sizes: Mapping[str, int]) -> int:
    """Multiplications and additions of the matrix products, and one for each element of everything else."""
    known, key = _known.setdefault(graph, {}), tuple(sizes.items())
    if key not in known:
        known[key] = _count(graph, sizes)
    return known[key]


def _count(graph: Graph, sizes: Mapping[str, int]) -> int:
    total = 0
    for node in graph.operations:
        assert node.op is not None
        count = int(resolve(product(node.shape), sizes))
        if node.op.name == "matmul":
            first = node.args[0]
            shape = first.spec.shape if not isinstance(first, int) else graph.nodes[first].shape
            count *= 2 * int(resolve(shape[-1], sizes)) if shape else 2
        total += count
    return total


def threads_for(graph: Graph, sizes: Mapping[str, int], available: int) -> int:
    """As many threads as have enough to do. The answer depends on sizes and the limit alone: same call, same bits."""
    return max(1, min(available, flops(graph, sizes) // PER_THREAD))
