"""A recorded graph run again step by step, with what each step adds to the derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.errors import AbstractValueError, DifferentiationError
from pellucid.graph.core.tracer import Recording, Tracer
from pellucid.graph.core.walk import pull, push
from pellucid.graph.node import Literal
from pellucid.graph.show.expression import Call, Expression, Number, Symbol, of_rule, operation
from pellucid.graph.show.names import names_of

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph

MODES = ("primal", "forward", "reverse")


@dataclass(frozen=True, eq=False)
class Step:
    """One line of a trace: a variable, its formula, its value. Adjoints also have `chain`, the chain rule's form."""

    target: Symbol
    formula: Expression
    value: Any
    chain: Expression | None = None


class Trace:
    """The graph's own values replayed level by level, so that variables come in the order of the lectures.

    The n inputs are v_{1-n} ... v_0, the operations v_1, v_2, ..., the result is y (`names` says so, and chooses others
    where an argument is called like that).
    """

    def __init__(self, graph: Graph, mode: str, seed: Any = None, output: int = 0) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(map(repr, MODES))}, got {mode!r}")
        if not graph.concrete:
            raise AbstractValueError(
                "this graph was recorded by shape: there are no values to trace. "
                "Record the function with real arrays: pellucid.record(f, x)"
            )
        self.graph = graph
        self.names = names_of(graph)
        self.recording = Recording()
        self.place: dict[int, Tracer] = {}  # node number -> tracer
        order = by_level(graph)
        for i in order:
            node = graph.nodes[i]
            if node.op is None:
                self.place[i] = self.recording.input(node.value, node.name)
            else:
                args = [a.value if isinstance(a, Literal) else self.place[a] for a in node.args]
                self.place[i] = node.op(*args, **node.settings)
        self.tape = self.recording.tape
        self.primal = [Step(self.symbol(t), self._formula(t), t.value) for t in self.tape]
        self.results = [
            Step(name, self._argument(self._output(i)), self._value(i)) for i, name in enumerate(self.names.outputs)
        ]
        self.derivative: list[Step] = []
        self.tangents: dict[int, Any] = {}
        self.adjoints: dict[int, Any] = {}
        if mode == "forward":
            self._forward(seed)
        elif mode == "reverse":
            self._reverse(output)

    def symbol(self, t: Tracer) -> Symbol:
        return self.names.variable(t.index + 1 - self.graph.inputs)

    def input_symbol(self, t: Tracer) -> Symbol:
        return self.names.own[t.index]

    def dot(self, symbol: Symbol) -> Symbol:
        """The tangent of a variable."""
        return symbol.marked(self.names.marks["dot"])

    def bar(self, symbol: Symbol) -> Symbol:
        """The adjoint of a variable."""
        return symbol.marked(self.names.marks["bar"])

    def _output(self, i: int) -> Any:
        out = self.graph.outputs[i]
        return out.value if isinstance(out, Literal) else self.place[out]

    def _value(self, i: int) -> Any:
        out = self._output(i)
        return out.value if type(out) is Tracer else out

    def _argument(self, a: Any) -> Expression:
        return self.symbol(a) if type(a) is Tracer else Number(a)

    def _formula(self, t: Tracer) -> Expression:
        if t.op is None:
            return self.input_symbol(t)
        return operation(t.op.name, (self._argument(a) for a in t.args), t.settings, t.shape)

    def _forward(self, seed: Any) -> None:
        inputs = self.tape[: self.graph.inputs]
        tangents = {t.index: np.zeros_like(t.value) for t in inputs}
        tangents.update(_seeds(seed, inputs))
        formulas: dict[int, list[Expression]] = {}

        def watch(node: Tracer, position: int, share: Any, total: Any) -> None:
            assert node.op is not None
            dot = self.dot(self.symbol(node.args[position]))
            if node.op.linear:
                args = [self._argument(a) for a in node.args]
                count = len(args) if node.op.linear < 0 else node.op.linear
                marked = [self.dot(a) if isinstance(a, Symbol) and i < count else a for i, a in enumerate(args)]
                e: Expression = operation(node.op.name, marked, node.settings, node.shape)
            else:
                rule = node.op.jvp[position]
                assert rule is not None
                e = of_rule(rule, dot, node.inputs[position], node, self._argument)
            formulas.setdefault(node.index, []).append(e)

        push(self.tape, tangents, watch)
        for t in self.tape:
            target = self.dot(self.symbol(t))
            if t.op is None:
                formula: Expression = self.dot(self.input_symbol(t))
            elif t.index in formulas:
                formula = _sum(formulas[t.index])
            else:
                formula = Number(0)
            self.derivative.append(Step(target, formula, tangents.get(t.index, np.zeros_like(t.value))))
        self.tangents = tangents

    def _reverse(self, output: int) -> None:
        out = self._output(output)
        if type(out) is not Tracer:
            raise DifferentiationError(f"output {output} does not depend on the inputs: there is nothing to trace")
        seed = np.ones_like(out.value)
        result = self.bar(self.results[output].target)
        self.derivative.append(Step(self.bar(self.symbol(out)), result, seed))
        self.adjoints[out.index] = seed

        def watch(node: Tracer, position: int, share: Any, total: Any) -> None:
            assert node.op is not None
            rule = node.op.vjp[position]
            assert rule is not None
            x, bar = self.symbol(node.args[position]), self.bar(self.symbol(node))
            formula = _times_one(of_rule(rule, bar, node.value, node, self._argument), bar)
            chain: Expression = Call("chain", (bar, Call("partial", (self.symbol(node), x))))
            if x.index is not None and node.args[position].index in self.adjoints:
                formula, chain = (
                    Call("add", (self.bar(x), formula)),
                    Call("add", (self.bar(x), chain)),
                )
            self.adjoints[node.args[position].index] = total
            self.derivative.append(Step(self.bar(x), formula, total, chain))

        pull(self.tape, {out.index: seed}, watch=watch)
        for t in self.tape[: self.graph.inputs]:
            value = self.adjoints.get(t.index, np.zeros_like(t.value))
            self.derivative.append(Step(self.bar(self.input_symbol(t)), self.bar(self.symbol(t)), value))

    def close(self) -> None:
        self.recording.close()


