"""What a derivation is made of: numbered steps of equations. How they are written is for others to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from pellucid.inspect.derivation.numbers import Numbers

Item = str | Numbers
"""A formula (see `formulas`), or a matrix of numbers."""

Side = tuple[Item, ...]
"""One side of an equation: formulas and numbers, side by side."""


class Phase(Enum):
    """The four parts of a training step."""

    FORWARD = "Forward pass"
    LOSS = "Loss"
    BACKWARD = "Backward pass"
    UPDATE = "Update"


@dataclass(frozen=True)
class Equation:
    """symbol = formula = numbers = ...; one entry of it written out; the size of the result."""

    sides: tuple[Side, ...]
    relation: str = "="  # between the first two sides
    entry: str = ""
    size: str = ""


@dataclass(frozen=True)
class Step:
    """One numbered step: what happens where, and its equations. `layer` is the number of the layer with weights."""

    number: int
    phase: Phase
    title: str
    part: str = ""
    layer: int = 0
    equations: tuple[Equation, ...] = ()
    words: tuple[str, ...] = field(default=())
