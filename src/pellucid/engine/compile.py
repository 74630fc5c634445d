"""compile: record a function once for each kind of arguments, then run the graph."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pellucid.engine.numpy import run
from pellucid.graph.core.spec import spec_of
from pellucid.graph.core.tree import flatten, unflatten
from pellucid.graph.graph import Graph
from pellucid.graph.record import record

ENGINES = ("numpy", "native", "auto", "jax")

MOST = 64
"""Graphs that a compiled function keeps, one for each combination of shapes and dtypes."""


def engine_named(name: str) -> Callable[..., Any]:
    """The executor of that name: (graph, *arguments) -> results. What a compiling one lacks, NumPy computes."""
    if name not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(map(repr, ENGINES))}, got {name!r}")
    if name == "numpy":
        return run
    if name == "jax":
        from pellucid.engine.jax.library import require_jax

        require_jax()
        from pellucid.engine.jax import call

        return call.run_or_fall_back
    from pellucid.engine.native.runtime.fallback import run_or_fall_back, run_where_it_pays

    return run_or_fall_back if name == "native" else run_where_it_pays


def compile(f: Callable[..., Any], engine: str = "numpy") -> Callable[..., Any]:
    """`f` as a recorded, simplified graph that an executor runs.

    The graph is made at the first call and for every new combination of shapes and dtypes; `f` must not branch on
    values. `compiled.graph(*args)` shows the graph that a call would run. `compiled.program(*args)` is the native
    engine's program, to print and to explain.

    Parameters
    ----------
    f : Callable
        a function of arrays, or of nests of them, in plain NumPy
    engine : str
        "numpy" runs the graph node by node, "native" compiles it, "auto" does so where the sizes say that it pays;
        "jax" compiles it by XLA for the device that JAX prefers (the extra `jax`)

    Returns
    -------
    Callable
        a function of the same arguments and results

    Examples
    --------
    >>> import numpy as np, pellucid as pel
    >>> step = compile(pel.grad(lambda w: np.sum(w * w)))
    >>> step(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    execute = engine_named(engine)
    graphs: dict[Any, Graph] = {}  # the last ones

    def graph(*args: Any) -> Graph:
        leaves, tree = flatten(args)
        specs = [spec_of(leaf) for leaf in leaves]
        key = (tree, tuple((s.shape, s.dtype) for s in specs))
        recorded = graphs.get(key)
        if recorded is None:
            recorded = record(f, *unflatten(tree, specs)).simplify()
            if len(graphs) >= MOST:
                graphs.pop(next(iter(graphs)), None)
            graphs[key] = recorded
        return recorded

    @functools.wraps(f)
    def compiled(*args: Any) -> Any:
        return execute(graph(*args), *args)

    def program(*args: Any) -> Any:
        from pellucid.engine.native.runtime.call import function

        recorded = graph(*args)
        return function(recorded).program(recorded.read_inputs(args)[1])

    compiled.graph, compiled.program = graph, program  # type: ignore[attr-defined]
    return compiled
