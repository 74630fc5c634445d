"""Statistics of one array: its moments, its ends, its zeros, its histogram.

`measure` is one operation of the graph: it computes on arrays, and inside the engine where it is part of a graph, so
that no activation has to be copied out. `Statistics` is what becomes of its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.graph.primitives.statistics import bounds, distribution

BINS = 64
"""Bins of a histogram."""

NUMBERS = ("mean", "std", "low", "high", "zeros", "count")
"""The numbers that `measure` gives first, in order; behind them stands the histogram."""


def measure(x: Any) -> Any:
    """`NUMBERS` of an array, and its histogram.   (...) -> (70,)"""
    return distribution(x, bins=BINS)


@dataclass(frozen=True)
class Statistics:
    """What an array holds, in a few numbers.

    Parameters
    ----------
    count : int
        how many numbers it has
    mean : float
        their mean
    std : float
        their deviation
    low : float
        the smallest
    high : float
        the largest
    zeros : float
        the share that is exactly 0
    counts : tuple[int, ...]
        a histogram of 64 equal bins between `bounds`; what is further out is in the last bin
    bounds : tuple[float, float]
        the ends of the histogram, five deviations from the mean

    Examples
    --------
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
        """The statistics of any array.

        Parameters
        ----------
        x : array
            any shape
        """
        return Statistics.read(measure(np.asarray(x)))

    @staticmethod
    def read(numbers: Any) -> Statistics:
        """Out of what `measure` gives.

        Parameters
        ----------
        numbers : array
            of the engine
        """
        mean, std, low, high, zeros, count, *histogram = (float(number) for number in numbers)
        lower, upper = bounds(mean, std, low, high) if np.isfinite(std) else (0.0, 1.0)
        counts, ends = tuple(int(number) for number in histogram), (float(lower), float(upper))
        return Statistics(int(count), mean, std, low, high, zeros, counts, ends)

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
        """About the number below which a share of all lies, from the histogram: to a bin, and within it by its share.

        Parameters
        ----------
        q : float
            the share, 0 to 1
        """
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
