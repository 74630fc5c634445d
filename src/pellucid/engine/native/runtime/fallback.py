"""Which executor: the native one where it can and where it pays, else NumPy. Sizes decide, never time or caches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from pellucid.engine import numpy as reference
from pellucid.engine.native.passes.lower import CannotCompile, EngineUnavailable
from pellucid.engine.native.runtime.call import function
from pellucid.engine.native.runtime.work import flops
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.core.tree import flatten
from pellucid.graph.graph import Graph

NODE = 2.5e-6
"""Seconds that the NumPy executor takes for a node, beside the arithmetic."""

PAYS = 1.0
"""Seconds of NumPy from which compiling pays."""


class FallbackWarning(UserWarning):
    """Something runs on NumPy that was meant to be compiled."""


_told: set[str] = set()


def tell(what: str, error: CannotCompile) -> None:
    """Say once why something is not compiled; where nothing can be, once for everything."""
    if isinstance(error, EngineUnavailable):
        what = "what would be compiled"
    message = f"{what} runs on the NumPy executor: {error}"
    if message not in _told:
        _told.add(message)
        warnings.warn(message, FallbackWarning, stacklevel=3)


def numpy_seconds(graph: Graph, sizes: Mapping[str, int], times: int = 1) -> float:
    """About how long the NumPy executor would take."""
    return times * (NODE * len(graph.operations) + flops(graph, sizes) / 3e10)


def run_or_fall_back(graph: Graph, *args: Any, compiler: Callable[[Graph], Any] = function) -> Any:
    """The results of a graph by what a compiler makes of it, or by NumPy where that is not possible."""
    if any(type(leaf) is Tracer for leaf in flatten(args)[0]):
        return reference.run(graph, *args)
    compiled = compiler(graph)
    if compiled.refused is None:
        try:
            return compiled(*args)
        except CannotCompile as error:
            compiled.refused = error
    tell(graph.name, compiled.refused)
    return reference.run(graph, *args)


def run_where_it_pays(graph: Graph, *args: Any) -> Any:
    """Compiled, if a hundred calls of this size would be worth it."""
    if any(type(leaf) is Tracer for leaf in flatten(args)[0]):
        return reference.run(graph, *args)
    _, sizes = graph.read_inputs(args)
    worth = numpy_seconds(graph, sizes, times=100) > PAYS
    return run_or_fall_back(graph, *args) if worth else reference.run(graph, *args)
