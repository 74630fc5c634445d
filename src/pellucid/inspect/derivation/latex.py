r"""A derivation as LaTeX: an article of its own, or what stands inside one (it needs amsmath)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pellucid.inspect.derivation.content import Equation, Item, Side, Step
from pellucid.inspect.derivation.formulas import LETTERS, OPERATORS, as_latex, escape
from pellucid.inspect.derivation.numbers import SPARED, Numbers

HEAD = r"""\documentclass[a4paper,landscape,10pt,fleqn]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{amsmath}
\usepackage[margin=1.5cm]{geometry}
\setlength{\parindent}{0pt}
\setcounter{MaxMatrixCols}{%d}
\allowdisplaybreaks
\begin{document}
"""

_WORDS = {sign: rf"$\{name}$" for name, sign in {**LETTERS, **OPERATORS}.items() if not sign.isascii()}
_WORDS |= {"²": "$^2$", "½": r"$\tfrac12$", "‖": r"$\Vert$", "ŝ": r"$\hat{s}$", "m̂": r"$\hat{m}$", "ẑ": r"$\hat{z}$",
           "−": "$-$", "ᵀ": r"$^{\top}$", "Σ": r"$\sum$", "⋮": r"$\vdots$", "·": r"$\cdot$"}  # fmt: skip


def written(title: str, convention: str, steps: Sequence[Step], digits: int, limit: int, document: bool) -> str:
    """The whole of it."""
    body = "\n".join(_lines(steps, digits, limit))
    head = rf"\section*{{{words(title)}}}" + "\n" + words(convention[:1].upper() + convention[1:]) + ".\n"
    if not document:
        return f"{head}{body}\n"
    return HEAD % max(limit, 10) + head + body + "\n\\end{document}\n"


def words(text: str) -> str:
    """Words of people's own, safe in LaTeX, mathematical signs included.

    >>> words("50 % of ‖W‖²")
    '50 \\\\% of $\\\\Vert$W$\\\\Vert$$^2$'
    """
    safe = escape(text)
    for sign, command in _WORDS.items():
        safe = safe.replace(sign, command)
    return safe.encode("ascii", "ignore").decode() if not safe.isascii() else safe


def _lines(steps: Sequence[Step], digits: int, limit: int) -> Iterator[str]:
    for phase, group in groupby(steps, key=lambda step: step.phase):
        yield rf"\subsection*{{{words(phase.value)}}}"
        previous = 0
        for step in group:
            if previous and step.number != previous + 1:
                yield rf"\par $\vdots$ steps {previous + 1} to {step.number - 1}: the layers between, in the same way"
            previous = step.number
            yield rf"\par\medskip\textbf{{({step.number}) {words(step.title)}}}\nopagebreak"
            lines = [line for equation in step.equations for line in _equation(equation, digits, limit)]
            if lines:
                yield "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"
            yield from (rf"{{\small {words(text)}}}\par" for text in step.words)


COLUMNS = 12
"""So many columns of numbers fit beside each other."""


def _equation(equation: Equation, digits: int, limit: int) -> list[str]:
    """The lines of an equation: symbol = formula, and numbers beside it or below."""
    relations = [as_latex(equation.relation), *["="] * (len(equation.sides) - 2)]
    lines, columns = [f"{_side(equation.sides[0], digits, limit)} &"], 0
    for i, (relation, side) in enumerate(zip(relations, equation.sides[1:], strict=True)):
        width = sum(min(item.value.shape[1], limit) for item in side if isinstance(item, Numbers))
        piece = f"{relation} {_side(side, digits, limit)}"
        if i and columns + width > COLUMNS:
            lines.append(f"&{piece}")
            columns = 0
        else:
            lines[-1] += f" {piece}" if i else piece
        columns += width
    if equation.entry:
        lines.append(rf"&\quad {as_latex(equation.entry)}")
    return lines


def _side(side: Side, digits: int, limit: int) -> str:
    return r"\,".join(_item(item, digits, limit, i == 0) for i, item in enumerate(side))


def _item(item: Item, digits: int, limit: int, first: bool) -> str:
    if isinstance(item, Numbers) and not item.single:
        return matrix(item, digits, limit)
    return as_latex(item if isinstance(item, str) else item.formula(digits, first))


def matrix(numbers: Numbers, digits: int, limit: int) -> str:
    r"""
    >>> import numpy as np
    >>> matrix(Numbers(np.array([[1.0, -2.5]])), 4, 6)
    '\\begin{bmatrix} 1.0 & -2.5 \\end{bmatrix}'
    """
    cells = [[_cell(text) for text, _ in row] for row in numbers.cells(digits, limit)]
    rows = r" \\ ".join(" & ".join(row) for row in cells)
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def _cell(text: str) -> str:
    if text == SPARED:
        return r"\cdots"
    text = text.replace("−", "-").replace("∞", r"\infty ").replace("nan", r"\text{NaN}")
    mantissa, e, exponent = text.partition("e")
    return rf"{mantissa}\cdot 10^{{{exponent}}}" if e and exponent else text
