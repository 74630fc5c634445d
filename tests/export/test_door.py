"""What is asked of the door: endings, names, and errors that say what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

import pellucid as pel
from pellucid import export, nn
from pellucid.errors import ExportError
from pellucid.export.c_text import identifiers, text
from pellucid.export.columns import Column, Kind, no_category
from pellucid.export.scalers import scaled
from tests.export.cases import CASES


@pytest.mark.parametrize(("ending", "to"), [(".onnx", None), (".c", None), (".json", None), (".py", None), ("", "c")])
def test_by_ending_or_by_name(ending, to, tmp_path):
    model, _ = CASES["array_with_batch_norm"]()
    path = export.write(model, tmp_path / f"model{ending}", to=to)
    assert path == tmp_path / f"model{ending}"
    assert path.stat().st_size > 500


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        ("model.txt", None, "ending '.txt' does not say what to write: end it in .onnx, .c, .json, .py, or give to="),
        ("model.txt", "pmml", "to is one of 'onnx', 'c', 'json', 'numpy', got 'pmml'"),
    ],
)
def test_what_is_to_be_written_is_not_known(path, to, message, tmp_path):
    with pytest.raises(ExportError, match=message):
        export.write(CASES["array_with_batch_norm"]()[0], tmp_path / path, to=to)


def test_numbers_are_of_two_kinds(tmp_path):
    with pytest.raises(ValueError, match="'float32' or 'float64'"):
        export.c(CASES["array_with_batch_norm"]()[0], tmp_path / "m.c", numbers="float16")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "expected a fitted Model, MLPClassifier.*got LogisticRegression"),
        (pel.Model(nn.mlp((3,), 1), "squared_error"), "has no parameters yet: call fit"),
    ],
)
def test_models_that_cannot_be_exported(model, message, tmp_path):
    with pytest.raises(ExportError, match=message):
        export.write(model, tmp_path / "model.json")


def test_what_is_not_fitted(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        export.write(pel.TabularMLPClassifier(), tmp_path / "model.json")


def test_an_ensemble_of_others(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    bag = pel.BaggedMLPClassifier(LogisticRegression(), 5, method="seeds", random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ExportError, match="a member of the ensemble is a LogisticRegression"):
        export.write(bag, tmp_path / "model.c")


def test_a_scaler_without_a_formula_is_named():
    with pytest.raises(ExportError, match=r"the scaler MinMaxScaler has no formula to export.*'robust'"):
        scaled(MinMaxScaler(), np.zeros((2, 2)))


def test_names_of_c(tmp_path):
    model, _ = CASES["array_with_batch_norm"]()
    assert "int my_model_predict(" in export.c(model, tmp_path / "my-model.c").read_text()
    assert "int model2_predict(" in export.c(model, tmp_path / "2.c").read_text()
    assert "int sides_predict(" in export.c(model, tmp_path / "2.c", name="sides").read_text()
    with pytest.raises(ExportError, match=r"name is a name of C.*try 'my_sides'"):
        export.c(model, tmp_path / "2.c", name="my sides")
    assert len(set(identifiers(["a b", "a_b", "a-b", "", "while"]))) == 5


def test_texts_that_c_cannot_hold():
    with pytest.raises(ExportError, match="zero character"):
        text("a\0b")
    with pytest.raises(ExportError, match="no valid Unicode"):
        text("\ud800")


@pytest.mark.parametrize("ending", [".c", ".py"])
def test_names_of_layers_are_comments_and_nothing_else(ending, tmp_path):
    net = nn.Sequential(("a\nraise ValueError() */ int x;", nn.Dense(2)))
    model = pel.Model(net, "squared_error").initialize(3)
    lines = export.write(model, tmp_path / f"model{ending}").read_text().splitlines()
    assert all("raise" not in line or re.match(r".*(#|/\*) .*a raise", line) for line in lines)


def test_a_missing_category_is_none_of_them():
    assert no_category(Column("a", Kind.CATEGORY, categories=("", "?", "b"))) == "??"


def test_rows_of_arrays_are_looked_at():
    model, X = CASES["array_with_batch_norm"]()
    assert export.inputs(model, X)["X"].dtype == np.float32
    with pytest.raises(ValueError, match="missing or infinite"):
        export.inputs(model, np.full((2, 5), np.nan))


def test_members_that_disagree_about_a_column(tmp_path):
    frame = CASES["two_classes_with_dates"]()[1]
    member = pel.TabularMLPRegressor((4,), max_iter=1, quality="fast")
    bag = pel.BaggedMLPRegressor(member, 3, random_state=0, max_samples=0.3)
    bag.fit(frame[["since"]].dropna(), np.arange(len(frame["since"].dropna())))
    with pytest.raises(ExportError, match="members take the column 'since_elapsed' for different things"):
        export.write(bag, tmp_path / "model.py")
