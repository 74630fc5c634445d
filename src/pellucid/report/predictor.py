"""What a report asks of a model, whatever it is: a `Model`, an estimator, an ensemble, a pipeline that ends in one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target

from pellucid.estimators.tables.columns import read_table
from pellucid.estimators.tables.text_columns import read_texts
from pellucid.nn.losses.classes import Multilabel
from pellucid.nn.losses.sums import Around
from pellucid.report.rows import Sample, target_names
from pellucid.train import Model
from pellucid.train.metrics import classes as classes_of
from pellucid.train.metrics import is_classifier as tells_classes


@dataclass(frozen=True, eq=False)
class Predictor:
    """A fitted thing with one face: labels or numbers, and probabilities where there are any.

    `estimator` has scikit-learn's methods; `models` are the networks inside: one, or those of an ensemble. `classes`
    are labels in the order of probabilities, () for numbers; `several` says that a row may have any number of them.
    `outputs` are the names of several columns of the target, where they have some.
    """

    thing: Any
    estimator: BaseEstimator
    models: tuple[Model, ...]
    classes: tuple[Any, ...] = ()
    several: bool = False
    outputs: tuple[str, ...] = ()

    def output(self, place: int, usual: str = "output") -> str:
        """What one of several targets is called."""
        return self.outputs[place] if self.outputs else f"{usual} {place}"

    @property
    def model(self) -> Model:
        """The network, or the first one of an ensemble."""
        return self.models[0]

    def as_taken(self, rows: Sample) -> Sample:
        """Rows with the texts that it reads as dates or numbers as such."""
        texts = getattr(getattr(last_step(self.thing), "preprocessor_", None), "texts_", {})
        names = [name for name in texts if name in rows.columns] if isinstance(rows.X, pd.DataFrame) else []
        if not names:
            return rows
        table = read_texts(read_table(rows.X[names], "report"), {name: texts[name] for name in names})
        return replace(rows, X=rows.X.assign(**dict(zip(table.names, table.columns, strict=True))))

    @property
    def crew(self) -> tuple[Model, ...]:
        """All networks that answer together: those of an ensemble, or the several that a table estimator has."""
        fitted = getattr(last_step(self.thing), "fitted", None)
        return self.models if fitted is None else tuple(each.model for each in fitted.networks)

    @property
    def name(self) -> str:
        """What it is, in a word."""
        return type(last_step(self.thing)).__name__

    def targets(self, y: Any) -> Any:
        """y as `predict` answers: labels, or numbers.   (n,), or (n, outputs)"""
        if isinstance(self.estimator, ModelFace):
            return self.estimator.targets(y)
        array = np.asarray(y)
        return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array

    def predict(self, X: Any) -> Any:
        """The answer for each row.   (n,), or (n, outputs)"""
        return np.asarray(self.estimator.predict(X))

    def probabilities(self, X: Any) -> Any:
        """How likely each class is, (n, classes); None where that is not said."""
        if not self.classes or not hasattr(self.estimator, "predict_proba"):
            return None
        likely = np.asarray(self.estimator.predict_proba(X))
        return likely if likely.ndim == 2 and likely.shape[1] == len(self.classes) else None

    def trouble(self, X: Any) -> str:
        """Why its answers cannot be measured; "" where they can: a network that diverged answers nothing."""
        scores = self.ranks(X)
        answers = self.predict(X) if scores is None else scores
        wrong = (
            ~np.isfinite(answers.reshape(len(answers), -1)).all(axis=1) if answers.dtype.kind == "f" else np.zeros(1)
        )
        if not wrong.any():
            return ""
        count = f"{int(wrong.sum()):,} of {len(wrong):,} rows"
        return f"The predictions of {count} are not finite: there is nothing to measure."

    def ranks(self, X: Any) -> Any:
        """What rows can be put in order by, for each class: probabilities, else scores.   (n, classes), or None"""
        likely = self.probabilities(X)
        if likely is not None or not self.classes or not hasattr(self.estimator, "decision_function"):
            return likely
        scores = np.asarray(self.estimator.decision_function(X))
        return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores


def predictor(thing: Any, y: Any = None) -> Predictor:
    """The face of a fitted model; an error that says what is missing. `y` tells several labels from one, and names."""
    if isinstance(thing, Model):
        if not thing.params:
            raise ValueError("report: the model has no parameters yet: call fit(X, y) or initialize(features) first")
        face = ModelFace(thing)
        return Predictor(thing, face, (thing,), face.labels, face.several, target_names(y))
    models = networks(thing)
    if not models:
        raise TypeError(
            "report takes a fitted Model, MLPClassifier, MLPRegressor, TabularMLP or BaggedMLP, or a pipeline or "
            f"search that ends in one, got {type(thing).__name__} without a fitted network: call fit(X, y) first?"
        )
    if not is_classifier(thing):
        return Predictor(thing, thing, models, outputs=target_names(y))
    several = y is not None and type_of_target(y).startswith("multilabel")
    labels = tuple(np.asarray(thing.classes_).tolist())
    return Predictor(thing, thing, models, labels, several, target_names(y))


def last_step(thing: Any) -> Any:
    """The end of a pipeline, the best of a search: what does the predicting."""
    while True:
        if hasattr(thing, "best_estimator_"):
            thing = thing.best_estimator_
        elif hasattr(thing, "steps") and isinstance(thing.steps, list) and thing.steps:
            thing = thing.steps[-1][1]
        else:
            return thing


def kept_epoch(thing: Any) -> int | None:
    """The epoch whose parameters an estimator kept, where validation rows chose one."""
    end = last_step(thing)
    epoch = getattr(end, "best_iter_", None)
    return int(epoch) if epoch is not None and getattr(end.fitted, "early", False) else None


def networks(thing: Any) -> tuple[Model, ...]:
    """The networks inside a fitted estimator; () where there are none."""
    end = last_step(thing)
    if isinstance(end, Model):
        return (end,)
    inside = getattr(end, "model_", None)
    if isinstance(inside, Model):
        return (inside,)
    return tuple(model for member in getattr(end, "estimators_", ()) for model in networks(member))


class ModelFace(BaseEstimator):  # type: ignore[misc]
    """A fitted `Model` with scikit-learn's methods, for its metrics and inspections."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.model.params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.labels else "regressor"
        tags.classifier_tags = None
        tags.regressor_tags = None
        return tags

    def fit(self, X: Any, y: Any = None) -> ModelFace:
        """It is fitted: scikit-learn's inspections want that there is such a method."""
        return self

    @property
    def outputs(self) -> int:
        """Scores of a row, those of members joined."""
        return (self.model.outputs or 1) // self.model.loss.members

    @property
    def several(self) -> bool:
        """Any number of labels for each row?"""
        loss = self.model.loss.single
        return self.outputs > 1 and isinstance(loss.of if isinstance(loss, Around) else loss, Multilabel)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes, () for numbers."""
        if not tells_classes(self.model.loss):
            return ()
        if self.outputs > 1:
            return tuple(range(self.outputs))
        return tuple(classes_of(self.model.loss.single, np.array([[-1.0], [1.0]])).tolist())

    @property
    def classes_(self) -> Any:
        """The classes, as scikit-learn wants them."""
        return np.array(self.labels)

    def targets(self, y: Any) -> Any:
        """y in the coding of `predict`."""
        prepared = np.asarray(self.model.loss.prepare(y, self.model.outputs))
        if prepared.ndim == 2 and prepared.shape[1] == 1:
            prepared = prepared[:, 0]
        if not self.labels or self.several:
            return prepared
        if prepared.ndim == 2:
            return prepared.argmax(axis=1)
        if len(self.labels) == 2 and not np.issubdtype(prepared.dtype, np.integer):  # 0 and 1, -1 and 1, likely or not
            middle = sum(self.labels) / 2
            return np.where(prepared > middle, self.labels[1], self.labels[0])
        return prepared

    def predict(self, X: Any) -> Any:
        """Classes, or numbers.   (n,) or (n, outputs)"""
        if self.labels:
            return self.model.predict_classes(X)
        numbers, loss = self.model.predict(X), self.model.loss
        numbers = numbers.reshape(len(numbers), -1, loss.per_output)[:, :, loss.point]  # of quantiles the middle one
        return numbers[:, 0] if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers

    def __getattr__(self, name: str) -> Any:
        """`predict_proba` where the loss gives probabilities, else `decision_function`, as scikit-learn asks."""
        model = self.__dict__.get("model")
        if isinstance(model, Model) and tells_classes(model.loss):
            likely = model.loss.link.kind.gives_probabilities
            if name == "predict_proba" and likely:
                return self._probabilities
            if name == "decision_function" and not likely:
                return self._decision
        raise AttributeError(name)

    def _decision(self, X: Any) -> Any:
        scores = self.model.loss.joined(self.model.scores(X))
        return scores[:, 0] if self.outputs == 1 else scores

    def _probabilities(self, X: Any) -> Any:
        return self.model.loss.link.probabilities(self.model.scores(X))
