"""Small data and fitted models that several parts use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import pellucid as pel
from pellucid import nn, optim

ROWS = 256
FEATURES = 6


def numbers(rng: np.random.Generator, rows: int = ROWS, features: int = FEATURES, dtype: Any = np.float32) -> Any:
    """Inputs.   (rows, features)"""
    return rng.normal(size=(rows, features)).astype(dtype)


def table(rng: np.random.Generator, rows: int = ROWS) -> pd.DataFrame:
    """Numbers, categories and missing cells."""
    size = rng.normal(size=rows)
    size[rng.random(rows) < 0.1] = np.nan
    return pd.DataFrame({"size": size, "weight": rng.gamma(2.0, size=rows), "kind": rng.choice(["a", "b", "c"], rows)})


def predictors(rng: np.random.Generator) -> dict[str, tuple[Callable[[Any], Any], Any]]:
    """Fitted models of every kind, each as (predict, inputs)."""
    X, frame = numbers(rng), table(rng)
    labels, amounts = rng.integers(0, 3, ROWS), rng.normal(size=ROWS)

    def model(engine: str) -> Any:
        net = nn.mlp((16, 8), 3, activation="gelu", norm="batch")
        fresh = pel.Model(net, "cross_entropy", optim.Adam(0.01), engine=engine)
        fresh.fit(X, labels, epochs=2, batch_size=64, verbose=False)
        return fresh

    short = {"max_iter": 2, "random_state": 0}
    classifier = pel.MLPClassifier((16,), engine="native", **short).fit(X, labels)
    bagged = pel.BaggedMLPClassifier(pel.MLPClassifier((8,), **short), 3, random_state=0).fit(X, labels)
    tabular = pel.TabularMLPRegressor((16,), **short).fit(frame, amounts)
    mean = pel.compile(lambda v: np.tanh(v).mean(axis=1), engine="native")
    return {
        "model, native": (model("native").predict, X),
        "model, numpy": (model("numpy").predict, X),
        "classifier": (classifier.predict_proba, X),
        "ensemble": (bagged.predict_proba, X),
        "table": (tabular.predict, frame),
        "compiled function": (mean, X),
    }


def rows_of(inputs: Any, rows: slice) -> Any:
    """Some rows of an array or a data frame."""
    return inputs.iloc[rows] if hasattr(inputs, "iloc") else inputs[rows]


def some_rows(rng: np.random.Generator, rows: int = ROWS) -> slice:
    """A slice of one row up to all of them."""
    first = int(rng.integers(0, rows))
    return slice(first, int(rng.integers(first + 1, rows + 1)))


def same_bits(a: Any, b: Any) -> bool:
    """Equal to the last bit, and of the same kind."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
