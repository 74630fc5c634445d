"""What all writers share: names of values and constants, indices in one form, and the error for what has no words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.errors import ExportError
from pellucid.graph import Dim, Graph
from pellucid.graph.node import Literal, Node
from pellucid.graph.primitives.indexing import SLOT


def untranslated(node: Node, format_: str, known: Iterable[str]) -> ExportError:
    """The error for an operation that a format has no words for."""
    name = node.op.name if node.op is not None else "input"
    where = f" (in {node.scope})" if node.scope else ""
    return ExportError(
        f"the operation {name!r}{where} has no translation to {format_}: write the layer, the activation or the link "
        f"with other operations of NumPy, such as {', '.join(sorted(known)[:8])}, ..., or export to 'numpy' or 'json'"
    )


def uses_of(graph: Graph) -> list[int]:
    """How often each value is asked for, as an argument or as a result."""
    counts = [0] * len(graph.nodes)
    for a in (*(a for node in graph.nodes for a in node.args), *graph.outputs):
        if not isinstance(a, Literal):
            counts[a] += 1
    return counts


def value_names(graph: Graph) -> list[str]:
    """x1, x2, ... for the inputs of a graph, v1, v2, ... for what is computed."""
    computed = len(graph.nodes) - graph.inputs
    return [*(f"x{i + 1}" for i in range(graph.inputs)), *(f"v{i + 1}" for i in range(computed))]


class Constants:
    """The constant arrays of a graph by name, equal ones once."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.arrays: dict[str, Array] = {}
        self.scopes: dict[str, str] = {}
        self._names: dict[Any, str] = {}

    def name(self, array: Array, scope: str = "") -> str:
        """Its name; `scope` is where it was first asked for."""
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._names:
            self._names[key] = f"{self.prefix}{len(self._names) + 1}"
            self.arrays[self._names[key]] = array
            self.scopes[self._names[key]] = scope
        return self._names[key]


def is_number(a: int | Literal) -> bool:
    """A constant that is one number?"""
    return isinstance(a, Literal) and not isinstance(a.value, Dim) and np.ndim(a.value) == 0


def common_dtype(graph: Graph, node: Node) -> np.dtype[Any]:
    """What the arguments of an operation are brought to, as NumPy does it; Python's numbers follow the arrays."""
    kinds: list[Any] = []
    for a in node.args:
        spec = a.spec if isinstance(a, Literal) else graph.nodes[a].spec
        kinds.append(spec.dtype(0) if spec.weak else np.dtype(spec.dtype))
    return np.result_type(*kinds)


def index_parts(spec: tuple[Any, ...], dimensions: int) -> list[Any]:
    """An index with an entry for each axis (and None for a new one): slices, numbers, SLOT for an array."""
    axes = sum(part is not None and part is not Ellipsis for part in spec)
    full = [slice(None)] * (dimensions - axes)
    at = next((i for i, part in enumerate(spec) if part is Ellipsis), len(spec))
    return [*spec[:at], *full, *(part for part in spec[at:] if part is not Ellipsis)]


def gathered_axis(parts: list[Any]) -> int | None:
    """The axis of the one index array of an index that takes all of the others; None for any other index."""
    slots = [i for i, part in enumerate(parts) if part is SLOT]
    plain = all(part is SLOT or (isinstance(part, slice) and part == slice(None)) for part in parts)
    return slots[0] if plain and len(slots) == 1 else None
