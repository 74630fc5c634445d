"""Where numbers lie while a function is written: variables on the stack, arrays in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.engine.native.code.llvm.lanes import BOOL, TYPES, Lanes

if TYPE_CHECKING:
    from pellucid.engine.native.code.llvm.code import Code

BYTE = np.dtype(np.int8)


class Variable:
    """A number that changes."""

    def __init__(self, code: Code, dtype: Any, lanes: int) -> None:
        self.code, self.dtype, self.lanes = code, np.dtype(dtype), lanes
        self.type = Lanes(code, "", self.dtype, lanes).type
        self.place = code.on_stack(self.type)

    def get(self) -> Lanes:
        return Lanes(self.code, self.code.emit(f"load {self.type}, ptr {self.place}"), self.dtype, self.lanes)

    def set(self, value: Any) -> None:
        value = value if isinstance(value, Lanes) else self.code.constant(value, self.dtype)
        if value.dtype != self.dtype:
            raise TypeError(f"a variable of {self.dtype} cannot become {value.dtype}")
        self.code.write(f"store {self.type} {value.spread(self.lanes).text}, ptr {self.place}")


@dataclass
class Array:
    """Numbers in memory, from an address on. A mask says which lanes are read or written."""

    code: Code
    pointer: str
    dtype: np.dtype[Any]
    aligned: int
    facts: str = ""

    @property
    def item(self) -> np.dtype[Any]:
        return BYTE if self.dtype == BOOL else self.dtype

    def load(self, index: Lanes | int, lanes: int = 1, mask: Lanes | None = None) -> Lanes:
        code, kind = self.code, Lanes(self.code, "", self.item, lanes).type
        place = self.place(index)
        if mask is None:
            text = code.emit(f"load {kind}, ptr {place}, align {self.aligned}{self.facts}")
        else:
            name, which = f"masked.load.{suffix(self.item, lanes)}.p0", (mask.type, mask.text)
            where = ("ptr", place), ("i32", str(self.aligned))
            text = code.by_llvm(name, kind, *where, which, (kind, "zeroinitializer"), facts=self.facts)
        number = Lanes(code, text, self.item, lanes)
        return number != 0 if self.dtype == BOOL else number

    def store(self, index: Lanes | int, value: Any, mask: Lanes | None = None) -> None:
        code = self.code
        value = value if isinstance(value, Lanes) else code.constant(value, self.dtype)
        if value.dtype != self.dtype:
            raise TypeError(f"an array of {self.dtype} cannot hold {value.dtype}")
        value = value.astype(self.item) if self.dtype == BOOL else value
        place = self.place(index)
        if mask is None:
            code.write(f"store {value.type} {value.text}, ptr {place}, align {self.aligned}{self.facts}")
            return
        value = value.spread(mask.lanes)
        name, which = f"masked.store.{suffix(self.item, value.lanes)}.p0", (mask.type, mask.text)
        where = ("ptr", place), ("i32", str(self.aligned))
        code.by_llvm(name, "void", (value.type, value.text), *where, which, facts=self.facts)

    def place(self, index: Lanes | int) -> str:
        """The address of an element."""
        if isinstance(index, int) and index == 0:
            return self.pointer
        at = index.text if isinstance(index, Lanes) else str(index)
        return self.code.emit(f"getelementptr inbounds {TYPES[self.item]}, ptr {self.pointer}, i64 {at}")

    def ask_for(self, index: Lanes | int) -> None:
        """An element will be written soon: the processor may fetch it, and no other keeps a copy."""
        how = ("i32", "1"), ("i32", "3"), ("i32", "1")
        self.code.by_llvm("prefetch.p0", "void", ("ptr", self.place(index)), *how)

    def after(self, index: Lanes) -> Array:
        """The same memory from an element on."""
        return Array(self.code, self.place(index), self.dtype, self.aligned, self.facts)


def suffix(dtype: np.dtype[Any], lanes: int) -> str:
    """How LLVM's functions name a type."""
    name = f"f{dtype.itemsize * 8}" if dtype.kind == "f" else TYPES[dtype]
    return name if lanes == 1 else f"v{lanes}{name}"
