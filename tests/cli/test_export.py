"""pellucid export: models of `pellucid train` in every form, compared with Python."""

import json
import lzma
from importlib.resources import files

import numpy as np
import pytest

import pellucid
from pellucid import export
from pellucid.cli import main
from pellucid.data.table_files import read_tables
from pellucid.datasets import tables
from pellucid.export.answers import columns_of
from tests.cli.conftest import QUICK
from tests.export.formats import COMPILER, by_c, by_json, by_onnx, by_script, close, expected, library, same

FORMS = {"onnx": "model.onnx", "c": "model.c", "json": "model.json", "numpy": "model.py"}
ROWS = 40


@pytest.fixture(scope="module", params=["california", "penguins"])
def run(request, tmp_path_factory):
    """A run on a table that comes with the package, and rows of it."""
    info = tables.TABLES[request.param]
    packed = (files("pellucid.datasets") / f"{info.name}.csv.xz").read_bytes()
    folder = tmp_path_factory.mktemp(info.name)
    (folder / "table.csv").write_bytes(lzma.decompress(packed))
    main(["train", str(folder / "table.csv"), "-t", info.target, "-o", str(folder / "run"), *QUICK])
    return folder / "run", read_tables(folder / "table.csv")[:ROWS]


@pytest.mark.parametrize("form", FORMS)
def test_a_form(form, run, capsys):
    folder, frame = run
    main(["export", str(folder), "--to", form, "--json"])
    file = folder / FORMS[form]
    assert json.loads(capsys.readouterr().out) == {"file": str(file), "to": form, "bytes": file.stat().st_size}
    model = pellucid.load(folder / "model.pel")
    X = frame.select(model.feature_names_in_.tolist())
    truth, wide, narrow = expected(model, X), export.inputs(model, X, numbers="float64"), export.inputs(model, X)
    if form == "onnx":
        same(by_onnx(file, narrow), truth, 1e-5)
    elif form == "numpy":
        same(by_script(file, wide), truth, 1e-6)
    elif form == "json":
        document = json.loads(file.read_text(encoding="utf-8"))
        answers = by_json(document, wide)
        if "label" in answers:
            answers["label"] = np.array(document["classes"])[answers["label"]]
        same(answers, truth, 1e-6)
    elif COMPILER is not None:
        *_, numbers = truth.values()
        returned, out = by_c(library(file), "model", columns_of(model), narrow, numbers.shape[1])
        close(out, numbers, 1e-5)
        if "label" in truth:
            np.testing.assert_array_equal(np.asarray(model.classes_)[returned], truth["label"])


def test_what_is_not_clear_is_asked_for(run_of_classes, refused):
    assert "--to" in refused("export", run_of_classes)
    assert "suffix" in refused("export", run_of_classes, "-o", "model.xyz")
