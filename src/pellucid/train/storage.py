"""Models in files: described in JSON, arrays in safetensors. Loading never executes code."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.train.config import describe, restore
from pellucid.train.files import read, write
from pellucid.train.history import History
from pellucid.train.metrics import METRICS
from pellucid.train.model import Model

KIND = "model"


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; metrics of one's own are left out (they are not needed to predict)."""
    write(path, *described(model), KIND)


def described(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """A model as named arrays and plain data."""
    arrays = {f"params/{k}": np.asarray(v) for k, v in model.params.items()}
    arrays |= {f"state/{k}": np.asarray(v) for k, v in model.state.items()}
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
        "engine": model.engine,
        "threads": model.threads,
        "compiled": model.compiled,
        "history": {"epochs": model.history.epochs, "stopped": model.history.stopped},
    }
    return arrays, metadata


def load(path: str | os.PathLike[str], custom: Mapping[str, Any] | None = None) -> Model:
    """A model from a file. Layers, activations and losses of one's own are given by name in `custom`.

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


def rebuilt(arrays: Mapping[str, Any], data: dict[str, Any], custom: Mapping[str, Any] | None, path: Any) -> Model:
    """The model that `described` described."""
    own = [name for name in data["own_metrics"] if name not in (custom or {})]
    if own:
        warnings.warn(
            f"{path}: the metrics {own} are functions and not in the file: give custom={{name: function}}", stacklevel=2
        )
    metrics = data["metrics"] + [(custom or {})[name] for name in data["own_metrics"] if name not in own]
    model = Model(
        restore(data["net"], custom),
        restore(data["loss"], custom),
        restore(data["optimizer"], custom),
        metrics,
        penalty=None if data["penalty"] is None else restore(data["penalty"], custom),
        dtype=data["dtype"],
        settings={k: restore(v, custom) for k, v in data["settings"].items()},
        engine=data.get("engine", "auto"),
        threads=data.get("threads"),
    )
    model.compiled = data.get("compiled", model.compiled)  # so that the same bits are predicted
    model.features = tuple(data["features"])
    for key, value in arrays.items():
        part, _, name = key.partition("/")
        (model.params if part == "params" else model.state)[name] = value[()] if value.ndim == 0 else value
    model.history = History(data["history"]["epochs"], data["history"]["stopped"])
    return model
