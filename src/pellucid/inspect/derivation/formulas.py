"""Formulas are written once, in a small part of LaTeX, and read by three writers: text, HTML, LaTeX itself.

The part: letters and signs, `\\name` for the letters and operators in `SIGNS`, `^{}` and `_{}`, `\\frac{}{}`,
`\\sqrt{}`, accents, and words in `\\text{}` and `\\operatorname{}`. Spaces are kept, except the one that
ends the name of a letter.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "lambda": "λ", "mu": "μ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "varphi": "φ", "Delta": "Δ", "Phi": "Φ", "ell": "ℓ",
    "partial": "∂", "infty": "∞", "top": "ᵀ", "prime": "′", "mathbf1": "𝟏", "sum": "Σ", "Vert": "‖", "vert": "|",
    "surd": "√",
}  # fmt: skip
OPERATORS = {
    "odot": "⊙", "otimes": "⊗", "leftarrow": "←", "cdot": "·", "times": "×", "le": "≤", "ge": "≥", "ne": "≠",
    "cdots": "…", "ldots": "…", "quad": "   ", "to": "→", "in": "∈",
}  # fmt: skip
SIGNS = {**LETTERS, **OPERATORS}
ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "check": "\u030c", "breve": "\u0306"}

SUPERSCRIPTS = dict(
    zip("-+()0123456789abcdefghijklmnoprstuvwxyz", "⁻⁺⁽⁾⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)
)
SUPERSCRIPTS |= {"−": "⁻", "ᵀ": "ᵀ", "′": "′"}
SUBSCRIPTS = dict(zip("-+()0123456789aehijklmnoprstuvx", "₋₊₍₎₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))


@dataclass(frozen=True)
class Writer:
    """How the few constructions are written; `plain` is for single characters, `word` for words in upright letters."""

    plain: Callable[[str], str]
    word: Callable[[str], str]
    accent: Callable[[str, str], str]
    raised: Callable[[str], str]
    lowered: Callable[[str], str]
    fraction: Callable[[str, str], str]
    root: Callable[[str], str]


def written(formula: str, writer: Writer) -> str:
    """A formula, by a writer."""
    text, end = _row(formula, 0, writer)
    if end != len(formula):
        raise ValueError(f"a closing brace without an opening one: {formula!r}")
    return text


def _row(source: str, i: int, writer: Writer) -> tuple[str, int]:
    """What stands before the next closing brace, and where that is."""
    parts: list[str] = []
    while i < len(source) and source[i] != "}":
        part, i = _piece(source, i, writer)
        parts.append(part)
    return "".join(parts), i


def _piece(source: str, i: int, writer: Writer) -> tuple[str, int]:
    character = source[i]
    if character == "{":
        text, end = _row(source, i + 1, writer)
        return text, _closed(source, end)
    if character in "^_":
        text, end = _argument(source, i + 1, writer)
        return (writer.raised if character == "^" else writer.lowered)(text), end
    if character != "\\":
        return writer.plain(character), i + 1
    name = re.match(r"\\([A-Za-z]+1?|.)", source[i:])
    if name is None:
        raise ValueError(f"a backslash at the end: {source!r}")
    return _command(name[1], source, i + name.end(), writer)


def _command(name: str, source: str, i: int, writer: Writer) -> tuple[str, int]:
    if name in ("text", "operatorname", "mathrm"):
        if source[i : i + 1] != "{":
            raise ValueError(f"\\{name} takes its word in braces: {source!r}")
        end = source.index("}", i)
        return writer.word(source[i + 1 : end]), end + 1
    if name in ACCENTS:
        text, end = _argument(source, i, writer)
        return writer.accent(text, name), end
    if name == "sqrt":
        text, end = _argument(source, i, writer)
        return writer.root(text), end
    if name == "frac":
        above, end = _argument(source, i, writer)
        below, end = _argument(source, end, writer)
        return writer.fraction(above, below), end
    if name in (",", ";", " "):
        return " ", i
    if name in ("{", "}"):
        return writer.plain(name), i
    if name not in SIGNS:
        raise ValueError(f"\\{name} is not among the signs of formulas.py: {source!r}")
    swallowed = name in LETTERS and source[i : i + 1] == " "
    return writer.plain(SIGNS[name]), i + swallowed


def _argument(source: str, i: int, writer: Writer) -> tuple[str, int]:
    if source[i : i + 1] != "{":
        raise ValueError(f"an argument stands in braces: {source!r}, at {source[i:]!r}")
    return _piece(source, i, writer)


def _closed(source: str, i: int) -> int:
    if i >= len(source):
        raise ValueError(f"a brace is not closed: {source!r}")
    return i + 1


# text with mathematical signs


def _small(text: str, table: dict[str, str], mark: str) -> str:
    if text.startswith("["):  # a layer's number: W[1] as it is, for there are no raised square brackets
        number, _, rest = text.partition("]")
        return f"{number}]{_small(rest, table, mark) if rest else ''}"
    if all(c in table for c in text):
        return "".join(table[c] for c in text)
    return f"{mark}{text}" if len(text) == 1 else f"{mark}({text})"


def _bracketed(text: str) -> str:
    simple = re.fullmatch(r"[^\s+\-−*/·]+", text) or re.fullmatch(r"\([^()]*\)", text)
    return text if simple else f"({text})"


def _quotient(above: str, below: str) -> str:
    """A factor such as 1/n stands in brackets, or it would be read as the quotient by all that follows."""
    quotient = f"{_bracketed(above)}/{_bracketed(below)}"
    return f"({quotient})" if above.isdigit() and not below.startswith("(") else quotient


def _accented(text: str, name: str) -> str:
    return unicodedata.normalize("NFC", text[:1] + ACCENTS[name] + text[1:])


def _sign(c: str) -> str:
    if c.isalpha() and c not in "ᵀ∂ΔΣΦ":
        return f"<i>{c}</i>"
    return {"-": "−", "𝟏": "<b>1</b>"}.get(c, html.escape(c))


TEXT = Writer(
    plain=lambda c: {"-": "−", "𝟏": "1"}.get(c, c),
    word=lambda word: word,
    accent=_accented,
    raised=lambda text: _small(text, SUPERSCRIPTS, "^"),
    lowered=lambda text: _small(text, SUBSCRIPTS, "_"),
    fraction=lambda above, below: _quotient(above, below),
    root=lambda text: f"√{_bracketed(text)}",
)

HTML = Writer(
    plain=lambda c: _sign(c),
    word=lambda word: f"<span class='w'>{html.escape(word)}</span>",
    accent=lambda text, name: re.sub(r"(\w)(?=</i>)|^(\w)$", lambda m: _accented(m[0], name), text, count=1),
    raised=lambda text: text if text == "′" else f"<sup>{text.replace('ᵀ', 'T')}</sup>",
    lowered=lambda text: f"<sub>{text}</sub>",
    fraction=lambda above, below: f"<span class='f'><span>{above}</span><span>{below}</span></span>",
    root=lambda text: f"√<span class='r'>{text}</span>",
)


def as_text(formula: str) -> str:
    r"""
    >>> as_text(r"\frac{\partial J}{\partial W^{[1]}} = \frac{1}{n} A^{[0]\top} \Delta^{[1]} + \lambda W^{[1]}")
    '∂J/∂W[1] = (1/n) A[0]ᵀ Δ[1] + λW[1]'
    """
    return written(formula, TEXT)


def as_html(formula: str) -> str:
    r"""
    >>> as_html(r"e^{-x}")
    '<i>e</i><sup>−<i>x</i></sup>'
    """
    return written(formula, HTML)


def as_latex(formula: str) -> str:
    r"""The formula itself, checked: every brace closed, every name known.

    >>> as_latex(r"\mathbf1^{\top} \Delta")
    '\\mathbf{1}^{\\top} \\Delta'
    """
    written(formula, TEXT)
    escaped = re.sub(r"\\text\{([^}]*)\}", lambda word: rf"\text{{{escape(word[1])}}}", formula)
    escaped = re.sub(r"\\operatorname\{([^}]*)\}", lambda word: rf"\operatorname{{{escape(word[1])}}}", escaped)
    return escaped.replace(r"\mathbf1", r"\mathbf{1}")


def upright(name: str, function: bool = False) -> str:
    r"""A name of people's own in a formula.

    >>> upright("relu", function=True), upright("my{layer}")
    ('\\operatorname{relu}', '\\text{mylayer}')
    """
    plain = "".join(c for c in name if c not in "{}\\")
    return rf"\operatorname{{{plain}}}" if function else rf"\text{{{plain}}}"


_SPECIAL = {c: f"\\{c}" for c in "#$%&_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}


def escape(words: str) -> str:
    r"""Words of people's own, safe in LaTeX.

    >>> escape("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_SPECIAL.get(c, c) for c in words)
