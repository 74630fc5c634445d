"""Histograms of any numbers, also of those that hardly differ."""

from __future__ import annotations

from typing import Any

import numpy as np


def histogram(values: Any, count: int, low: float | None = None, high: float | None = None) -> tuple[Any, Any]:
    """Counts and edges of equal bins between two ends (the smallest and largest); what is further out is at the ends.

    >>> counts, edges = histogram(np.array([1.0, 1.0 + 1e-16, 1.0]), 4)
    >>> int(counts.sum()), bool(edges[0] < 1.0 < edges[-1])
    (3, True)
    """
    low = float(np.min(values)) if low is None else low
    high = float(np.max(values)) if high is None else high
    reach = max(abs(low), abs(high))
    if not high - low > 1e-9 * reach:
        low, high = low - 0.5 * (reach or 1.0), high + 0.5 * (reach or 1.0)
    return np.histogram(np.clip(values, low, high), bins=count, range=(low, high))
