"""Numbers that are names: of a person, a shop, a postcode. Rows of one are alike, those of its neighbours are not.

A network sees 17 between 16 and 18. Where rows of the value 17 are nearer to each other than a line between the values
below and above it would have them, the value stands for a thing, and gets a code, as a category has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.stats import rankdata
from scipy.stats import t as student

from pellucid.data.types import Array, Floats

FEWEST, MOST = 32, 2048
"""Values of a column with codes: fewer have a piece each where numbers are cut into pieces, of more the most frequent
get one."""

SHARED = 1.5
"""Rows of a value, at least, on average: else values tell nothing of other rows."""

CHANCE = 1e-3
"""That one of all columns looks as if it had names where none has."""

GAIN = 0.05
"""The share of what rows of a value differ by that a line between its neighbours must lose."""

CLASSES = 16
"""Of more classes the most frequent are looked at."""


@dataclass(frozen=True, eq=False)
class NumberCodes:
    """Where such columns stand among the numbers, and their values, rising, as float32."""

    places: tuple[int, ...]
    values: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, numbers: Floats) -> Floats:
        """The place of each value, from 1; 0 for one that has no code, and for NaN.   (n, numbers) -> (n, columns)"""
        codes = np.zeros((len(numbers), len(self)))
        for column, (place, values) in enumerate(zip(self.places, self.values, strict=True)):
            x = as_value(numbers[:, place])
            nearest = np.minimum(np.searchsorted(values, x), len(values) - 1)
            codes[:, column] = np.where(values[nearest] == x, nearest + 1.0, 0.0)
        return codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has, with that of unknown values."""
        return tuple(len(values) + 1 for values in self.values)


def as_value(x: Array) -> Array:
    """Numbers as they are compared: what is told apart is so in every format that a model is exported to."""
    with np.errstate(over="ignore"):
        return x.astype(np.float32)


def number_codes(numbers: Floats, answers: Array) -> NumberCodes | None:
    """Columns whose values are names, by what they tell of the answers; None where there are none.

    numbers: (n, columns), NaN where missing   answers: (n,) or (n, k), whole numbers for classes, else floats

    >>> shop = np.repeat(np.arange(60.0), 5)
    >>> sales = np.random.default_rng(0).normal(size=60).repeat(5)
    >>> number_codes(np.column_stack([shop, np.arange(300.0)]), sales).places
    (0,)
    >>> number_codes(shop[:, None], shop) is None  # a line
    True
    """
    outcomes = _outcomes(answers)
    candidates = [place for place in range(numbers.shape[1]) if _may_name(as_value(numbers[:, place]))]
    found = [place for place in candidates if _names(numbers[:, place], outcomes, CHANCE / len(candidates))]
    if not found:
        return None
    return NumberCodes(tuple(found), tuple(_values(as_value(numbers[:, place])) for place in found))


def _may_name(x: Array) -> bool:
    """Are there enough values, and enough rows of each?"""
    x = x[np.isfinite(x)]
    different = len(np.unique(x))
    return different > FEWEST and len(x) >= SHARED * different


def _values(x: Array) -> Array:
    """The values of several rows; of many the most frequent."""
    values, counts = np.unique(x[np.isfinite(x)], return_counts=True)
    several = np.argsort(-counts, kind="stable")[:MOST]
    return np.asarray(np.sort(values[several[counts[several] > 1]]))


def _names(x: Floats, outcomes: Floats, chance: float) -> bool:
    """Do rows of a value tell each other's outcomes better than a line through the values below and above it does?

    What both are wrong by is measured in units of the same noise, so that on average neither is better where outcomes
    follow the numbers smoothly. Rows of one value depend on each other: the values are what is counted.
    """
    x = as_value(x)
    there = np.isfinite(x)
    values, at, counts = np.unique(x[there].astype(np.float64), return_inverse=True, return_counts=True)
    outcomes = outcomes[there]
    sums = np.stack([np.bincount(at, column, len(values)) for column in outcomes.T], axis=1)
    counted = (counts[at] > 1) & (at > 0) & (at < len(values) - 1)
    at, outcomes, means = at[counted], outcomes[counted], sums / counts[:, None]
    if not len(at):
        return False
    others = counts[at, None] - 1.0
    by_own = (outcomes - (sums[at] - outcomes) / others) ** 2 / (1 + 1 / others)
    below, above = at - 1, at + 1
    share = ((values[above] - values[at]) / (values[above] - values[below]))[:, None]
    noise = share**2 / counts[below, None] + (1 - share) ** 2 / counts[above, None]
    by_line = (outcomes - share * means[below] - (1 - share) * means[above]) ** 2 / (1 + noise)
    gains = np.bincount(at, (by_line - by_own).sum(axis=1))[np.unique(at)]
    count = len(gains)
    if count < 2 or gains.sum() <= GAIN * by_own.sum():
        return False
    error = gains.std(ddof=1) / np.sqrt(count)
    return bool(gains.mean() > student.isf(chance, count - 1) * error)


def _outcomes(answers: Array) -> Floats:
    """Answers as numbers whose squares make sense: classes one by one, numbers by their ranks.   -> (n, k)"""
    if answers.dtype.kind in "iub" and answers.ndim == 1:
        classes, counts = np.unique(answers, return_counts=True)
        common = classes[np.argsort(-counts, kind="stable")[:CLASSES]]
        hot = (answers[:, None] == common).astype(np.float64)
        return np.asarray(hot / np.maximum(hot.std(axis=0), 1e-9))
    columns = answers.reshape(len(answers), -1)
    return np.stack([_normal_ranks(column) for column in columns.T], axis=1)


def _normal_ranks(x: Array) -> Floats:
    return np.asarray(special.ndtri((rankdata(x) - 0.5) / len(x)))
