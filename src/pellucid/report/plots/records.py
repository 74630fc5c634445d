"""The record that a picture is of: handed in, or made of a model and rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pellucid import inspect
from pellucid.report.numbers.layers import Inside, inside
from pellucid.report.numbers.training import LearningCurves, learning_curves
from pellucid.report.predictor import Predictor, kept_epoch, predictor
from pellucid.report.rows import Sample, sample
from pellucid.train import History

T = TypeVar("T")


def measured(kind: type[T], thing: Any, X: Any, y: Any, make: Callable[[Predictor, Sample], T | None], who: str) -> T:
    """The record itself, or what `make` makes of a model and rows."""
    if isinstance(thing, kind):
        return thing
    rows = sample(X, y)
    if rows is None:
        raise ValueError(f"{who}: expects X and y beside {type(thing).__name__}, or a record of report(...).numbers")
    record = make(predictor(thing, y), rows)
    if record is None:
        raise ValueError(f"{who}: there is nothing to draw for {type(thing).__name__} and these rows")
    return record


def curves(thing: Any) -> LearningCurves:
    """Of a record, a history, or a fitted model."""
    if isinstance(thing, LearningCurves):
        return thing
    kept = None
    if not isinstance(thing, History):
        kept, thing = kept_epoch(thing), predictor(thing).model.history
    record = learning_curves(thing, kept)
    if record is None:
        raise ValueError("the history has no epochs yet: there is nothing to draw")
    return record


def looked(thing: Any, X: Any = None, y: Any = None) -> Inside:
    """Of a record, a watch, looks, a history that has some; or a model, looked at now, with rows."""
    if isinstance(thing, Inside):
        return thing
    looks = getattr(thing, "looks", thing)
    if isinstance(thing, History):
        looks = inspect.looks(thing)
    elif isinstance(looks, inspect.Look):
        looks = [looks]
    elif X is not None:
        looks = [inspect.run(thing, X, y)]
    record = inside(looks) if isinstance(looks, Sequence) else None
    if record is None:
        raise ValueError(
            "layers are drawn of an inspect.Watch, its looks, one look, or a model with X and y, got "
            f"{type(thing).__name__} with none"
        )
    return record
