"""Which rows each member of an ensemble is trained on: bootstrap samples, folds, or all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pellucid.data.dependence import Dependence
from pellucid.data.splits import shuffled_folds
from pellucid.data.types import Array, Matrix
from pellucid.graph.primitives.random import mix

COPIES = 10
"""Whole-number weights that add up to more than so many times the rows are no longer taken for copies of rows."""

LATEST = 0.2
"""Share of the rows, by time, that no bootstrap sample is drawn from."""


@dataclass(frozen=True)
class Share:
    """One member's part of the data: numbers of the rows to train on, in that order, and of those it never sees.

    `weighted` says whether the rows keep their weights: not where the weights have decided what was drawn.
    """

    rows: Array
    held: Array
    weighted: bool = True


def bags(
    X: Matrix,
    y: Array,
    weights: Array | None,
    labels: Array | None,
    size: float | int,
    seeds: Iterable[int],
    dependence: Dependence | None = None,
) -> list[Share]:
    """Bootstrap samples: rows drawn with replacement, by a generator of each member's seed (Breiman, 1996).

    Weights that are whole numbers count copies of a row, and the draw is from all copies; other weights go with the
    rows they belong to. Rows of weight 0 are never drawn. The list that is drawn from is in an order of its rows'
    contents, so the order of X does not matter. A class that is missing from a sample replaces one of its rows.

    Of groups, whole ones are drawn, until the sample has its size; a missing class brings a group that has it. With
    times, all samples are drawn from the same rows, and the others, the `LATEST`, are held out.

    labels: (n,) class of each row as a number, or None.   size: share of the rows, or their number
    """
    order = content_order(X, y)
    pool, keep_weights = order, weights is not None
    if weights is not None:
        are_counts = bool(np.all(weights == np.floor(weights))) and weights.sum() <= COPIES * len(order)
        times = weights[order].astype(int) if are_counts else (weights[order] > 0).astype(int)
        pool, keep_weights = np.repeat(order, times), not are_counts
    latest = np.arange(0)
    if dependence is not None and dependence.ordered:
        _, latest = dependence.hold_out(LATEST, labels, None)
        pool = pool[~np.isin(pool, latest)]
    count = max(1, round(size * len(pool))) if isinstance(size, float) else int(size)
    if dependence is not None and not dependence.ordered:
        dependence.must_have(2, "to leave some of them out of a sample")
        return [_bag_of_groups(pool, count, labels, keep_weights, dependence, seed) for seed in seeds]
    bags = [_bag(pool, count, labels, keep_weights, len(order), seed) for seed in seeds]
    return [replace(bag, held=latest) for bag in bags] if len(latest) else bags


def _bag(pool: Array, count: int, labels: Array | None, weighted: bool, n: int, seed: int) -> Share:
    rng = np.random.default_rng(seed)
    rows = pool[rng.integers(0, len(pool), count)]
    if labels is not None:
        _with_every_class(rows, labels, pool, rng)
    out = np.ones(n, bool)
    out[rows] = False
    return Share(rows, np.flatnonzero(out), weighted)


def _bag_of_groups(
    pool: Array, count: int, labels: Array | None, weighted: bool, dependence: Dependence, seed: int
) -> Share:
    rng = np.random.default_rng(seed)
    groups, numbers, sizes = np.unique(dependence.blocks[pool], return_inverse=True, return_counts=True)
    draws = rng.integers(0, len(groups), count)  # each brings a row or more: these are enough
    chosen = draws[: np.searchsorted(np.cumsum(sizes[draws]), count) + 1]
    classes = np.zeros(len(pool), int) if labels is None else labels[pool]
    for label in np.unique(classes):
        having = np.unique(numbers[classes == label])
        if not np.isin(having, chosen).any():
            chosen = np.append(chosen, rng.choice(having))
    parts = np.split(pool[np.argsort(numbers, kind="stable")], np.cumsum(sizes)[:-1])
    held = ~np.isin(dependence.blocks, groups[chosen])
    return Share(np.concatenate([parts[group] for group in chosen]), np.flatnonzero(held), weighted)


def _with_every_class(rows: Array, labels: Array, pool: Array, rng: np.random.Generator) -> None:
    """Put a row of each missing class in the place of a row whose class has others, as long as there are such."""
    for label in np.setdiff1d(labels[pool], labels[rows]):
        classes, counts = np.unique(labels[rows], return_counts=True)
        places = np.flatnonzero(np.isin(labels[rows], classes[counts > 1]))
        if not len(places):
            return
        rows[rng.choice(places)] = rng.choice(pool[labels[pool] == label])


def folds(n: int, labels: Array | None, count: int, seed: int, dependence: Dependence | None = None) -> list[Share]:
    """K shuffled folds: each member is trained on all but one of them. Stratified where there are labels.

    Where rows depend on each other, see `Dependence.folds`.
    """
    if not 2 <= count <= n:
        raise ValueError(f"method='folds' takes n_estimators from 2 to the number of rows, {n}, got {count}")
    by_class = labels is not None and np.bincount(labels).max() >= count  # else there is no fold without the class
    return [Share(*pair) for pair in shuffled_folds(n, count, labels if by_class else None, seed, dependence)]


def content_order(X: Matrix, y: Array) -> Array:
    """Row numbers in an order that depends on what is in the rows alone; tables of texts keep theirs.

    Rows are sorted by a hash (splitmix64) of their numbers' bits, summed over columns.
    """
    n = X.shape[0]
    keys = np.zeros(n, np.uint64)
    if hasattr(X, "tocoo"):
        entries = X.tocoo()
        np.add.at(keys, entries.row, _hashes(entries.data, entries.col + 1))
    elif not isinstance(X, np.ndarray) or X.dtype.kind not in "fiub":
        return np.arange(n)
    else:
        for number, column in enumerate(X.T, 1):
            keys += _hashes(column, number)
    for number, column in enumerate(y.reshape(n, -1).T, 1):
        keys += _hashes(column, 2**63 + number)
    return np.argsort(keys, kind="stable")


def _hashes(numbers: Array, place: Array | int) -> NDArray[np.uint64]:
    """A hash of each number and the column that it is in."""
    bits = np.ascontiguousarray(numbers, np.float64).view(np.uint64)
    hashes: NDArray[np.uint64] = mix(bits ^ mix(np.array(place, np.uint64, ndmin=1)))
    return hashes
