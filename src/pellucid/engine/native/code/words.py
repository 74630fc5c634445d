"""Tables of 64-bit words: what a kernel is told. Each has one layout, by which it is both filled and read."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import INT64, Code, Lanes

BYTES = 8


class Table(ctypes.Structure):
    """A table in memory. Its words are read and set by their names; those that are not given are 0."""

    @property
    def address(self) -> int:
        return ctypes.addressof(self)

    def place(self, name: str) -> int:
        """The address of a word."""
        return self.address + int(getattr(type(self), name).offset)


class Words:
    """Named words at the beginning of a table; behind them may stand lists, whose lengths the kernel knows."""

    def __init__(self, names: str) -> None:
        self.names = names.split()
        self.table = type("Table", (Table,), {"_fields_": [(name, ctypes.c_int64) for name in self.names]})

    def __call__(self, *lists: Iterable[int], **values: int) -> list[int]:
        """The words of a table: every name has a value."""
        if values.keys() != set(self.names):
            raise TypeError(f"words for {', '.join(self.names)} expected, got {', '.join(values)}")
        return [int(values[name]) for name in self.names] + [int(word) for words in lists for word in words]

    def place(self, name: str) -> int:
        """Which word of the table it is."""
        return self.names.index(name)

    def read(self, code: Code, table: Lanes | None = None) -> Reader:
        return Reader(self, code, code.arguments[0] if table is None else table)


class Reader(SimpleNamespace):
    """The named words as numbers of compiled code, and the rest, the lists behind them."""

    def __init__(self, layout: Words, code: Code, table: Lanes) -> None:
        words = code.array(table, INT64)
        super().__init__(**{name: words.load(i) for i, name in enumerate(layout.names)})
        self._layout, self._words = layout, words
        self.rest = words.after(code.constant(len(layout.names)))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the table has no word {name!r}")

    def put(self, name: str, value: Lanes) -> None:
        """Write a word, for whoever reads the table afterwards."""
        self._words.store(self._layout.place(name), value)


def as_word(x: Any) -> int:
    """The 64 bits that stand for a number in a table."""
    if isinstance(x, bool | int | np.integer | np.bool_):
        return int(x) if -(2**63) <= int(x) < 2**63 else int(np.uint64(int(x)).view(np.int64))
    return int(np.float64(x).view(np.int64))
