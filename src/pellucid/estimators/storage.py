"""Estimators in files: everything they know as plain data and arrays. Loading never executes code.

An object of a class in the table below is stored as its attributes. Arrays of numbers go to the file's arrays, texts
and mixed values to its JSON. Callbacks, scorers and functions of one's own are not stored: they come back by name from
`custom`, or, where prediction does not need them, not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.data.types import Array, Tree
from pellucid.estimators.reading import Reader as Reader
from pellucid.estimators.reading import StorageError as StorageError
from pellucid.estimators.reading import text_room
from pellucid.estimators.recipe import scorer
from pellucid.train import Metric, Model
from pellucid.train.files.container import MAPPING, entry, read, short, write
from pellucid.train.files.models import described
from pellucid.train.files.records import ConfigError, describe
from pellucid.train.model import Progress

KIND = "estimator"
FORGOTTEN = ("callbacks",)
"""Parameters that are not stored."""


@cache
def classes() -> dict[str, type]:
    """What may be in a file, by name: our estimators and their parts, and the transformers they use."""
    from sklearn import decomposition, impute, preprocessing

    from pellucid import estimators
    from pellucid.estimators.calibration import Calibration
    from pellucid.estimators.class_target import ClassTarget
    from pellucid.estimators.convergence import Curves
    from pellucid.estimators.ensembles.outputs import ClassOutputs, NumberOutputs
    from pellucid.estimators.fitted import Fitted
    from pellucid.estimators.number_target import NumberTarget, Units
    from pellucid.estimators.tables.encoding import Encoding
    from pellucid.estimators.tables.layout import Layout

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
    targets = [ClassTarget, NumberTarget, Units, ClassOutputs, NumberOutputs]
    records = [*targets, Fitted, Calibration, Curves, Layout, Encoding, Progress]
    return {one.__name__: one for one in (*ours, *theirs, *records)}


def save_estimator(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, with all that it needs to predict and to go on learning."""
    writer = Writer()
    data = writer.write(estimator, type(estimator).__name__)
    write(path, writer.arrays, {"estimator": data}, KIND)


def load_estimator(path: str | os.PathLike[str], custom: Mapping[str, object] | None = None) -> BaseEstimator:
    """The estimator of a file."""
    arrays, data = read(path, KIND)
    try:
        estimator = Reader(arrays, custom or {}, path, classes()).read(entry(data, "estimator", MAPPING, path))
    except RecursionError:
        raise StorageError(f"{path} is nested too deeply to be an estimator") from None
    if not isinstance(estimator, BaseEstimator):
        raise StorageError(f"{path} is to hold an estimator, got {short(estimator)}")
    return estimator


class Writer:
    """Values as JSON; arrays of numbers are put aside."""

    def __init__(self) -> None:
        self.arrays: Tree = {}

    def write(self, value: object, where: str) -> Any:
        """A value as JSON has it; `where` it stands is said in errors."""
        match value:
            case None | bool() | int() | str() | float():  # NaN and infinities too: the file's JSON has words for them
                return value
            case np.ndarray():
                return self._array(value, where)
            case np.generic():
                return {"scalar": self._array(np.asarray(value), where)}
            case np.dtype():
                return {"dtype": value.str}
            case list():
                return {"list": self._items(value, where)}
            case tuple():
                return {"tuple": self._items(value, where)}
            case set() | frozenset():
                return {"set": self._items(sorted(value, key=str), where)}
            case dict():
                return {"dict": [[self.write(k, where), self.write(v, f"{where}[{k!r}]")] for k, v in value.items()]}
            case slice():
                return {"slice": [value.start, value.stop, value.step]}
        if hasattr(value, "to_numpy"):  # an Index of pandas', a column of a data frame
            return self._array(np.asarray(value.to_numpy()), where)
        return self._object(value, where)

    def _items(self, items: Iterable[object], where: str) -> list[Any]:
        return [self.write(item, f"{where}[{i}]") for i, item in enumerate(items)]

    def _array(self, array: Array, where: str) -> dict[str, Any]:
        if array.dtype.kind in "biuf":
            name = str(len(self.arrays))
            self.arrays[name] = np.asarray(array, order="C")  # a number stays one, not an array of one
            return {"array": name}
        if array.dtype.kind in "mM":
            return {"times": self._array(array.astype(np.int64), where), "unit": array.dtype.str}
        if array.dtype.kind not in "OUST":
            raise StorageError(f"{where}: an array of {array.dtype} cannot be stored")
        items = array.ravel().tolist()
        roomy = array.dtype.kind == "T" or array.nbytes > text_room(items)
        kind = "O" if roomy else array.dtype.str
        return {"texts": self.write(items, where), "shape": list(array.shape), "dtype": kind}

    def _object(self, value: object, where: str) -> dict[str, Any] | None:
        name = type(value).__name__
        if where.endswith(".monitor"):  # a function or a scorer: prediction does not need it
            value = scorer(value)
        match value:
            case Model():
                arrays, data = described(value)
                stored = {key: self._array(np.asarray(a), where) for key, a in arrays.items()}
                return {"model": data, "arrays": stored, "progress": self.write(value.progress, where)}
            case Metric():
                return {"metric": value.name, "mode": value.mode}
            case np.random.RandomState() | np.random.Generator():
                return None
        if classes().get(name) is type(value):
            state = {key: self.write(one, f"{where}.{key}") for key, one in _fields(value).items()}
            return {"object": name, "state": state}
        try:
            return {"record": describe(value)}
        except ConfigError as error:
            raise StorageError(f"{where} is {value!r:.100}, which cannot be stored: {error}") from error


def _fields(value: object) -> dict[str, object]:
    """Attributes of an estimator, with all that was learned; fields of a record."""
    if isinstance(value, BaseEstimator):
        return {name: one for name, one in vars(value).items() if name not in FORGOTTEN}
    return {one.name: getattr(value, one.name) for one in fields(value)}  # type: ignore[arg-type]
