"""Models for the service, and a client of it."""

import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pellucid as pel
from pellucid import nn
from pellucid.serve import Limits, ModelPredictor, application

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Using `httpx`")  # versions of Starlette from 1.0 ask for another package
    from starlette.testclient import TestClient

QUICK = {"hidden_layer_sizes": (4,), "max_iter": 3, "random_state": 0, "engine": "numpy"}
ROWS = 60


def table():
    """A column of each kind, with missing values."""
    t = np.arange(float(ROWS))
    return pd.DataFrame(
        {
            "age": np.where(t % 7 == 0, np.nan, 20 + t),
            "town": np.array(["Bern", "Bonn", None], object)[np.arange(ROWS) % 3],
            "size": pd.Categorical(np.array([1, 2, 3])[np.arange(ROWS) % 3]),
            "member": t % 2 == 0,
            "since": pd.date_range("2024-01-01", periods=ROWS, freq="D"),
            "price": [f"{i},5 €" for i in range(ROWS)],
            "nothing": [None] * ROWS,
        }
    )


ROW: dict[str, Any] = {
    "age": 33,
    "town": "Bern",
    "size": 2,
    "member": True,
    "since": "2024-02-03",
    "price": "7,5 €",
}


@cache
def model(kind):
    """A fitted one of each kind."""
    X, t = np.column_stack([np.sin(np.arange(ROWS)), np.cos(np.arange(ROWS))]), np.arange(ROWS)
    names = np.where(X[:, 0] > 0, "yes", "no")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match kind:
            case "table classes":
                return pel.TabularMLPClassifier(quality="fast", **QUICK).fit(table(), names)
            case "table numbers":
                return pel.TabularMLPRegressor(quality="fast", **QUICK).fit(table(), X[:, 0])
            case "bag of tables":
                base = pel.TabularMLPClassifier(quality="fast", **QUICK)
                return pel.BaggedMLPClassifier(base, n_estimators=2, random_state=0).fit(table(), names)
            case "table without names":
                return pel.TabularMLPClassifier(quality="fast", **QUICK).fit(table().to_numpy(object), names)
            case "classes":
                return pel.MLPClassifier(**QUICK).fit(X, names)
            case "named numbers":
                frame = pd.DataFrame(X, columns=["a", "b"])
                return pel.MLPRegressor(**QUICK).fit(frame, t / ROWS)
            case "labels":
                return pel.MLPClassifier(**QUICK).fit(X, (X > 0).astype(int))
            case "two numbers":
                return pel.MLPRegressor(early_stopping=True, **QUICK).fit(X, X)
            case "model":
                one = pel.Model(nn.mlp((3,), 1), engine="numpy")
                one.fit(X, X[:, :1], epochs=1, verbose=False)
                return one
    raise ValueError(kind)


KINDS = (
    "table classes",
    "table numbers",
    "bag of tables",
    "table without names",
    "classes",
    "named numbers",
    "labels",
    "two numbers",
    "model",
)


@contextmanager
def client(kind, about=None, **limits):
    """Talks to the service of such a model."""
    with TestClient(application(ModelPredictor(model(kind)), about, Limits(**limits))) as one:
        yield one


def saved(kind, folder: Path) -> Path:
    """The model's file."""
    path = folder / "model.pel"
    model(kind).save(path)
    return path


def fault(answer, status):
    """What a refusal says."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert "\n" not in error["message"]
    return error
