"""What is looked at: a `Model`, an estimator, or a pipeline that ends in one, with data as its network takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pellucid.data.inputs import as_inputs
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import Loss
from pellucid.train import Model


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, rows as it takes them, and what people call the columns.

    Parameters
    ----------
    model : Model
        the network inside
    X : array of shape (n, columns)
        numbers as `Model.fit` takes them
    y : array
        the target as `Model.fit` takes it, encoded; None where none was given
    columns : tuple[str, ...]
        names of the inputs
    classes : tuple[Any, ...] | None
        the labels of a classifier
    whole : Model | estimator | pipeline
        what was given
    """

    model: Model
    X: Any
    y: Any = None
    columns: tuple[str, ...] = ()
    classes: tuple[Any, ...] | None = None
    whole: Any = None

    @property
    def loss(self) -> Loss:
        return self.model.loss

    @property
    def who(self) -> str:
        """The name of the class that was given."""
        return type(self.model if self.whole is None else self.whole).__name__


@runtime_checkable
class Inspectable(Protocol):
    """An estimator that shows the network inside."""

    def inspected(self, X: Any, y: Any = None) -> Subject:
        """The network, and these rows as it takes them."""


def subject(thing: Any, X: Any, y: Any = None) -> Subject:
    """The network inside something, and rows as that network takes them.

    The columns have the names that a data frame, or the steps of the pipeline, give them.

    Parameters
    ----------
    thing : Model | estimator | pipeline
        a pipeline of scikit-learn has such an estimator at its end
    X : array or data frame of shape (n, features)
        rows as its `fit` takes them
    y : array of shape (n,) or (n, outputs)
        their target, or None

    Returns
    -------
    Subject
        model, rows, names
    """
    if isinstance(thing, Model):
        inputs = _inputs(X, thing.dtype)
        return Subject(thing, inputs, _target(y), _names(X, inputs), whole=thing)
    if isinstance(thing, Inspectable):
        return thing.inspected(X, y)
    if hasattr(thing, "steps") and hasattr(thing, "named_steps"):
        return _through_pipeline(thing, X, y)
    if hasattr(thing, "best_estimator_"):
        return subject(thing.best_estimator_, X, y)
    raise TypeError(
        "inspect looks at a Model, an estimator of pellucid, or a pipeline that ends in one, got "
        f"{type(thing).__name__}"
    )


def _through_pipeline(pipeline: Any, X: Any, y: Any) -> Subject:
    """The last step, with rows as the steps before it leave them."""
    last, before = pipeline.steps[-1][1], pipeline[:-1]
    inside = subject(last, before.transform(X) if len(before) else X, y)
    try:
        names = tuple(str(name) for name in before.get_feature_names_out()) if len(before) else inside.columns
    except Exception:  # a step that has no names to give
        names = inside.columns
    return replace(inside, columns=names if len(names) == len(inside.columns) else inside.columns, whole=pipeline)


def _inputs(X: Any, dtype: Any) -> Any:
    if hasattr(X, "toarray"):
        X = X.toarray()
    return as_inputs(X, dtype)


def _target(y: Any) -> Any:
    if y is None:
        return None
    return y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)


def _names(X: Any, inputs: Any) -> tuple[str, ...]:
    columns = getattr(X, "columns", None)
    if columns is not None and len(columns) == np.shape(inputs)[-1]:
        return tuple(str(column) for column in columns)
    return column_names(int(np.prod(np.shape(inputs)[1:], dtype=int)))


def column_names(count: int) -> tuple[str, ...]:
    """Names for columns that have none: scikit-learn's."""
    return tuple(f"x{i}" for i in range(count))


def must_have_parameters(model: Model, who: str) -> None:
    """Raise where there is no network yet."""
    if not model.params:
        raise ShapeError(f"{who}: the model has no parameters yet: call fit(X, y), or initialize(features)")
