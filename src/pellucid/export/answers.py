"""From columns to answers, as formulas that can be recorded: those of models, of estimators and of ensembles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.errors import ExportError
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.classifier import ClassShell, classes_of
from pellucid.estimators.ensembles.base import BaseEnsemble
from pellucid.estimators.ensembles.outputs import ClassOutputs
from pellucid.estimators.fitted import Scoring
from pellucid.estimators.regressor import numbers_of
from pellucid.estimators.shell import Shell
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.export.columns import Column, Kind, array_columns, table_columns
from pellucid.export.preprocessing import table_rows
from pellucid.graph import scope
from pellucid.graph.primitives.indexing import take_item
from pellucid.train import Model

Exportable = Model | Shell | BaseEnsemble
"""What can be exported, fitted."""

LABEL, PROBABILITIES, PREDICTION = "label", "probabilities", "prediction"


def columns_of(model: Exportable) -> tuple[Column, ...]:
    """What a fitted model takes."""
    if isinstance(model, BaseTabularMLP):
        check_is_fitted(model)
        columns = table_columns(model.preprocessor_.encoding.layout)
    elif isinstance(model, BaseMLP):
        columns = array_columns(int(model.fitted.model.features[0]), getattr(model, "feature_names_in_", None))
    elif isinstance(model, BaseEnsemble):
        columns = _joined([columns_of(member) for member in members_of(model)])
    elif isinstance(model, Model):
        if not model.params:
            raise ExportError("the model has no parameters yet: call fit(X, y), or initialize(features), then export")
        columns = array_columns(math.prod(model.features), None)
    else:
        raise ExportError(
            "expected a fitted Model, MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor, "
            f"BaggedMLPClassifier or BaggedMLPRegressor, got {type(model).__name__}"
        )
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ExportError(f"two columns would be called {twice!r}: rename one of them, and fit anew")
    return columns


def members_of(model: Shell | BaseEnsemble) -> list[Shell]:
    """The members of an ensemble, all of them ours; of anything else itself."""
    if not isinstance(model, BaseEnsemble):
        return [model]
    check_is_fitted(model)
    strange = next((member for member in model.estimators_ if not isinstance(member, Shell)), None)
    if strange is not None:
        raise ExportError(
            f"a member of the ensemble is a {type(strange).__name__}, expected estimators of Pellucid: export "
            "ensembles of MLPClassifier, MLPRegressor, TabularMLPClassifier or TabularMLPRegressor"
        )
    return list(model.estimators_)


def answers_of(model: Exportable, columns: Mapping[str, Any], scoring: Scoring) -> dict[str, Any]:
    """What a model says of columns, by the names of outputs. `scoring`: the formula of its networks."""
    if isinstance(model, BaseEnsemble):
        return _together(model, columns, scoring)
    with scope("preprocessing"):
        if isinstance(model, BaseTabularMLP):
            rows = table_rows(model.preprocessor_.encoding, columns)
        else:
            rows = np.concatenate(list(columns.values()), axis=1)
    if isinstance(model, Model):
        flat = len(model.features) == 1
        scores = scoring(model, rows if flat else np.reshape(rows, (rows.shape[0], *model.features)))
        with scope("answer"):
            return {PREDICTION: model.loss.link(scores)}
    fitted = model.fitted
    scores = fitted.scores(rows, scoring)
    with scope("answer"):
        if not isinstance(model, ClassShell):
            decoded = numbers_of(fitted).decode(scores)
            return {PREDICTION: decoded[:, None] if decoded.ndim == 1 else decoded}
        target = classes_of(fitted)
        if not hasattr(model, "predict_proba"):
            return {LABEL: target.places(scores)}
        likely = target.calibrated(scores, fitted.calibration)
        return {LABEL: target.likeliest(likely), PROBABILITIES: likely}


# ensembles


def _together(model: BaseEnsemble, columns: Mapping[str, Any], scoring: Scoring) -> dict[str, Any]:
    """The mean of what members say."""
    reading, members, known = model.reading, members_of(model), {column.name: column for column in columns_of(model)}
    outputs = []
    for member in members:
        own = {column.name: _recoded(columns[column.name], known[column.name], column) for column in columns_of(member)}
        answer = answers_of(member, own, scoring)
        if not isinstance(reading, ClassOutputs):
            outputs.append(answer[PREDICTION])
        elif PROBABILITIES not in answer:
            raise ExportError(
                "members of this ensemble vote, for their loss gives no probabilities: use loss='log_loss'"
            )
        elif reading.multilabel:
            outputs.append(answer[PROBABILITIES])
        else:
            assert isinstance(member, ClassShell)
            places = (member.classes_[:, None] == reading.classes).astype(np.float64)
            whole = np.array_equal(places, np.eye(len(reading.classes)))
            outputs.append(answer[PROBABILITIES] if whole else answer[PROBABILITIES] @ places)
    with scope("answer"):
        mean = sum(outputs) / len(outputs)
        if not isinstance(reading, ClassOutputs):
            return {PREDICTION: mean}
        return {LABEL: reading.places(mean), PROBABILITIES: mean}


def _joined(each: list[tuple[Column, ...]]) -> tuple[Column, ...]:
    """The columns of all members; categories that any of them knows."""
    columns: dict[str, Column] = {}
    for column in (column for own in each for column in own):
        before = columns.setdefault(column.name, column)
        if replace(before, categories=()) != replace(column, categories=()):
            raise ExportError(
                f"members take the column {column.name!r} for different things ({before.kind.value} {before.note} and "
                f"{column.kind.value} {column.note}): export the members (estimators_) one by one"
            )
        texts = tuple(sorted({*before.categories, *column.categories}))
        columns[column.name] = replace(before, categories=texts)
    return tuple(columns.values())


def _recoded(code: Any, known: Column, own: Column) -> Any:
    """Codes of categories that a member knows, from those of all."""
    if own.kind is not Kind.CATEGORY or own.categories == known.categories:
        return code
    places = {text: place for place, text in enumerate(own.categories, start=1)}
    table = np.array([0, *(places.get(text, 0) for text in known.categories)], np.int64)
    with scope("preprocessing"):
        return take_item(table, code)
