"""Rows of dense and sparse matrices: parts of bounded size, shuffled batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

CHUNK = 8192
"""Rows predicted at a time."""

MOST = 1 << 30
"""Bytes up to which a sparse matrix is trained on as a dense one."""


def dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def too_large(X: Any, dtype: Any) -> bool:
    return X.shape[0] * X.shape[1] * np.dtype(dtype).itemsize > MOST


class shuffled_batches:
    """Batches of a large sparse matrix, made dense one by one; shuffled anew for every epoch."""

    def __init__(self, X: Any, y: Any, weights: Any, size: int, seed: int | None) -> None:
        self.X, self.y, self.weights, self.size, self.seed = X.tocsr(), y, weights, size, seed
        self.epoch = 0

    def __len__(self) -> int:
        return -(-self.X.shape[0] // self.size)

    def __iter__(self) -> Any:
        n = self.X.shape[0]
        order = np.arange(n) if self.seed is None else np.random.default_rng([self.seed, self.epoch]).permutation(n)
        self.epoch += 1
        for first in range(0, n, self.size):
            rows = order[first : first + self.size]
            batch = (self.X[rows].toarray(), self.y[rows])
            yield batch if self.weights is None else (*batch, self.weights[rows])
