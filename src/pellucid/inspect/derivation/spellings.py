"""Formulas that others have written, as formulas of ours: texts of records, and functions that are recorded.

Records of activations and losses hold their formulas as text ("1 / (1 + e⁻ˣ)"). Update rules and functions of one's own
hold none: they are recorded as a graph, and the graph is written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.errors import PellucidError
from pellucid.graph import Graph, record
from pellucid.graph.node import Literal
from pellucid.inspect.derivation.formulas import LETTERS, SUBSCRIPTS, SUPERSCRIPTS
from pellucid.inspect.derivation.numbers import number

_UP = {raised: plain for plain, raised in SUPERSCRIPTS.items() if plain not in "−ᵀ′"}
_DOWN = {lowered: plain for plain, lowered in SUBSCRIPTS.items()}
_OPERATOR = re.compile(r"(?:log|ln|exp|max|min|tanh|erf|sin|cos|softmax|onehot|sign|mean)\b")
_SIGNS = {
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∞": r"\infty ", "·": r"\cdot ", "∂": r"\partial ", "½": r"\frac{1}{2}",
    "Σ": r"\sum ", "√": r"\surd ", "‖": r"\Vert ", "-": "-", "…": r"\ldots ",
}  # fmt: skip
_GREEK = {sign: f"\\{name} " for name, sign in LETTERS.items() if name not in ("top", "mathbf1", "prime", "partial")}


def from_text(text: str) -> str:
    r"""A formula of a record, as a formula.

    >>> from_text("σ(x) = 1 / (1 + e⁻ˣ)")
    '\\sigma (x) = 1 / (1 + e^{-x})'
    >>> from_text("0 if x ≤ 0, 1 if x > 0")
    '0\\text{ if }x \\le 0, 1\\text{ if }x > 0'
    """
    out, i = [], 0
    while i < len(text):
        piece, i = _spelled(text, i)
        out.append(piece)
    return re.sub(r"(\\(?:le|ge|ne|cdot|ldots)) +", r"\1 ", "".join(out))


def _spelled(text: str, i: int) -> tuple[str, int]:
    for table, mark in ((_UP, "^"), (_DOWN, "_")):
        run = 0
        while text[i + run : i + run + 1] in table and i + run < len(text):
            run += 1
        if run:
            return f"{mark}{{{''.join(table[c] for c in text[i : i + run])}}}", i + run
    word = re.match(r" ?[A-Za-z]{2,}(?: (?!(?:and|or|if)\b)[a-z]{2,})* ?", text[i:])
    if word and text[i : i + word.end()].strip() not in ("xᵢ",):
        name = _OPERATOR.match(word[0].strip())
        if name and name.end() == len(word[0].strip()):
            return (
                f"{' ' * word[0].startswith(' ')}\\operatorname{{{name[0]}}}{' ' * word[0].endswith(' ')}",
                i + word.end(),
            )
        return f"\\text{{{word[0]}}}", i + word.end()
    index = re.match(r"\^\(([^()]*)\)|\^(\w+)|_(\w)", text[i:])
    if index:
        inside = from_text(index[1] or index[2] or index[3])
        return f"{'_' if index[3] else '^'}{{{inside}}}", i + index.end()
    character = text[i]
    return _SIGNS.get(character) or _GREEK.get(character) or character.replace("_", r"\ "), i + 1


# functions, recorded

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_INFIX = {
    "add": (" + ", _SUM), "subtract": (" - ", _SUM), "multiply": (r" \cdot ", _PRODUCT), "matmul": (" ", _PRODUCT),
    "greater": (" > ", 0), "greater_equal": (r" \ge ", 0), "less": (" < ", 0), "less_equal": (r" \le ", 0),
    "equal": (" = ", 0),
}  # fmt: skip
_NAMES = {"maximum": "max", "minimum": "min", "log": "ln", "expit": "sigmoid", "log_expit": "ln sigmoid"}
_SAME = ("astype", "stop_gradient", "positive", "reshape", "broadcast_to")
_INVERSE = r"\frac{1}"
LONGEST = 160

Written = tuple[str, int]
"""A formula and how strongly it binds."""


def of_function(f: Callable[..., Any], *args: Any, symbols: Mapping[str, str]) -> str | None:
    r"""The formula of a function by its recorded graph; None where it has none of a bearable length.

    >>> from pellucid.graph import Spec
    >>> of_function(lambda x: x / (1 + np.exp(-x)), Spec(()), symbols={"x": "z"})
    '\\frac{z}{1 + \\operatorname{exp}(-z)}'
    """
    try:
        graph = record(f, *args).simplify()
    except (PellucidError, TypeError, ValueError):
        return None
    formula = formulas_of(graph, symbols)[0]
    return formula if len(formula) <= LONGEST else None


def formulas_of(graph: Graph, symbols: Mapping[str, str], results: Sequence[str] = ()) -> list[str]:
    """The outputs of a graph in terms of its inputs, which are written as `symbols` says.

    Outputs with a symbol of their own in `results` are written as this symbol where later ones use them.
    """
    return [formula for formula, _ in formulas_and_uses(graph, symbols, results)]


def formulas_and_uses(
    graph: Graph, symbols: Mapping[str, str], results: Sequence[str] = ()
) -> list[tuple[str, frozenset[int]]]:
    """The same, each with the nodes that it names: inputs, and outputs that have a symbol."""
    shown = {out: symbol for out, symbol in zip(graph.outputs, results, strict=False) if isinstance(out, int)}
    shown = {out: symbol for out, symbol in shown.items() if graph.nodes[out].op is not None}
    whole: list[Written] = []
    uses: list[frozenset[int]] = []
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            whole.append((symbols.get(node.name, rf"\text{{{node.name}}}"), _ATOM))
            uses.append(frozenset((i,)))
        else:
            arguments = [(shown[a], _ATOM) if a in shown else _argument(whole, a) for a in node.args]
            whole.append(_operation(node.op.name, arguments))
            uses.append(frozenset().union(*(frozenset((a,)) if a in shown else uses[a] for a in node.parents)))
    return [
        (_argument(whole, out)[0], uses[out] if isinstance(out, int) else frozenset[int]()) for out in graph.outputs
    ]


def _argument(whole: list[Written], a: int | Literal) -> Written:
    if isinstance(a, int):
        return whole[a]
    if np.size(a.value) != 1:
        return r"\text{constants}", _ATOM
    text = number(float(np.asarray(a.value).reshape(())))
    return text, _SUM if text.startswith("-") else _ATOM


def _operation(name: str, arguments: list[Written]) -> Written:
    if name in _SAME:
        return arguments[0]
    if name in ("add", "subtract", "multiply"):
        simpler = _without_constants(name, arguments)
        if simpler is not None:
            return simpler
    if name == "multiply" and arguments[1][0].startswith(_INVERSE):  # a times 1/b is a/b
        return rf"\frac{{{arguments[0][0]}}}{arguments[1][0].removeprefix(_INVERSE)}", _ATOM
    if name in _INFIX:
        sign, strength = _INFIX[name]
        left, right = _inside(arguments[0], strength), _inside(arguments[1], strength + (name == "subtract"))
        return left + sign + right, strength
    inner = [text for text, _ in arguments]
    if name == "divide":
        return rf"\frac{{{inner[0]}}}{{{inner[1]}}}", _ATOM
    if name == "reciprocal":
        return rf"\frac{{1}}{{{inner[0]}}}", _ATOM
    if name == "negative":
        return f"-{_inside(arguments[0], _PRODUCT)}", _SUM
    if name == "sqrt":
        return rf"\sqrt{{{inner[0]}}}", _ATOM
    if name in ("square", "power"):
        return f"{_inside(arguments[0], _ATOM + 1)}^{{{'2' if name == 'square' else inner[1]}}}", _PRODUCT
    if name in ("where", "select"):
        return rf"({inner[1]}\text{{ if }}{inner[0]}\text{{ else }}{inner[2]})", _ATOM
    if name == "absolute":
        return rf"\vert {inner[0]}\vert ", _ATOM
    return rf"\operatorname{{{_NAMES.get(name, name)}}}({', '.join(inner)})", _ATOM


def _without_constants(name: str, arguments: list[Written]) -> Written | None:
    """What becomes of sums with 0 and products with 0 and 1."""
    (left, _), (right, _) = arguments
    if name == "multiply":
        if "0" in (left, right):
            return "0", _ATOM
        return arguments[1] if left == "1" else arguments[0] if right == "1" else None
    return arguments[0] if right == "0" else arguments[1] if name == "add" and left == "0" else None


def _inside(written: Written, strength: int) -> str:
    text, binds = written
    simple = binds == _ATOM and (
        strength <= _ATOM or re.fullmatch(r"\\?\w+ ?|\([^()]*\)|\\bar\{\w\}|\\vert .*\\vert ", text)
    )
    return text if binds >= strength or simple else f"({text})"
