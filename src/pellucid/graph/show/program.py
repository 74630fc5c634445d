"""A graph as a program that a person can read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.core.spec import SCALARS, Spec
from pellucid.graph.node import Literal
from pellucid.graph.show import notation
from pellucid.graph.show.expression import Number, Symbol, operation
from pellucid.graph.show.names import CONSTANTS, VARIABLES, distinct, free_letter, open_sizes, shown_sizes

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph


class Exact(notation.Notation):
    """Numbers and names as they are."""

    def number(self, value: Any) -> str:
        return repr(value.item() if isinstance(value, np.generic) else value)

    def symbol(self, s: Symbol) -> str:
        return s.base


def program(graph: Graph) -> str:
    """`def f(x): ...`, one line for each operation, shapes as comments, scopes as headings."""
    write = Exact({"-": "-"}, {}, mathematical=False).write
    names = variable_names(graph)
    sizes = shown_sizes(graph, set(names))
    arrays = {id(a.value) for a in _literals(graph) if a.spec.shape}
    taken = {*names, *map(str, sizes.values())}
    c = free_letter(CONSTANTS, lambda letter: [f"{letter}{i + 1}" for i in range(len(arrays))], taken)
    constants: dict[int, str] = {}
    head: list[str] = []

    def argument(a: int | Literal) -> Any:
        if not isinstance(a, Literal):
            return Symbol(names[a])
        if isinstance(a.value, SCALARS):
            return Number(a.value)
        if isinstance(a.value, Dim):
            return Symbol(str(resolve(a.value, sizes)))
        if not a.spec.shape:
            return Number(a.value.item())
        if id(a.value) not in constants:
            constants[id(a.value)] = f"{c}{len(constants) + 1}"
            head.append(f"{constants[id(a.value)]} = constant {type_text(a.spec)}")
        return Symbol(constants[id(a.value)])

    def shown(spec: Spec) -> Spec:
        return Spec(resolve(spec.shape, sizes), spec.dtype)

    lines: list[tuple[str, str]] = []
    scope = ""
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            continue
        if node.scope != scope:
            scope = node.scope
            lines.append((f"# {scope}" if scope else "#", ""))
        settings = {key: resolve(setting, sizes) for key, setting in node.settings.items()}
        formula = write(operation(node.op.name, (argument(a) for a in node.args), settings, node.shape))
        lines.append((f"{names[i]} = {formula}", f"[{_sizes(shown(node.spec))}]" if node.shape else ""))
    results = ", ".join(write(argument(out)) for out in graph.outputs)
    width = min(max((len(code) for code, note in lines if note), default=0), 60)
    body = [f"{code:<{max(width, 18)}}   # {note}" if note else code for code, note in lines]
    signature = [f"{names[i]}: {type_text(shown(node.spec))}" for i, node in enumerate(graph.nodes[: graph.inputs])]
    start = f"def {graph.name}({', '.join(signature)}):"
    if len(start) > 100:
        start = f"def {graph.name}(\n" + "".join(f"    {s},\n" for s in signature) + "):"
    return "\n".join([start, *(f"    {line}" for line in [*head, *body, f"return {results}"])])


def variable_names(graph: Graph) -> list[str]:
    """Inputs and named nodes by their names, the others v1, v2, ... in order (another letter where those are taken)."""
    own = iter(distinct([node.name for node in graph.nodes if node.name]))
    names = [next(own) if node.name else "" for node in graph.nodes]
    numbers = {i: i + 1 - graph.inputs for i, name in enumerate(names) if not name}
    taken = {*names, *open_sizes(graph)}
    letter = free_letter(VARIABLES, lambda letter: [f"{letter}{number}" for number in numbers.values()], taken)
    return [name or f"{letter}{numbers[i]}" for i, name in enumerate(names)]


def _literals(graph: Graph) -> Iterator[Literal]:
    return (a for a in (*(a for node in graph.nodes for a in node.args), *graph.outputs) if isinstance(a, Literal))


def type_text(spec: Spec) -> str:
    name = spec.dtype.__name__ if spec.weak else spec.dtype.name
    return f"{name}[{_sizes(spec)}]" if spec.shape else name


def _sizes(spec: Spec) -> str:
    return ", ".join(re.sub(r"\s", "", str(s)) for s in spec.shape)