def by_level(graph: Graph) -> list[int]:
    """Node numbers by depth: a node comes one level below the deepest of its arguments."""
    level: list[int] = []
    for node in graph.nodes:
        level.append(0 if node.op is None else 1 + max((level[p] for p in node.parents), default=0))
    return sorted(range(len(level)), key=lambda i: (level[i], i))


def _sum(terms: list[Expression]) -> Expression:
    total = terms[0]
    for term in terms[1:]:
        negative = isinstance(term, Call) and term.op == "negative"
        total = Call("subtract", (total, term.args[0])) if negative else Call("add", (total, term))  # type: ignore[union-attr]
    return total


def _times_one(e: Expression, bar: Symbol) -> Expression:
    """The chain rule's factor is shown even where it is 1 or -1."""
    if e == bar:
        return Call("multiply", (bar, Number(1)))
    if isinstance(e, Call) and e.op == "negative" and e.args[0] == bar:
        return Call("multiply", (bar, Number(-1)))
    return e


def _seeds(seed: Any, inputs: list[Tracer]) -> dict[int, Any]:
    """Tangents of the inputs: 1 (all ones for an array) for the chosen one, or as given by name."""
    names = [t.name for t in inputs]

    def find(key: Any) -> Tracer:
        if isinstance(key, int) and -len(inputs) <= key < len(inputs):
            return inputs[key]
        if key in names:
            return inputs[names.index(key)]
        raise ValueError(f"seed names an input: one of {names} or a number below {len(inputs)}, got {key!r}")

    if isinstance(seed, Mapping):
        return {
            find(k).index: np.broadcast_to(np.asarray(v, find(k).dtype), find(k).shape)[()] for k, v in seed.items()
        }
    chosen = find(0 if seed is None else seed)
    return {chosen.index: np.ones_like(chosen.value)}
