"""POST /predict/batch: CSV and JSON lines of any length, worked off in parts; one wrong row and nothing is answered."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.serve import batches
from tests.serve.served import ROW, client, fault, model, table

CSV = {"content-type": "text/csv"}
LINES = {"content-type": "application/x-ndjson"}


def csv_of(frame):
    return frame.to_csv(index=False).encode()


def test_a_csv(monkeypatch):
    monkeypatch.setattr(batches, "PART", 7)  # several parts
    with client("table classes") as c:
        answer = c.post("/predict/batch", content=csv_of(table()), headers=CSV)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/csv")
    frame = pd.read_csv(io.BytesIO(answer.content))
    assert_array_equal(frame["prediction"], model("table classes").predict(table()))
    expected = model("table classes").predict_proba(table())
    assert_allclose(frame[["probabilities_no", "probabilities_yes"]].to_numpy(), expected, rtol=1e-6)


def test_json_lines(monkeypatch):
    monkeypatch.setattr(batches, "PART", 7)
    rows = [ROW | {"age": age} for age in range(20, 40)]
    body = "\n".join(map(json.dumps, rows)) + "\n\n"
    with client("table classes") as c:
        answer = c.post("/predict/batch", content=body.encode(), headers=LINES)
        single = [c.post("/predict", json=row).json() for row in rows[:3]]
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert len(lines) == 20
    for one, other in zip(lines, single, strict=False):
        assert one["prediction"] == other["prediction"]
        assert_allclose(list(one["probabilities"].values()), list(other["probabilities"].values()), rtol=1e-6)


def test_several_targets_and_intervals_have_columns():
    rows = pd.DataFrame({"x0": [0.1, 0.2], "x1": [0.3, 0.4]})
    with client("two numbers") as c:
        answer = c.post("/predict/batch?interval=0.5", content=csv_of(rows), headers=CSV)
    frame = pd.read_csv(io.BytesIO(answer.content))
    assert list(frame) == ["prediction_0", "prediction_1", "low_0", "low_1", "high_0", "high_1"]
    assert_allclose(frame.iloc[:, :2], model("two numbers").predict(rows.to_numpy()), rtol=1e-6)


def test_cells_of_a_csv():
    """Quotes, line breaks in cells, a mark of the byte order, words for truth, empty cells."""
    head = "﻿age,town,size,member,since,price\n"
    body = head + '33,"Bern",2.0,TRUE,2024-02-03,"7,5 €"\n,"Bo\nnn",2,0,,\n'
    with client("table classes") as c:
        answer = c.post("/predict/batch", content=body.encode(), headers=CSV)
        single = c.post("/predict", json=ROW).json()
    assert answer.status_code == 200, answer.text
    frame = pd.read_csv(io.BytesIO(answer.content))
    assert len(frame) == 2
    assert_allclose(frame["probabilities_yes"][0], single["probabilities"]["yes"], rtol=1e-6)


GOOD = "age,town,size,member,since,price\n" + "33,Bern,2,true,2024-02-03,1\n" * 3000
WRONG = {
    "a word for a number": (GOOD + "old,Bern,2,true,2024-02-03,1\n", CSV, 422, "'age', row 3001: expected a number"),
    "few cells": (GOOD + "33,Bern\n", CSV, 422, "line 3002 has 2 cells, but there are 6 names"),
    "many cells": (GOOD + "33,Bern,2,true,2024-02-03,1,9\n", CSV, 422, "line 3002 has 7 cells"),
    "a missing column": ("age,town\n1,Bern\n", CSV, 422, "column 'size' is missing"),
    "an unknown column": (GOOD.replace("price", "price,mood", 1), CSV, 422, "'mood' is not one of the model's"),
    "a column twice": (GOOD.replace("price", "price,age", 1), CSV, 422, "'age' is there twice"),
    "an open quote": (GOOD + '"33', CSV, 400, "not a CSV: unexpected end of data"),
    "no rows": ("age,town,size,member,since,price\n", CSV, 400, "no rows"),
    "nothing": ("", CSV, 400, "the body is empty"),
    "a line that is none": (json.dumps(ROW) + "\n{\n", LINES, 422, "row 2: the body is not JSON"),
    "a list in a line": ("[1]\n", LINES, 422, "row 1: expected an object, got a list"),
    "a wrong value": (json.dumps(ROW | {"age": "x"}), LINES, 422, "column 'age', row 1"),
    "a long line": ("x" * 2_000_000, LINES, 400, "line 1 has more than"),
    "a long row": (GOOD + "1," * 600_000, CSV, 400, "a row has more than 1,048,576 characters"),
    "a row of many lines": (GOOD + '"\n",' * 300_000, CSV, 400, "a row has more than 1,048,576 characters"),
    "many names": (",".join(map(str, range(150_000))) + ",1\n", CSV, 422, "column '1' is there twice"),
    "another type": ("a", {"content-type": "application/json"}, 415, "expected text/csv"),
    "no type": ("a", {}, 415, "expected text/csv"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case):
    body, headers, status, words = WRONG[case]
    with client("table classes") as c:
        assert words in fault(c.post("/predict/batch", content=body.encode(), headers=headers), status)["message"]


@pytest.mark.parametrize("headers", [CSV, LINES])
def test_garbage(headers):
    with client("table classes") as c:
        answer = c.post("/predict/batch", content=np.random.default_rng(0).bytes(10_000_000), headers=headers)
    assert 400 <= answer.status_code < 500


def test_the_limit():
    with client("table classes", batch=10_000) as c:
        fault(c.post("/predict/batch", content=GOOD.encode(), headers=CSV), 413)
