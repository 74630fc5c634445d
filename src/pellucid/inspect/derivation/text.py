"""A derivation as text: matrices in brackets of several lines, beside each other."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby

from pellucid.inspect.derivation.content import Equation, Item, Side, Step
from pellucid.inspect.derivation.formulas import as_text
from pellucid.inspect.derivation.numbers import Numbers

WIDTH = 100
INDENT = "     "

Box = list[str]
"""Lines of one width; the formula's line is the one in the middle."""


def text_lines(
    title: str, steps: Sequence[Step], digits: int, limit: int, spared: str = ""
) -> Iterator[tuple[str, str]]:
    """Lines, each with the word for its style: "title", "phase", "step", "formula", "entry", "words" or ""."""
    yield "title", title
    for phase, group in groupby(steps, key=lambda step: step.phase):
        yield "", ""
        yield "phase", f"━━ {phase.value} {'━' * (WIDTH - 4 - len(phase.value))}"
        previous = 0
        for step in group:
            if previous and step.number != previous + 1:
                yield "", ""
                yield "words", f"{INDENT}⋮  {spared.format(first=previous + 1, last=step.number - 1)}"
            previous = step.number
            yield "", ""
            yield "step", f"{step.number:3d}  {step.title}"
            high = False
            for i, equation in enumerate(step.equations):
                lines = list(equation_lines(equation, digits, limit))
                if i and (high or len(lines) > 2):
                    yield "", ""
                yield from lines
                high = len(lines) > 2
            for words in step.words:
                for line in textwrap.wrap(words, WIDTH - len(INDENT)):
                    yield "words", f"{INDENT}{line}"


def equation_lines(equation: Equation, digits: int, limit: int) -> Iterator[tuple[str, str]]:
    """symbol = formula, then numbers; on one line where there is room."""
    first = as_text(equation.sides[0][0]) if isinstance(equation.sides[0][0], str) else ""
    margin = width_of(first) + 1
    room = WIDTH - len(INDENT) - margin - 2
    pieces = [
        (piece, "+" if j else as_text(equation.relation) if i == 0 else "=")
        for i, side in enumerate(equation.sides[1:])
        for j, piece in enumerate(_fitting(side, digits, limit, room))
    ]
    lines: list[Box] = []
    current: Box = [first]
    for i, (side, sign) in enumerate(pieces):
        longer = _beside([current, [f" {sign} "], side])
        words = (
            i == 1 and isinstance(equation.sides[1][0], str) and any(isinstance(x, Numbers) for x in equation.sides[2])
        )
        if (width_of(longer[0]) + len(INDENT) > WIDTH or (words and len(side) > 1)) and current != [first]:
            lines.append(current)
            longer = _beside([[" " * (margin - 1)], [f" {sign} "], side])
        current = longer
    lines.append(current)
    size = f"   ({equation.size})" if equation.size and _sampled(equation, limit) else ""
    for i, box in enumerate(lines):
        for j, line in enumerate(box):
            last = i == len(lines) - 1 and j == (len(box) - 1) // 2
            yield "formula", f"{INDENT}{line.rstrip()}{size if last else ''}"
    if equation.entry:
        yield "entry", f"{INDENT}{as_text(equation.entry)}"


def _sampled(equation: Equation, limit: int) -> bool:
    return any(isinstance(item, Numbers) and not item.whole(limit) for side in equation.sides for item in side)


def _side(side: Side, digits: int, limit: int) -> Box:
    boxes = [_item(item, digits, limit, i == 0) for i, item in enumerate(side)]
    return _beside([box for pair in zip(boxes, [[" "]] * len(boxes), strict=True) for box in pair][:-1])


def _fitting(side: Side, digits: int, limit: int, width: int) -> list[Box]:
    """A side of at most this width: with less of large matrices, or as terms on lines of their own."""
    box = _side(side, digits, limit)
    if width_of(box[0]) <= width:
        return [box]
    if any(isinstance(item, Numbers) and not item.whole(limit) for item in side):
        for less in range(limit - 1, 2, -1):
            box = _side(side, digits, less)
            if width_of(box[0]) <= width:
                break
        return [box]
    terms: list[list[Item]] = [[]]
    for item in side:
        if isinstance(item, str) and item == "+":
            terms.append([])
        else:
            terms[-1].append(item)
    return [_side(tuple(term), digits, limit) for term in terms]


def _item(item: Item, digits: int, limit: int, first: bool) -> Box:
    if isinstance(item, str):
        return [as_text(item)]
    return [as_text(item.formula(digits, first))] if item.single else matrix(item, digits, limit)


def matrix(numbers: Numbers, digits: int, limit: int) -> Box:
    """
    >>> import numpy as np
    >>> print("\\n".join(matrix(Numbers(np.array([[1.0, 2.5], [-3.0, 0.0]])), 4, 6)))
    ⎡ 1.0  2.5⎤
    ⎣−3.0  0.0⎦
    """
    cells = [[text for text, _ in row] for row in numbers.cells(digits, limit)]
    widths = [max(len(row[c]) for row in cells) for c in range(len(cells[0]))]
    rows = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    if len(rows) == 1:
        return [f"[{rows[0]}]"]
    ends = ["⎡⎤", *["⎢⎥"] * (len(rows) - 2), "⎣⎦"]
    return [f"{end[0]}{row}{end[1]}" for row, end in zip(rows, ends, strict=True)]


def _beside(boxes: Sequence[Box]) -> Box:
    """Boxes in one row, their middle lines on one height."""
    above = max((len(box) - 1) // 2 for box in boxes)
    below = max(len(box) - 1 - (len(box) - 1) // 2 for box in boxes)
    rows = [""] * (above + below + 1)
    for box in boxes:
        width, top = max(map(width_of, box)), above - (len(box) - 1) // 2
        for i in range(len(rows)):
            inside = 0 <= i - top < len(box)
            line = box[i - top] if inside else ""
            rows[i] += line + " " * (width - width_of(line))
    return rows


def width_of(line: str) -> int:
    """Columns on a screen: accents that stand above a letter take none.

    >>> width_of("Z\u0303")
    1
    """
    return sum(not unicodedata.combining(c) for c in line)
