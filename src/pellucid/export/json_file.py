"""A model as JSON: columns, constants, and one step after the other. `model.schema.json` says what is in it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.export.columns import as_data
from pellucid.export.numpy_operations import OPERATIONS
from pellucid.export.program import Program
from pellucid.export.values import Constants, is_number, untranslated, value_names
from pellucid.graph import Dim
from pellucid.graph.node import Literal
from pellucid.graph.primitives.indexing import SLOT

FORMAT, VERSION = "pellucid-model", 1


def schema() -> dict[str, Any]:
    """The JSON Schema that files of `export.json` follow.

    Examples
    --------
    >>> schema()["title"]
    'A model exported by Pellucid'
    """
    text = (files("pellucid.export") / "model.schema.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def document(program: Program, version: str) -> dict[str, Any]:
    """The model as plain data."""
    graph, constants = program.graph, Constants("c")
    names = value_names(graph)

    def argument(a: int | Literal) -> Any:
        if not isinstance(a, Literal):
            return names[a]
        if is_number(a):
            return _number(a.value)
        return {"size": str(a.value)} if isinstance(a.value, Dim) else constants.name(a.value)

    steps = []
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            continue
        if node.op.name not in OPERATIONS:
            raise untranslated(node, "JSON", OPERATIONS)
        step = {
            "name": names[i],
            "operation": node.op.name,
            "arguments": [argument(a) for a in node.args],
            "shape": _setting(tuple(node.shape)),
            "dtype": np.dtype(node.dtype).name,
        }
        if node.settings:
            step["settings"] = {key: _setting(value) for key, value in node.settings.items() if key != "tie"}
        if node.scope:
            step["layer"] = node.scope
        steps.append(step)
    columns = [as_data(column) | {"value": names[i]} for i, column in enumerate(program.columns)]
    outputs = [{"name": k, "value": argument(out)} for k, out in zip(program.outputs, graph.outputs, strict=True)]
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"pellucid {version}",
        "estimator": program.estimator,
        "columns": columns,
        "classes": None if program.classes is None else program.classes.tolist(),
        "networks": list(program.networks),
        "constants": {name: _array(array) for name, array in constants.arrays.items()},
        "steps": steps,
        "outputs": outputs,
    }


def _array(array: Array) -> dict[str, Any]:
    flat = array.ravel()
    data = flat.tolist() if flat.dtype.kind != "f" or np.isfinite(flat).all() else [_number(one) for one in flat]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def _number(value: Any) -> Any:
    """JSON has no words for infinite numbers: they are texts."""
    number = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(number, float) and not np.isfinite(number):
        return {"number": "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"}
    return number


def _setting(value: Any) -> Any:
    if value is SLOT:
        return "array"
    if value is Ellipsis:
        return "..."
    if isinstance(value, slice):
        return {"slice": [_setting(end) for end in (value.start, value.stop, value.step)]}
    if isinstance(value, tuple):
        return [_setting(one) for one in value]
    if isinstance(value, np.dtype | type):
        return np.dtype(value).name
    if isinstance(value, np.generic):
        return value.item()
    return str(value) if isinstance(value, Dim) else value
