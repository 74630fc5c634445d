"""A graph as a drawing: boxes and arrows, for svg, dot and mermaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.core.spec import SCALARS, format_shape
from pellucid.graph.node import Literal
from pellucid.graph.show import notation
from pellucid.graph.show.drawing import Box, Drawing
from pellucid.graph.show.expression import Expression, Number, Symbol, operation
from pellucid.graph.show.names import names_of
from pellucid.graph.show.trace import Trace, by_level

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph


def drawing(graph: Graph, mode: str, *, seed: Any, output: int, digits: int) -> Drawing:
    """A box for each node: its formula, its value or shape, and its derivative if a mode is asked for."""
    write = notation.text(digits)
    trace = Trace(graph, mode, seed, output) if graph.concrete or mode != "primal" else None
    order = by_level(graph)
    primal = mode == "primal"  # the lectures' names for inputs are for traces; elsewhere they have their own
    names = names_of(graph, named_nodes=primal)
    symbols = {i: names.variable(k + 1 - graph.inputs) for k, i in enumerate(order)}
    if primal:
        symbols |= names.own
    boxes: list[Box] = []
    arrows: list[tuple[int, int]] = []

    def argument(a: int | Literal) -> Expression:
        if not isinstance(a, Literal):
            return symbols[a]
        if isinstance(a.value, SCALARS) or not a.spec.shape:
            return Symbol(str(resolve(a.value, names.sizes))) if isinstance(a.value, Dim) else Number(a.value)
        return Symbol(f"{format_shape(a.spec.shape)} constant")

    for k, i in enumerate(order):
        node = graph.nodes[i]
        shape = resolve(node.shape, names.sizes)
        if node.op is None:
            formula = write.symbol(names.own[i])
        else:
            settings = {key: resolve(setting, names.sizes) for key, setting in node.settings.items()}
            formula = write.write(operation(node.op.name, (argument(a) for a in node.args), settings, shape))
        own = write.symbol(symbols[i])
        lines = [formula if formula == own else f"{own} = {formula}"]
        if trace is None:
            lines.append(format_shape(shape) if shape else "")
        else:
            lines.append(write.number(node.value))
            mark, derivatives = ("dot", trace.tangents) if mode == "forward" else ("bar", trace.adjoints)
            if not primal:
                derivative = derivatives.get(k, np.zeros_like(node.value))
                lines.append(f"{write.symbol(symbols[i].marked(names.marks[mark]))} = {write.number(derivative)}")
        boxes.append(
            Box(
                i,
                tuple(line for line in lines if line),
                "input" if node.op is None else "operation",
                node.scope,
            )
        )
        arrows += [(parent, i) for parent in node.parents]

    for o, out in enumerate(graph.outputs):
        key = len(graph.nodes) + o
        boxes.append(Box(key, (f"{write.symbol(names.outputs[o])} = {write.write(argument(out))}",), "output"))
        if not isinstance(out, Literal):
            arrows.append((out, key))
    if trace is not None:
        trace.close()
    return Drawing(graph.name, tuple(boxes), tuple(arrows))
