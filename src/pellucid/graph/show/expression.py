"""Formulas as trees: what a node computes, and what a derivative rule says, free of any notation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.graph.core.dims import Dim
from pellucid.graph.core.primitive import Rule
from pellucid.graph.core.spec import SCALARS, Spec
from pellucid.graph.core.tracer import Recording, Tracer


@dataclass(frozen=True)
class Symbol:
    """A variable. `mark` is "" for a value, "dot" or "tangent" for its tangent, "bar" or "adjoint" for its adjoint."""

    base: str
    index: int | None = None
    mark: str = ""

    def marked(self, mark: str) -> Symbol:
        return Symbol(self.base, self.index, mark)


@dataclass(frozen=True, eq=False)
class Number:
    """A value in a formula: a number or an array."""

    value: Any


@dataclass(frozen=True, eq=False)
class Call:
    """An operation on formulas."""

    op: str
    args: tuple[Any, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


Expression = Symbol | Number | Call


def operation(op: str, args: Iterable[Expression], settings: Mapping[str, Any], shape: Any) -> Call:
    """The formula of a node, with those of its settings that say something."""
    shown = {
        k: v
        for k, v in settings.items()
        if not (k == "keepdims" and not v) and not (k == "dtype" and op != "astype") and k != "tie"
    }
    axis = shown.get("axis")
    if isinstance(axis, tuple) and len(axis) == 1:
        shown["axis"] = axis[0]
    if "keepdims" in settings and "keepdims" not in shown and not shape:
        del shown["axis"]  # a reduction to a number takes all axes
    return Call(op, tuple(args), shown)


def substitute(e: Expression, value_of: Callable[[Symbol], Any]) -> Expression:
    """The formula with numbers in the place of its variables (None leaves a variable as it is)."""
    if isinstance(e, Symbol):
        value = value_of(e)
        return e if value is None else Number(value)
    if isinstance(e, Call):
        return Call(e.op, tuple(substitute(a, value_of) for a in e.args), e.settings)
    return e


def of_rule(rule: Rule, d: Symbol, like: Any, node: Tracer, names: Callable[[Any], Expression]) -> Expression:
    """What a derivative rule of this node says, found by recording the rule itself on shapes.

    The incoming derivative `d` has the shape of `like`: an argument (forward mode) or the result (reverse). `names`
    gives the formula for a tracer or constant of the node's own recording.
    """
    recording = Recording()
    formulas: dict[int, Expression] = {}

    def variable(value: Any, e: Expression) -> Any:
        if type(value) in SCALARS or isinstance(value, Dim):
            return value
        tracer = recording.input(Spec(np.shape(value), value.dtype))
        formulas[id(tracer)] = e
        return tracer

    incoming = variable(like, d)
    y = variable(node.value, names(node))
    xs = [variable(v, names(a)) for v, a in zip(node.inputs, node.args, strict=True)]
    result = rule(incoming, y, *xs, **node.settings)
    e = of_tracer(result, formulas)
    recording.close()
    return e


def of_tracer(x: Any, formulas: dict[int, Expression]) -> Expression:
    """The formula behind a tracer in terms of those in `formulas`. Meant for the few operations of a rule."""
    if type(x) is not Tracer:
        return Number(x)
    if id(x) in formulas:
        return formulas[id(x)]
    assert x.op is not None
    return operation(x.op.name, (of_tracer(a, formulas) for a in x.args), x.settings, x.shape)
