"""Parts of a data set: those to train on, to choose by, and to test with."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.amounts import check_number, check_whole
from pellucid.data.dependence import Dependence, dependence_of
from pellucid.data.sparse import is_sparse
from pellucid.data.types import Array, ArrayLike
from pellucid.errors import ShapeError


def split_rows(
    validation: Any, X: Any, y: Any, weights: Any, *, stratify: bool, seed: int
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Training and validation parts of arrays: by a fraction (stratified for classes) or by row numbers."""
    n = X.shape[0] if is_sparse(X) else len(X)
    for name, other in (("y", y), ("sample_weight", weights)):
        if other is not None and len(other) != n:
            raise ShapeError(f"X has {n} rows and {name} has {len(other)}: they must be the same samples")
    numbers = split_numbers(validation, n, np.asarray(y) if stratify else None, seed)
    train, held = ([None if a is None else take_rows(a, rows) for a in (X, y, weights)] for rows in numbers)
    return (train[0], train[1], train[2]), (held[0], held[1], held[2])


def split_numbers(validation: Any, rows: int, labels: Any, seed: int) -> tuple[Any, Any]:
    """Numbers of the rows to train on, and of those that check: a fraction, or their numbers. `labels` keep shares."""
    if not isinstance(validation, float | np.floating):
        return by_number(validation, rows)
    if not 0 < validation < 1:
        raise ValueError(f"validation as a fraction lies between 0 and 1, got {validation}")
    if labels is not None and min(np.unique(labels, return_counts=True)[1].tolist()) < 2:
        labels = None  # a class of a single row cannot be on both sides
    return by_fraction(np.arange(rows), float(validation), labels, seed)


def by_fraction(rows: Any, fraction: float, strata: Any, seed: Any) -> tuple[Any, Any]:
    """Row numbers to train on, and a random part of so large a share; `strata` are labels whose shares are kept.

    `seed` is a number, or a generator of NumPy's older kind.
    """
    from sklearn.model_selection import train_test_split

    train, held = train_test_split(rows, test_size=fraction, stratify=strata, random_state=seed)
    return train, held


def by_fraction_of_classes(
    rows: int, codes: Array | None, fraction: float, rng: np.random.RandomState
) -> tuple[Array, Array]:
    """The same; every class gives its share, and keeps a row to train on.

    codes: (rows,), 0, 1, ... for each class; None where all rows are of one
    """
    mixed = rng.permutation(rows)
    if codes is None:
        free = mixed[1:]
    else:
        ordered = mixed[np.argsort(codes[mixed], kind="stable")]
        free = ordered[~np.r_[True, np.diff(codes[ordered]) > 0]]
    count = min(int(np.ceil(fraction * rows)), len(free))
    held = free[((np.arange(count) + 0.5) * (len(free) / max(count, 1))).astype(int)]
    is_held = np.zeros(rows, bool)
    is_held[held] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def by_number(held: Any, n: int) -> tuple[Any, Any]:
    """Numbers of rows to train on, and of those that are held out, named by their numbers or by a mask."""
    if isinstance(held, list) and held and np.ndim(held[0]):
        raise ShapeError("validation as data is a tuple: write (X, y), not [X, y]")
    held = np.asarray(held)
    if held.ndim != 1 or held.dtype.kind not in "iub":
        raise ShapeError("validation is (X, y), a fraction such as 0.1, or the numbers of the rows to hold out")
    if held.dtype.kind == "b" and len(held) != n:
        raise ShapeError(f"validation as a mask has {n} entries, one for each row, got {len(held)}")
    held = np.flatnonzero(held) if held.dtype.kind == "b" else np.unique(held)
    if len(held) == n:
        raise ShapeError("validation names all rows: none is left to learn from")
    if len(held) == 0 or held.min() < 0 or held.max() >= n:
        raise ShapeError(f"validation names rows from 0 to {n - 1}, got {held.min() if len(held) else 'none'} ...")
    return np.setdiff1d(np.arange(n), held), held


def evenly(count: int, most: int) -> Array:
    """At most so many numbers of rows, evenly taken, in their order.

    >>> evenly(10, 4).tolist(), evenly(3, 4).tolist()
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)


def take_rows(data: Any, rows: Any) -> Any:
    """These rows of an array, a data frame or a sparse matrix."""
    if is_sparse(data):
        return data.tocsr()[rows]
    return data.iloc[rows] if hasattr(data, "iloc") else np.asarray(data)[rows]


def split(
    X: Any,
    y: Any,
    *,
    test: float = 0.2,
    validation: float = 0.0,
    stratify: bool | None = None,
    seed: int = 0,
    groups: ArrayLike = None,
    time: ArrayLike = None,
) -> tuple[tuple[Any, Any], ...]:
    """(X, y) of the training part, of the validation part if there is one, and of the test part.

    Parameters
    ----------
    X : array or data frame of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    test : float
        share of the rows in the test part
    validation : float
        share of the rows in the validation part
    stratify : bool | None
        keep the shares of the classes; None does so where y has whole numbers, booleans or strings
    seed : int
        of the draw
    groups : array of shape (n,) or str
        labels, or the name of a column: rows of one group are in the same part
    time : array of shape (n,) or str
        numbers, dates or ISO texts, or the name of a column: parts are later one after the other; rows of the same
        time stay together

    Returns
    -------
    tuple of pairs
        (X, y) of each part

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.array([0, 1] * 5)
    >>> [len(part[0]) for part in split(X, y, test=0.2, validation=0.2)]
    [6, 2, 2]
    """
    check_number("a share in (0, 1)", 0, 1, above=True, test=test)
    check_number("a share in [0, 1 - test)", 0, 1 - test, validation=validation)
    check_whole(0, seed=seed)
    labels = np.asarray(y)
    by_class = are_classes(labels) if stratify is None else stratify
    dependence = dependence_of(X, groups, time)

    def divided(rows: Array, share: float) -> tuple[Any, Any]:
        strata = labels[rows] if by_class else None
        if dependence is None:
            return by_fraction(rows, share, strata, seed)
        inside, outside = dependence.take(rows).hold_out(share, strata, seed)
        return rows[inside], rows[outside]

    rest, tested = divided(np.arange(len(labels)), test)
    parts = [*divided(rest, validation / (1 - test)), tested] if validation else [rest, tested]
    return tuple((take_rows(X, part), take_rows(y, part)) for part in parts)


def are_classes(labels: Array) -> bool:
    """One whole number, boolean or text for each row?"""
    return labels.ndim == 1 and labels.dtype.kind in "iubOU"


def shuffled_folds(
    rows: int, count: int, labels: Array | None, seed: int, dependence: Dependence | None = None
) -> list[tuple[Array, Array]]:
    """Numbers of the rows to train on and of those held out, for each of `count` folds. Stratified by labels, if any.

    Where rows depend on each other, see `Dependence.folds`.

    >>> [sorted(held.tolist()) for _, held in shuffled_folds(4, 2, None, seed=0)]
    [[2, 3], [0, 1]]
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    if dependence is not None:
        return dependence.folds(count, labels, seed)
    splitter = (KFold if labels is None else StratifiedKFold)(count, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((rows, 1)), labels))
