"""Every operation that a format has words for, against NumPy: the cases of the primitives themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from pellucid import export
from pellucid.errors import ExportError
from pellucid.export import c_body, numpy_operations, onnx_operations
from pellucid.export.answers import PREDICTION
from pellucid.export.c_file import source
from pellucid.export.columns import ROWS as WHOLE
from pellucid.export.columns import Column
from pellucid.export.folding import folded
from pellucid.export.json_file import document
from pellucid.export.numpy_script import script
from pellucid.export.onnx_file import model_proto
from pellucid.export.program import Program
from pellucid.graph import Dim, Spec, record
from pellucid.graph.core.primitive import REGISTRY
from tests.export.formats import by_c, by_json, by_script, by_session, close, library, needs_compiler
from tests.graph.primitive_cases import CASES, ROWS, Case

Numbered = list[tuple[int, Case]]


def cases(names: frozenset[str]) -> list[tuple[str, Case]]:
    """Those with numbers in them: an exported model has no empty arrays."""
    return [
        (name, case)
        for name in sorted(names)
        for case in CASES[name]
        if all(np.size(a) for a in case.args) and np.size(case.direct(case.arrays()))
    ]


def values(case: Case) -> Any:
    """All arrays of a case as one row."""
    return np.concatenate([np.asarray(a, np.float32).ravel() for a in case.arrays(np.float32)])[None]


def truth(case: Case) -> Any:
    arrays = [a.astype(np.float32) if a.dtype.kind == "f" else a for a in case.arrays()]
    return np.asarray(case.direct(arrays), np.float64).reshape(1, -1)


def program(name: str, case: Case, rows: int | None) -> Program:
    """The operation as a model: a row with all its arrays in it goes in, its result as one row comes out."""
    arrays = case.arrays(np.float32)

    def predict(columns: Any) -> Any:
        (x,), parts, start = columns, [], 0
        for a in arrays:
            parts.append(np.reshape(x[0, start : start + a.size], a.shape).astype(a.dtype))
            start += a.size
        return (np.reshape(case.call(REGISTRY[name], case.at(ROWS))(*parts), (1, -1)).astype(np.float32),)

    width = sum(a.size for a in arrays)
    graph = record(predict, (Spec((Dim.symbol("n") if rows is None else rows, width), np.float32),))
    return Program("Operation", (Column(WHOLE, width=width),), (PREDICTION,), folded(graph), None, ())


def tolerance(name: str) -> float:
    return 2e-5 if name in ("prod", "power", "arctanh", "tan") else 5e-6


def compared(name: str, case: Case, answer: Any) -> bool:
    """Is it right? False where the format refuses this case, and says which operation it was."""
    try:
        got = answer()
    except ExportError as error:
        if repr(name) not in str(error):
            raise
        return False
    close(got, truth(case), tolerance(name))
    return True


def every(names: frozenset[str]) -> Any:
    return pytest.mark.parametrize("name", sorted(names))


@every(onnx_operations.OPERATIONS)
def test_onnx(name):
    def answer(case):
        raw = model_proto(program(name, case, None), "0").SerializeToString()
        return by_session(raw, {WHOLE: values(case)})[PREDICTION]

    assert sum(compared(name, case, lambda case=case: answer(case)) for _, case in cases(frozenset({name})))


@every(numpy_operations.OPERATIONS)
def test_numpy_and_json(name, tmp_path):
    for _, case in cases(frozenset({name})):
        made = program(name, case, None)
        path = tmp_path / "operation.py"
        path.write_text(script(made, "0"), encoding="utf-8")
        inputs = {WHOLE: np.repeat(values(case), 2, axis=1)[:, ::2]}
        width = inputs[WHOLE].shape[1]
        if width > 1:
            close(by_script(path, inputs)[PREDICTION], truth(case), tolerance(name))
        data = json.loads(json.dumps(document(made, "0"), allow_nan=False))
        jsonschema.validate(data, export.schema())
        close(by_json(data, inputs)[PREDICTION], truth(case), tolerance(name))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """All cases of C in one library, each under its number."""
    texts: list[str] = []
    numbers: dict[str, Numbered] = {}
    for number, (name, case) in enumerate(cases(c_body.OPERATIONS)):
        try:
            texts.append(source(program(name, case, 1), "0", f"m{number}", "m.c"))
        except ExportError as error:
            if repr(name) not in str(error):
                raise
            continue
        numbers.setdefault(name, []).append((number, case))
    path: Path = tmp_path_factory.mktemp("c") / "operations.c"
    path.write_text("\n".join(texts), encoding="utf-8")
    return library(path), numbers


@needs_compiler
@every(c_body.OPERATIONS)
def test_c(name, compiled):
    made, numbers = compiled
    for number, case in numbers[name]:
        x = values(case)
        expected = truth(case)
        column = Column(WHOLE, width=x.shape[1])
        _, out = by_c(made, f"m{number}", (column,), {WHOLE: x}, expected.shape[1])
        close(out, expected, tolerance(name))


def test_the_schema_lists_the_operations():
    listed = export.schema()["$defs"]["step"]["properties"]["operation"]["enum"]
    assert set(listed) == numpy_operations.OPERATIONS


def test_formats_speak_of_operations_that_exist():
    for names in (onnx_operations.OPERATIONS, numpy_operations.OPERATIONS, c_body.OPERATIONS):
        assert names <= set(REGISTRY)
