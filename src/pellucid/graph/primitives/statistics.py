"""Arrays in a few numbers: moments and ends of an array or of its columns, its histogram, columns that are alike.

They have no derivatives: they are for looking on. Each is one pass or two over its array, so that a look inside an
executor costs little.
"""

from __future__ import annotations

from collections.abc import Callable
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


# The formulas, over NumPy or a module of arrays that has its functions (`xp`).


def _moments(xp: Any, x: Any, axis: int | None) -> list[Any]:
    exact = x.astype(xp.float64)
    mean = xp.mean(exact, axis=axis)
    std = xp.sqrt(xp.maximum(xp.mean(xp.square(exact), axis=axis) - xp.square(mean), 0.0))
    broken = mean * 0.0  # NaN where the mean is not finite, and so are the ends then
    return [mean, std, xp.min(exact, axis=axis) + broken, xp.max(exact, axis=axis) + broken]


def bounds(mean: Any, std: Any, low: Any, high: Any, xp: Any = np) -> tuple[Any, Any]:
    """Where the histogram of an array begins and ends: at its ends, or `REACH` deviations from its mean."""
    lower, upper = xp.maximum(low, mean - REACH * std), xp.minimum(high, mean + REACH * std)
    wide = upper > lower
    return xp.where(wide, lower, lower - 0.5), xp.where(wide, upper, lower + 0.5)


def distribution_of(xp: Any, x: Any, *, bins: int, counts_of: Callable[[Any, int], Any]) -> Any:
    """Moments, share of zeros, count, histogram. `counts_of(numbers, bins)` tells how often each of 0 ... comes."""
    mean, std, low, high = moments = _moments(xp, x, None)
    lower, upper = bounds(mean, std, low, high, xp)
    places = (x.ravel().astype(xp.float64) - lower) * (bins / (upper - lower))
    finite = xp.all(xp.isfinite(xp.stack(moments)))
    each = xp.clip(xp.where(finite, places, 0.0), 0, bins - 1).astype(xp.int64)
    head = [*moments, xp.mean(x == 0, dtype=xp.float64), xp.float64(x.size)]
    return xp.concatenate([xp.stack(head), xp.where(finite, counts_of(each, bins), 0.0)])


def column_moments_of(xp: Any, x: Any) -> Any:
    """Mean, deviation, smallest, largest of each column."""
    return xp.stack(_moments(xp, x, 0))


def likeness_of(xp: Any, products: Any) -> Any:
    """Of products of columns C: (tr C)^2 / |C|^2; for each column the first that it is a copy of."""
    squares = xp.square(products.astype(xp.float64))
    sizes = xp.sqrt(xp.maximum(xp.diagonal(products).astype(xp.float64), 0.0))
    total = xp.sum(squares)
    moves = sizes > STILL * xp.max(sizes)
    same = (products >= (1.0 - SAME) * xp.outer(sizes, sizes)) & xp.outer(moves, moves)
    first = xp.argmax(same | xp.eye(len(sizes), dtype=bool), axis=0)
    rank = xp.where(total > 0, xp.sum(xp.square(sizes)) ** 2 / xp.where(total > 0, total, 1.0), 0.0)
    return xp.concatenate([rank[None], first.astype(xp.float64)])


# The primitives.


@np.errstate(invalid="ignore", over="ignore")
def _distribution(x: Any, *, bins: int) -> Any:
    return distribution_of(np, x, bins=bins, counts_of=lambda each, bins: np.bincount(each, minlength=bins))


@np.errstate(invalid="ignore", over="ignore")
def _column_moments(x: Any) -> Any:
    return column_moments_of(np, x)


distribution = primitive(  # mean, deviation, smallest, largest, share of zeros, count, histogram   (...) -> (6 + bins,)
    "distribution",
    _distribution,
    shape=lambda x, *, bins: Spec((6 + bins,), np.float64),
)

column_moments = primitive(  # mean, deviation, smallest, largest of each column   (n, k) -> (4, k)
    "column_moments",
    _column_moments,
    shape=lambda x: Spec((4, x.shape[1]), np.float64),
)

likeness = primitive(  # (k, k) -> (1 + k,)
    "likeness",
    lambda products: likeness_of(np, products),
    shape=lambda products: Spec((1 + products.shape[0],), np.float64),
)
