"""Rows of dense and sparse matrices: parts of bounded size, shuffled batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

MOST = 1 << 30
"""Bytes up to which a sparse matrix is trained on as a dense one."""


def is_sparse(X: Any) -> bool:
    """Is it a sparse matrix of SciPy's?"""
    return bool(sparse.issparse(X))


def dense(X: Any) -> Any:
    """The matrix as an array."""
    return X.toarray() if is_sparse(X) else X


def too_large(X: Any, dtype: Any) -> bool:
    """Would it take too much memory as an array?"""
    return bool(X.shape[0] * X.shape[1] * np.dtype(dtype).itemsize > MOST)


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
