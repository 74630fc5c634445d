"""Shares of the rows of a data set, by a hash of each row's place: the same rows in every pass, whatever its order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.data.types import Array
from pellucid.graph.primitives.random import bits

CHUNK = 1 << 20
"""Rows whose hashes are computed at a time."""


class SomeRows(Protocol):
    """Some of the rows of a data set, told by their places."""

    def of(self, block: int, first: int, count: int) -> Array:
        """Which of these rows of a block belong to them.   -> (count,) booleans"""


@dataclass(frozen=True)
class Share:
    """The rows whose hash, a number in [0, 1), lies from `low` to below `high`."""

    seed: int
    low: float
    high: float

    def of(self, block: int, first: int, count: int) -> Array:
        """Which of these rows of a block belong to it.   -> (count,) booleans

        >>> Share(0, 0.0, 0.5).of(block=3, first=0, count=8).tolist()
        [False, False, True, False, True, True, True, False]
        """
        numbers = hashes(self.seed, block, first, count)
        return (numbers >= self.low) & (numbers < self.high)


def hashes(seed: int, block: int, first: int, count: int) -> Array:
    """Numbers in [0, 1) for consecutive rows of a block.   -> (count,)"""
    return np.asarray((bits(seed, block, (count,), first=first) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def chosen(shares: Sequence[SomeRows], block: int, first: int, count: int) -> Array | None:
    """Which of these rows belong to all of the shares; None where there are none, which is all rows."""
    return _of_all(shares, block, first, count) if shares else None


def count_chosen(shares: Sequence[SomeRows], block: int, rows: int, first: int = 0) -> int:
    """How many of so many rows of a block, from `first` on, belong to all of the shares."""
    if not shares:
        return rows
    return sum(int(_of_all(shares, block, first + at, min(CHUNK, rows - at)).sum()) for at in range(0, rows, CHUNK))


def _of_all(shares: Sequence[SomeRows], block: int, first: int, count: int) -> Array:
    return np.asarray(np.logical_and.reduce([share.of(block, first, count) for share in shares]))


def rank_error(rows: int, chance: float = 1e-6) -> float:
    """How far the rank of any quantile of a random sample of so many rows is from the true one, as a share of all rows.

    It is more with this `chance` at most (Dvoretzky, Kiefer and Wolfowitz, 1956; the constant is Massart's, 1990).

    >>> round(rank_error(131_072), 4)
    0.0074
    """
    return math.sqrt(math.log(2 / chance) / (2 * rows))
