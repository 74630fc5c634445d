"""Fitted models in all formats, against Python: every kind of estimator, every table of the package."""

from __future__ import annotations

import ctypes
import json

import jsonschema
import numpy as np
import onnx
import pandas as pd
import pytest

import pellucid as pel
from pellucid import export
from pellucid.errors import ExportError
from pellucid.export.answers import columns_of
from pellucid.export.onnx_file import OPSET
from pellucid.export.precision import rounded_columns
from tests.export.cases import CASES
from tests.export.formats import alone, by_c, by_onnx, check, close, expected, library, needs_compiler


@pytest.mark.parametrize("name", CASES)
def test_all_formats_say_what_python_says(name, tmp_path):
    check(*CASES[name](), tmp_path)


@pytest.mark.parametrize("name", ["crew_of_three_classes", "two_targets", "array_with_batch_norm"])
def test_json_follows_its_schema(name, tmp_path):
    model, _ = CASES[name]()
    data = json.loads(export.json(model, tmp_path / "model.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(export.schema())
    jsonschema.validate(data, export.schema())
    assert [column["name"] for column in data["columns"]] == [column.name for column in columns_of(model)]
    assert any(step["layer"].startswith("network1/") for step in data["steps"] if "layer" in step)


def test_onnx_names_columns_and_answers(tmp_path):
    model, X = CASES["two_classes_with_dates"]()
    made = onnx.load(export.onnx(model, tmp_path / "model.onnx"))
    onnx.checker.check_model(made, full_check=True)
    names = [one.name for one in made.graph.input]
    assert names[:7] == list(X.columns[:7])
    assert names[7] == "since_elapsed"
    assert [one.name for one in made.graph.output] == ["label", "probabilities"]
    assert {one.domain: one.version for one in made.opset_import}[""] == OPSET
    facts = {one.key: json.loads(one.value) for one in made.metadata_props}
    assert facts["classes"] == model.classes_.tolist()
    notes = {column["name"]: column.get("note", "") for column in facts["columns"]}
    assert notes["since_elapsed"].startswith("of the date 'since': days since 2021-02-")


def test_a_column_may_be_called_as_an_answer(tmp_path):
    rng = np.random.default_rng(0)
    X, y = CASES["frame_of_numbers"]()[1], rng.integers(0, 2, 80)
    model = pel.MLPClassifier(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=5, tol=1.0).fit(X, y)
    answers = by_onnx(export.onnx(model, tmp_path / "model.onnx"), export.inputs(model, X))
    assert list(answers) == ["label_output", "probabilities"]
    np.testing.assert_array_equal(answers["label_output"], model.predict(X))


def test_the_script_needs_numpy_alone(tmp_path):
    model, X = CASES["crew_of_three_classes"]()
    export.numpy(model, tmp_path / "flat.py")
    inputs = export.inputs(model, X, numbers="float64")
    np.savez(tmp_path / "rows.npz", **{str(i): column.astype(str) for i, column in enumerate(inputs.values())})
    code = f"""
import numpy as np
from flat import predict
rows = np.load("rows.npz")
texts = {[column.dtype == object for column in inputs.values()]!r}
columns = [rows[str(i)].ravel() if text else rows[str(i)].astype(float).ravel() for i, text in enumerate(texts)]
print(*predict(dict(zip({list(inputs)!r}, columns)))["label"])
"""
    assert alone(code, tmp_path).split() == model.predict(X).tolist()


def test_the_script_takes_frames_and_lists(tmp_path):
    model, X = CASES["two_targets"]()
    namespace: dict = {}
    exec(export.numpy(model, tmp_path / "model.py").read_text(encoding="utf-8"), namespace)
    truths = X["sold"].map({True: 1.0, False: 0.0})
    got = namespace["predict"](X.assign(sold=truths.astype(float)))["prediction"]
    close(got, model.predict(X), 1e-6)


@needs_compiler
def test_large_numbers_need_doubles(tmp_path):
    seconds = 1.7e9 + np.arange(60.0)[:, None] * 7
    model = pel.TabularMLPRegressor((4,), max_iter=2, quality="fast", random_state=0).fit(
        seconds, np.sin(seconds[:, 0])
    )
    truth, inputs = expected(model, seconds)["prediction"], export.inputs(model, seconds, numbers="float64")
    answers = by_onnx(export.onnx(model, tmp_path / "m.onnx", numbers="float64"), inputs)
    close(answers["prediction"], truth, 1e-5)
    compiled = library(export.c(model, tmp_path / "m.c", numbers="float64"))
    _, out = by_c(compiled, "m", columns_of(model), inputs, 1, ctypes.c_double)
    close(out, truth, 1e-5)


@needs_compiler
def test_c_in_a_program_of_two_files(tmp_path):
    """As a user compiles it: the model in a file of its own, declared by itself."""
    import subprocess

    model, _ = CASES["penguins"]()
    export.c(model, tmp_path / "penguin.c")
    (tmp_path / "main.c").write_text(
        """#include <math.h>
#include <stdio.h>
#define PENGUIN_HEADER
#include "penguin.c"

int main(void) {
    penguin_row row = { .island = "Biscoe", .bill_length_mm = 46.8f, .bill_depth_mm = 14.3f,
                        .flipper_length_mm = 215.0f, .body_mass_g = 4850.0f, .sex = NULL };
    float out[PENGUIN_OUTPUTS];
    int class = penguin_predict(&row, out);
    printf("%s %.6f\\n", penguin_classes[class], out[class]);
    return 0;
}
""",
        encoding="utf-8",
    )
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
    subprocess.run(["cc", *flags, "main.c", "penguin.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    said = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    row = {"island": ["Biscoe"], "bill_length_mm": [46.8], "bill_depth_mm": [14.3], "flipper_length_mm": [215.0]}
    frame = CASES["penguins"]()[1].iloc[:1].assign(**row, body_mass_g=4850.0, sex=None)
    assert said[0] == model.predict(frame)[0]
    assert abs(float(said[1]) - model.predict_proba(frame).max()) < 1e-5


@pytest.mark.parametrize("scaling", ["standard", "quantile", "pca", "whiten", "centre", "separate", None])
def test_every_scaling(scaling, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X[:, 1] = np.round(X[:, 1])  # many equal numbers
    X[:, 2] = X[:, 0] + 1e-3 * X[:, 2]  # nearly the first column
    X[::9, 0] = np.nan
    model = pel.TabularMLPRegressor((6,), max_iter=3, scaling=scaling, quality="fast", random_state=0)
    far = np.vstack([X, [[50.0, -50.0, 0.0], [np.nan, np.nan, np.nan]]])
    check(model.fit(X, rng.normal(size=100)), far.astype(np.float32), tmp_path)


NAMES = ["NAN", "NULL", "INFINITY", "errno", "linux", "true", "CODE_CLASSES", "CODE_HEADER", "code", "row", "out"]
"""Columns that are something else in C: macros of headers and of the file, and names inside it."""


@needs_compiler
def test_columns_may_be_called_as_anything_in_c(tmp_path):
    frame = pd.DataFrame({name: np.arange(40.0) * (place + 1) % 7 for place, name in enumerate(NAMES)})
    frame["code"] = ["a", "b"] * 20
    model = pel.TabularMLPRegressor((4,), quality="fast", max_iter=1, random_state=0).fit(frame, np.arange(40.0))
    compiled = library(export.c(model, tmp_path / "code.c"))
    _, out = by_c(compiled, "code", columns_of(model), export.inputs(model, frame), 1)
    close(out, expected(model, frame)["prediction"], 1e-5)


def test_inputs_of_onnx_have_names(tmp_path):
    model = pel.TabularMLPRegressor((4,), quality="fast", max_iter=1, random_state=0)
    model.fit(pd.DataFrame({"": np.arange(40.0)}), np.arange(40.0))
    with pytest.raises(ExportError, match="a column has an empty name"):
        export.onnx(model, tmp_path / "model.onnx")


WIDE = {
    "seconds": 1.7e9 + np.arange(60.0),
    "far": 1e200 * np.sin(np.arange(60.0)),
    "near": 1e-200 * np.sin(np.arange(60.0)),
}
"""Numbers that a float32 does not hold, or not apart."""


@pytest.mark.parametrize("name", WIDE)
def test_a_warning_where_float32_is_too_short(name, tmp_path):
    frame = pd.DataFrame({name: WIDE[name], "plain": np.cos(np.arange(60.0)), "years": 2000.0 + np.arange(60) % 20})
    model = pel.TabularMLPRegressor((4,), quality="fast", max_iter=1, random_state=0).fit(frame, np.arange(60.0))
    for write in (export.onnx, export.c):
        with pytest.warns(UserWarning, match=f"too few digits for the numbers of '{name}': .* numbers='float64'"):
            write(model, tmp_path / "model")
    wide = export.onnx(model, tmp_path / "model.onnx", numbers="float64")
    answers = by_onnx(wide, export.inputs(model, frame, numbers="float64"))
    close(answers["prediction"], expected(model, frame)["prediction"], 1e-5)


@pytest.mark.parametrize("scaling", ["standard", "quantile", "robust"])
def test_the_scale_says_what_is_too_short(scaling):
    frame = pd.DataFrame({"seconds": WIDE["seconds"], "plain": np.cos(np.arange(60.0))})
    model = pel.TabularMLPRegressor((4,), quality="fast", max_iter=1, scaling=scaling, random_state=0)
    model.fit(frame, np.arange(60.0))
    assert rounded_columns(model.preprocessor_.encoding) == ["seconds"]
