"""Sixty rows with a target of every kind, and an estimator that is fitted on them in no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pellucid import load

SMALL: dict[str, Any] = {"hidden_layer_sizes": (8,), "max_iter": 3, "random_state": 0}
X = np.random.default_rng(0).normal(size=(60, 4))
TWO = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
NUMBERS = 2 * X[:, 0] + X[:, 1]
LABELS = (X[:, :3] > 0).astype(int)
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.arange(60) % 5, "c": [f"k{i % 20}" for i in range(60)]})


def saved_and_loaded(estimator: Any, path: Path, **custom: Any) -> Any:
    estimator.save(path / "model.plc")
    return load(path / "model.plc", custom=custom)


def worst(y: Any, prediction: Any) -> float:
    """A metric of one's own: the largest error."""
    return float(np.abs(y - prediction).max())
