"""Models in files: described in JSON, arrays in safetensors. Loading never executes code."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.engine.compile import ENGINES
from pellucid.errors import PellucidError
from pellucid.graph.core.spec import Spec
from pellucid.graph.primitives.products import PRECISIONS
from pellucid.processors import usable
from pellucid.train.files.container import (
    COUNT,
    COUNTS,
    MAPPING,
    TEXTS,
    CheckpointError,
    among,
    entry,
    joined,
    maybe,
    must_match,
    parted,
    read,
    short,
    write,
)
from pellucid.train.files.records import describe, restore
from pellucid.train.files.summary import summary_of
from pellucid.train.metrics import METRICS
from pellucid.train.model import Model

KIND = "model"


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; metrics of one's own are left out (they are not needed to predict)."""
    write(path, *described(model), KIND, summary_of(model).plain())


def described(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """A model as named arrays and plain data."""
    arrays = joined({"params": model.params, "state": model.state})
    metadata = {
        "net": describe(model.net),
        "loss": describe(model.loss),
        "optimizer": describe(model.optimizer),
        "penalty": None if model.penalty is None else describe(model.penalty),
        "settings": {k: describe(v) for k, v in model.settings.items()},
        "metrics": [m.name for m in model.metrics if METRICS.get(m.name) is m],
        "own_metrics": [m.name for m in model.metrics if METRICS.get(m.name) is not m],
        "dtype": model.dtype.name,
        "features": list(model.features),
        "engine": model.asked_engine,
        "threads": model.threads,
        "precision": model.precision,
        "compiled": model.compiled,
        "history": model.history.described(),
    }
    return arrays, metadata


def load(path: str | os.PathLike[str], custom: Mapping[str, Any] | None = None) -> Model:
    """A model from a file.

    Parameters
    ----------
    path : str | PathLike
        of the file
    custom : Mapping[str, Any] | None
        layers, activations and losses of one's own, by name

    Returns
    -------
    Model
        as it was saved

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from pellucid import nn
    >>> model = Model(nn.mlp((4,), 1), "squared_error").initialize(3)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.pel"
    >>> model.save(file)
    >>> X = np.ones((2, 3))
    >>> bool(np.array_equal(load(file).predict(X), model.predict(X)))
    True
    """
    return rebuilt(*read(path, KIND), custom, path)


def rebuilt(arrays: Mapping[str, Any], data: Any, custom: Mapping[str, Any] | None, path: Any) -> Model:
    """The model that `described` described; an error of ours where the file says anything else."""
    try:
        model = _model(data, custom or {}, path)
        model.features = tuple(entry(data, "features", COUNTS, path))
        trees = parted(arrays)
        _must_belong(model, trees, path)
        # the same bits are predicted
        model.compiled = entry(data, "compiled", among(True, False), path, default=model.compiled)
    except (PellucidError, Warning):
        raise
    except Exception as error:  # what the classes of the file's records say to values that they never gave
        raise CheckpointError(f"{path}: a model cannot be made from what the file says ({error!r:.200})") from error
    model.params, model.state = trees["params"], trees["state"]
    model.history = model.new_history().restored(entry(data, "history", MAPPING, path), path)
    return model


def _model(data: Any, custom: Mapping[str, Any], path: Any) -> Model:
    """Without parameters."""
    names, own_names = (entry(data, key, TEXTS, path) for key in ("metrics", "own_metrics"))
    own = [name for name in own_names if name not in custom]
    if own:
        warnings.warn(
            f"{path}: the metrics {own} are functions and not in the file: give custom={{name: function}}", stacklevel=4
        )
    threads = entry(data, "threads", maybe(COUNT), path, default=None)
    penalty = None if data.get("penalty") is None else _record(data, "penalty", nn.Penalty, custom, path)
    return Model(
        _record(data, "net", nn.Layer, custom, path),
        _record(data, "loss", nn.Loss, custom, path),
        _record(data, "optimizer", optim.Optimizer, custom, path),
        names + [custom[name] for name in own_names if name not in own],
        penalty=penalty,
        dtype=entry(data, "dtype", among("float16", "float32", "float64"), path),
        settings={k: restore(v, custom) for k, v in entry(data, "settings", MAPPING, path).items()},
        engine=entry(data, "engine", among(*ENGINES), path, default="auto"),
        threads=None if threads is None else min(threads, usable()),  # a file asks for no more than there are
        precision=entry(data, "precision", among(*PRECISIONS), path, default=data.get("products", "full")),
    )


def _record(data: Any, name: str, kind: type, custom: Mapping[str, Any], path: Any) -> Any:
    """A record of this class."""
    record = restore(entry(data, name, MAPPING, path), custom)
    if not isinstance(record, kind):
        raise CheckpointError(f"{path}: {name!r} is to be a {kind.__name__}, got {short(record)}")
    return record


def _must_belong(model: Model, trees: Mapping[str, dict[str, Any]], path: Any) -> None:
    """Are these the arrays of this network? Shapes are compared before anything of their size is made."""
    expected: dict[str, Any] = {"params": {}, "state": {}}
    if model.features:
        expected = {"params": model.net.parameters(model.features), "state": model.net.state(model.features)}
    for part in {**expected, **trees}:
        specs = {name: Spec(np.shape(start), model.dtype) for name, start in expected[part].items()}
        must_match(path, part, specs, trees.get(part, {}), "the network that the file describes: it cannot be used")
