"""What every value of a network is called: X, Z[1], A[1], with an accent for each change on the way."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.inspect.derivation.notation import Notation
from pellucid.inspect.derivation.parts import INPUT, Part
from pellucid.nn.activations.layers import Activate, Mixed
from pellucid.nn.layers.dense import Dense

ACCENTS = ("", "tilde", "check", "breve", "bar", "hat")


@dataclass(frozen=True)
class Letter:
    """A letter, the number of its layer, and how often what it stands for was changed since."""

    base: str
    number: int
    changes: int = 0


@dataclass(frozen=True)
class Symbols:
    """The letters of all values, by the names of the parts that give them."""

    notation: Notation
    letters: dict[str, Letter]

    def of(self, name: str, transposed: bool = False) -> str:
        """The symbol of a value."""
        letter = self.letters[name]
        accent = ACCENTS[min(letter.changes, len(ACCENTS) - 1)]
        return self.notation.letter(letter.base, letter.number, accent, transposed)

    def derivative(self, name: str) -> str:
        """The derivative of the sum of losses by this value: delta of a z, else a quotient."""
        letter = self.letters[name]
        if letter.base == self.notation.z and not letter.changes:
            return self.notation.error(letter.number)
        return rf"\frac{{\partial \ell}}{{\partial {self.of(name)}}}"


def symbols_of(parts: tuple[Part, ...], notation: Notation) -> Symbols:
    """Letters for all parts: z behind an affine map, a behind its activation, and the same with an accent otherwise."""
    letters = {INPUT: Letter("X", 0)}
    for part in parts:
        source = letters[part.sources[-1]]
        letter = Letter(source.base, source.number, source.changes + 1)
        if part.weighted:
            letters[part.z] = Letter(notation.z, part.number)
            letter = Letter(notation.z if isinstance(part.layer, Dense) else notation.a, part.number)
        elif isinstance(part.layer, Activate | Mixed) and source.base == notation.z and source.number:
            letter = Letter(notation.a, source.number)
        while letter in letters.values() and not isinstance(part.layer, Dense):
            letter = Letter(letter.base, letter.number, letter.changes + 1)
        letters[part.name] = letter
    return Symbols(notation, letters)
