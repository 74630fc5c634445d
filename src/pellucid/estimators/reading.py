"""What is in an estimator's file, as values again. Nothing is looked up or called by a name that is not in a table."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.data.types import Array
from pellucid.errors import PellucidError
from pellucid.estimators.upgrades import UPGRADES
from pellucid.train import Metric, Model
from pellucid.train.files.container import COUNTS, entry, must_match, short
from pellucid.train.files.models import rebuilt
from pellucid.train.files.records import restore
from pellucid.train.metrics import METRICS
from pellucid.train.model import Progress

DTYPE = re.compile(r"[<>=|]?(O8?|[biufUS]\d{1,10}|[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?)")


class StorageError(PellucidError, ValueError):
    """An estimator that cannot be stored, or a file that holds something else."""


def text_room(items: list[object]) -> int:
    """Bytes that an array of these texts may take. A wider one, mostly padding, is stored as objects instead.

    So no array that a file asks for is much larger than the file.
    """
    return 4096 + 64 * sum(len(item) + 1 for item in items if isinstance(item, str | bytes))


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
        same = all(np.array_equal(progress.shown[k], model.params[k]) for k in model.params)
        raw = model.params if same and _equal(progress) else progress.raw
        step, epoch = operator.index(progress.step), operator.index(progress.epoch)
        model.progress = Progress(progress.rule, step, epoch, raw, model.params)
        return model

    def _own_metric(self, name: str, mode: str) -> Metric:
        if name in self.custom:
            return Metric(name, self.custom[name], mode=mode)

        def missing(y: Array, prediction: Array) -> float:
            raise StorageError(
                f"the metric {name} is a function and not in the file: load(path, custom={{{name!r}: ...}})"
            )

        return Metric(name, missing, mode=mode)

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


def _equal(progress: Progress) -> bool:
    return all(np.array_equal(progress.raw[k], progress.shown[k]) for k in progress.raw)
