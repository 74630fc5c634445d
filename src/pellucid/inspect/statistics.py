"""Statistics of one array: its moments, its ends, its zeros, its histogram.

`measure` is plain NumPy that can be recorded: it computes on arrays, and inside the engine where it is part of a
graph, so that no activation has to be copied out. `Statistics` is what becomes of its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.graph.primitives.sorting import histogram

BINS = 64
"""Bins of a histogram."""

REACH = 5.0
"""Deviations from the mean at which a histogram ends: what is further out is counted in its last bin."""

NUMBERS = ("mean", "std", "low", "high", "zeros")
"""The numbers that `measure` gives, in order."""


def measure(x: Any) -> tuple[Any, Any]:
    """`NUMBERS` of an array, and its histogram.   (...) -> (5,), (64,)"""
    exact = x.astype(np.float64)  # in one pass over the array: in double precision the squares lose nothing that counts
    mean, low, high = np.mean(exact), np.min(x), np.max(x)
    std = np.sqrt(np.maximum(np.mean(np.square(exact)) - np.square(mean), 0.0))
    zeros = np.mean((x == 0.0).astype(np.float64))
    lower, width = bounds(mean, std, low, high)
    return np.stack([mean, std, low, high, zeros]), histogram(x, lower, BINS / width, bins=BINS)


def bounds(mean: Any, std: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Where a histogram begins, and how wide it is: all numbers, or those within `REACH` deviations of the mean."""
    lower = np.maximum(low, mean - REACH * std)
    upper = np.minimum(high, mean + REACH * std)
    wide = upper > lower  # an array of one number only has a histogram of width 1 around it
    return np.where(wide, lower, lower - 0.5), np.where(wide, upper - lower, 1.0)


@dataclass(frozen=True)
class Statistics:
    """What an array holds, in a few numbers.

    `low` and `high` are its smallest and largest number, `zeros` the share that is exactly 0. `counts` is a histogram
    of 64 equal bins between `bounds`, which end five deviations from the mean: what is further out is in the last bin.

    >>> import numpy as np
    >>> from pellucid import inspect
    >>> s = inspect.Statistics.of(np.array([0.0, 1.0, 2.0, 3.0]))
    >>> s.mean, s.low, s.high, s.zeros, sum(s.counts)
    (1.5, 0.0, 3.0, 0.25, 4)
    """

    count: int
    mean: float
    std: float
    low: float
    high: float
    zeros: float
    counts: tuple[int, ...]
    bounds: tuple[float, float]

    @staticmethod
    def of(x: Any) -> Statistics:
        """The statistics of any array."""
        return Statistics.read(*measure(np.asarray(x)))

    @staticmethod
    def read(numbers: Any, counts: Any) -> Statistics:
        """Out of what `measure` gives."""
        mean, std, low, high, zeros = (float(number) for number in numbers)
        count = int(np.sum(counts))
        if not np.isfinite(std):
            return Statistics(count, mean, std, low, high, zeros, (0,) * BINS, (0.0, 1.0))
        lower, width = (float(number) for number in bounds(mean, std, low, high))
        return Statistics(count, mean, std, low, high, zeros, tuple(int(k) for k in counts), (lower, lower + width))

    @property
    def rms(self) -> float:
        """The root mean square."""
        return float(np.hypot(self.mean, self.std))

    @property
    def finite(self) -> bool:
        """Is every number finite? (Else there is no histogram.)"""
        return bool(np.isfinite([self.mean, self.std, self.low, self.high]).all())

    @property
    def edges(self) -> Any:
        """The edges of the histogram.   (65,)"""
        return np.linspace(*self.bounds, BINS + 1)

    def quantile(self, q: float) -> float:
        """About the number below which a share `q` lies, from the histogram: to a bin, and within it by its share."""
        if not 0.0 <= q <= 1.0:
            raise ValueError(f"quantile takes a share from 0 to 1, got {q!r}")
        if not self.finite or not self.count:
            return float("nan")
        if self.std == 0.0:
            return self.mean
        edges = self.edges
        edges[0], edges[-1] = self.low, self.high
        cumulative = np.concatenate([[0.0], np.cumsum(self.counts)]) / self.count
        return float(np.interp(q, cumulative, edges))
