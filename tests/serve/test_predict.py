"""POST /predict: rows in three forms, answered as the model itself would; everything else is refused, and said why."""

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from tests.serve.served import KINDS, ROW, client, fault, model, table


def frame_of(row):
    """The same row as fit's table has it."""
    return pd.DataFrame([row | {"since": pd.Timestamp(row["since"]), "nothing": None}])[list(table().columns)]


def test_a_row_rows_and_columns_are_the_same():
    rows = [ROW, ROW | {"age": None, "town": "Bonn", "member": False}]
    with client("table classes") as c:
        one = c.post("/predict", json=rows[1]).json()
        several = c.post("/predict", json=rows).json()
        columns = c.post("/predict", json={name: [row[name] for row in rows] for name in ROW}).json()
    assert several["predictions"][1] == one
    assert columns["prediction"][1] == one["prediction"]
    assert {name: values[1] for name, values in columns["probabilities"].items()} == one["probabilities"]
    expected = model("table classes").predict_proba(pd.concat([frame_of(row) for row in rows]))
    assert_allclose(np.column_stack(list(columns["probabilities"].values())), expected, rtol=1e-6)
    assert several["predictions"][0]["prediction"] == model("table classes").predict(frame_of(ROW))[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_predicts_its_example(kind):
    with client(kind) as c:
        example = c.get("/schema").json()["example"]
        answer = c.post("/predict", json=[example, example])
        assert answer.status_code == 200, answer.text
        first, second = answer.json()["predictions"]
        assert first == second
    if "probabilities" in first:
        shares = list(first["probabilities"].values())
        assert kind == "labels" or abs(sum(shares) - 1) < 1e-5


@pytest.mark.parametrize("kind", ["classes", "named numbers", "labels", "two numbers", "model"])
def test_numbers(kind):
    rows = np.array([[0.5, -0.25], [1.0, 2.0]])
    names = ["a", "b"] if kind == "named numbers" else ["x0", "x1"]
    with client(kind) as c:
        answer = c.post("/predict", json={name: rows[:, i].tolist() for i, name in enumerate(names)}).json()
    expected = model(kind).predict(pd.DataFrame(rows, columns=names) if kind == "named numbers" else rows)
    expected = expected[:, 0] if kind == "model" else expected
    assert answer["prediction"] == expected.tolist() or np.allclose(answer["prediction"], expected)


def test_intervals():
    row = {"x0": 0.5, "x1": 0.1}
    with client("two numbers") as c:
        answer = c.post("/predict?interval=0.8", json=row).json()
        assert all(low < high for low, high in zip(answer["low"], answer["high"], strict=True))
        assert "a share between 0 and 1" in fault(c.post("/predict?interval=80", json=row), 400)["message"]
    with client("classes") as c:
        assert "leave it out" in fault(c.post("/predict?interval=0.8", json=row), 400)["message"]


WRONG: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "text for a number": ({"age": "old"}, "age", "a number", "the text 'old'"),
    "truth for a number": ({"age": True}, "age", "a number", "true"),
    "list for a number": ({"age": [1]}, "age", "a number", "a list"),
    "object for a text": ({"town": {"a": 1}}, "town", "a text", "an object"),
    "number for a text": ({"town": 3}, "town", "a text", "the number 3"),
    "text for a truth": ({"member": "yes"}, "member", "true or false", "the text 'yes'"),
    "number for a truth": ({"member": 1}, "member", "true or false", "the number 1"),
    "word for a date": ({"since": "soon"}, "since", "a date or time", "the text 'soon'"),
    "number for a date": ({"since": 20240203}, "since", "a date or time", "the number 20240203"),
    "word for a price": ({"price": "dear"}, "price", "a number, or a text that is one", "the text 'dear'"),
    "too many digits": ({"age": 10**400}, "age", "a number", "the number 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_types(case):
    change, column, expected, got = WRONG[case]
    with client("table classes") as c:
        error = fault(c.post("/predict", json=[ROW, ROW | change]), 422)
    assert (error["column"], error["row"]) == (column, 2)
    assert expected in error["expected"]
    assert error["got"].startswith(got)
    assert all(word in error["message"] for word in (column, "row 2", expected, got))


RIGHT = [{"size": "2"}, {"size": 2.0}, {"price": 7.5}, {"since": "2024-02-03T10:00:00Z"}]
RIGHT += [{"town": "Nowhere"}, {"nothing": "anything"}, dict.fromkeys(ROW)]


@pytest.mark.parametrize("change", RIGHT, ids=str)
def test_other_ways_to_say_it(change):
    with client("table classes") as c:
        assert c.post("/predict", json=ROW | change).status_code == 200


def test_the_same_category_by_number_and_text():
    with client("table classes") as c:
        answers = [c.post("/predict", json=ROW | {"size": size}).json() for size in (2, 2.0, "2")]
        other = c.post("/predict", json=ROW | {"size": 3}).json()
    assert answers[0] == answers[1] == answers[2] != other


def test_names_of_columns():
    with client("table classes") as c:
        missing = fault(c.post("/predict", json={k: v for k, v in ROW.items() if k != "town"}), 422)
        assert missing["column"] == "town"
        assert "column 'town' is missing: expected a text" in missing["message"]
        extra = fault(c.post("/predict", json=[ROW | {"tonw": 1}]), 422)
        assert extra["column"] == "tonw"
        assert "did you mean 'town'?" in extra["message"]
        uneven = fault(c.post("/predict", json={k: [v] for k, v in ROW.items()} | {"age": [1, 2]}), 422)
        assert "must be the same rows" in uneven["message"]


def test_missing_values_where_there_were_none():
    """A plain network has no place for them."""
    with client("classes") as c:
        error = fault(c.post("/predict", json={"x0": 1.0, "x1": None}), 422)
    assert error["message"] == "column 'x1', row 1: expected a number, got null"


BODIES = {
    "nothing": b"",
    "no JSON": b"age=3",
    "a number": b"3",
    "no rows": b"[]",
    "no columns": b"{}",
    "rows that are none": b"[1, 2]",
    "NaN": json.dumps(ROW).encode().replace(b"33", b"NaN"),
    "deep": b"[" * 200_000,
    "not UTF-8": b'{"age": "\xff"}',
    "garbage": np.random.default_rng(0).bytes(10_000_000),
    "10 MB of a text": b'{"age": "' + b"x" * 10_000_000 + b'"}',
}


@pytest.mark.parametrize("case", BODIES)
def test_bodies_that_are_refused(case):
    with client("table classes") as c:
        answer = c.post("/predict", content=BODIES[case])
        assert 400 <= answer.status_code < 500
        assert answer.json()["error"]["message"]
        assert len(answer.content) < 2_000
        assert c.post("/predict", json=ROW).status_code == 200  # it goes on


def test_half_a_character_in_a_name():
    """JSON can write what UTF-8 has not."""
    body = json.dumps(ROW | {"NAME": 1}).encode().replace(b"NAME", b"\\ud800")
    with client("table classes") as c:
        error = fault(c.post("/predict", content=body), 422)
    assert error["column"] == "\\ud800"


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_an_answer_that_is_no_number_is_refused():
    """Within the limits of the network's precision, but not of what it makes of it."""
    row = {"x0": 3e38, "x1": -3e38}
    with client("model") as c:
        error = fault(c.post("/predict", json=[{"x0": 0.0, "x1": 0.0}, row]), 422)
        assert (error["row"], "the model's prediction is no finite number" in error["message"]) == (2, True)
        lines = f"{json.dumps({'x0': 0.0, 'x1': 0.0})}\n{json.dumps(row)}\n".encode()
        answer = c.post("/predict/batch", content=lines, headers={"content-type": "application/x-ndjson"})
    assert fault(answer, 422)["row"] == 2


def test_the_room_for_bodies(monkeypatch):
    """All bodies together take no more than so many whole ones; afterwards there is room again."""
    body = json.dumps(ROW).encode()
    monkeypatch.setattr(sys.modules["pellucid.serve.application"], "BODIES", 1)
    with client("table classes", body=len(body)) as c:
        service = c.app.routes[0].endpoint.__self__
        service.bodies.taken = 1  # by another request
        assert "try again in a moment" in fault(c.post("/predict", content=body), 503)["message"]
        assert service.bodies.taken == 1
        service.bodies.taken = 0
        assert c.post("/predict", content=body).status_code == 200
        fault(c.post("/predict", content=body + b" "), 413)
        fault(c.post("/predict", content=body[:-1]), 400)
        assert service.bodies.taken == 0


def test_the_limit_of_a_body():
    with client("table classes", body=1000) as c:
        assert c.post("/predict", json=[ROW] * 5).status_code == 200
        error = fault(c.post("/predict", json=[ROW] * 50), 413)
    assert "more than the 0.001 MB" in error["message"]


def test_values_that_the_model_refuses():
    """Far too large for the network's precision: the model's own words."""
    with client("table without names") as c:
        example = c.get("/schema").json()["example"]
        answer = c.post("/predict", json=example | {"x0": 1e308})
    assert answer.status_code in (200, 422)
