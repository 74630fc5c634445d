"""Schema, health, metrics, other paths, and what happens when a model fails."""

import re
import threading
import time
import warnings

import numpy as np

import pellucid as pel
from pellucid.estimators.column_list import Column
from pellucid.serve import Answers, ModelPredictor, application
from pellucid.serve.rows import Wanted
from tests.serve.served import ROW, TestClient, client, fault


def test_the_schema():
    with client("table classes", {"path": "model.pel"}) as c:
        schema = c.get("/schema").json()
    columns = {column["name"]: column for column in schema["columns"]}
    assert list(columns) == ["age", "town", "size", "member", "since", "price"]  # without what was empty
    assert [column["kind"] for column in columns.values()] == [
        "numeric",
        "category",
        "category",
        "boolean",
        "datetime",
        "numeric",
    ]
    assert columns["town"]["categories"] == ["Bern", "Bonn"]
    assert columns["size"]["categories"] == ["1", "2", "3"]
    assert columns["since"]["example"] == "2024-01-01T00:00:00"
    assert schema["answers"]["classes"] == ["no", "yes"]
    assert schema["model"] == {"path": "model.pel"}
    row = schema["row"]
    assert row["required"] == list(columns)
    assert row["properties"]["age"]["type"] == ["number", "null"]
    assert row["additionalProperties"] is False


def test_classes_without_probabilities():
    X = np.random.default_rng(0).normal(size=(40, 2))
    network = pel.MLPClassifier((3,), loss="hinge", max_iter=2, random_state=0, engine="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two epochs
        network.fit(X, np.where(X[:, 0] > 0, "up", "down"))
    with TestClient(application(ModelPredictor(network))) as c:
        assert c.get("/schema").json()["answers"] == {"prediction": "class", "classes": ["down", "up"]}
        assert c.post("/predict", json={"x0": 1, "x1": 2}).json() == {"prediction": network.predict([[1, 2]])[0]}


def test_health_and_other_paths():
    with client("classes") as c:
        assert c.get("/health").json() == {"status": "ready"}
        assert "POST /predict" in fault(c.get("/nothing"), 404)["message"]
        fault(c.get("/predict"), 405)


def test_metrics():
    with client("table classes") as c:
        c.post("/predict", json=[ROW, ROW])
        c.post("/predict", json={})
        c.get("/elsewhere")
        text = c.get("/metrics").text
    numbers = dict(re.findall(r"^(pellucid_\S+) (\S+)$", text, flags=re.M))
    assert numbers['pellucid_requests_total{method="POST",path="/predict",status="200"}'] == "1.0"
    assert numbers['pellucid_errors_total{method="POST",path="/predict",status="422"}'] == "1.0"
    assert numbers['pellucid_errors_total{method="GET",path="other",status="404"}'] == "1.0"
    assert numbers['pellucid_rows_total{path="/predict"}'] == "2.0"
    assert numbers['pellucid_request_seconds_count{path="/predict"}'] == "2.0"
    assert numbers['pellucid_request_seconds_bucket{le="+Inf",path="/predict"}'] == "2.0"


class Slow:
    """Waits until it is let go."""

    wanted = Wanted((Column("x", "numeric", example=0.0),))

    def __init__(self):
        self.says: dict = {}
        self.go = threading.Event()

    def answers(self, columns, interval=None):
        assert self.go.wait(30)
        return Answers(np.zeros(len(columns["x"])))


def test_the_loop_stays_free_while_a_model_predicts():
    slow = Slow()
    with TestClient(application(slow)) as c:
        answers: list = []
        asking = threading.Thread(target=lambda: answers.append(c.post("/predict", json={"x": 1})))
        asking.start()
        time.sleep(0.05)
        assert c.get("/health").status_code == 200
        assert not answers
        slow.go.set()
        asking.join(30)
    assert answers[0].json() == {"prediction": 0.0}


class Broken(Slow):
    """Fails in a way that nobody expected."""

    def answers(self, columns, interval=None):
        raise ZeroDivisionError("a secret of ours")


def test_a_failure_of_ours_is_500_without_its_words():
    with TestClient(application(Broken()), raise_server_exceptions=False) as c:
        error = fault(c.post("/predict", json={"x": 1}), 500)
    assert "secret" not in error["message"]
