"""How the networks of a table see numbers, by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pellucid import nn
from pellucid.estimators.settings import Initialiser


@dataclass(frozen=True)
class View:
    """What a network gets beside each number; has it hidden layers, and which dropout; are long tails straight?"""

    name: str
    hidden: bool = True
    straight: bool = False
    waves: bool = False
    bins: int = 0
    dims: int = 0
    start: Initialiser = 0.0
    dropout: float = 0.0

    def without_numbers(self) -> View:
        """Where there are none to see."""
        return replace(PLAIN, dropout=self.dropout) if self.hidden else self

    def without_tails(self) -> View:
        """Where no number has a long one."""
        return LINEAR if self.straight else self

    def left_out(self, straight: dict[int, int]) -> nn.LeaveOut | None:
        """Of numbers that are there twice one: scaled, or as it is, by which hidden layers would be led astray."""
        places = straight.keys() if self.straight else straight.values()
        return nn.LeaveOut(tuple(sorted(places))) if straight else None

    def pieces(self, columns: int) -> nn.PiecewiseLinear | None:
        return nn.PiecewiseLinear(columns, self.bins, self.dims, self.start) if self.bins and columns else None


PLAIN = View("plain")
WAVES = View("waves", waves=True)
PIECES = View("pieces", waves=True, bins=32, dims=4)
ROUGH = View("rough", bins=16, dims=8, start="standard_normal")
FINE = View("fine", bins=64, dims=8, start="standard_normal")
NOISY = replace(PIECES, name="noisy", dropout=0.15)
NOISY_ROUGH = replace(ROUGH, name="noisy_rough", dropout=0.15)
LINEAR = View("linear", hidden=False)
STRAIGHT = View("straight", hidden=False, straight=True)
VIEWS = {view.name: view for view in (PLAIN, WAVES, PIECES, ROUGH, FINE, NOISY, NOISY_ROUGH, LINEAR, STRAIGHT)}
