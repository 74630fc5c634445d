"""Weights of rows: those of their classes, and all of them in a unit whose sums are numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.amounts import check_number
from pellucid.data.types import Array
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import sample_weights


def in_reach(weights: Any, dtype: Any) -> tuple[Any, float]:
    """Weights in another unit, and that unit: in the given precision sums of them and products with losses are numbers.

    Only ratios of weights count. The unit is 1 where nothing has to be done, else the largest weight: equal weights
    are 1 then, whatever they were.

    >>> in_reach(np.array([1.0, 2.0]), np.float32)
    (array([1., 2.], dtype=float32), 1.0)
    >>> in_reach(np.array([0.0, 2e-300, 4e-300]), np.float32)
    (array([0. , 0.5, 1. ], dtype=float32), 4e-300)
    """
    top, limits = float(np.max(weights)), np.finfo(dtype)
    if top == 0 or math.sqrt(limits.tiny) <= top <= math.sqrt(limits.max):
        return np.asarray(weights, dtype), 1.0
    return (np.asarray(weights, np.float64) / top).astype(dtype), top


def joint(weights: Array | None, others: Array | None) -> Array | None:
    """The product of two kinds of weights, each of which may be missing."""
    if weights is None or others is None:
        return others if weights is None else weights
    return weights * others


def class_weights(which: Any, y: Any, weights: Any = None, *, others: float | None = None) -> Any:
    """Weights of rows by their classes, times those of the rows: a dict, or "balanced" (n / (classes * count)).

    `others` is the weight of classes that a dict does not name; without it there must be none. Not all classes that it
    names need be in y. For several labels a row, y of shape (n, k), "balanced" is the product over the columns.

    >>> class_weights({"rare": 3.0}, np.array(["rare", "usual"]), others=1.0)
    array([3., 1.])
    """
    by_class = _by_class(which, np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y), others)
    if weights is None:
        return by_class
    n = len(by_class)
    factors = (in_reach(sample_weights(each, n), np.float64)[0] for each in (by_class, weights))
    return np.multiply(*factors)


def balanced(counts: Array) -> Array:
    """The weight of the rows of each class, by which all classes count alike: n / (classes * count).

    >>> balanced(np.array([1, 3])).round(3).tolist()
    [2.0, 0.667]
    """
    return np.asarray(np.sum(counts) / (len(counts) * counts))


def _by_class(which: Any, labels: Any, others: float | None) -> Any:
    if labels.ndim == 2 and which == "balanced" and others is not None:
        return np.prod([_by_class(which, column, others) for column in labels.T], axis=0)
    if labels.ndim != 1:
        raise ShapeError(f"class_weight needs one label for each row, got y of shape {labels.shape}")
    if which == "balanced":
        _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        return balanced(counts)[inverse]
    if not isinstance(which, dict):
        raise ValueError(f"class_weight is 'balanced' or a dict of class and weight, got {which!r}")
    check_number("a number from 0", **{f"class_weight of {label!r}": weight for label, weight in which.items()})
    unnamed = set(np.unique(labels).tolist()) - set(which)
    if unnamed and others is None:
        raise ValueError(f"class_weight has no weight for {sorted(unnamed)}: give one for each class")
    return np.array([which.get(label, others) for label in labels.tolist()], float)
