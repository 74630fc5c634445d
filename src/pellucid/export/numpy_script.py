"""A script that predicts with NumPy alone."""

from __future__ import annotations

import base64
import textwrap
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.export.answers import LABEL
from pellucid.export.columns import Column, Kind
from pellucid.export.numpy_operations import HELPERS, OPERATIONS, line
from pellucid.export.program import Program
from pellucid.export.values import Constants, is_number, untranslated, value_names
from pellucid.graph.node import Literal

FEW = 12
"""Numbers up to which an array is written out."""

HEAD = '''"""{estimator}, exported by Pellucid {version}: preprocessing, network and answer. It needs NumPy alone.

    from {module} import predict

    predict({example})

gives {answers}.
{columns}
"""

import base64
import math

import numpy as np


def array(text, dtype, shape):
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)


def numbers(values):
    return np.asarray(values, np.float64).reshape(len(values), -1)


def codes(values, categories):
    """1, 2, ... by the place among the categories; 0 for any other text, and for None."""
    places = {{text: place for place, text in enumerate(categories, start=1)}}
    return np.array([[places.get(value, 0)] for value in np.asarray(values, object).ravel()], np.int64)

'''


def script(program: Program, version: str, module: str = "model") -> str:
    """The text of the script."""
    graph, constants = program.graph, Constants("C")
    names = value_names(graph)

    def argument(a: int | Literal) -> str:
        if not isinstance(a, Literal):
            return names[a]
        if is_number(a):
            return _number(a.value)
        return constants.name(a.value, scope) if isinstance(a.value, np.ndarray) else str(a.value)

    body, scope, used = [], "", set()
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            continue
        if node.op.name not in OPERATIONS:
            raise untranslated(node, "NumPy alone", OPERATIONS)
        if node.scope != scope:
            scope = node.scope
            body.append(f"# {_one_line(scope)}")
        used.add(node.op.name)
        body.append(f"{names[i]} = {line(node.op.name, [argument(a) for a in node.args], node.settings)}")
    results = []
    for name, out in zip(program.outputs, graph.outputs, strict=True):
        chosen = name == LABEL and len(_shape(program, out)) == 1
        results.append(f"{name!r}: {f'CLASSES[{argument(out)}]' if chosen else argument(out)}")
    helpers = [text for name, text in HELPERS.items() if name in used]
    inputs = [_read(column, names[i], f"CATEGORIES[{column.name!r}]") for i, column in enumerate(program.columns)]
    function = [
        "def predict(table):",
        '    """The answers for the rows of a table: columns by name."""',
        *(f"    {one}" for one in inputs),
        "    n = len(x1)",
        *(f"    {one}" for one in body),
        f"    return {{{', '.join(results)}}}",
    ]
    parts = [
        HEAD.format(
            estimator=program.estimator,
            version=version,
            module=module,
            example=_example(program.columns),
            answers=" and ".join(f'"{name}"' for name in program.outputs),
            columns=_escaped(_described(program.columns)),
        ),
        *(f"\n{text}\n" for text in helpers),
        f"\nCATEGORIES = {_categories(program.columns)}",
        *([] if program.classes is None else [f"CLASSES = np.array({program.classes.tolist()!r})"]),
        *(
            f"{name} = {_array(value)}  # {_one_line(constants.scopes[name])}"
            for name, value in constants.arrays.items()
        ),
        "\n",
        *function,
        "",
    ]
    return "\n".join(parts)


def _one_line(scope: str) -> str:
    """The name of a layer, whatever is in it, as a comment."""
    return " ".join(scope.split()) or "together"


def _shape(program: Program, out: int | Literal) -> Any:
    return out.spec.shape if isinstance(out, Literal) else program.graph.nodes[out].shape


def _read(column: Column, name: str, categories: str) -> str:
    if column.kind is Kind.CATEGORY:
        return f"{name} = codes(table[{column.name!r}], {categories})"
    if column.width > 1:
        return f"{name} = numbers(table)"
    return f"{name} = numbers(table[{column.name!r}])"


def _example(columns: tuple[Column, ...]) -> str:
    if columns[0].width > 1:
        return f"X), with X an array (n, {columns[0].width}"
    shown = [f"{c.name!r}: {[c.categories[0]] if c.kind is Kind.CATEGORY else [0.0]}" for c in columns[:3]]
    return _escaped("{" + ", ".join([*shown, *["..."] * (len(columns) > 3)]) + "}")


def _described(columns: tuple[Column, ...]) -> str:
    lines = []
    for column in columns:
        words = {
            Kind.NUMBER: "numbers, NaN where missing" if column.missing else "numbers",
            Kind.BOOLEAN: "1, 0, NaN where missing",
            Kind.CATEGORY: f"texts, one of {len(column.categories)} categories, None where missing",
        }
        note = f" ({column.note})" if column.note else ""
        lines.append(f"    {column.name!r}: {words[column.kind]}{note}")
    return "\nColumns:\n" + "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _categories(columns: tuple[Column, ...]) -> str:
    lists = [f"    {c.name!r}: {list(c.categories)!r},\n" for c in columns if c.kind is Kind.CATEGORY]
    return "{\n" + "".join(lists) + "}" if lists else "{}"


def _number(value: Any) -> str:
    value = value[()] if isinstance(value, np.ndarray) else value
    text = repr(value.item() if isinstance(value, np.generic) else value)
    if text in ("inf", "-inf", "nan"):
        text = f'float("{text}")'
    if isinstance(value, np.generic) and value.dtype.kind == "f":
        text = f"np.{value.dtype.name}({text})"
    return f"({text})" if text.startswith("-") else text


def _array(value: Array) -> str:
    if value.size <= FEW and value.ndim == 1 and np.isfinite(value).all():
        return f"np.array({value.tolist()!r}, np.{value.dtype.name})"
    raw = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
    text = base64.b64encode(raw.tobytes()).decode()
    body = "\n".join(textwrap.wrap(text, 100))
    return f'array("""\n{body}\n""", "{raw.dtype.str}", {value.shape})'
