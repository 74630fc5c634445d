"""How formulas are written: as a program, as text with mathematical signs, as LaTeX, as HTML."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.graph.core.spec import format_shape
from pellucid.graph.show.expression import Call, Expression, Number, Symbol

# binding strength, weakest first
_COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(6)

INFIX = {
    "add": ("+", _SUM),
    "subtract": ("-", _SUM),
    "multiply": ("*", _PRODUCT),
    "divide": ("/", _PRODUCT),
    "matmul": ("@", _PRODUCT),
    "remainder": ("%", _PRODUCT),
    "floor_divide": ("//", _PRODUCT),
    "power": ("**", _POWER),
    "greater": (">", _COMPARE),
    "greater_equal": (">=", _COMPARE),
    "less": ("<", _COMPARE),
    "less_equal": ("<=", _COMPARE),
    "equal": ("==", _COMPARE),
    "not_equal": ("!=", _COMPARE),
    "bitwise_and": ("&", _COMPARE),
    "bitwise_or": ("|", _COMPARE),
    "logical_and": ("and", _COMPARE),
    "logical_or": ("or", _COMPARE),
}
"""Operations that stand between their arguments: the sign, and how strongly it binds."""


@dataclass(frozen=True)
class Notation:
    """One way of writing. `signs` replaces infix signs, `functions` names of operations."""

    signs: Mapping[str, str]
    functions: Mapping[str, str]
    mathematical: bool = True  # ln x and x² instead of log(x) and square(x)
    digits: int = 3

    # symbols and numbers

    def symbol(self, s: Symbol) -> str:
        if s.mark in ("tangent", "adjoint"):
            return f"{self.word(s.mark)}({self.symbol(s.marked(''))})"
        return self.subscript(self.mark(s.base, s.mark), s.index)

    def mark(self, base: str, mark: str) -> str:
        return unicodedata.normalize("NFC", base + {"": "", "dot": "\u0307", "bar": "\u0304"}[mark])

    def word(self, word: str) -> str:
        return word

    def subscript(self, base: str, index: int | None) -> str:
        return base if index is None else base + str(index).translate(_SUBSCRIPTS)

    def number(self, value: Any) -> str:
        if isinstance(value, np.ndarray) and value.ndim:
            if value.size > 6:
                return "×".join(map(str, value.shape)) + " array"
            return "[" + ", ".join(self.number(v) for v in value) + "]"
        if isinstance(value, bool | np.bool_):
            return str(bool(value))
        if not isinstance(value, int | float | np.number | np.ndarray):
            return str(value)
        x = float(value)
        if not np.isfinite(x):
            text = {"inf": "∞", "-inf": "-∞"}.get(str(x), str(x))
        elif x == 0 or 10.0**-self.digits <= abs(x) < 1e6:
            text = f"{x:.{self.digits}f}".rstrip("0").rstrip(".")
        else:
            text = f"{x:.{self.digits}g}"
        return text.replace("-", self.signs["-"])

    # formulas

    def write(self, e: Expression) -> str:
        return self._write(e)[0]

    def _write(self, e: Expression) -> tuple[str, int]:
        """The text and how strongly it binds."""
        if isinstance(e, Symbol):
            return self.symbol(e), _ATOM
        if isinstance(e, Number):
            text = self.number(e.value)
            return text, _SIGN if text.startswith(self.signs["-"]) else _ATOM
        if e.op == "partial":
            return self.partial(*(self.write(a) for a in e.args)), _PRODUCT
        if e.op in INFIX and not e.settings:
            return self._infix(e)
        if e.op == "negative":
            return self.signs["-"] + self._inside(e.args[0], _PRODUCT), _SIGN
        if e.op == "getitem":
            rest = iter(e.args[1:])
            parts = [self.write(next(rest)) if repr(p) == "·" else _index_text(p) for p in e.settings["spec"]]
            return f"{self._inside(e.args[0], _ATOM)}[{', '.join(parts)}]", _ATOM
        if e.op == "transpose" and e.settings.get("axes") == (1, 0) and not self.mathematical:
            return f"{self._inside(e.args[0], _ATOM)}.T", _ATOM
        if self.mathematical:
            short = self._short(e)
            if short is not None:
                return short
        name = self.functions.get(e.op, e.op)
        listed = [self.write(a) for a in e.args] + [
            f"{k}={_setting_text(v)}" for k, v in e.settings.items() if v is not None
        ]
        return f"{name}({', '.join(listed)})", _ATOM

    def _inside(self, e: Expression, strength: int) -> str:
        text, binds = self._write(e)
        return text if binds >= strength else f"({text})"

    def _infix(self, e: Call) -> tuple[str, int]:
        sign, strength = INFIX[e.op]
        left, right = e.args
        first = self._inside(left, strength)
        # a - (b - c) and a / (b * c) keep their brackets; a negative number on the right is bracketed,
        # or turned round: 10.7 - (-0.96) is written 10.7 + 0.96
        second, binds = self._write(right)
        minus = self.signs["-"]
        if binds == _SIGN and second.startswith(minus):
            if strength == _SUM:
                sign, second = ("+" if e.op == "subtract" else "-"), second.removeprefix(minus)
            else:
                second = f"({second})"
        elif binds < strength or (binds == strength and e.op not in ("add", "multiply")):
            second = f"({second})"
        if self.mathematical and e.op == "power":
            return self.superscript(self._inside(left, _ATOM), self._inside(right, _SUM)), _POWER
        return f"{first} {self.signs.get(sign, sign)} {second}", strength

    def _short(self, e: Call) -> tuple[str, int] | None:
        """The customary way of writing the commonest functions."""
        if len(e.args) != 1:
            return None
        x = e.args[0]
        if e.op == "square":
            return self.superscript(self._inside(x, _ATOM), "2"), _POWER
        if e.op == "reciprocal":
            return f"1 / {self._inside(x, _POWER)}", _PRODUCT
        if e.op == "transpose":
            return self.superscript(self._inside(x, _ATOM), "T"), _POWER
        if e.op == "absolute":
            return f"|{self.write(x)}|", _ATOM
        if e.op in self.functions and not e.settings:
            text, binds = self._write(x)
            return (
                f"{self.functions[e.op]} {text}" if binds == _ATOM else f"{self.functions[e.op]}({text})",
                _POWER,
            )
        return None

    def superscript(self, base: str, exponent: str) -> str:
        small = exponent.translate(_SUPERSCRIPTS)
        return base + small if small != exponent else f"{base}^{exponent}"

    def partial(self, y: str, x: str) -> str:
        return f"∂{y}/∂{x}"


class Latex(Notation):
    def mark(self, base: str, mark: str) -> str:
        base = base.replace("_", r"\_")  # or half of the name would become an index
        return {"": base, "dot": rf"\dot{{{base}}}", "bar": rf"\bar{{{base}}}"}[mark]

    def word(self, word: str) -> str:
        return rf"\operatorname{{{word}}}"

    def subscript(self, base: str, index: int | None) -> str:
        return base if index is None else f"{base}_{{{index}}}"

    def superscript(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def partial(self, y: str, x: str) -> str:
        return rf"\frac{{\partial {y}}}{{\partial {x}}}"


class Html(Notation):
    def mark(self, base: str, mark: str) -> str:
        return super().mark(html.escape(base), mark)

    def subscript(self, base: str, index: int | None) -> str:
        return f"<i>{base}</i>" if index is None else f"<i>{base}</i><sub>{str(index).replace('-', '−')}</sub>"

    def superscript(self, base: str, exponent: str) -> str:
        return f"{base}<sup>{exponent}</sup>"


_SUBSCRIPTS = str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("−-0123456789T", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ")
_SAME = {"-": "-"}
_SIGNS = {"-": "−", "*": "×", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
_LATEX_SIGNS = {"-": "-", "*": r"\times", "<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne", "@": r"\,"}
_FUNCTIONS = {name: name for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "sign")}
_NAMES = {**_FUNCTIONS, "log": "ln", "sqrt": "√", "maximum": "max", "minimum": "min", "expit": "σ"}
_LATEX_NAMES = {
    **{name: "\\" + name for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan")},
    "log": r"\ln",
    "sqrt": r"\surd",
    "expit": r"\sigma",
}


def program(digits: int = 3) -> Notation:
    return Notation(_SAME, {}, mathematical=False, digits=digits)


def text(digits: int = 3) -> Notation:
    return Notation(_SIGNS, _NAMES, digits=digits)


def latex(digits: int = 3) -> Latex:
    return Latex(_LATEX_SIGNS, _LATEX_NAMES, digits=digits)


def html_notation(digits: int = 3) -> Html:
    escaped = {**_SIGNS, "<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return Html(escaped, _NAMES, digits=digits)


def _index_text(part: Any) -> str:
    if isinstance(part, slice):
        ends = ["" if e is None else str(e) for e in (part.start, part.stop, part.step)]
        return ":".join(ends[:2]) + (f":{ends[2]}" if ends[2] else "")
    return "..." if part is Ellipsis else str(part)


def _setting_text(value: Any) -> str:
    if isinstance(value, tuple) and all(hasattr(v, "__index__") or hasattr(v, "terms") for v in value):
        return format_shape(value)
    return value.name if isinstance(value, np.dtype) else str(value)
