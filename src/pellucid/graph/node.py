"""A node of a graph, and the constants among its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pellucid.graph.core.primitive import Primitive
from pellucid.graph.core.spec import Spec, spec_of


@dataclass(frozen=True, eq=False)
class Literal:
    """A constant in the place of an argument: a Python number, an open size or an array."""

    value: Any

    @property
    def spec(self) -> Spec:
        return spec_of(self.value)


@dataclass(frozen=True, eq=False)
class Node:
    """One variable: an input (`op` is None), or an operation on earlier nodes (by number) and literals."""

    op: Primitive | None
    args: tuple[int | Literal, ...]
    settings: Mapping[str, Any]
    spec: Spec
    name: str = ""
    scope: str = ""
    value: Any = field(default=None, repr=False)  # what it was when recorded with real arrays

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __reduce__(self) -> Any:  # a mapping proxy cannot be pickled
        return (Node, (self.op, self.args, dict(self.settings), self.spec, self.name, self.scope, self.value))

    @property
    def shape(self) -> Any:
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        return self.spec.dtype

    @property
    def parents(self) -> tuple[int, ...]:
        return tuple(a for a in self.args if not isinstance(a, Literal))
