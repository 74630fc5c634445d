"""The body of a C function that predicts one row: the graph, operation by operation, as loops over buffers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.export.c_operations import ELEMENTWISE, HELPERS, LOGIC, WHOLE
from pellucid.export.c_rules import RULES
from pellucid.export.c_text import c_type, comment, number
from pellucid.export.c_values import Expression, Memory, Shape, Value, View, bare, element, loops, place, steps_of
from pellucid.export.values import Constants, common_dtype, untranslated, uses_of
from pellucid.graph import Graph, Node
from pellucid.graph.node import Literal

LONGEST = 6
"""Operations that are written as one expression, at most."""

MIXED = ("where", "astype")
"""Operations of which the first argument has a dtype of its own."""

OPERATIONS = frozenset({*ELEMENTWISE, *LOGIC, *RULES})
"""All that C has a translation for."""


class Body:
    """Writes the operations of a graph of one row."""

    def __init__(self, graph: Graph, inputs: list[View], prefix: str) -> None:
        self.graph, self.prefix = graph, f"{prefix}_"
        self.memory = Memory()
        self.constants = Constants(f"{prefix}_c")
        self.helpers: set[tuple[str, str]] = set()
        self.biases = _biases(graph)  # of products, by their numbers
        self._values: dict[int, Value] = dict(enumerate(inputs))
        self._uses = uses_of(graph)
        self._scope = ""

    def write(self) -> list[View]:
        """All operations; what the results are."""
        for i, node in enumerate(self.graph.nodes):
            if node.op is None:
                continue
            if node.scope != self._scope:
                self._scope = node.scope
                self.memory.blocks.append([f"/* {comment(self._scope or 'together')} */"])
            self._values[i] = self._operation(i, node)
        return [self.stored(self.argument(out)) for out in self.graph.outputs]

    def _operation(self, i: int, node: Node) -> Value:
        assert node.op is not None
        product = next((a for a in node.args if not isinstance(a, Literal) and self.biases.get(a) == i), None)
        if product is not None:
            return self._values[product]
        name = node.op.name
        if name in ELEMENTWISE or (name in LOGIC and node.dtype == np.bool_):
            value = self._elementwise(node)
            return value if self._uses[i] == 1 and value.count <= LONGEST else self.stored(value)
        if name not in RULES:
            raise untranslated(node, "C", OPERATIONS)
        return RULES[name](self, i, node)

    # arguments

    def argument(self, a: int | Literal, dtype: Any = None) -> Value:
        """A value; constants that are one number are written in this dtype, or their own."""
        if not isinstance(a, Literal):
            return self._values[a]
        array = np.asarray(a.value)
        if array.size != 1:
            return self.constant(array)
        type_ = c_type(array.dtype if dtype is None else dtype)
        return View(number(array.item(), type_), array.shape, type_, single=True)

    def constant(self, array: Any) -> View:
        """A constant array."""
        return View(self.constants.name(array, self._scope), array.shape, c_type(array.dtype))

    def stored(self, value: Value) -> View:
        """The same in memory."""
        if isinstance(value, View):
            return value
        out = self.memory.new(value.type, value.shape)
        self.fill(out, lambda at: bare(element(value, value.shape, at)))
        return out

    def views(self, node: Node) -> list[View]:
        """The arguments of an operation, in memory."""
        views = []
        for a in node.args:
            views.append(self.stored(self.argument(a)))
            if not isinstance(a, Literal):
                self._values[a] = views[-1]
        return views

    def fill(self, out: View, source: Any) -> None:
        """Loops that give each number of a buffer what `source(numbers of the loops)` says."""
        steps = steps_of(out.shape)
        self.memory.blocks.append(loops(out.shape, lambda at: [f"{out.at(place(steps, at))} = {source(at)};"]))

    # number by number

    def _elementwise(self, node: Node) -> Expression:
        assert node.op is not None
        name, type_ = node.op.name, c_type(node.dtype)
        shared = np.dtype(node.dtype) if name in MIXED else common_dtype(self.graph, node)
        if np.dtype(node.dtype).kind == "f" and shared.kind != "f":
            shared = np.dtype(node.dtype)
        worked = c_type(shared)
        if worked == "int" and name not in WHOLE and np.dtype(node.dtype).kind != "b":
            raise untranslated(node, "C, of whole numbers", OPERATIONS)
        if name in HELPERS:
            self.helpers.add((name, worked))
        template = LOGIC[name] if name in LOGIC else ELEMENTWISE[name]
        if name == "astype" and node.dtype == np.bool_:
            template = "({0} != 0)"
        words = {"{f}": "f" * (worked == "float"), "{one}": number(1, worked), "{type}": type_, "{p}": self.prefix}
        for word, text in words.items():
            template = template.replace(word, text)
        shape = tuple(node.shape)
        args = [self._inside(a, None if name in MIXED and k == 0 else shared, shape) for k, a in enumerate(node.args)]
        if worked != "int" and name == "divide":  # of whole numbers C would divide otherwise
            args = [Expression(f"({worked}){{0}}", (a,), a.shape, worked) if a.type == "int" else a for a in args]
        return Expression(template, tuple(args), shape, type_)

    def _inside(self, a: int | Literal, dtype: Any, shape: Shape) -> Value:
        """An argument as part of an expression: what has another size is stored, so that it is computed once."""
        value = self.argument(a, dtype)
        if isinstance(value, View) or value.size == math.prod(shape):
            return value
        return self.stored(value)


def _biases(graph: Graph) -> dict[int, int]:
    """Products that are followed by a constant for each column alone, with the numbers of those additions."""
    uses, biases = uses_of(graph), dict[int, int]()
    for i, node in enumerate(graph.nodes):
        if node.op is None or node.op.name != "add":
            continue
        for one, other in (node.args, node.args[::-1]):
            if isinstance(one, Literal) or not isinstance(other, Literal) or uses[one] != 1:
                continue
            ahead = graph.nodes[one]
            fits = other.spec.shape == tuple(ahead.shape[-1:]) and ahead.spec == node.spec
            if ahead.op is not None and ahead.op.name == "matmul" and fits:
                biases[one] = i
    return biases
