"""Sums over the rows of a batch that is split over devices: added up together, as one buffer.

XLA would add up each gradient by itself, and every such sum has to wait for the slowest device or process. Here a
device keeps its part of a sum until somebody wants the result; then all parts that are there travel at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from pellucid.graph.core.dims import Dim
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal, Node

ROWS = "rows"
OPEN = Dim.symbol("n")
"""The number of rows of a batch, in the shapes of a graph."""


def summed_axes(node: Node, graph: Graph) -> list[int] | None:
    """Which axis of each argument has the rows, if a node sums over them; None of any other operation."""
    op = node.op
    assert op is not None
    if op.name not in ("sum", "mean", "matmul") or REGISTRY.get(op.name) is not op:
        return None
    shapes = [() if isinstance(a, Literal) else graph.nodes[a].shape for a in node.args]
    axes = [[axis for axis, size in enumerate(shape) if isinstance(size, Dim)] for shape in shapes]
    if any(isinstance(size, Dim) for size in node.shape) or any(len(each) != 1 for each in axes):
        return None
    rows = [each[0] for each in axes]
    if any(shape[axis] != OPEN for shape, axis in zip(shapes, rows, strict=True)):
        return None
    plain = op.name != "matmul" or all(len(shape) == 2 for shape in shapes)  # (k, n) @ (n, m)
    return rows if plain else None


@dataclass(frozen=True)
class RowSums:
    """Over the devices of a mesh, each with as many rows of the batch as the others."""

    mesh: Any

    def part(self, lowered: Callable[..., Any], args: Sequence[Any], axes: Sequence[int], node: Node) -> Any:
        """What each device has of a sum, for its own rows.   -> (devices, ...)"""
        assert node.op is not None
        share = self.mesh.size if node.op.name == "mean" else 1

        def own(*xs: Any) -> Any:
            y = lowered(*xs)
            return (y / share if share > 1 else y)[None]

        split = tuple(PartitionSpec(*[None] * axis, ROWS) for axis in axes)
        return jax.shard_map(own, mesh=self.mesh, in_specs=split, out_specs=PartitionSpec(ROWS))(*args)

    def added(self, parts: Mapping[int, Any]) -> dict[int, Any]:
        """The sums, by the same keys: all parts of a dtype are one buffer."""
        sums: dict[int, Any] = {}
        for dtype in dict.fromkeys(part.dtype for part in parts.values()):
            alike = {key: part for key, part in parts.items() if part.dtype == dtype}
            sums |= dict(zip(alike, self._added(list(alike.values())), strict=True))
        return sums

    def _added(self, parts: Sequence[Any]) -> list[Any]:
        def together(*own: Any) -> Any:
            return lax.psum(jnp.concatenate([x.ravel() for x in own]), ROWS)

        split = (PartitionSpec(ROWS),) * len(parts)
        whole = jax.shard_map(together, mesh=self.mesh, in_specs=split, out_specs=PartitionSpec())(*parts)
        shapes = [part.shape[1:] for part in parts]
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        return [piece.reshape(shape) for piece, shape in zip(jnp.split(whole, ends), shapes, strict=True)]
