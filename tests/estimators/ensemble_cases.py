"""Data and members for ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from pellucid.estimators import MLPClassifier, MLPRegressor
from tests.estimators.animals import animals_of

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
LABELS = animals_of(X)
NUMBERS = X[:, 0] ** 2 - X[:, 1] + 0.1 * rng.normal(size=120)
WEIGHTS = rng.uniform(0.5, 2.0, 120)
QUICK: dict[str, Any] = {"max_iter": 8, "learning_rate_init": 0.01, "batch_size": 32}


def classifier(**settings: Any) -> MLPClassifier:
    return MLPClassifier((8,), **{**QUICK, **settings})


def regressor(**settings: Any) -> MLPRegressor:
    return MLPRegressor(hidden_layer_sizes=(8,), **{**QUICK, **settings})


def same(a: Any, b: Any) -> None:
    """Two members have the same parameters, to the bit."""
    assert_array_equal(a.model_.params.keys(), b.model_.params.keys())
    for name, w in a.model_.params.items():
        assert_array_equal(w, b.model_.params[name])
