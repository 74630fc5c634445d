"""Rows of sparse matrices: as a network takes them, sparse or dense; shuffled batches that become dense one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.data.inputs import PLAIN, all_finite, as_inputs

MOST = 1 << 30
"""Bytes up to which a sparse matrix is trained on as a dense one, where it cannot stay sparse."""

LARGE = 1 << 26
"""Bytes from which it stays sparse wherever it can."""

ENTRY, PLACE = 1.6e-10, 6.5e-11
"""Seconds for a multiplication and an addition: of an entry of a sparse matrix, and of any place of a dense one."""


def is_sparse(X: Any) -> bool:
    """Is it a sparse matrix of SciPy's?"""
    return bool(sparse.issparse(X))


def dense(X: Any) -> Any:
    """The matrix as an array."""
    return X.toarray() if is_sparse(X) else X


def too_large(X: Any, dtype: Any) -> bool:
    """Would it take too much memory as an array?"""
    return dense_bytes(X, dtype) > MOST


def dense_bytes(X: Any, dtype: Any) -> int:
    """The memory of the matrix as an array."""
    return int(X.shape[0]) * int(X.shape[1]) * int(np.dtype(dtype).itemsize)


def better_sparse(X: Any, dtype: Any, batch: int, units: int, step: float) -> bool:
    """Is a sparse matrix better trained on as it is? `units` are the columns of the weight that it is multiplied by.

    `step` are the seconds beside the products that a step takes which is not compiled, as those of sparse rows.

    A small one with few columns is not: its products are nothing, and dense rows have compiled steps. Sizes decide, so
    that the same call gives the same bits.
    """
    share = batch / max(int(X.shape[0]), 1)  # of the rows, in a step
    products = 2 * share * units  # one forward, one for the gradient
    places = int(X.shape[0]) * int(X.shape[1])
    return dense_bytes(X, dtype) > LARGE or bool(step + products * ENTRY * X.nnz < products * PLACE * places)


def sparse_inputs(X: Any, dtype: Any, first: int = 0) -> Any:
    """A sparse matrix of floats (n, features) with compressed rows; `first` is the number of its first row.

    What a network cannot take is the error that it is for an array.
    """
    if X.ndim != 2 or X.dtype.kind not in PLAIN:
        as_inputs(X.toarray() if X.ndim != 2 else X.tocsr()[:1].toarray(), dtype, first)
    rows = sparse.csr_array(X)
    with np.errstate(over="ignore"):  # what becomes infinite is looked for below
        floats = rows.astype(dtype, copy=False)
    if not all_finite(floats.data):
        entry = np.flatnonzero(~np.isfinite(floats.data))[0]
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        as_inputs(rows[row : row + 1].toarray(), dtype, first + row)
    return floats


class shuffled_batches:
    """Batches of a large sparse matrix, made dense one by one; shuffled anew for every epoch."""

    def __init__(self, X: Any, y: Any, weights: Any, size: int, seed: int | None, epoch: int = 0) -> None:
        self.X, self.y, self.weights, self.size, self.seed = X.tocsr(), y, weights, size, seed
        self.epoch = epoch  # those made before

    def __len__(self) -> int:
        return -(-int(self.X.shape[0]) // self.size)

    def __iter__(self) -> Any:
        n = self.X.shape[0]
        order = np.arange(n) if self.seed is None else np.random.default_rng([self.seed, self.epoch]).permutation(n)
        self.epoch += 1
        for first in range(0, n, self.size):
            rows = order[first : first + self.size]
            batch = (self.X[rows].toarray(), self.y[rows])
            yield batch if self.weights is None else (*batch, self.weights[rows])
