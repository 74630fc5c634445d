"""The parts of a network in the order in which they work, each with what goes into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pellucid.errors import ShapeError
from pellucid.nn.layers.compose import Compute, Concat, Residual, Sequential
from pellucid.nn.layers.dense import GLU, Dense, Maxout
from pellucid.nn.layers.layer import Layer

INPUT = ""
"""The name of the input as a source."""


@dataclass(frozen=True)
class Part:
    """A layer under its name, and the names of the parts whose outputs it takes.

    `number` counts layers with weights: that of the last one up to here. `joins` marks what joins inner parts, which
    stand before it: Residual, Concat, Compute.
    """

    name: str
    layer: Layer
    sources: tuple[str, ...]
    number: int
    joins: bool = False

    @property
    def weighted(self) -> bool:
        return isinstance(self.layer, Dense | Maxout | GLU)

    @property
    def z(self) -> str:
        """Under which name its affine map flows by."""
        return f"{self.name}.affine" if self.weighted else self.name


def parts_of(net: Layer) -> tuple[Part, ...]:
    """All parts; the last one gives the scores."""
    if not isinstance(net, Sequential | Residual | Concat | Compute):
        raise ShapeError(
            f"inspect.step writes out networks of named parts, got {type(net).__name__}: wrap it in nn.Sequential"
        )
    parts: list[Part] = []
    _walk(net, "", (INPUT,), parts)
    return tuple(parts)


def _walk(layer: Layer, name: str, sources: tuple[str, ...], parts: list[Part]) -> tuple[str, ...]:
    """Append the parts of a layer; the names of its outputs."""
    inside = [(f"{name}.{child}" if name else child, part) for child, part in layer.children]
    if isinstance(layer, Sequential):
        for child, part in inside:
            sources = _walk(part, child, sources, parts)
        return sources
    if isinstance(layer, Residual | Concat | Compute):
        outputs = tuple(out for child, part in inside for out in _walk(part, child, sources, parts))
        joined = (*sources, *outputs) if isinstance(layer, Residual) else outputs
        if not name:  # the whole network: its output has no name
            raise ShapeError(f"inspect.step: wrap {type(layer).__name__} in nn.Sequential, so that it has a name")
        parts.append(Part(name, layer, joined, parts[-1].number if parts else 0, joins=True))
        return (name,)
    number = max((one.number for one in parts), default=0)
    leaf = Part(name, layer, sources, number)
    parts.append(Part(name, layer, sources, number + 1) if leaf.weighted else leaf)
    return (name,)


def owned(parts: Iterable[Part], params: Iterable[str]) -> dict[str, dict[str, str]]:
    """The parameters of each part, by their names in it: {"hidden1": {"weight": "hidden1.weight"}}.

    Names may begin alike ("hidden1", "hidden1.norm"): the longest that fits is the owner's.
    """
    names = [part.name for part in parts if not part.joins]
    inside: dict[str, dict[str, str]] = {name: {} for name in names}
    for full in params:
        owners = [name for name in names if full.startswith(f"{name}.")]
        if owners:
            owner = max(owners, key=len)
            inside[owner][full[len(owner) + 1 :]] = full
    return inside
