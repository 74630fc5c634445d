"""What stands behind the service: a fitted estimator or model, asked for rows, answering with plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from pellucid.data.types import Array
from pellucid.estimators.column_list import columns_of, example_arrays, optional_columns, rows_of
from pellucid.serve.faults import WRONG_VALUES, RequestFault
from pellucid.serve.rows import Form, Wanted
from pellucid.train import Model


@dataclass(frozen=True)
class Answers:
    """What is said of rows. `parts` are numbers for each row, by name: probabilities of classes, ends of intervals.

    prediction: (n,) or (n, targets)
    """

    prediction: Array
    parts: dict[str, dict[str, Array] | Array] = field(default_factory=dict)

    def checked(self, first: int = 1) -> Answers:
        """Itself, if all numbers are finite: JSON has no others. first: the number of the first row"""
        for name, part in self._all():
            for numbers in part.values() if isinstance(part, dict) else (part,):
                if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
                    row = first + int(np.flatnonzero(~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1))[0])
                    raise RequestFault(
                        WRONG_VALUES,
                        f"row {row}: the model's {name} is no finite number: are its values as they were in training?",
                        row=row,
                    )
        return self

    def plain(self, form: Form) -> Any:
        """As JSON, in the form in which the rows came."""
        if form is Form.COLUMNS:
            return {name: _listed(part) for name, part in self._all()}
        rows = list(self.rows())
        return rows[0] if form is Form.ROW else {"predictions": rows}

    def rows(self) -> Iterator[dict[str, Any]]:
        """An object for each row."""
        columns = {name: _listed(part) for name, part in self._all()}
        for row in range(len(self.prediction)):
            yield {
                name: {key: values[row] for key, values in part.items()} if isinstance(part, dict) else part[row]
                for name, part in columns.items()
            }

    def frame(self) -> pd.DataFrame:
        """A table with a column for each number; parts of parts are NAME_KEY."""
        columns: dict[str, Any] = {}
        for name, part in self._all():
            if isinstance(part, dict):
                columns |= {f"{name}_{key}": values for key, values in part.items()}
            elif part.ndim == 2:
                columns |= {f"{name}_{place}": part[:, place] for place in range(part.shape[1])}
            else:
                columns[name] = part
        return pd.DataFrame(columns)

    def _all(self) -> Iterator[tuple[str, dict[str, Array] | Array]]:
        yield "prediction", self.prediction
        yield from self.parts.items()


def _listed(part: dict[str, Array] | Array) -> Any:
    return {key: _listed(values) for key, values in part.items()} if isinstance(part, dict) else part.tolist()


class Predictor(Protocol):
    """What the service asks of whatever stands behind it."""

    @property
    def wanted(self) -> Wanted:
        """The columns of a row."""

    @property
    def says(self) -> dict[str, Any]:
        """What answers hold, for the schema."""

    def answers(self, columns: Mapping[str, Array], interval: float | None = None) -> Answers:
        """For rows by columns; `interval`: with the ends that hold so large a share of the truth."""


class ModelPredictor:
    """A fitted estimator or `Model`.

    Parameters
    ----------
    model : estimator | Model
        fitted
    """

    def __init__(self, model: BaseEstimator | Model) -> None:
        self.model: Any = model

    @cached_property
    def wanted(self) -> Wanted:
        """The columns of a row."""
        return Wanted(tuple(columns_of(self.model)), frozenset(optional_columns(self.model)))

    @cached_property
    def says(self) -> dict[str, Any]:
        """What answers hold."""
        if self._classes is None:
            return {"prediction": "number", "interval": hasattr(self.model, "predict_interval")}
        likely = {"probabilities": list(map(str, self._classes.tolist()))} if self._likely else {}
        return {"prediction": "class", "classes": self._classes.tolist(), **likely}

    @cached_property
    def _classes(self) -> Array | None:
        """What is told apart, if something is."""
        classes = getattr(self.model, "classes_", None)
        return None if classes is None else np.asarray(classes)

    @cached_property
    def _likely(self) -> bool:
        """Are there probabilities?"""
        return hasattr(self.model, "predict_proba")

    def answers(self, columns: Mapping[str, Array], interval: float | None = None) -> Answers:
        """For rows by columns.

        Parameters
        ----------
        columns : Mapping[str, Array]
            by name, as `Wanted.read` gives them
        interval : float | None
            for numbers: with the ends that hold so large a share of the truth

        Returns
        -------
        Answers
            one for each row
        """
        rows = rows_of(self.model, self.wanted.columns, columns)
        if self._classes is not None and self._likely:
            probabilities = np.asarray(self.model.predict_proba(rows))
            named = {name: probabilities[:, place] for place, name in enumerate(self.says["probabilities"])}
            return Answers(self._decided(probabilities, self._classes), {"probabilities": named})
        prediction = np.asarray(self.model.predict(rows))
        if prediction.ndim == 2 and prediction.shape[1] == 1:
            prediction = prediction[:, 0]
        if interval is None:
            return Answers(prediction)
        low, high = self.model.predict_interval(rows, interval)
        return Answers(prediction, {"low": np.asarray(low), "high": np.asarray(high)})

    def warm(self) -> None:
        """Predict a row of examples: what is loaded or compiled at first use is there after that."""
        self.answers(example_arrays(self.wanted.columns))

    @cached_property
    def _labels(self) -> bool:
        """Are several labels predicted, a column of zeros and ones for each?"""
        return bool(
            np.ndim(self.model.predict(rows_of(self.model, self.wanted.columns, example_arrays(self.wanted.columns))))
            == 2
        )

    def _decided(self, probabilities: Array, classes: Array) -> Array:
        """The class of each row, (n,); zeros and ones of several labels, (n, labels)."""
        if self._labels:
            return (probabilities > 0.5).astype(int)
        return np.asarray(classes[np.argmax(probabilities, axis=1)])
