"""Estimators in files: everything they know as plain data and arrays. Loading never executes code.

An object of a class in the table below is stored as its attributes. Arrays of numbers go to the file's arrays, texts
and mixed values to its JSON. Callbacks, scorers and functions of one's own are not stored: they come back by name from
`custom`, or, where prediction does not need them, not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from pellucid.errors import PellucidError
from pellucid.estimators.held import scorer
from pellucid.train import Metric, Model
from pellucid.train.config import ConfigError, describe, restore
from pellucid.train.files import read, write
from pellucid.train.metrics import METRICS
from pellucid.train.model import Progress
from pellucid.train.storage import described, rebuilt

KIND = "estimator"
FORGOTTEN = ("callbacks",)
"""Parameters that are not stored."""


class StorageError(PellucidError, ValueError):
    """An estimator that cannot be stored, or a file that holds something else."""


@cache
def classes() -> dict[str, type]:
    """What may be in a file, by name: our estimators and their parts, and the transformers they use."""
    from sklearn import decomposition, impute, preprocessing

    from pellucid import estimators
    from pellucid.estimators import convergence

    ours = [one for one in vars(estimators).values() if isinstance(one, type) and not issubclass(one, Warning)]
    theirs = [
        impute.SimpleImputer,
        impute.MissingIndicator,
        preprocessing.StandardScaler,
        preprocessing.RobustScaler,
        preprocessing.QuantileTransformer,
        preprocessing.OneHotEncoder,
        preprocessing.OrdinalEncoder,
        decomposition.PCA,
    ]
    return {one.__name__: one for one in (*ours, *theirs, convergence.Curves, Progress)}


def save_estimator(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, with all that it needs to predict and to go on learning."""
    writer = Writer()
    data = writer.write(estimator, type(estimator).__name__)
    write(path, writer.arrays, {"estimator": data}, KIND)


def load_estimator(path: str | os.PathLike[str], custom: Mapping[str, Any] | None = None) -> Any:
    """The estimator of a file."""
    arrays, data = read(path, KIND)
    return Reader(arrays, custom or {}, path).read(data["estimator"])


