"""A function of compiled code while it is written: loops, memory, calls. IR is spelled here,
in `lanes` and in `places`, and nowhere else.

Variables are places on the stack, which LLVM turns into registers; so loops need no other word than where they begin.
Arrays of a function do not overlap unless they are one `Array`, and the IR says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.lanes import BOOL, FLOAT64, INT64, TYPES, Lanes, literal
from pellucid.engine.native.code.llvm.places import Array, Variable, suffix
from pellucid.engine.native.code.llvm.processor import Processor

FREE = "nsz arcp contract afn"
"""What LLVM may do to the arithmetic of a loop. Never nnan and ninf: with them `x != x` may be taken for false, and NaN
is looked for on purpose."""

EXACT = "nsz contract"
"""... and inside an elementary function, where compensations must not be cancelled."""

INT16, INT32 = np.dtype(np.int16), np.dtype(np.int32)

Typed = tuple[str, str]
"""A type and a number, as IR spells them."""


class Text:
    """A module: functions, what they declare, facts about memory."""

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}
        self.declarations: dict[str, str] = {}
        self.facts: list[str] = []

    def declare(self, name: str, result: str, arguments: Sequence[str]) -> None:
        self.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"

    def fact(self, text: str) -> str:
        """A node of metadata; {} in it is its own name."""
        name = f"!{len(self.facts)}"
        self.facts.append(f"{name} = {text.format(name)}")
        return name

    def __str__(self) -> str:
        outside = [line for name, line in self.declarations.items() if name not in self.functions]
        return "\n\n".join([*outside, *self.functions.values(), "\n".join(self.facts)]) + "\n"


class Code:
    """One function: `result name(arguments)`, by default int32 name(int64)."""

    def __init__(
        self,
        text: Text,
        name: str,
        processor: Processor,
        arguments: Sequence[Any] = (INT64,),
        result: Any = INT32,
        internal: bool = False,
    ) -> None:
        self.text, self.name, self.processor = text, name, processor
        self.flags = FREE
        self.result = np.dtype(result)
        self.arguments = [Lanes(self, f"%a{i}", np.dtype(a)) for i, a in enumerate(arguments)]
        inside = ", ".join(f"{a.type} {a.text}" for a in self.arguments)
        linkage = "internal " if internal else ""
        self._head = f"define {linkage}{TYPES[self.result]} @{name}({inside}) nounwind {{\nstart:"
        self._stack: list[str] = []
        self._lines: list[str] = []
        self._names = 0
        self._arrays: list[Array] = []
        self._table: dict[np.dtype[Any], dict[str, None]] = {}  # numbers that are read from memory
        self._from_memory = False

    # lines

    def write(self, line: str) -> None:
        self._lines.append("  " + line)

    def emit(self, text: str) -> str:
        """A line that makes something; its name."""
        self._names += 1
        name = f"%v{self._names}"
        self._lines.append(f"  {name} = {text}")
        return name

    def on_stack(self, kind: str, align: int | None = None) -> str:
        """A place on the stack, as long as the function runs."""
        self._names += 1
        name = f"%v{self._names}"
        self._stack.append(f"  {name} = alloca {kind}" + (f", align {align}" if align else ""))
        return name

    def finish(self, result: Any) -> None:
        """Give the result back: the function is whole."""
        self._give(result)
        self._state_aliases()
        head = [self._head, *self._stack, *self._state_numbers()]
        self.text.functions[self.name] = "\n".join([*head, *self._lines, "}"])

    def leave(self, result: Any) -> None:
        """Give a result back here and now; what follows is not reached."""
        self._give(result)
        self._begin(*self._labels("after"))

    def _give(self, result: Any) -> None:
        result = result if isinstance(result, Lanes) else self.constant(result, self.result)
        self.write(f"ret {result.type} {result.text}")

    @contextmanager
    def exactly(self, fused: bool = True) -> Iterator[None]:
        """Arithmetic as it stands, but for fused multiplications; or without them."""
        before, self.flags = self.flags, EXACT if fused else "nsz"
        yield
        self.flags = before

    # numbers

    def constant(self, value: Any, dtype: Any = INT64) -> Lanes:
        dtype = np.dtype(dtype)
        return Lanes(self, literal(value, dtype), dtype, 1, value)

    @contextmanager
    def numbers_from_memory(self) -> Iterator[None]:
        """Numbers beside vectors are read where they are used.

        LLVM would keep each of them, or its address, in a register as long as a loop runs. Elementary functions have
        more of them than there are registers, and it would move them about all the time.
        """
        before, self._from_memory = self._from_memory, True
        yield
        self._from_memory = before

    def number(self, value: Any, dtype: Any, lanes: int) -> Lanes:
        """A constant beside so many numbers."""
        dtype, constant = np.dtype(dtype), self.constant(value, dtype)
        if lanes == 1 or not self._from_memory or not value or dtype == BOOL:
            return constant
        places = self._table.setdefault(dtype, {})
        places.setdefault(constant.text)
        place = list(places).index(constant.text)
        pointer = self.emit(f"getelementptr inbounds {TYPES[dtype]}, ptr %numbers.{dtype.name}, i64 {place}")
        return Lanes(self, self.emit(f"load {TYPES[dtype]}, ptr {pointer}"), dtype)

    def _state_numbers(self) -> Iterator[str]:
        """The table, and where it is. Nothing says that it never changes, so nobody puts its numbers into registers."""
        for dtype, numbers in self._table.items():
            kind, name = TYPES[dtype], f"@{self.name}.{dtype.name}"
            inside = ", ".join(f"{kind} {number}" for number in numbers)
            self.text.functions[name] = f"{name} = global [{len(numbers)} x {kind}] [{inside}]"
            place = f"%place.{dtype.name}"
            yield f"  {place} = alloca ptr"
            yield f"  store volatile ptr {name}, ptr {place}"
            yield f"  %numbers.{dtype.name} = load volatile ptr, ptr {place}"

    def positions(self, lanes: int, dtype: Any = INT64) -> Lanes:
        """0, 1, 2, ..."""
        dtype = np.dtype(dtype)
        if lanes == 1:
            return self.constant(0, dtype)
        inside = ", ".join(f"{TYPES[dtype]} {i}" for i in range(lanes))
        return Lanes(self, f"<{inside}>", dtype, lanes)

    def variable(self, dtype: Any, start: Any, lanes: int = 1) -> Variable:
        variable = Variable(self, dtype, lanes)
        variable.set(start)
        return variable

    def of_processor(self, name: str, *args: Lanes) -> Lanes:
        """A function that LLVM has for every type (fabs, sqrt, floor, ...)."""
        x = args[0]
        flags = f"{self.flags} " if x.dtype.kind == "f" else ""
        full = f"{name}.{suffix(x.dtype, x.lanes)}"
        return Lanes(self, self.by_llvm(full, x.type, *((a.type, a.text) for a in args), flags=flags), x.dtype, x.lanes)

    def as_bfloat16(self, first: Lanes, second: Lanes) -> Lanes:
        """The float32 numbers of two vectors, one after the other, as the bits of the nearest bfloat16 numbers."""
        lanes = 2 * first.lanes
        name, both = f"x86.avx512bf16.cvtne2ps2bf16.{16 * lanes}", [(x.type, x.text) for x in (second, first)]
        return Lanes(self, self.by_llvm(name, f"<{lanes} x i16>", *both), INT16, lanes)

    def plus_pairs(self, a: Lanes, b: Lanes, total: Lanes) -> Lanes:
        """total + the products of the bfloat16 numbers of a and b, of which each lane has the bits of two."""
        arguments = [(x.type, x.text) for x in (total, a, b)]
        made = self.by_llvm(f"x86.avx512bf16.dpbf16ps.{32 * a.lanes}", total.type, *arguments)
        return Lanes(self, made, total.dtype, total.lanes)

    def lane(self, x: Lanes, number: int) -> Lanes:
        """One of many."""
        if x.lanes == 1:
            return x
        return Lanes(self, self.emit(f"extractelement {x.type} {x.text}, i32 {number}"), x.dtype)

    def chosen(self, a: Lanes, b: Lanes, lanes: Sequence[int]) -> Lanes:
        """Lanes of two vectors, numbered one after the other."""
        numbers = ", ".join(f"i32 {lane}" for lane in lanes)
        text = f"shufflevector {a.type} {a.text}, {b.type} {b.text}, <{len(lanes)} x i32> <{numbers}>"
        return Lanes(self, self.emit(text), a.dtype, len(lanes))

    def one_by_one(self, f: Callable[..., Lanes], *args: Lanes) -> Lanes:
        """A function of single numbers for every lane."""
        lanes = max(a.lanes for a in args)
        if lanes == 1:
            return f(*args)
        made: Lanes | None = None
        for i in range(lanes):
            number = f(*(self.lane(a, i) for a in args))
            kind = f"<{lanes} x {TYPES[number.dtype]}>"
            before = "poison" if made is None else made.text
            text = self.emit(f"insertelement {kind} {before}, {number.type} {number.text}, i32 {i}")
            made = Lanes(self, text, number.dtype, lanes)
        assert made is not None
        return made

    def folded(self, x: Lanes, combine: Callable[[Lanes, Lanes], Lanes]) -> Lanes:
        """All lanes in one number: the upper half to the lower one, again and again."""
        while x.lanes > 2:
            half = x.lanes // 2
            x = combine(*(self.chosen(x, x, range(start, start + half)) for start in (0, half)))
        return combine(self.lane(x, 0), self.lane(x, 1)) if x.lanes == 2 else x

    # control

    @contextmanager
    def loop(self, first: Any, last: Any, step: int = 1) -> Iterator[Lanes]:
        """for index in range(first, last, step)"""
        index = self.variable(INT64, first)
        with self.repeat(lambda: index.get() < last):
            at = index.get()
            yield at
            index.set(at + step)

    @contextmanager
    def repeat(self, question: Callable[[], Lanes]) -> Iterator[None]:
        """while question()"""
        head, body, end = self._labels("head", "body", "end")
        self._go(head)
        self._begin(head)
        self._branch(question(), body, end)
        self._begin(body)
        yield
        self._go(head)
        self._begin(end)

    @contextmanager
    def when(self, condition: Lanes) -> Iterator[None]:
        body, end = self._labels("then", "end")
        self._branch(condition, body, end)
        self._begin(body)
        yield
        self._go(end)
        self._begin(end)

    def span(self, first: Any, last: Lanes, lanes: int, body: Callable[..., None], masked: bool) -> None:
        """body(index, lanes, mask) over first ... last - 1: whole vectors, then what is left: one of which some lanes
        count, where the processor can mask, else number by number, without a mask."""
        whole = self.vectors(first, last, lanes, body)
        if lanes == 1:
            return
        if masked:
            with self.when(whole < last):
                body(whole, lanes, self.mask(last - whole, lanes))
            return
        with self.loop(whole, last) as i:
            body(i, 1, None)

    def vectors(self, first: Any, last: Lanes, lanes: int, body: Callable[..., None]) -> Lanes:
        """body(index, lanes, None) for whole vectors; where they end."""
        begin = first if isinstance(first, Lanes) else self.constant(first)
        whole = begin + ((last - begin) & -lanes) if lanes > 1 else last
        with self.loop(begin, whole, lanes) as i:
            body(i, lanes, None)
        return whole

    def mask(self, count: Lanes, lanes: int) -> Lanes:
        """The first so many lanes."""
        return self.positions(lanes, INT32) < count.astype(INT32)

    def _labels(self, *words: str) -> list[str]:
        self._names += 1
        return [f"{word}{self._names}" for word in words]

    def _go(self, label: str) -> None:
        self.write(f"br label %{label}")

    def _branch(self, condition: Lanes, yes: str, no: str) -> None:
        self.write(f"br i1 {condition.text}, label %{yes}, label %{no}")

    def _begin(self, label: str) -> None:
        self._lines.append(f"{label}:")

    # memory

    def array(self, address: Lanes, dtype: Any, aligned: int | None = None) -> Array:
        """An array at an address, which no other array of this function overlaps."""
        return self._apart(self._pointer(address), np.dtype(dtype), aligned)

    def anywhere(self, address: Lanes, dtype: Any) -> Array:
        """Numbers at an address that other arrays may overlap."""
        dtype = np.dtype(dtype)
        return Array(self, self._pointer(address), dtype, dtype.itemsize)

    def _pointer(self, address: Lanes) -> str:
        return self.emit(f"inttoptr i64 {address.text} to ptr")

    def stack_array(self, count: int, dtype: Any) -> Array:
        """So many numbers that the function has for itself while it runs."""
        dtype = np.dtype(dtype)
        return self._apart(self.on_stack(f"[{count} x {TYPES[dtype]}]", 64), dtype, None)

    def address_of(self, array: Array) -> Lanes:
        """Where an array lies."""
        return Lanes(self, self.emit(f"ptrtoint ptr {array.pointer} to i64"), INT64)

    def _apart(self, pointer: str, dtype: np.dtype[Any], aligned: int | None) -> Array:
        array = Array(self, pointer, dtype, aligned or dtype.itemsize)
        self._arrays.append(array)
        array.facts = f", {MARK}{len(self._arrays) - 1}{MARK}"
        return array

    def _state_aliases(self) -> None:
        """Which accesses do not overlap, known only when all arrays are."""
        if len(self._arrays) < 2:
            facts = [""] * len(self._arrays)
        else:
            domain = self.text.fact("distinct !{{{}}}")
            scopes = [self.text.fact(f"distinct !{{{{{{}}, {domain}}}}}") for _ in self._arrays]
            facts = []
            for own in scopes:
                inside = self.text.fact(f"!{{{{{own}}}}}")
                others = self.text.fact(f"!{{{{{', '.join(s for s in scopes if s != own)}}}}}")
                facts.append(f", !alias.scope {inside}, !noalias {others}")
        for i, line in enumerate(self._lines):
            if MARK in line:
                before, number, _ = line.split(MARK)
                self._lines[i] = before[:-2] + facts[int(number)]

    # calls

    def by_address(self, address: Lanes, result: Any, *args: Lanes) -> Lanes:
        """A C function at an address."""
        return self._lanes_of(self._pointer(address), result, args)

    def by_name(self, name: str, result: Any, *args: Lanes) -> Lanes:
        """A C function that the process has, or one of this module."""
        self.text.declare(name, TYPES[np.dtype(result)], [a.type for a in args])
        return self._lanes_of(f"@{name}", result, args)

    def _lanes_of(self, function: str, result: Any, args: Sequence[Lanes]) -> Lanes:
        dtype = np.dtype(result)
        return Lanes(self, self._call(function, TYPES[dtype], [(a.type, a.text) for a in args]), dtype)

    def by_llvm(self, name: str, result: str, *args: Typed, flags: str = "", facts: str = "") -> str:
        """A function that LLVM has; the name of its result."""
        self.text.declare(f"llvm.{name}", result, [kind for kind, _ in args])
        return self._call(f"@llvm.{name}", result, args, flags, facts)

    def _call(self, function: str, result: str, args: Sequence[Typed], flags: str = "", facts: str = "") -> str:
        inside = ", ".join(f"{kind} {text}" for kind, text in args)
        line = f"call {flags}{result} {function}({inside}){facts}"
        if result != "void":
            return self.emit(line)
        self.write(line)
        return ""

    def call_pointers(self, address: Lanes, pointers: Sequence[Lanes]) -> None:
        """A C function of pointers without a result."""
        target, *inside = (self._pointer(p) for p in (address, *pointers))
        self._call(target, "void", [("ptr", p) for p in inside])

    def copy(self, target: Lanes, source: Lanes, count: Lanes) -> None:
        """Bytes between places that do not overlap."""
        places = [("ptr", self._pointer(p)) for p in (target, source)]
        self.by_llvm("memcpy.p0.p0.i64", "void", *places, ("i64", count.text), ("i1", "false"))

    def clear(self, target: Lanes, count: Lanes) -> None:
        """Zero bytes."""
        place = "ptr", self._pointer(target)
        self.by_llvm("memset.p0.i64", "void", place, ("i8", "0"), ("i64", count.text), ("i1", "false"))

    def atomic_add(self, address: Lanes, amount: int) -> Lanes:
        """The old value; everything written before is visible to whoever sees the new one."""
        return Lanes(self, self.emit(f"atomicrmw add ptr {self._pointer(address)}, i64 {amount} seq_cst"), INT64)

    def atomic_load(self, address: Lanes) -> Lanes:
        return Lanes(self, self.emit(f"load atomic i64, ptr {self._pointer(address)} seq_cst, align 8"), INT64)

    def rest(self) -> None:
        """Some nanoseconds in which a core is left to its other thread, on x86."""
        if self.processor.is_x86:
            self.by_llvm("x86.sse2.pause", "void")

    def float_mode(self, bits: Lanes) -> Lanes:
        """The processor's floating-point mode (MXCSR) set to these bits; the mode before. Elsewhere nothing."""
        if not self.processor.is_x86:
            return self.constant(0)
        place = self.on_stack("i32")
        self.by_llvm("x86.sse.stmxcsr", "void", ("ptr", place))
        before = Lanes(self, self.emit(f"load i32, ptr {place}"), INT32)
        self.write(f"store i32 {bits.astype(INT32).text}, ptr {place}")
        self.by_llvm("x86.sse.ldmxcsr", "void", ("ptr", place))
        return before.astype(INT64)


def internal(text: Text, name: str, processor: Processor, names: str) -> tuple[Code, Any]:
    """A function beside the main one of a module, and its arguments, whole numbers, by name."""
    code = Code(text, name, processor, (INT64,) * len(names.split()), internal=True)
    return code, SimpleNamespace(**dict(zip(names.split(), code.arguments, strict=True)))


MARK = "\0"
"""Around the number of an array, where the facts about its accesses will stand."""


__all__ = [
    "BOOL",
    "EXACT",
    "FLOAT64",
    "FREE",
    "INT32",
    "INT64",
    "Array",
    "Code",
    "Lanes",
    "Text",
    "Variable",
    "internal",
]
