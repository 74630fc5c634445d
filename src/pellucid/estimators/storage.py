"""Estimators in files: everything they know as plain data and arrays. Loading never executes code.

An object of a class in the table below is stored as its attributes. Arrays of numbers go to the file's arrays, texts
and mixed values to its JSON. Callbacks, scorers and functions of one's own are not stored: they come back by name from
`custom`, or, where prediction does not need them, not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.estimators.held import scorer
from pellucid.estimators.reading import FORGOTTEN, Reader, text_room
from pellucid.estimators.reading import StorageError as StorageError
from pellucid.train import Metric, Model
from pellucid.train.files.container import read, write
from pellucid.train.files.entries import MAPPING, entry, short
from pellucid.train.files.models import described
from pellucid.train.files.records import ConfigError, describe
from pellucid.train.model import Progress

KIND = "estimator"


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
        items = array.ravel().tolist()
        roomy = array.dtype.kind == "T" or array.nbytes > text_room(items)
        kind = "O" if roomy else array.dtype.str
        return {"texts": self.write(items, where), "shape": list(array.shape), "dtype": kind}

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
