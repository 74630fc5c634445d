"""What is exported: one recorded graph, from the columns of a table to answers, preprocessing and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.types import Array, Tree
from pellucid.estimators.classifier import ClassShell
from pellucid.estimators.ensembles.bagged import BaggedMLPClassifier
from pellucid.estimators.fitted import Scoring
from pellucid.export.answers import Exportable, answers_of, columns_of, members_of
from pellucid.export.columns import Column, Kind
from pellucid.export.folding import bound, folded
from pellucid.graph import Dim, Graph, Spec, record, scope
from pellucid.graph.core.tree import tree_map
from pellucid.train import Model
from pellucid.train.loop.step import array_spec

Weights = tuple[Tree, Tree]
"""Parameters and statistics of a network."""


@dataclass(frozen=True, eq=False)
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
    classes: Array | None
    networks: tuple[dict[str, Any], ...]


def program_of(
    model: Exportable, *, rows: int | None = None, network: Any = None, numbers: Any = np.float64
) -> Program:
    """Record a fitted model.

    rows: how many, None leaves it open; network: the dtype it computes in, None as it was trained; numbers:
    the dtype that columns of numbers come in
    """
    columns = columns_of(model)
    dtypes = [np.int64 if column.kind is Kind.CATEGORY else numbers for column in columns]
    size = Dim.symbol("n") if rows is None else rows
    specs = tuple(Spec((size, column.width), dtype) for column, dtype in zip(columns, dtypes, strict=True))
    weights = [_weights(one, network) for one in _models(model)]
    answers: dict[str, Any] = {}

    def predict(arrays: Any, weights: Any) -> Any:
        named = {column.name: array for column, array in zip(columns, arrays, strict=True)}
        answers.update(answers_of(model, named, _scoring(weights)))
        return tuple(answers.values())

    graph = folded(bound(record(predict, specs, tree_map(array_spec, weights)), specs, weights))
    classes = np.asarray(model.classes_) if isinstance(model, ClassShell | BaggedMLPClassifier) else None
    return Program(type(model).__name__, columns, tuple(answers), graph, classes, tuple(_networks(model)))


def _models(model: Exportable) -> list[Model]:
    """All networks, in the order in which they are asked."""
    if isinstance(model, Model):
        return [model]
    return [network.model for member in members_of(model) for network in member.fitted.networks]


def _weights(model: Model, dtype: Any) -> Weights:
    """Parameters and statistics in this dtype; None is their own."""
    params, state = ({k: np.asarray(v, dtype) for k, v in tree.items()} for tree in (model.params, model.state))
    return params, state


def _scoring(weights: Sequence[Weights]) -> Scoring:
    """The formula of networks, which are asked one after the other, with these arrays."""
    numbered = enumerate(weights, start=1)

    def scores(model: Model, rows: Any) -> Any:
        number, (params, state) = next(numbered)
        with scope("preprocessing"):
            rows = rows.astype(next(iter(params.values())).dtype)
        with scope(f"network{number}"):
            return model.net.predict(params, rows, state)

    return scores


def _networks(model: Exportable) -> list[dict[str, Any]]:
    """What is said of each network."""
    if isinstance(model, Model):
        return [{"layers": repr(model.net)}]
    members = members_of(model)
    networks = []
    for fitted in (member.fitted for member in members):
        shares = (1.0,) if fitted.crew is None else fitted.crew.shares
        for network, share in zip(fitted.networks, shares, strict=True):
            facts = {"share": float(share) / len(members), "temperature": float(network.calibration.temperature)}
            networks.append({"layers": repr(network.model.net), **facts})
    return networks
