"""Categories, as texts or None, into numbers: one-hot columns, -1 and +1 for two, codes for embeddings."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from pellucid.data.types import Array


def one_hot_encoder(categories: list[list[str]]) -> OneHotEncoder | None:
    """For columns of these categories; what is unknown or None becomes zeros. None for no columns."""
    return _fitted(OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories)


def code_encoder(categories: list[list[str]]) -> OrdinalEncoder | None:
    """For columns of these categories: 0, 1, ...; what is unknown or None becomes -1. None for no columns."""
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1, "encoded_missing_value": -1}
    return _fitted(OrdinalEncoder(**unknown), categories)


def _fitted(encoder: OneHotEncoder | OrdinalEncoder, categories: list[list[str]]) -> OneHotEncoder | OrdinalEncoder:
    """The encoder for these categories, fitted on a row that has the first of each; None for no columns."""
    if not categories:
        return None
    encoder.set_params(categories=[np.array(names, object) for names in categories])
    return encoder.fit(np.array([[names[0] for names in categories]], object))


def paired(hot: Array, sizes: list[int]) -> Array:
    """One-hot columns, but where there are two categories, one column of -1 and +1.

    >>> paired(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), [2, 1]).tolist()
    [[-1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    parts = np.split(hot, np.cumsum(sizes)[:-1], axis=1)
    return np.column_stack([part[:, 1:] - part[:, :1] if part.shape[1] == 2 else part for part in parts])


def stacked(values: dict[str, Array], names: list[str]) -> Array:
    """Columns of texts side by side.   -> (n, names)"""
    columns = np.empty((len(values[names[0]]), len(names)), object)
    for j, name in enumerate(names):
        columns[:, j] = values[name]
    return columns
