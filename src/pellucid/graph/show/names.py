"""Names that tell all variables apart: people's own names stay, and those made up for them give way.

People choose the names of arguments, of nodes (`pellucid.named`) and of open sizes. Made up are v₁, v₂, ...
for intermediate values, y for the result, c1, c2, ... for constants, and the marks ẋ and x̄. Two variables are told
apart by what is read, not by how it is spelled: x1 and x_1 are both written x₁.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pellucid.graph.core.dims import Dim
from pellucid.graph.show.expression import Symbol
from pellucid.graph.show.notation import text

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph

VARIABLES = ("v", "w", "u", "t", "s", "q")
RESULTS = ("y", "z", "r", "out")
CONSTANTS = ("c", "k", "const")
FUNCTIONS = ("f", "g", "h")

MARKS = {"dot": "tangent", "bar": "adjoint"}
"""The marks of the lectures, and the words for them where a marked letter is somebody's own name."""


def distinct(names: Sequence[str]) -> list[str]:
    """The same names; one that was there before gets a number behind it that no other name has.

    >>> distinct(["h", "h", "x", "h_2"])
    ['h', 'h_3', 'x', 'h_2']
    """
    taken = set(names)
    seen: set[str] = set()
    out = []
    for name in names:
        if name in seen:
            name = next(new for i in itertools.count(2) if (new := f"{name}_{i}") not in taken)
            taken.add(name)
        seen.add(name)
        out.append(name)
    return out


def free_letter(
    letters: Sequence[str], family: Callable[[str], Iterable[str]], taken: AbstractSet[str], more: str = "_"
) -> str:
    """The first letter that has no name of its family taken; beyond the list, letters grow by `more`.

    >>> free_letter(VARIABLES, lambda letter: [f"{letter}1", f"{letter}2"], {"v2", "x"})
    'w'
    """
    longer = (letters[0] + more * i for i in itertools.count(1))
    return next(letter for letter in itertools.chain(letters, longer) if taken.isdisjoint(family(letter)))


def open_sizes(graph: Graph) -> list[str]:
    """The names of the open sizes, in the order of the arguments."""
    sizes = [size for node in graph.nodes[: graph.inputs] for size in node.shape if isinstance(size, Dim)]
    return list(dict.fromkeys(name for size in sizes for monomial, _ in size.terms for name in monomial))


def shown_sizes(graph: Graph, taken: AbstractSet[str]) -> dict[str, Dim]:
    """How each open size is shown: n as n, or as size_n where a variable is called n. For `dims.resolve`."""
    names = open_sizes(graph)
    avoid = taken | set(names)
    shown = {name: free_letter([f"size_{name}"], lambda s: [s], avoid) if name in taken else name for name in names}
    return {name: Dim.symbol(new) for name, new in shown.items()}


def symbol_of(name: str) -> Symbol:
    """A name as a symbol: x1 and x_1 have the index 1."""
    parts = re.fullmatch(r"([A-Za-z]+?)_?(\d+)", name)
    return Symbol(parts[1], int(parts[2])) if parts else Symbol(name)


_read = text().symbol


def _with_marks(symbols: Iterable[Symbol]) -> set[str]:
    """All that is read for these symbols: the values, their tangents and adjoints."""
    return {_read(s.marked(mark)) for s in symbols for mark in ("", *MARKS)}


def own_symbols(names: Sequence[str]) -> list[Symbol]:
    """People's names as symbols that read differently: x₁ for x1, and x_1 as it is where both are there."""
    seen: set[str] = set()
    symbols = []
    for name in distinct(names):
        primes = (Symbol(name + "′" * i) for i in itertools.count())
        symbol = next(s for s in itertools.chain([symbol_of(name)], primes) if _read(s) not in seen)
        seen.add(_read(symbol))
        symbols.append(symbol)
    return symbols


@dataclass(frozen=True)
class Names:
    """The symbols of a graph's variables, no two of which read the same."""

    own: Mapping[int, Symbol]  # node number -> a name of people's own: of every input, perhaps of other nodes
    letter: str  # of the intermediate values
    outputs: tuple[Symbol, ...]
    marks: Mapping[str, str]  # what "dot" and "bar" are written as: as they are, or as words
    sizes: Mapping[str, Dim]

    def variable(self, index: int) -> Symbol:
        """The lectures' name: v₁, v₂, ... for operations, v₀ and below for inputs."""
        return Symbol(self.letter, index)


def names_of(graph: Graph, *, named_nodes: bool = False) -> Names:
    """Choose the symbols. With `named_nodes`, nodes that were given a name keep it; else inputs alone do."""
    numbers = [i for i, node in enumerate(graph.nodes) if i < graph.inputs or (named_nodes and node.name)]
    own = own_symbols([graph.nodes[i].name for i in numbers])
    sizes = shown_sizes(graph, {_read(s) for s in own} | {graph.nodes[i].name for i in numbers})
    taken = _with_marks(own) | {_read(symbol_of(str(size))) for size in sizes.values()}
    indices = range(1 - graph.inputs, len(graph.nodes) - graph.inputs + 1)
    letter = free_letter(VARIABLES, lambda v: _with_marks(Symbol(v, i) for i in indices), taken, "′")
    taken |= _with_marks(Symbol(letter, i) for i in indices)

    def results(y: str) -> list[Symbol]:
        count = len(graph.outputs)
        return [Symbol(y, i + 1 if count > 1 else None) for i in range(count)]

    outputs = results(free_letter(RESULTS, lambda y: _with_marks(results(y)), taken, "′"))
    values = {_read(s) for s in own}
    marks = {m: m if values.isdisjoint(_read(s.marked(m)) for s in own) else word for m, word in MARKS.items()}
    return Names(dict(zip(numbers, own, strict=True)), letter, tuple(outputs), marks, sizes)
