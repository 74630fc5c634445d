"""Shares of the rows of a data set by what a column holds: whole groups, or the latest rows. One bit for each row.

Two passes over the column: the first finds where to cut, the second notes on which side each row is. Of processes that
share a data set each goes over its own rows, and all are told.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data.dependence import cuts
from pellucid.data.moments import moments
from pellucid.data.parts import Part
from pellucid.data.types import Array
from pellucid.graph.primitives.random import GAMMA, mix

if TYPE_CHECKING:
    from pellucid.data.dataset import Dataset

SAMPLED = 1 << 17
"""Rows by whose times the cut is found; of fewer, it is that of all rows."""

MOST_GROUPS = 1 << 20
"""Groups whose rows are counted; of more, so large a share of all possible hashes is as good."""

SEED = 0
"""Of the hash that draws rows to find the cut by."""


@dataclass(frozen=True, eq=False, repr=False)
class ChosenRows:
    """Some rows of each block, a bit for each row up to the last of them."""

    bits: tuple[Array, ...]

    def __repr__(self) -> str:
        digest = hashlib.sha256(b"".join(block.tobytes() for block in self.bits)).hexdigest()
        return f"ChosenRows({digest[:16]})"

    def of(self, block: int, first: int, count: int) -> Array:
        """Which of these rows of a block are among them.   -> (count,) booleans

        >>> ChosenRows((np.packbits([0, 1, 1, 0, 0, 0, 0, 0, 0, 1]),)).of(block=0, first=2, count=10).tolist()
        [True, False, False, False, False, False, False, True, False, False]
        """
        begin, end = first // 8, -(-(first + count) // 8)
        bits = self.bits[block][begin:end]
        whole = np.zeros(8 * (end - begin), np.uint8)
        whole[: 8 * len(bits)] = np.unpackbits(bits)
        return np.asarray(whole[first - 8 * begin :][:count].astype(bool))


def split_by_group(data: Dataset, column: str, share: float, seed: int) -> tuple[ChosenRows, ChosenRows]:
    """Rows to train on, and the rows of whole groups that are about so large a share.

    Groups are taken in the order of a hash of their names, until there are as many rows as can be.
    """

    def hashes(part: Part) -> Array:
        return group_hashes(_values(part, column, "groups"), seed)

    counts: Counter[int] = Counter()
    for part in _alone(data, column):
        if len(counts) > MOST_GROUPS:
            break
        groups, sizes = np.unique(hashes(part), return_counts=True)
        counts.update(dict(zip(groups.tolist(), sizes.tolist(), strict=True)))
    counts = sum(data.told(counts), Counter())
    if len(counts) < 2:
        raise ValueError(
            f"groups={column!r} has {len(counts)} different values, and 2 are needed to hold some of them out: give "
            "validation data of your own, or leave groups out"
        )
    if len(counts) > MOST_GROUPS:
        last = np.uint64(int(share * 2.0**64))
    else:
        ordered = sorted(counts)
        held = np.cumsum([counts[group] for group in ordered[:-1]])  # one at least stays
        last = np.uint64(ordered[int(np.argmin(np.abs(held - share * sum(counts.values()))))])
    return _noted(data, column, lambda part: hashes(part) <= last)


def split_by_time(data: Dataset, column: str, share: float) -> tuple[ChosenRows, ChosenRows]:
    """Rows to train on, and the latest, which are about so large a share; rows of one time stay together."""

    def times(part: Part) -> Array:
        return moments(_values(part, column, "time"))

    counted = data.counted()
    rows = counted.rows or 0
    some = counted if rows <= SAMPLED else counted.split(SAMPLED / rows, seed=SEED)[1]
    own = [times(part) for part in _alone(some, column)]
    drawn = np.concatenate([one for each in data.told(own) for one in each])
    distinct, sizes = np.unique(drawn, return_counts=True)
    if len(distinct) < 2:
        raise ValueError(
            f"time={column!r} has {len(distinct)} different values, and 2 are needed to hold the latest out: give "
            "validation data of your own, or leave time out"
        )
    begin = distinct[cuts(sizes, [len(drawn) - int(np.ceil(share * len(drawn)))])[0]]
    return _noted(data, column, lambda part: times(part) >= begin)


def group_hashes(labels: Array, seed: int) -> Array:
    """64 bits for each label, the same for equal ones; whole numbers are the same as floats and as integers.

    >>> first, second, third = group_hashes(np.array([3, 4, 3]), seed=0).tolist()
    >>> first == third, first == second
    (True, False)
    """
    import pandas as pd

    if labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels)):
        labels = labels.astype(np.int64)
    names = pd.util.hash_array(labels.astype(object) if labels.dtype.kind in "UT" else labels)
    with np.errstate(over="ignore"):  # arithmetic modulo 2**64 is the point
        return np.asarray(mix(names ^ mix(np.uint64(seed) * GAMMA + GAMMA)))


def _alone(data: Dataset, column: str) -> Iterator[Part]:
    """Its rows with this column only."""
    return replace(data, read=replace(data.read, features=(column,), target=(), weight=None), encode=None).parts()


def _values(part: Part, column: str, what: str) -> Array:
    """The column, without a missing value."""
    import pandas as pd

    values: Any = part.X[:, 0] if isinstance(part.X, np.ndarray) else part.X[part.X.columns[0]].to_numpy()
    gone = np.flatnonzero(pd.isna(values))
    if len(gone):
        where, row = part.place(int(gone[0]))
        raise ValueError(f"{where}: {what}={column!r} is missing in row {row}: fill it, or leave such rows out")
    return np.asarray(values)


def _noted(data: Dataset, column: str, is_held: Callable[[Part], Array]) -> tuple[ChosenRows, ChosenRows]:
    """A pass that notes for each row on which side it is."""
    nobody = np.zeros(0, np.uint8)
    training, held = ([nobody] * len(data.source.blocks) for _ in range(2))
    for block, parts in itertools.groupby(_alone(data, column), key=lambda part: part.block):
        sides = [(part.row_numbers, is_held(part)) for part in parts]
        mask = np.concatenate([one for _, one in sides])
        numbers = np.concatenate([one for one, _ in sides])
        training[block], held[block] = _bits(numbers[~mask]), _bits(numbers[mask])
    sides_of_all = zip(*data.told((training, held)), strict=True)
    first, second = (ChosenRows(tuple(map(_together, *each))) for each in sides_of_all)
    return first, second


def _together(*bits: Array) -> Array:
    """Rows that one of several has noted."""
    noted = np.zeros(max(map(len, bits)), np.uint8)
    for some in bits:
        noted[: len(some)] |= some
    return noted


def _bits(numbers: Array) -> Array:
    """Numbers of rows, in their order, as bits."""
    chosen = np.zeros(int(numbers[-1]) + 1 if len(numbers) else 0, bool)
    chosen[numbers] = True
    return np.packbits(chosen)
