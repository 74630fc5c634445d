"""Columns with long tails as they are: beside the clipped ones, for models that are straight lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.data.types import Array, Floats

BENT = 1e-4
"""The share of a column's variance that its scaled twin leaves unexplained: from there on a line in the one is none in
the other. Of numbers spread evenly it is 0.00014, of normal ones 0.0025, of exponential ones 0.04."""

FURTHER = 10.0
"""Times the range of the rows that were seen: so far beyond them a line may go on."""


@dataclass(frozen=True, eq=False)
class StraightColumns:
    """Where the columns stand among the numbers, their ends, means and deviations, (columns,) each."""

    places: Array
    low: Array
    high: Array
    mean: Array
    deviation: Array

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, numbers: Floats) -> Floats:
        """Standardised; lines end somewhere.   (n, numbers or more) -> (n, columns)"""
        within = np.clip(numbers[:, self.places.tolist()], self.low, self.high)
        straight: Floats = (within - self.mean) / self.deviation
        return straight


def straight_columns(numbers: Floats, scaled: Floats, weights: Array | None) -> StraightColumns | None:
    """Those whose scaled twins are bent, or None.

    numbers, scaled: (n, columns) without gaps, before and after their scale

    >>> money = np.exp(np.random.default_rng(0).normal(size=(1000, 2)))
    >>> bent = straight_columns(money, np.column_stack([np.log(money[:, 0]), 2 * money[:, 1]]), None)
    >>> bent.places.tolist(), abs(bent.rows(money).mean()).round(6).tolist()
    ([0], 0.0)
    """
    if weights is not None:
        counted = weights > 0
        numbers, scaled, weights = numbers[counted], scaled[counted], weights[counted]
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    with np.errstate(over="ignore"):
        reach = high - low
        varies = np.flatnonzero((reach > 0) & np.isfinite(2 * FURTHER * reach))
    low, high, reach = low[varies], high[varies], reach[varies]
    shares = np.full(len(numbers), 1 / len(numbers)) if weights is None else weights / weights.sum()
    numbers = (numbers[:, varies] - low) / reach  # squares of what is far would be no numbers
    scaled = scaled[:, varies].astype(np.float64)
    scaled = scaled / np.maximum(np.abs(scaled).max(axis=0), np.finfo(float).tiny)
    mean = shares @ numbers
    numbers, scaled = numbers - mean, scaled - shares @ scaled
    variance = shares @ numbers**2
    explained = (shares @ (numbers * scaled)) ** 2 / np.maximum(variance * (shares @ scaled**2), np.finfo(float).tiny)
    bent = (1.0 - explained > BENT) & (variance > 0)
    if not bent.any():
        return None
    deviation, further = np.sqrt(variance) * reach, FURTHER * reach
    parts = (varies, low - further, high + further, low + mean * reach, deviation)
    return StraightColumns(*(part[bent] for part in parts))
