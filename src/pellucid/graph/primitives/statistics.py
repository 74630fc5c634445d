"""Arrays in a few numbers: moments and ends of an array or of its columns, its histogram, columns that are alike.

They have no derivatives: they are for looking on. Each is one pass or two over its array, so that a look inside an
executor costs little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.graph.core.primitive import primitive
from pellucid.graph.core.spec import Spec

REACH = 5.0
"""Deviations from the mean at which a histogram ends: what is further out is counted in its last bin."""

SAME = 1e-5
"""Columns are copies of each other where their correlation is that close to 1."""

STILL = 1e-6
"""A column that moves less than this share of the largest one does not move: it is no copy of another."""


def _moments(x: Any, axis: int | None) -> list[Any]:
    exact = x.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.mean(exact, axis=axis)
        std = np.sqrt(np.maximum(np.mean(np.square(exact), axis=axis) - np.square(mean), 0.0))
        broken = mean * 0.0  # NaN where the mean is not finite, and so are the ends then
        return [mean, std, np.min(exact, axis=axis) + broken, np.max(exact, axis=axis) + broken]


def bounds(mean: float, std: float, low: float, high: float) -> tuple[float, float]:
    """Where the histogram of an array begins and ends: at its ends, or `REACH` deviations from its mean."""
    lower, upper = max(low, mean - REACH * std), min(high, mean + REACH * std)
    return (lower, upper) if upper > lower else (lower - 0.5, lower + 0.5)


def _distribution(x: Any, *, bins: int) -> Any:
    moments = _moments(x, None)
    counts = np.zeros(bins)
    if np.isfinite(moments).all():
        lower, upper = bounds(*(float(number) for number in moments))
        places = (x.ravel().astype(np.float64) - lower) * (bins / (upper - lower))
        counts += np.bincount(np.clip(places, 0, bins - 1).astype(np.int64), minlength=bins)
    return np.concatenate([moments, [np.mean(x == 0), x.size], counts])


distribution = primitive(  # mean, deviation, smallest, largest, share of zeros, count, histogram   (...) -> (6 + bins,)
    "distribution",
    _distribution,
    shape=lambda x, *, bins: Spec((6 + bins,), np.float64),
)

column_moments = primitive(  # mean, deviation, smallest, largest of each column   (n, k) -> (4, k)
    "column_moments",
    lambda x: np.stack(_moments(x, 0)),
    shape=lambda x: Spec((4, x.shape[1]), np.float64),
)


def _likeness(products: Any) -> Any:
    squares = np.square(products.astype(np.float64))
    sizes = np.sqrt(np.maximum(np.diagonal(products).astype(np.float64), 0.0))
    total = np.sum(squares)
    moves = sizes > STILL * np.max(sizes)
    same = (products >= (1.0 - SAME) * np.outer(sizes, sizes)) & np.outer(moves, moves)
    first = np.argmax(same | np.eye(len(sizes), dtype=bool), axis=0)
    return np.concatenate([[np.sum(np.square(sizes)) ** 2 / total if total > 0 else 0.0], first])


likeness = primitive(  # of products of columns C: (tr C)^2 / |C|^2; for each column the first that it is a copy of
    "likeness",
    _likeness,
    shape=lambda products: Spec((1 + products.shape[0],), np.float64),
)
