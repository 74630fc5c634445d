"""Values of a C function: where each lies in memory, which memory is used again, and loops over them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]

LETTERS = {"float": "f", "double": "d", "int": "n"}
"""What names of buffers begin with."""


@dataclass(frozen=True)
class View:
    """Numbers that lie somewhere: `base[offset]`, `base[offset + 1]`, ... in the order of the shape."""

    base: str
    shape: Shape
    type: str
    offset: int = 0
    single: bool = False  # `base` is the number itself

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def at(self, index: str = "0") -> str:
        """The number at a place in this order."""
        if self.single:
            return self.base
        place = str(self.offset) if index == "0" else f"{self.offset} + {index}" if self.offset else index
        return f"{self.base}[{place}]"


@dataclass(frozen=True)
class Expression:
    """What is computed number by number, and not yet stored.   template: with {0}, {1}, ... for the arguments"""

    template: str
    args: tuple[View | Expression, ...]
    shape: Shape
    type: str

    @property
    def count(self) -> int:
        """Operations in it."""
        return 1 + sum(a.count for a in self.args if isinstance(a, Expression))

    @property
    def size(self) -> int:
        return math.prod(self.shape)


Value = View | Expression


def strides(shape: Shape, target: Shape) -> list[int]:
    """How far an array's place moves along each axis of the shape that it is spread over: 0 where it repeats."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(0 if size == 1 else step)
        step *= size
    return [0] * (len(target) - len(shape)) + steps[::-1]


def place(steps: list[int], letters: list[str]) -> str:
    """The place of an element by the numbers of the loops.

    >>> place([4, 1], ["i", "j"]), place([0, 0], ["i", "j"])
    ('i * 4 + j', '0')
    """
    pairs = [(step, letter) for step, letter in zip(steps, letters, strict=True) if step and letter != "0"]
    return " + ".join(letter if step == 1 else f"{letter} * {step}" for step, letter in pairs) or "0"


def element(value: Value, target: Shape, letters: list[str]) -> str:
    """The number of a value at the place of loops over a shape."""
    if isinstance(value, View):
        return value.at(place(strides(value.shape, target), letters))
    args = [element(a, target, letters) for a in value.args]
    call = value.template[0].isalpha()  # of a function: brackets of its own
    return value.template.format(*(map(bare, args) if call else args))


def bare(text: str) -> str:
    """Without the outermost brackets, if one pair is around all.

    >>> bare("(a + b)"), bare("(a) + (b)")
    ('a + b', '(a) + (b)')
    """
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 and text[0] == "(" else text
    return text


def loops(shape: Shape, body: Callable[[list[str]], list[str]], letter: str = "i") -> list[str]:
    """Lines of loops over a shape around `body(numbers of the loops)`; axes of size 1 need none.

    >>> loops((1, 2), lambda at: [f"x[{at[1]}] = 0;"])
    ['for (int i1 = 0; i1 < 2; i1++)', '    x[i1] = 0;']
    """
    if 0 in shape:
        return []
    letters = [f"{letter}{axis}" if size > 1 else "0" for axis, size in enumerate(shape)]
    lines = list[str]()
    for one, size in zip(letters, shape, strict=True):
        if one != "0":
            lines.append("    " * len(lines) + f"for (int {one} = 0; {one} < {size}; {one}++)")
    inner, depth = body(letters), len(lines)
    if len(inner) > 1 and depth:
        lines[-1] += " {"
        return [*lines, *("    " * depth + line for line in inner), "    " * (depth - 1) + "}"]
    return [*lines, *("    " * depth + line for line in inner)]


def steps_of(shape: Shape) -> list[int]:
    """How far apart neighbours along each axis lie; 0 for axes of size 1."""
    return strides(shape, shape)


class Memory:
    """Buffers that are used again when nobody needs what is in them. A buffer is written as @3@ until all is known."""

    def __init__(self) -> None:
        self.blocks: list[list[str]] = []  # lines that belong together: a loop, or several
        self._buffers: list[tuple[str, int]] = []

    def new(self, type_: str, shape: Shape) -> View:
        """Room for numbers."""
        self._buffers.append((type_, max(math.prod(shape), 1)))
        return View(f"@{len(self._buffers) - 1}@", shape, type_)

    def settled(self) -> tuple[list[str], list[str], int]:
        """Declarations, the lines with names in them, and the bytes of all buffers."""
        spans: dict[int, list[int]] = {}
        for number, block in enumerate(self.blocks):
            for found in re.findall(r"@(\d+)@", " ".join(block)):
                spans.setdefault(int(found), [number, number])[1] = number
        slots: list[list[Any]] = []  # type, size, the last block that needs it
        names: dict[int, str] = {}
        for buffer, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
            type_, size = self._buffers[buffer]
            free = [slot for slot in slots if slot[0] == type_ and slot[2] < first]
            slot = min(free, key=lambda one: (abs(one[1] - size), one[1]), default=None)
            if slot is None:
                slot = [type_, 0, 0]
                slots.append(slot)
            slot[1], slot[2] = max(slot[1], size), last
            names[buffer] = f"{LETTERS[type_]}{[one is slot for one in slots].index(True) + 1}"
        lines = [
            re.sub(r"@(\d+)@", lambda found: names[int(found[1])], line) for block in self.blocks for line in block
        ]
        declared = [f"{type_} {LETTERS[type_]}{i + 1}[{size}];" for i, (type_, size, _) in enumerate(slots)]
        return declared, lines, sum(size * {"double": 8}.get(type_, 4) for type_, size, _ in slots)
