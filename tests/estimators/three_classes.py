"""Two hundred rows of three classes, a number for each, and small estimators of both kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from pellucid.estimators import MLPClassifier, MLPRegressor

X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
numbers = X[:, 0] + np.sin(2 * X[:, 1])


def classifier(**more: Any) -> MLPClassifier:
    return MLPClassifier(**{"hidden_layer_sizes": (12, 8), "max_iter": 4, "random_state": 0, "batch_size": 50, **more})


def regressor(**more: Any) -> MLPRegressor:
    settings = {"hidden_layer_sizes": (16,), "max_iter": 60, "random_state": 0, "batch_size": 50}
    return MLPRegressor(**{**settings, "learning_rate_init": 0.01, **more})
