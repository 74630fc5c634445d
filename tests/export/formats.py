"""Exported models, run: by onnxruntime, by a compiler of C, by a reader of JSON, by NumPy alone."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from pellucid import export
from pellucid.export.answers import Exportable, columns_of
from pellucid.export.c_text import identifiers
from pellucid.export.columns import Column, Kind
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.primitives.indexing import SLOT

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

Answers = dict[str, Any]
Inputs = Mapping[str, Any]

# ONNX


def by_onnx(path: Path, inputs: Inputs) -> Answers:
    return by_session(path.read_bytes(), inputs)


def by_session(raw: bytes, inputs: Inputs) -> Answers:
    session = onnxruntime.InferenceSession(raw, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, dict(inputs)), strict=True))


# C


def library(source: Path) -> ctypes.CDLL:
    """A C file, compiled with all warnings as errors."""
    target = source.with_suffix(".so")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
    done = subprocess.run(
        [str(COMPILER), *flags, str(source), "-o", str(target), "-lm"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(target))


def row_type(columns: tuple[Column, ...], number: Any) -> type[ctypes.Structure]:
    """The struct of a row."""

    def field(column: Column) -> Any:
        if column.kind is Kind.CATEGORY:
            return ctypes.c_char_p
        return number * column.width if column.width > 1 else number

    names = identifiers(column.name for column in columns)
    fields = [(name, field(column)) for name, column in zip(names, columns, strict=True)]
    return type("Row", (ctypes.Structure,), {"_fields_": fields})


def by_c(
    compiled: ctypes.CDLL, name: str, columns: tuple[Column, ...], inputs: Inputs, outputs: int, number: Any = None
) -> tuple[Any, Any]:
    """What the function returns, and what it puts out, for each row."""
    kind, out = row_type(columns, number or ctypes.c_float), (ctypes.c_float * max(outputs, 1))()
    predict = getattr(compiled, f"{name}_predict")
    returned, numbers = [], []
    for row in range(len(next(iter(inputs.values())))):
        values = [inputs[column.name][row] for column in columns]
        fields = [
            _field(column, value, number or ctypes.c_float) for column, value in zip(columns, values, strict=True)
        ]
        returned.append(predict(ctypes.byref(kind(*fields)), out))
        numbers.append(list(out))
    return np.array(returned), np.array(numbers)


def _field(column: Column, value: Any, number: Any) -> Any:
    if column.kind is Kind.CATEGORY:
        text = value[0]
        return text.encode() if text in column.categories or text else None
    return (number * column.width)(*value) if column.width > 1 else float(value[0])


# JSON: steps by the primitives of their names


def by_json(document: dict[str, Any], inputs: Inputs) -> Answers:
    rows = len(next(iter(inputs.values())))
    values = {name: _array(constant) for name, constant in document["constants"].items()}
    for column in document["columns"]:
        given = inputs[column["name"]]
        if column["kind"] == "category":
            places = {text: place for place, text in enumerate(column["categories"], start=1)}
            given = np.array([[places.get(one, 0)] for one in np.ravel(given)], np.int64)
        values[column["value"]] = np.asarray(given, None if column["kind"] == "category" else np.float64)

    def argument(a: Any) -> Any:
        if isinstance(a, dict):
            return _size(a["size"], rows) if "size" in a else _number(a)
        return values[a] if isinstance(a, str) else a

    for step in document["steps"]:
        settings = {key: _setting(key, value, rows) for key, value in step.get("settings", {}).items()}
        result = REGISTRY[step["operation"]](*map(argument, step["arguments"]), **settings)
        assert np.shape(result) == tuple(_size(size, rows) for size in step["shape"])
        values[step["name"]] = np.asarray(result).astype(step["dtype"])
    return {output["name"]: argument(output["value"]) for output in document["outputs"]}


def _array(constant: dict[str, Any]) -> Any:
    data = [_number(one) for one in constant["data"]]
    return np.array(data, constant["dtype"]).reshape(constant["shape"])


def _number(value: Any) -> Any:
    return float(value["number"].replace("Infinity", "inf")) if isinstance(value, dict) else value


def _size(size: Any, rows: int) -> int:
    return int(eval(size, {"n": rows})) if isinstance(size, str) else size


def _setting(key: str, value: Any, rows: int) -> Any:
    if key == "spec":
        return tuple(_part(part) for part in value)
    if key == "dtype":
        return np.dtype(value)
    if key in ("subscripts", "kind"):
        return value
    if isinstance(value, list):
        return tuple(_setting("", one, rows) for one in value)
    return _size(value, rows)


def _part(part: Any) -> Any:
    if isinstance(part, dict):
        return slice(*part["slice"])
    return {"array": SLOT, "...": Ellipsis}.get(part, part) if isinstance(part, str) else part


# NumPy


def by_script(path: Path, inputs: Inputs) -> Answers:
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    table: Any = {name: column.ravel() for name, column in inputs.items()}
    if next(iter(inputs.values())).shape[1] > 1:
        (table,) = inputs.values()
    answers: Answers = namespace["predict"](table)
    return answers


def alone(code: str, folder: Path) -> str:
    """What a Python that has no Pellucid, SciPy or scikit-learn prints."""
    blocked = "import sys\nfor name in ('pellucid', 'scipy', 'sklearn', 'pandas'): sys.modules[name] = None\n"
    done = subprocess.run([sys.executable, "-c", blocked + code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# all of them


def expected(model: Exportable, X: Any) -> Answers:
    """What Python says."""
    if hasattr(model, "predict_proba"):
        return {"label": model.predict(X), "probabilities": model.predict_proba(X)}
    if hasattr(model, "classes_"):
        return {"label": model.predict(X)}
    prediction = np.asarray(model.predict(X))
    return {"prediction": prediction.reshape(len(prediction), -1)}


def check(model: Exportable, X: Any, folder: Path, tolerance: float = 1e-5) -> None:
    """All four formats against Python, to a share of the largest number."""
    truth = expected(model, X)
    wide, narrow = export.inputs(model, X, numbers="float64"), export.inputs(model, X)
    same(by_script(export.write(model, folder / "model.py"), wide), truth, 1e-6)
    document = json.loads(export.write(model, folder / "model.json").read_text(encoding="utf-8"))
    steps = by_json(document, wide)
    if "label" in steps and steps["label"].ndim == 1:
        steps["label"] = np.array(document["classes"])[steps["label"]]
    same(steps, truth, 1e-6)
    same(by_onnx(export.write(model, folder / "model.onnx"), narrow), truth, tolerance)
    if COMPILER is not None:
        check_c(model, narrow, truth, folder, tolerance)


def check_c(model: Exportable, inputs: Inputs, truth: Answers, folder: Path, tolerance: float) -> None:
    compiled = library(export.write(model, folder / "model.c"))
    *_, last = truth.values()
    numbers = {name: value for name, value in truth.items() if name != "label"}
    several = "label" in truth and truth["label"].ndim == 2
    outputs = last.shape[1] if numbers or several else 0
    returned, out = by_c(compiled, "model", columns_of(model), inputs, outputs)
    if "label" in truth and not several:
        classes = np.asarray(model.classes_)  # type: ignore[union-attr]
        assert np.mean(classes[returned] == truth["label"]) == 1
        names = (ctypes.c_char_p * len(classes)).in_dll(compiled, "model_classes")
        assert [name.decode() for name in names] == [str(one) for one in classes]
    for value in numbers.values():
        close(out, value, tolerance)


def same(answers: Answers, truth: Answers, tolerance: float) -> None:
    assert list(answers) == list(truth)
    for name, value in truth.items():
        if name == "label":
            np.testing.assert_array_equal(np.asarray(answers[name]).astype(str), np.asarray(value).astype(str))
        else:
            close(answers[name], value, tolerance)


def close(got: Any, truth: Any, tolerance: float) -> None:
    assert np.shape(got) == np.shape(truth)
    scale = max(1.0, float(np.abs(truth).max()))
    np.testing.assert_allclose(got, truth, rtol=0, atol=tolerance * scale)
