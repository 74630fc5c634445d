"""Estimators in files: everything they know as plain data and arrays. Loading never executes code.

An object of a class in the table `CLASSES` is stored as its attributes. Arrays of numbers go to the file's arrays,
texts and mixed values to its JSON. Callbacks, scorers and functions of one's own are not stored: they come back by name
from `custom`, or, where prediction does not need them, not at all.
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.data.types import Array, Tree
from pellucid.errors import PellucidError
from pellucid.estimators.recipe import scorer
from pellucid.estimators.stored_classes import CLASSES, UPGRADES
from pellucid.estimators.summaries import summary_of_estimator
from pellucid.train import METRICS, Metric, Model
from pellucid.train.files.container import COUNTS, MAPPING, entry, must_match, read, short, write
from pellucid.train.files.models import described, rebuilt
from pellucid.train.files.records import ConfigError, describe, restore
from pellucid.train.model import Progress

KIND = "estimator"
CALLBACKS = ("callbacks", "_skl_callbacks")
"""Attributes that are not stored: callbacks of ours, and of scikit-learn."""

DTYPE = re.compile(r"[<>=|]?(O8?|[biufUS]\d{1,10}|[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?)")


class StorageError(PellucidError, ValueError):
    """An estimator that cannot be stored, or a file that holds something else."""


def save_estimator(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, with all that it needs to predict and to go on learning."""
    writer = Writer()
    data = writer.write(estimator, type(estimator).__name__)
    write(path, writer.arrays, {"estimator": data}, KIND, summary_of_estimator(estimator).plain())


def load_estimator(path: str | os.PathLike[str], custom: Mapping[str, object] | None = None) -> BaseEstimator:
    """The estimator of a file."""
    arrays, data = read(path, KIND)
    try:
        estimator = Reader(arrays, custom or {}, path, CLASSES).read(entry(data, "estimator", MAPPING, path))
    except RecursionError:
        raise StorageError(f"{path} is nested too deeply to be an estimator") from None
    if not isinstance(estimator, BaseEstimator):
        raise StorageError(f"{path} is to hold an estimator, got {short(estimator)}")
    return estimator


def text_room(items: list[object]) -> int:
    """Bytes that an array of these texts may take. A wider one, mostly padding, is stored as objects instead.

    So no array that a file asks for is much larger than the file.
    """
    return 4096 + 64 * sum(len(item) + 1 for item in items if isinstance(item, str | bytes))


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
        if CLASSES.get(name) is type(value):
            state = {key: self.write(one, f"{where}.{key}") for key, one in _attributes(value).items()}
            return {"object": name, "state": state}
        try:
            return {"record": describe(value)}
        except ConfigError as error:
            raise StorageError(f"{where} is {value!r:.100}, which cannot be stored: {error}") from error


def _attributes(value: object) -> dict[str, Any]:
    """What is stored of an object: of a record its fields, and nothing that was computed from them and kept."""
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return {key: one for key, one in vars(value).items() if key not in CALLBACKS}


class Reader:
    """The way back from JSON and arrays. Sizes are looked at before anything is made of them."""

    def __init__(
        self,
        arrays: Mapping[str, Array],
        custom: Mapping[str, Any],
        path: str | os.PathLike[str],
        classes: Mapping[str, type],
    ) -> None:
        self.arrays, self.custom, self.path, self.classes = dict(arrays), custom, path, classes

    def read(self, data: object) -> Any:
        """The value that a `Writer` has written."""
        if not isinstance(data, dict):
            if data is None or isinstance(data, bool | int | float | str):
                return data
            raise self._wrong(data)
        kinds: dict[str, Callable[[Any], Any]] = {
            "array": self.arrays.pop,  # each is written for one place, so one place has it
            "scalar": lambda inner: self.read(inner)[()],
            "dtype": lambda name: _dtype(name, "biufOUSmM"),
            "tuple": lambda items: tuple(map(self.read, items)),
            "list": lambda items: list(map(self.read, items)),
            "set": lambda items: set(map(self.read, items)),
            "dict": lambda items: {self.read(k): self.read(v) for k, v in items},
            "slice": lambda ends: slice(*(None if end is None else operator.index(end) for end in ends)),
            "times": lambda inner: self._times(self.read(inner), data["unit"]),
            "texts": lambda values: self._texts(self.read(values), data),
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
        except (PellucidError, RecursionError, Warning):
            raise
        except Exception as error:  # what NumPy and the classes say to values that they never gave
            raise self._wrong(data) from error

    def _times(self, numbers: Array, unit: object) -> Array:
        if numbers.dtype != np.int64:
            raise ValueError(f"times are whole numbers of 64 bits, got {numbers.dtype}")
        return numbers.astype(_dtype(unit, "mM"))

    def _texts(self, items: object, data: dict[str, object]) -> Array:
        dtype, shape = _dtype(data["dtype"], "OUS"), entry(data, "shape", COUNTS, self.path)
        if not isinstance(items, list) or len(items) != math.prod(shape):
            raise ValueError(f"a list of {math.prod(shape)} values, got {short(items)}")
        if dtype.kind != "O" and len(items) * dtype.itemsize > text_room(items):
            raise StorageError(
                f"{self.path}: {len(items)} texts as {dtype} would take {len(items) * dtype.itemsize:,} bytes, but the "
                "file holds far less: it is not what pellucid writes"
            )
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.astype(dtype).reshape(shape)

    def _model(self, data: dict[str, Any]) -> Model:
        arrays = {key: self.read(value) for key, value in data["arrays"].items()}
        described = {**data["model"], "own_metrics": []}  # `monitor` brings its own
        model = rebuilt(arrays, described, self.custom, self.path)
        progress = self.read(data["progress"])
        if progress is None:
            return model
        for name in ("raw", "shown"):
            must_match(self.path, f"{name} params", model.params, getattr(progress, name), "the model")
        trees = (progress.shown, progress.raw)
        same = all(np.array_equal(tree[name], array) for tree in trees for name, array in model.params.items())
        step, epoch = operator.index(progress.step), operator.index(progress.epoch)
        model.progress = Progress(progress.rule, step, epoch, model.params if same else progress.raw, model.params)
        return model

    def _own_metric(self, name: str, mode: str) -> Metric:
        def missing(y: Array, prediction: Array) -> float:
            raise StorageError(
                f"the metric {name} is a function and not in the file: load(path, custom={{{name!r}: ...}})"
            )

        return Metric(name, self.custom.get(name, missing), mode=mode)

    def _object(self, name: str, state: dict[str, object]) -> object:
        cls = self.classes.get(name)
        if cls is None:
            raise StorageError(
                f"{self.path} holds a {name!r:.80}, which pellucid does not know: a newer version's file?"
            )
        values = {key: self.read(value) for key, value in state.items()}
        if name in UPGRADES:
            values = UPGRADES[name](values)
        if not issubclass(cls, BaseEstimator):
            return cls(**values)
        estimator = cls()  # parameters that the file lacks are the class's own
        estimator.__dict__.update(values)
        return estimator

    def _wrong(self, data: object) -> StorageError:
        return StorageError(f"{self.path}: {short(data)} is not what pellucid writes")


def _dtype(name: object, kinds: str) -> np.dtype[Any]:
    """A dtype by its short name, of one of these kinds."""
    if not (isinstance(name, str) and DTYPE.fullmatch(name)) or (dtype := np.dtype(name)).kind not in kinds:
        raise ValueError(f"a dtype of kind {', '.join(kinds)}, got {short(name)}")
    return dtype
