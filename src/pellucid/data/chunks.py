"""Rows in parts: memory stays bounded, whatever their number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pellucid.data.inputs import as_inputs, refuse_containers
from pellucid.data.sparse import is_sparse, sparse_inputs

CHUNK = 8192
"""Rows of a part, at most."""


def spaced(X: Any, most: int) -> Any:
    """So many rows at most, evenly spaced.

    >>> spaced(np.arange(10), 4).tolist()
    [0, 3, 6, 9]
    """
    X = X.tocsr() if hasattr(X, "tocsr") else X
    step = max(-(-(len(X) if isinstance(X, list) else X.shape[0]) // most), 1)
    return X.iloc[::step] if hasattr(X, "iloc") else X[::step]


def input_chunks(X: Any, dtype: Any, *, sparse: bool = False) -> Iterator[Any]:
    """Arrays of floats, checked, of an array, a data frame, lists of rows, or a sparse matrix.

    They are converted part by part: a memory-mapped array stays on disk, a sparse matrix sparse. With `sparse` its
    parts are sparse, too. Of no rows there is one part.

    >>> [part.shape for part in input_chunks(np.ones((10_000, 2)), np.float32)]
    [(8192, 2), (1808, 2)]
    """
    compressed = is_sparse(X)
    if compressed:
        X = X.tocsr()
    else:
        refuse_containers(X)
        X = X if hasattr(X, "shape") or isinstance(X, list) else np.asarray(X)
    count = len(X) if isinstance(X, list) else X.shape[0]
    for first in range(0, max(count, 1), CHUNK):
        rows = slice(first, first + CHUNK)
        part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        if compressed and sparse:
            yield sparse_inputs(part, dtype, first)
        else:
            yield as_inputs(part.toarray() if compressed else part, dtype, first)
