"""What all four parts of a derivation are written with: the trace, its symbols, and steps that number themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pellucid.inspect.derivation.content import Equation, Item, Phase, Side, Step
from pellucid.inspect.derivation.formulas import upright
from pellucid.inspect.derivation.notation import Notation
from pellucid.inspect.derivation.numbers import Numbers
from pellucid.inspect.derivation.parts import Part, owned
from pellucid.inspect.derivation.symbols import Symbols, symbols_of
from pellucid.inspect.derivation.trace import Trace


@dataclass
class Page:
    """A derivation while it is written."""

    trace: Trace
    notation: Notation
    digits: int = 4
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.symbols: Symbols = symbols_of(self.trace.parts, self.notation)
        self.owned = owned(self.trace.parts, self.trace.before.params)
        self.shares: dict[str, list[str]] = {}
        self.takers = Counter(source for part in self.trace.parts for source in part.sources)

    def add(
        self,
        phase: Phase,
        title: str,
        equations: Sequence[Equation],
        part: Part | None = None,
        words: Sequence[str] = (),
    ) -> None:
        """One more step."""
        name, layer = ("", 0) if part is None else (part.name, part.number)
        self.steps.append(Step(len(self.steps) + 1, phase, title, name, layer, tuple(equations), tuple(words)))

    def value(self, name: str) -> Any:
        """What a part gives; the input under its empty name."""
        return self.trace.values[name] if name else self.trace.batch.X

    def samples(self, name: str) -> Numbers:
        return self.notation.samples(self.value(name))

    def adjoint(self, name: str) -> Numbers:
        return self.notation.samples(self.trace.adjoints[name])

    def passed(self, source: str, share: str) -> str | None:
        """Hand back a share of the derivative by a value; the sum of all, once every part that takes it has done so."""
        shares = self.shares.setdefault(source, [])
        shares.append(share)
        return " + ".join(shares) if len(shares) == self.takers[source] else None

    def symbol_of(self, part: Part, own: str) -> str:
        """A parameter: W^{[1]}, b^{[1]} of layers with weights, else its name."""
        letters = {"weight": "W", "bias": "b"} if part.weighted else {"scale": r"\gamma ", "shift": r"\beta "}
        if own in letters:
            return self.notation.weight(letters[own], part.number)
        if own in ("alpha", "beta"):  # of activations that learn
            return self.notation.weight(rf"\{own} ", part.number)
        return upright(f"{part.name}.{own}")


def equation(symbol: str, *sides: Item | Side, relation: str = "=", entry: str = "") -> Equation:
    """symbol = side = side ...; the last matrix tells the size."""
    all_sides: list[Side] = [(symbol,), *((side,) if not isinstance(side, tuple) else side for side in sides)]
    last = all_sides[-1][-1]
    size = last.size if isinstance(last, Numbers) and not last.single else ""
    return Equation(tuple(all_sides), relation, entry, size)
