"""Tables of 64-bit words: what a kernel is told. Each has one layout, by which it is both filled and read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.engine.native.llvm.code import FLOAT64, INT64, Array, Code, Lanes

BYTES = 8


class Words:
    """Named words at the beginning of a table; behind them may stand lists, whose lengths the kernel knows."""

    def __init__(self, names: str) -> None:
        self.names = names.split()

    def __call__(self, *lists: Iterable[int], **values: int) -> list[int]:
        """The words of a table: every name has a value."""
        if values.keys() != set(self.names):
            raise TypeError(f"words for {', '.join(self.names)} expected, got {', '.join(values)}")
        return [int(values[name]) for name in self.names] + [int(word) for words in lists for word in words]

    def read(self, code: Code, table: Lanes | None = None) -> Reader:
        return Reader(self, code, code.arguments[0] if table is None else table)


class Reader(SimpleNamespace):
    """The named words as numbers of compiled code, and the lists behind them."""

    def __init__(self, layout: Words, code: Code, table: Lanes) -> None:
        words = code.array(table, INT64)
        super().__init__(**{name: words.load(i) for i, name in enumerate(layout.names)})
        self.rest = Behind(code, table + BYTES * len(layout.names), words.after(code.constant(len(layout.names))))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the table has no word {name!r}")


class Behind:
    """The words behind the named ones."""

    def __init__(self, code: Code, address: Lanes, words: Array) -> None:
        self.code, self.address, self.words = code, address, words
        self._next = 0

    def __getitem__(self, index: Lanes | int) -> Lanes:
        return self.words.load(index)

    def take(self, count: int) -> Iterator[Lanes]:
        """The next so many of them, one after the other."""
        for _ in range(count):
            self._next += 1
            yield self.words.load(self._next - 1)

    def take_floats(self) -> Lanes:
        """The next one, which holds a float64."""
        (word,) = self.take(1)
        return word.viewed(FLOAT64)


def as_word(x: Any) -> int:
    """The 64 bits that stand for a number in a table."""
    if isinstance(x, bool | int | np.integer | np.bool_):
        return int(x) if -(2**63) <= int(x) < 2**63 else int(np.uint64(int(x)).view(np.int64))
    return int(np.float64(x).view(np.int64))
