"""Rows that depend on each other: groups that stay together, and times whose future stays out of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.data.moments import moments
from pellucid.data.named_columns import column_named
from pellucid.data.types import Array, ArrayLike
from pellucid.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Dependence:
    """The block that each row belongs to; rows of a block are trained on or held out together.

    blocks: (n,) whole numbers. `ordered`: they are in the order of time, and what is held out is later than what is
    trained on; else they are groups.
    """

    blocks: Array
    ordered: bool

    def take(self, rows: Array) -> Dependence:
        """That of some of the rows, by number."""
        return replace(self, blocks=self.blocks[rows])

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(np.unique(self.blocks))

    @property
    def fit_parameters(self) -> dict[str, Array]:
        """The same for the `fit` of another estimator."""
        return {"time" if self.ordered else "groups": self.blocks}

    def hold_out(self, share: float, labels: Array | None, seed: Any) -> tuple[Array, Array]:
        """Row numbers to train on, and those of a part that is as near to this share as whole blocks allow.

        The latest blocks, or groups in random order; where there are labels (n,), one class each, groups are taken so
        that every class gives about its share. `seed` is a number, or a generator of NumPy's older kind.
        """
        numbers, sizes = self._counted()
        self.must_have(2, "to hold some of them out")
        if self.ordered:
            held = numbers >= cuts(sizes, [len(numbers) - int(np.ceil(share * len(numbers)))])[0]
        else:
            held = drawn_groups(numbers, labels, share, seed)[numbers]
        if labels is not None and len(np.unique(labels)) > 1 and len(np.unique(labels[~held])) == 1:
            raise ValueError(
                f"with {self._words} the rows to train on hold one class only, {labels[~held].tolist()[0]!r}: give "
                f"validation rows of your own, or leave {self._name} out"
            )
        return np.flatnonzero(~held), np.flatnonzero(held)

    def folds(self, count: int, labels: Array | None, seed: int) -> list[tuple[Array, Array]]:
        """Numbers of the rows to train on and of those held out, for each of `count` folds.

        Times: each fold is trained on all that was before its rows; the first of `count` + 1 parts is never held out
        (scikit-learn's TimeSeriesSplit; its borders move to the nearest ones between blocks). Groups: each is held
        out once, with folds of like sizes; and like shares of the classes, where there are labels.
        """
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit

        numbers, sizes = self._counted()
        rows = np.zeros((len(numbers), 1))
        if self.ordered:
            self.must_have(count + 1, f"for {count} folds, each with a past")
            begins = cuts(sizes, [int(held[0]) for _, held in TimeSeriesSplit(count).split(rows)])
            return [
                (np.flatnonzero(numbers < begin), np.flatnonzero((numbers >= begin) & (numbers < end)))
                for begin, end in pairwise([*begins, len(sizes)])
            ]
        self.must_have(count, f"for {count} folds")
        if labels is not None:
            by_class = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
            pairs = list(by_class.split(rows, labels, numbers))
            if all(len(held) for _, held in pairs):
                return pairs
        mixed = np.random.RandomState(seed).permutation(len(sizes))  # among groups of one size, which goes where
        return list(GroupKFold(count).split(rows, groups=mixed[numbers]))

    def _counted(self) -> tuple[Array, Array]:
        """The blocks as 0, 1, ... without gaps, and how many rows each has."""
        _, numbers, sizes = np.unique(self.blocks, return_inverse=True, return_counts=True)
        return numbers, sizes

    def must_have(self, least: int, why: str) -> None:
        """Raise for fewer blocks."""
        count = self.count
        if count < least:
            raise ValueError(
                f"{self._name} has {count} different value{'s' * (count != 1)} in {len(self.blocks)} rows, and {least} "
                f"are needed {why}: give fewer folds, validation rows of your own, or leave {self._name} out"
                + " (where groups are given as well, times that a group lasts over are one)"
                * self.ordered
            )

    @property
    def _name(self) -> str:
        return "time" if self.ordered else "groups"

    @property
    def _words(self) -> str:
        return "the latest rows held out" if self.ordered else "groups kept together"


# how blocks are chosen


def cuts(sizes: Array, rows: Sequence[int]) -> list[int]:
    """Ordered blocks that parts begin with, as near as can be to these numbers of rows; all different, none the first.

    >>> cuts(np.array([3, 3, 3, 3]), [5, 10])
    [2, 3]
    """
    starts = np.cumsum(sizes) - sizes
    begins: list[int] = []
    earliest = 1
    for place, row in enumerate(rows):
        end = len(sizes) - (len(rows) - place) + 1  # leaves a block for each of those to come
        begins.append(earliest + int(np.argmin(np.abs(starts[earliest:end] - row))))
        earliest = begins[-1] + 1
    return begins


def drawn_groups(numbers: Array, labels: Array | None, share: float, seed: Any) -> Array:
    """Which groups are held out: taken in random order, as long as that brings every class nearer to its share.

    A class keeps rows to train on, wherever it is in several groups. (scikit-learn's GroupShuffleSplit takes a share
    of the groups, whatever their sizes and classes.)   numbers: (n,) of each row's group -> (groups,) booleans

    >>> drawn_groups(np.array([0, 0, 0, 0, 1, 2, 2]), None, 0.3, seed=0).tolist()
    [False, False, True]
    """
    from sklearn.utils import check_random_state

    codes = np.zeros(len(numbers), int) if labels is None else np.unique(labels, return_inverse=True)[1]
    counts = np.zeros((numbers.max() + 1, codes.max() + 1))
    np.add.at(counts, (numbers, codes), 1.0)
    totals = counts.sum(axis=0)

    def distance(held: Array) -> float:
        return float(np.sum((held / totals - share) ** 2))

    order = check_random_state(seed).permutation(len(counts))
    chosen, held, best = np.zeros(len(counts), bool), np.zeros(len(totals)), distance(np.zeros(len(totals)))
    for group in order:
        after = held + counts[group]
        nearness = distance(after)
        if nearness < best and np.all(after < totals):
            chosen[group], held, best = True, after, nearness
    if not chosen.any():  # each is too large, or has a class for itself
        chosen[min(order, key=lambda group: (bool(np.any(counts[group] == totals)), distance(counts[group])))] = True
    return chosen


# what users hand in


def dependence_of(X: ArrayLike, groups: ArrayLike, time: ArrayLike) -> Dependence | None:
    """What `groups` and `time`, each an array (n,) or the name of a column of X, say of its rows; None without both.

    With both, rows of one group are held together over all the time that the group lasts: a part may begin only where
    no group has rows before and after.

    >>> dependence_of(np.zeros((5, 1)), ["a", "a", "b", "b", "c"], [1, 3, 2, 4, 5]).blocks.tolist()
    [0, 0, 0, 0, 1]
    """
    if groups is None and time is None:
        return None
    from sklearn.utils.validation import _num_samples

    rows = _num_samples(X)
    numbers = None if groups is None else _numbered(_values(X, groups, "groups", rows))
    if time is None:
        assert numbers is not None
        return Dependence(numbers, ordered=False)
    ranks = np.unique(moments(_values(X, time, "time", rows)), return_inverse=True)[1]
    return Dependence(ranks if numbers is None else _merged(ranks, numbers), ordered=True)


def splitter_folds(
    splitter: Any, X: ArrayLike, y: ArrayLike, groups: ArrayLike, time: ArrayLike
) -> list[tuple[Array, Array]]:
    """The folds of a splitter of scikit-learn, which is given the groups; it knows of no time."""
    if time is not None:
        raise ValueError(f"time goes with a number of folds, got {splitter!r:.80}: give a number, or leave time out")
    if isinstance(groups, str):
        groups = column_named(X, groups, "groups")
    return list(splitter.split(X, y) if groups is None else splitter.split(X, y, groups))


def column_of_groups(groups: ArrayLike) -> str | None:
    """The name of the column, where groups are given by one."""
    return groups if isinstance(groups, str) else None


def _values(X: ArrayLike, values: Any, what: str, rows: int) -> Array:
    """An array (n,) without missing values."""
    import pandas as pd

    where = f"{what}={values!r}" if isinstance(values, str) else what
    column = column_named(X, values, what) if isinstance(values, str) else values
    array: Array = np.asarray(column) if hasattr(column, "dtype") else np.asarray(column, object)
    if array.shape != (rows,):
        raise ShapeError(
            f"{where} is an array with an entry for each of the {rows} rows of X, or the name of a column, got shape "
            f"{array.shape}"
        )
    gone = np.flatnonzero(pd.isna(array))
    if len(gone):
        remedy = "give it a group of its own, or leave it out" if what == "groups" else "fill it, or leave it out"
        raise ValueError(f"{where} is missing in row {gone[0]}, {len(gone)} rows in all: {remedy}")
    return array


def _numbered(labels: Array) -> Array:
    """Groups as 0, 1, ... in the order of their labels."""
    import pandas as pd

    return np.asarray(pd.factorize(labels, sort=True)[0])


def _merged(ranks: Array, groups: Array) -> Array:
    """Moments that a group lasts over become one.   ranks: (n,) 0, 1, ... in the order of time"""
    first, last = np.full(groups.max() + 1, ranks.max()), np.zeros(groups.max() + 1, int)
    np.minimum.at(first, groups, ranks)
    np.maximum.at(last, groups, ranks)
    count = ranks.max() + 1
    lasting = np.cumsum(np.bincount(first, minlength=count) - np.bincount(last, minlength=count))
    return np.asarray(np.r_[0, np.cumsum(lasting[:-1] == 0)][ranks])
