"""Which estimator suits the data: a classifier or a regressor, for arrays or for tables."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import type_of_target

from pellucid.data.types import ArrayLike
from pellucid.estimators.classifier import MLPClassifier
from pellucid.estimators.protocols import Learner
from pellucid.estimators.regressor import MLPRegressor

FEW = 20
"""As many different whole numbers are still taken as classes."""


def choose_estimator(which: Learner | str, X: ArrayLike, y: ArrayLike) -> Learner:
    """The estimator itself, or for "auto" one that suits: see `holds_classes` and `is_frame`."""
    if not isinstance(which, str):
        if not hasattr(which, "fit") or not hasattr(which, "callbacks"):
            raise TypeError(f"tune: estimator is one of pellucid's, such as MLPClassifier(), or 'auto', got {which!r}")
        return which
    if which != "auto":
        raise ValueError(f"tune: estimator is 'auto' or an object such as MLPClassifier(), got {which!r}")
    classes = holds_classes(y)
    if is_frame(X):
        from pellucid.estimators.tables.tabular import TabularMLPClassifier, TabularMLPRegressor

        return TabularMLPClassifier() if classes else TabularMLPRegressor()
    return MLPClassifier() if classes else MLPRegressor()


def is_frame(X: ArrayLike) -> bool:
    """A data frame: it has named columns, each with its own type."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def holds_classes(y: ArrayLike) -> bool:
    """Text, booleans, categories, labels in zeros and ones; or at most 20 different whole numbers.

    >>> holds_classes(["a", "b"]), holds_classes([0, 1, 1]), holds_classes([0.5, 1.0]), holds_classes(range(100))
    (True, True, False, False)
    """
    values = np.asarray(y)
    numbers = values.dtype.kind in "iuf"
    if numbers and values.ndim == 1 and len(np.unique(values)) > FEW:  # scikit-learn 1.7 would warn of so many classes
        return False
    kind = type_of_target(values)
    if kind.startswith("continuous"):
        return False
    return kind == "multilabel-indicator" or not numbers or values.ndim == 1
