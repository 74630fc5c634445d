"""The reference executor: node by node, with NumPy. Small and obviously right; the others are tested against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.core.tree import unflatten
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal, Node


def run(graph: Graph, *args: Any, watch: Callable[[int, Node, Any], None] | None = None) -> Any:
    """The results of a graph for these arguments, in the structure that the function returned.

    A value is let go after its last use. Arguments may be tracers: then the graph is recorded as part of an outer
    one.

    Parameters
    ----------
    graph : Graph
        made by `record`
    *args
        its arguments; open sizes are those of these arrays
    watch : Callable[[int, Node, Any], None] | None
        `watch(number, node, value)` sees each value as it is made

    Returns
    -------
    array | nest
        the results

    Examples
    --------
    >>> import numpy as np, pellucid as pel
    >>> graph = pel.record(lambda x: np.tanh(x) ** 2, pel.Spec(("n",)))
    >>> run(graph, np.zeros(3))
    array([0., 0., 0.])
    """
    leaves, sizes = graph.read_inputs(args)
    values: dict[int, Any] = {}

    def value_of(a: int | Literal) -> Any:
        if isinstance(a, Literal):
            return a.value.resolve(sizes) if isinstance(a.value, Dim) else a.value
        return values[a]

    last_use = _last_uses(graph)
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            leaf = leaves[i]
            values[i] = leaf if type(leaf) is Tracer else np.asarray(leaf, node.dtype)[()]
        else:
            settings = (
                {key: resolve(setting, sizes) for key, setting in node.settings.items()} if sizes else node.settings
            )
            values[i] = node.op(*(value_of(a) for a in node.args), **settings)
        if watch is not None:
            watch(i, node, values[i])
        for done in last_use.get(i, ()):
            del values[done]
    return unflatten(graph.out_tree, [value_of(out) for out in graph.outputs])


def _last_uses(graph: Graph) -> dict[int, list[int]]:
    """For each node the earlier nodes that nobody needs after it."""
    last: dict[int, int] = {}
    for i, node in enumerate(graph.nodes):
        for parent in node.parents:
            last[parent] = i
    uses: dict[int, list[int]] = {}
    for parent, user in last.items():
        if parent not in graph.outputs:
            uses.setdefault(user, []).append(parent)
    return uses
