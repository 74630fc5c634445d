"""Scores on rows that were not trained on, beside those of two simple models: a constant answer and a linear one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from pellucid.cli.screen import grid
from pellucid.cli.target import Target
from pellucid.data.splits import evenly
from pellucid.data.types import Array
from pellucid.markup import number
from pellucid.report.numbers.scores import Score, scores
from pellucid.report.predictor import Predictor
from pellucid.report.rows import sample

LINEAR_ROWS = 20_000
"""Rows that the linear model is fitted on, at most."""

MOST_ONE_HOT = 100
"""Categories of a column that the linear model has a column for each of."""

Scores = dict[str, float]
ERROR = "root mean square error"
LOWER = ("log-loss", "mean error", ERROR)
"""Scores of which less is better."""

EXACT = 1e-3
"""Of the error of a constant answer: a linear model with less has found how the target was computed."""


def scores_of(estimator: Any, X: Any, y: Array, *, several: bool = False) -> Scores:
    """Scores of a fitted estimator of anybody's: accuracy, log-loss, ROC AUC; or R² and mean errors."""
    labels = tuple(np.asarray(estimator.classes_).tolist()) if hasattr(estimator, "classes_") else ()
    rows = sample(X, y, "test rows")
    assert rows is not None
    marks: Sequence[Score] = scores(Predictor(estimator, estimator, (), labels, several), rows)
    return {mark.name: mark.value for mark in marks}


def simple_models(X: Any, y: Array, target: Target) -> dict[str, Any]:
    """A linear model of the same columns and a constant answer, fitted."""
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    from pellucid.estimators import TablePreprocessor

    rows = evenly(len(y), LINEAR_ROWS)
    if target.classes and not target.several:  # rare classes, too
        rows = np.union1d(rows, np.unique(y, return_index=True)[1])
    prepared = TablePreprocessor("standard", one_hot_max=MOST_ONE_HOT)
    models: dict[str, Any] = {"constant": DummyClassifier() if target.classes else DummyRegressor()}
    if not target.several:
        linear = LogisticRegression(max_iter=300) if target.classes else Ridge()
        models = {"linear": make_pipeline(prepared, linear)} | models
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns and convergence the network tells by itself
        for model in models.values():
            model.fit(X[rows], y[rows])
    return models


def shown(by_model: Mapping[str, Scores]) -> Table:
    """A line for each model, the best of each score in bold."""
    names = list(dict.fromkeys(name for one in by_model.values() for name in one))
    table = grid("", *names, right=tuple(range(1, len(names) + 1)))
    for model, marks in by_model.items():
        cells = []
        for name in names:
            values = [one[name] for one in by_model.values() if name in one]
            best = min(values) if name in LOWER else max(values)
            text = number(marks[name]) if name in marks else ""
            cells.append(Text(text, "bold green" if marks.get(name) == best and len(by_model) > 1 else ""))
        table.add_row(Text(model, "bold" if model == "network" else ""), *cells)
    return table


def verdict(by_model: Mapping[str, Scores]) -> str:
    """How the network does beside the simple models, in a sentence."""
    network, constant = by_model["network"], by_model["constant"]
    name = next((each for each in ("log-loss", ERROR) if each in network and each in constant), "")
    if not name:
        return ""
    others = {model: marks[name] for model, marks in by_model.items() if model != "network" and name in marks}
    beaten = [model for model, value in others.items() if network[name] < value]
    if name == ERROR and others.get("linear", np.inf) < EXACT * constant[name]:
        return (
            "A linear model tells the target exactly: it is computed from these columns. If they are known only "
            "afterwards, run again with --drop."
        )
    if len(beaten) == len(others):
        return (
            "The network is better than "
            + " and ".join(f"the {model} model" if model == "linear" else "a constant answer" for model in others)
            + "."
        )
    if "constant" not in beaten:
        return "The network is no better than a constant answer: these columns hardly tell the target."
    return "A linear model does as well or better: the target hardly needs a network, or it had too few rows or epochs."
