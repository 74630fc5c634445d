"""What a part of the soak test is: numbered cases, figures, and a way to repeat the case that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Figure:
    """One line of the table: what was measured, and whether that is what is wanted."""

    name: str
    value: str
    wanted: str = ""
    met: bool = True


@dataclass(frozen=True)
class Part:
    """`run(cases, seed, advance)` works through cases by number; a case is a function of seed and number alone."""

    name: str
    run: Callable[[range, int, Callable[[], None]], Iterable[Figure]]
    cases: int
    quick: int


@dataclass
class Failures:
    """Cases that did not do what they should, each with the words that say what happened."""

    texts: dict[int, str] = field(default_factory=dict)

    def add(self, case: int, text: str) -> None:
        self.texts.setdefault(case, text)

    def figures(self, name: str, cases: int) -> Iterable[Figure]:
        """How many went well; then a line for each of the first five that did not."""
        bad = len(self.texts)
        yield Figure(name, f"{cases - bad:,} of {cases:,}", "all", not bad)
        for case, text in list(self.texts.items())[:5]:
            yield Figure(f"  case {case}", text, "", False)
