"""A graph as a function on JAX's devices: arrays in, new arrays out."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pellucid.engine import numpy as reference
from pellucid.engine.jax.evaluate import evaluate
from pellucid.engine.jax.library import exact
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime import fallback
from pellucid.graph.core.tree import unflatten
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal


class Function:
    """A graph, compiled by XLA once for each combination of sizes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.refused: CannotCompile | None = None
        self.compiled: dict[tuple[tuple[str, int], ...], Any] = {}

    def __call__(self, *args: Any) -> Any:
        outputs, sound = self.checked(*args)
        return outputs if sound else reference.run(self.graph, *args)  # which says what is wrong

    def checked(self, *args: Any) -> tuple[Any, bool]:
        """The results, and whether there was nothing that NumPy refuses (an index out of range, a singular matrix)."""
        leaves, sizes = self.graph.read_inputs(args)
        key = tuple(sorted(sizes.items()))
        with exact():
            if key not in self.compiled:
                self.compiled[key] = jax.jit(lambda given: self._lowered(given, sizes))
            outputs, fault = self.compiled[key]([np.asarray(leaf) for leaf in leaves])
            arrays = [self._array(place, out) for place, out in zip(self.graph.outputs, outputs, strict=True)]
            return unflatten(self.graph.out_tree, arrays), not fault

    def _lowered(self, given: list[Any], sizes: dict[str, int]) -> tuple[list[Any], Any]:
        faults: list[Any] = []
        outputs = evaluate(self.graph, given, sizes, faults)
        return outputs, jnp.any(jnp.stack(faults)) if faults else jnp.zeros((), bool)

    def _array(self, place: int | Literal, output: Any) -> Any:
        """A result as NumPy's; what was a Python number is one again."""
        spec = place.spec if isinstance(place, Literal) else self.graph.nodes[place].spec
        return spec.dtype(output) if spec.weak else np.array(output)[()]


def function(graph: Graph) -> Function:
    """The compiled form of a graph, made once."""
    return graph.kept.setdefault(Function, Function(graph))  # type: ignore[no-any-return]


def run_or_fall_back(graph: Graph, *args: Any) -> Any:
    """The results of a graph by XLA, or by NumPy where that is not possible."""
    return fallback.run_or_fall_back(graph, *args, compiler=function)
