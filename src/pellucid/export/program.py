"""What is exported: one recorded graph, from the columns of a table to answers, preprocessing and all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.data.types import Array, Tree
from pellucid.errors import ExportError
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.classifier import ClassShell, classes_of
from pellucid.estimators.fitted import Scoring
from pellucid.estimators.regressor import NumberShell, numbers_of
from pellucid.estimators.shell import Shell
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.export.columns import Column, Kind, array_columns, table_columns
from pellucid.export.folding import bound, folded
from pellucid.export.preprocessing import table_rows
from pellucid.graph import Graph, Spec, record, scope
from pellucid.graph.core.tree import tree_map
from pellucid.train import Model
from pellucid.train.loop.step import array_spec

Exportable = Model | Shell
"""What can be exported, fitted."""

Weights = tuple[Tree, Tree]
"""Parameters and statistics of a network."""

LABEL, PROBABILITIES, PREDICTION = "label", "probabilities", "prediction"


@dataclass(frozen=True)
class Program:
    """A fitted model as one graph.

    Parameters
    ----------
    estimator : str
        the class it is of
    columns : tuple of Column
        one for each argument of the graph: floats (n, width), or codes of categories (n, 1)
    outputs : tuple of str
        what the results are: "label" (numbers of classes, (n,); of several labels zeros and ones, (n, labels)),
        "probabilities" (n, classes), "prediction" (n, numbers)
    graph : Graph
        of all; weights are constants in it
    classes : array | None
        in the order of their numbers
    networks : tuple of dict
        what is said of each network: its layers, share, temperature
    """

    estimator: str
    columns: tuple[Column, ...]
    outputs: tuple[str, ...]
    graph: Graph
    classes: Array | None = None
    networks: tuple[dict[str, Any], ...] = field(default=())


def program_of(
    model: Exportable, *, rows: int | str = "n", network: Any = None, numbers: Any = np.float64
) -> Program:
    """Record a fitted model.

    rows: how many, or the name of an open size; network: the dtype it computes in, None as it was trained; numbers:
    the dtype that columns of numbers come in
    """
    columns = columns_of(model)
    dtypes = [np.int64 if column.kind is Kind.CATEGORY else numbers for column in columns]
    specs = [Spec((rows, column.width), dtype) for column, dtype in zip(columns, dtypes, strict=True)]
    weights = [_weights(one, network) for one in _models(model)]
    answers: dict[str, Any] = {}

    def predict(arrays: Any, weights: Any) -> Any:
        named = {column.name: array for column, array in zip(columns, arrays, strict=True)}
        answers.update(_answers(model, named, weights))
        return tuple(answers.values())

    graph = folded(bound(record(predict, tuple(specs), tree_map(array_spec, weights)), tuple(specs), weights))
    classes = classes_of(model.fitted).classes if isinstance(model, ClassShell) else None
    return Program(type(model).__name__, columns, tuple(answers), graph, classes, _networks(model))


def columns_of(model: Exportable) -> tuple[Column, ...]:
    """What a fitted model takes."""
    if isinstance(model, BaseTabularMLP):
        columns = table_columns(model.preprocessor_.encoding.layout)
    elif isinstance(model, BaseMLP):
        columns = array_columns(int(model.fitted.model.features[0]), getattr(model, "feature_names_in_", None))
    elif isinstance(model, Model):
        if not model.params:
            raise ExportError("the model has no parameters yet: call fit(X, y), or initialize(features), then export")
        columns = array_columns(int(np.prod(model.features)), None)
        if len(model.features) != 1:
            raise ExportError(
                f"the model takes samples of shape {model.features}, expected rows of numbers (n, features): put "
                "nn.Flatten() outside of it, and train on flat rows"
            )
    else:
        raise ExportError(
            "expected a fitted Model, MLPClassifier, MLPRegressor, TabularMLPClassifier or TabularMLPRegressor, got "
            f"{type(model).__name__}: export the networks that it is made of, one by one"
        )
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ExportError(f"two columns would be called {twice!r}: rename one of them, and fit anew")
    return columns


def _answers(model: Exportable, columns: Mapping[str, Any], weights: Sequence[Weights]) -> dict[str, Any]:
    """What the model says, by the names of outputs."""
    rows = _rows(model, columns).astype(next(iter(weights[0][0].values())).dtype)
    if isinstance(model, Model):
        scores = _scoring(weights)(model, rows)
        with scope("answer"):
            return {PREDICTION: model.loss.link(scores)}
    fitted = model.fitted
    scores = fitted.scores(rows, _scoring(weights))
    with scope("answer"):
        if isinstance(model, ClassShell):
            target = classes_of(fitted)
            if not hasattr(model, "predict_proba"):
                return {LABEL: target.places(scores)}
            likely = target.calibrated(scores, fitted.calibration)
            return {LABEL: target.likeliest(likely), PROBABILITIES: likely}
        assert isinstance(model, NumberShell)
        decoded = numbers_of(fitted).decode(scores)
        return {PREDICTION: np.reshape(decoded, (scores.shape[0], -1))}


def _rows(model: Exportable, columns: Mapping[str, Any]) -> Any:
    with scope("preprocessing"):
        if isinstance(model, BaseTabularMLP):
            return table_rows(model.preprocessor_.encoding, columns)
        return np.concatenate(list(columns.values()), axis=1)


def _models(model: Exportable) -> list[Model]:
    return [model] if isinstance(model, Model) else [member.model for member in model.fitted.networks]


def _weights(model: Model, dtype: Any) -> Weights:
    """Parameters and statistics in this dtype; None is their own."""
    params, state = ({k: np.asarray(v, dtype) for k, v in tree.items()} for tree in (model.params, model.state))
    return params, state


def _scoring(weights: Sequence[Weights]) -> Scoring:
    """The formula of networks, which are asked one after the other, with these arrays."""
    numbered = enumerate(weights, start=1)

    def scores(model: Model, rows: Any) -> Any:
        number, (params, state) = next(numbered)
        with scope(f"network{number}"):
            return model.net.predict(params, rows, state)

    return scores


def _networks(model: Exportable) -> tuple[dict[str, Any], ...]:
    if isinstance(model, Model):
        return ({"layers": repr(model.net)},)
    fitted = model.fitted
    shares = (1.0,) if fitted.crew is None else fitted.crew.shares
    return tuple(
        {
            "layers": repr(member.model.net),
            "share": float(share),
            "temperature": float(member.calibration.temperature),
        }
        for member, share in zip(fitted.networks, shares, strict=True)
    )
