"""A graph as a drawing: boxes and arrows, for svg, dot and mermaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.graph.core.dims import Dim
from pellucid.graph.core.spec import SCALARS, format_shape
from pellucid.graph.node import Literal
from pellucid.graph.show import notation
from pellucid.graph.show.drawing import Box, Drawing
from pellucid.graph.show.expression import Expression, Number, Symbol, operation
from pellucid.graph.show.trace import Trace, by_level

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph


def drawing(graph: Graph, mode: str, *, seed: Any, output: int, digits: int) -> Drawing:
    """A box for each node: its formula, its value or shape, and its derivative if a mode is asked for."""
    write = notation.text(digits)
    trace = Trace(graph, mode, seed, output) if graph.concrete or mode != "primal" else None
    order = by_level(graph)
    symbols = {i: Symbol("v", k + 1 - graph.inputs) for k, i in enumerate(order)}
    if mode == "primal":  # the lectures' names for inputs are for traces; elsewhere they have their own
        symbols |= {i: Symbol(node.name) for i, node in enumerate(graph.nodes) if node.name}
    boxes: list[Box] = []
    arrows: list[tuple[int, int]] = []

    def argument(a: int | Literal) -> Expression:
        if not isinstance(a, Literal):
            return symbols[a]
        if isinstance(a.value, SCALARS) or not a.spec.shape:
            return Symbol(str(a.value)) if isinstance(a.value, Dim) else Number(a.value)
        return Symbol(f"{format_shape(a.spec.shape)} constant")

    for k, i in enumerate(order):
        node = graph.nodes[i]
        if node.op is None:
            formula = write.symbol(Symbol(node.name))
        else:
            formula = write.write(operation(node.op.name, (argument(a) for a in node.args), node.settings, node.shape))
        own = write.symbol(symbols[i])
        lines = [formula if formula == own else f"{own} = {formula}"]
        if trace is None:
            lines.append(format_shape(node.shape) if node.shape else "")
        else:
            lines.append(write.number(node.value))
            mark, found = ("dot", trace.tangents) if mode == "forward" else ("bar", trace.adjoints)
            if mode != "primal":
                derivative = found.get(k, np.zeros_like(node.value))
                lines.append(f"{write.symbol(symbols[i].marked(mark))} = {write.number(derivative)}")
        boxes.append(
            Box(
                i,
                tuple(line for line in lines if line),
                "input" if node.op is None else "operation",
                node.scope,
            )
        )
        arrows += [(parent, i) for parent in node.parents]

    several = len(graph.outputs) > 1
    for o, out in enumerate(graph.outputs):
        key = len(graph.nodes) + o
        name = write.symbol(Symbol("y", o + 1 if several else None))
        boxes.append(Box(key, (f"{name} = {write.write(argument(out))}",), "output"))
        if not isinstance(out, Literal):
            arrows.append((out, key))
    if trace is not None:
        trace.close()
    return Drawing(graph.name, tuple(boxes), tuple(arrows))