class Writer:
    """Values as JSON; arrays of numbers are put aside."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}

    def write(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value  # NaN and infinities too: the file's JSON has words for them
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if hasattr(value, "to_numpy"):  # an Index of pandas', a column of a data frame
            return self._array(np.asarray(value.to_numpy()), where)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), where)}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, list | tuple | set | frozenset):
            kind = "tuple" if isinstance(value, tuple) else "list" if isinstance(value, list) else "set"
            items = sorted(value, key=str) if kind == "set" else value
            return {kind: [self.write(item, f"{where}[{i}]") for i, item in enumerate(items)]}
        if isinstance(value, dict):
            return {"dict": [[self.write(k, where), self.write(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        return self._object(value, where)

    def _array(self, array: Any, where: str) -> Any:
        if array.dtype.kind in "biuf":
            name = str(len(self.arrays))
            self.arrays[name] = np.asarray(array, order="C")  # a number stays one, not an array of one
            return {"array": name}
        if array.dtype.kind in "mM":
            return {"times": self._array(array.astype(np.int64), where), "unit": array.dtype.str}
        if array.dtype.kind not in "OUST":
            raise StorageError(f"{where}: an array of {array.dtype} cannot be stored")
        kind = "O" if array.dtype.kind == "T" else array.dtype.str
        return {"texts": self.write(array.ravel().tolist(), where), "shape": list(array.shape), "dtype": kind}

    def _object(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if isinstance(value, Model):
            arrays, data = described(value)
            stored = {key: self._array(np.asarray(a), where) for key, a in arrays.items()}
            return {"model": data, "arrays": stored, "progress": self.write(value.progress, where)}
        if where.endswith(".monitor"):  # a function or a scorer: prediction does not need it
            value = scorer(value)
        if isinstance(value, Metric):
            return {"metric": value.name, "mode": value.mode}
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None
        if classes().get(name) is type(value):
            state = _fields(value)
            return {"object": name, "state": {k: self.write(v, f"{where}.{k}") for k, v in state.items()}}
        try:
            return {"record": describe(value)}
        except ConfigError as error:
            raise StorageError(f"{where} is {value!r:.100}, which cannot be stored: {error}") from error


def _fields(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return {k: v for k, v in vars(value).items() if k not in FORGOTTEN}


class Reader:
    """The way back."""

    def __init__(self, arrays: Mapping[str, Any], custom: Mapping[str, Any], path: Any) -> None:
        self.arrays, self.custom, self.path = arrays, custom, path

    def read(self, data: Any) -> Any:
        if not isinstance(data, dict):
            if data is None or isinstance(data, bool | int | float | str):
                return data
            raise self._wrong(data)
        kinds: dict[str, Callable[[Any], Any]] = {
            "array": lambda name: self.arrays[name],
            "scalar": lambda inner: self.read(inner)[()],
            "dtype": np.dtype,
            "tuple": lambda items: tuple(map(self.read, items)),
            "list": lambda items: list(map(self.read, items)),
            "set": lambda items: set(map(self.read, items)),
            "dict": lambda items: {self.read(k): self.read(v) for k, v in items},
            "slice": lambda ends: slice(*ends),
            "times": lambda inner: self.read(inner).astype(data["unit"]),
            "texts": self._texts(data),
            "model": lambda described: self._model(data),
            "metric": lambda name: METRICS.get(name) or self._own_metric(name, data["mode"]),
            "object": lambda name: self._object(name, data["state"]),
            "record": lambda record: restore(record, self.custom),
        }
        kind = next(iter(data), "")  # the first key says what it is
        if kind not in kinds:
            raise self._wrong(data)
        try:
            return kinds[kind](data[kind])
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._wrong(data) from error

    def _texts(self, data: Any) -> Callable[[Any], Any]:
        def made(values: Any) -> Any:
            array = np.empty(len(items := self.read(values)), dtype=object)
            array[:] = items
            return array.astype(data["dtype"]).reshape(data["shape"])

        return made

    def _model(self, data: Any) -> Model:
        arrays = {key: self.read(value) for key, value in data["arrays"].items()}
        model = rebuilt(
            arrays, {**data["model"], "own_metrics": []}, self.custom, self.path
        )  # `monitor` brings its own
        progress = self.read(data["progress"])
        if progress is not None:
            same = all(np.array_equal(progress.shown[k], model.params[k]) for k in model.params)
            raw = (
                model.params
                if same and progress.raw.keys() == progress.shown.keys() and _equal(progress)
                else progress.raw
            )
            model.progress = Progress(progress.rule, progress.step, progress.epoch, raw, model.params)
        return model

    def _own_metric(self, name: str, mode: str) -> Metric:
        if name in self.custom:
            return Metric(name, self.custom[name], mode=mode)

        def missing(y: Any, prediction: Any) -> float:
            raise StorageError(
                f"the metric {name} is a function and not in the file: load(path, custom={{{name!r}: ...}})"
            )

        return Metric(name, missing, mode=mode)

    def _object(self, name: str, state: dict[str, Any]) -> Any:
        found = classes().get(name)
        if found is None:
            raise StorageError(
                f"{self.path} holds a {name!r:.80}, which pellucid does not know: a newer version's file?"
            )
        values = {key: self.read(value) for key, value in state.items()}
        if is_dataclass(found):
            return found(**values)
        made: Any = object.__new__(found)
        made.__dict__.update({key: () for key in FORGOTTEN if _takes(found, key)} | values)
        return made

    def _wrong(self, data: Any) -> StorageError:
        return StorageError(f"{self.path}: {data!r:.120} is not what pellucid writes")


def _equal(progress: Progress) -> bool:
    return all(np.array_equal(progress.raw[k], progress.shown[k]) for k in progress.raw)


def _takes(cls: Any, name: str) -> bool:
    names: list[str] = cls._get_param_names() if hasattr(cls, "_get_param_names") else []
    return name in names
