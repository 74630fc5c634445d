"""A function of one array, its other arguments fixed: prediction on JAX's devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pellucid.engine.jax.evaluate import evaluate
from pellucid.engine.jax.library import exact
from pellucid.graph.graph import Graph


class Session:
    """(fixed arrays ..., X) -> Y by a graph of one open size, for up to `most` rows.

    Rows are filled up to a power of two, so that few programs are compiled: what is predicted for a row does not
    depend on others.
    """

    def __init__(self, graph: Graph, fixed: Sequence[Any], most: int) -> None:
        self.graph, self.most = graph, most
        self.copied = list(range(len(fixed)))
        self.refresh(fixed)
        kept = graph.kept.setdefault(Session, {})
        with exact():
            if "function" not in kept:
                kept["function"] = jax.jit(lambda given, X: evaluate(graph, [*given, X], {"n": X.shape[0]})[0])
            X = graph.nodes[len(fixed)]
            jax.eval_shape(kept["function"], self.fixed, jax.ShapeDtypeStruct((1, *X.shape[1:]), X.dtype))
        self.function = kept["function"]

    def __call__(self, X: Any) -> Any:
        """The result for an array of the right dtype, as a new array."""
        rows = len(X)
        filled = min(self.most, 1 << (rows - 1).bit_length())
        if filled > rows:
            X = np.concatenate([X, np.zeros((filled - rows, *X.shape[1:]), X.dtype)])
        with exact():
            return np.array(self.function(self.fixed, X))[:rows]

    def refresh(self, fixed: Sequence[Any]) -> None:
        """Bring the copies up to date."""
        with exact():
            self.fixed = [jnp.array(a, copy=True) for a in fixed]

    def reads(self, fixed: Sequence[Any]) -> bool:
        """Are these arrays such as it has copies of?"""
        kinds = [(node.shape, node.dtype) for node in self.graph.nodes[: len(self.fixed)]]
        return kinds == [(np.shape(a), np.asarray(a).dtype) for a in fixed]
