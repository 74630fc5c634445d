"""Leaks: columns that know the target, rows that are seen before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pellucid import TabularMLPClassifier, optim
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.broken_inputs import with_column, without
from tests.inspect.zoo.data import Rows
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import estimator


def leaking_table() -> Rows:
    """A column that is filled in after the decision: an amount above 0 for those who were accepted."""
    rows = data.halves(noise=4.0)
    rng = np.random.default_rng(0)
    names = ["income", "age", "debt", "years", "rooms"]

    def change(X: Any, y: Any) -> pd.DataFrame:
        table = pd.DataFrame(X, columns=names)
        table["granted"] = np.where(y == 1, rng.uniform(1, 2, len(y)), 0.0)
        return table

    return replace(rows, X=change(rows.X, rows.y), Xv=change(rows.Xv, rows.yv))


def target_column() -> Rows:
    rows, rng = data.friedman(noise=2.0), np.random.default_rng(0)
    noise = lambda y: y + 0.01 * rng.normal(size=len(y))
    return with_column(rows, noise(rows.y), noise(rows.yv))


def label_column() -> Rows:
    """A number of the row, given class by class."""
    rows, rng = data.blobs(spread=6.0), np.random.default_rng(0)
    number = lambda y: y - 1 + 0.3 * rng.uniform(-1, 1, len(y))
    return with_column(rows, number(rows.y), number(rows.yv))


def seen_before() -> Rows:
    """Validation rows that were trained on."""
    rows = data.halves(noise=3.0, rows=80)
    return replace(rows, Xv=np.concatenate([rows.X, rows.X[:20]]), yv=np.concatenate([rows.y, rows.y[:20]]))


def shared_rows(trained: Any) -> float:
    """The share of validation rows that are among the training rows."""
    there = {row.tobytes() for row in np.asarray(trained.rows.X)}
    return float(np.mean([row.tobytes() in there for row in np.asarray(trained.rows.Xv)]))


small_table = TabularMLPClassifier((16,), folds=1, max_iter=8, numbers="plain", random_state=0, batch_size=32)
LEAK = (
    Broken(
        "a column that is the target",
        ("leak-suspected",),
        "a",
        replace(bases.FRIEDMAN, rows=target_column),
        replace(bases.FRIEDMAN, rows=lambda: data.friedman(noise=2.0)),
        Quantity(
            "reliance on the column", lambda t: measures.reliance(5)(t) if t.rows.X.shape[1] == 6 else 0.0, -1, 0.05
        ),
        training=False,
    ),
    Broken(
        "a number given class by class",
        ("leak-suspected",),
        "b",
        replace(bases.BLOBS, rows=label_column),
        replace(bases.BLOBS, rows=lambda: data.blobs(spread=6.0)),
        Quantity(
            "reliance on the column", lambda t: measures.reliance(4)(t) if t.rows.X.shape[1] == 5 else 0.0, -1, 0.05
        ),
        training=False,
    ),
    Broken(
        "validation rows that were trained on",
        ("leak-suspected",),
        "a",
        replace(bases.HALVES, rows=seen_before, hidden=(100,), rule=optim.Adam(0.01), epochs=80),
        replace(
            bases.HALVES, rows=lambda: data.halves(noise=3.0, rows=80), hidden=(100,), rule=optim.Adam(0.01), epochs=80
        ),
        Quantity("validation rows among the training rows", shared_rows, 0, 0),
        training=False,
    ),
    Broken(
        "an amount that is known afterwards",
        ("leak-suspected",),
        "b",
        estimator(leaking_table, small_table),
        estimator(lambda: without(leaking_table, "granted"), small_table),
        Quantity(
            "reliance on the column", lambda t: measures.reliance(5)(t) if t.rows.X.shape[1] == 6 else 0.0, -1, 0.05
        ),
        training=False,
    ),
)
CASES = LEAK
