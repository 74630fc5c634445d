"""How the networks of a table see numbers, by name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pellucid import nn
from pellucid.estimators.settings import Initialiser


@dataclass(frozen=True)
class Columns:
    """Of a row: so many numbers first, then among others those that are there once more as they are, codes last.

    straight: places of the second by those of the first   embeddings: how many codes there are of each of the last
    coded: how many of these are numbers   width: all columns
    """

    numbers: int
    straight: dict[int, int] = field(default_factory=dict)
    embeddings: tuple[int, ...] = ()
    coded: int = 0
    width: int = 0

    @property
    def number_codes(self) -> range:
        """Where the codes of numbers stand."""
        return range(self.width - self.coded, self.width)


@dataclass(frozen=True)
class View:
    """What a network gets beside each number; has it hidden layers, and which dropout; are long tails straight?

    coded: does it know numbers that are names, each by a vector?   ridge: without hidden layers, the penalty on
    categories over that on numbers. The best one is the variance of the noise over that of what categories do
    """

    name: str
    hidden: bool = True
    straight: bool = False
    waves: bool = False
    bins: int = 0
    dims: int = 0
    start: Initialiser = 0.0
    dropout: float = 0.0
    coded: bool = False
    ridge: float = 1.0

    def without_numbers(self) -> View:
        """Where there are none to see."""
        return replace(PLAIN, dropout=self.dropout) if self.hidden else self

    def without_tails(self) -> View:
        """Where no number has a long one."""
        return LINEAR if self.straight else self

    def without_names(self) -> View:
        """Where no number is a name."""
        return replace(self, coded=False)

    def without_categories(self) -> View:
        """Where no category has a vector: the penalty on them is no matter."""
        return LINEAR if self.ridge != LINEAR.ridge else self

    def left_out(self, columns: Columns) -> nn.LeaveOut | None:
        """Of numbers that are there twice one: scaled, or as it is, by which hidden layers would be led astray.

        Codes of numbers only those keep that are to know them.
        """
        straight = columns.straight
        places = [*(straight.keys() if self.straight else straight.values())]
        places += [] if self.coded else columns.number_codes
        return nn.LeaveOut(tuple(sorted(places))) if places else None

    def embeddings(self, columns: Columns) -> tuple[int, ...]:
        """How many codes there are of each column that it has vectors for."""
        return columns.embeddings if self.coded else columns.embeddings[: -columns.coded or None]

    def pieces(self, columns: int) -> nn.PiecewiseLinear | None:
        return nn.PiecewiseLinear(columns, self.bins, self.dims, self.start) if self.bins and columns else None


PLAIN = View("plain")
WAVES = View("waves", waves=True)
PIECES = View("pieces", waves=True, bins=32, dims=4)
ROUGH = View("rough", bins=16, dims=8, start="standard_normal")
FINE = View("fine", bins=64, dims=8, start="standard_normal")
NOISY = replace(PIECES, name="noisy", dropout=0.15)
NOISY_ROUGH = replace(ROUGH, name="noisy_rough", dropout=0.15)
CODED = replace(PIECES, name="coded", coded=True)
CODED_ROUGH = replace(ROUGH, name="coded_rough", coded=True)
LINEAR = View("linear", hidden=False)
LOOSE = View("loose", hidden=False, ridge=0.1)
STRAIGHT = View("straight", hidden=False, straight=True)
VIEWS = {
    view.name: view
    for view in (PLAIN, WAVES, PIECES, ROUGH, FINE, NOISY, NOISY_ROUGH, CODED, CODED_ROUGH, LINEAR, LOOSE, STRAIGHT)
}
