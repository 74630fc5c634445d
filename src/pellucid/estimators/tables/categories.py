"""Categories, as texts or None, into numbers: one-hot columns, -1 and +1 for two, codes for embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder


def one_hot_encoder(categories: list[list[str]]) -> Any:
    """For columns of these categories; what is unknown or None becomes zeros. None for no columns."""
    if not categories:
        return None
    encoder = OneHotEncoder(categories=_arrays(categories), handle_unknown="ignore", sparse_output=False)
    return encoder.fit(_one_row(categories))


def code_encoder(categories: list[list[str]]) -> Any:
    """For columns of these categories: 0, 1, ...; what is unknown or None becomes -1. None for no columns."""
    if not categories:
        return None
    encoder = OrdinalEncoder(
        categories=_arrays(categories),
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-1,
    )
    return encoder.fit(_one_row(categories))


def paired(hot: Any, sizes: list[int]) -> Any:
    """One-hot columns, but where there are two categories, one column of -1 and +1.

    >>> paired(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), [2, 1]).tolist()
    [[-1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    parts = np.split(hot, np.cumsum(sizes)[:-1], axis=1)
    return np.column_stack([part[:, 1:] - part[:, :1] if part.shape[1] == 2 else part for part in parts])


def stacked(values: dict[str, Any], names: list[str]) -> Any:
    """Columns of texts side by side.   -> (n, names)"""
    made = np.empty((len(values[names[0]]), len(names)), object)
    for j, name in enumerate(names):
        made[:, j] = values[name]
    return made


def _arrays(categories: list[list[str]]) -> list[Any]:
    return [np.array(found, object) for found in categories]


def _one_row(categories: list[list[str]]) -> Any:
    """Something to fit an encoder on whose categories are given."""
    return np.array([[found[0] for found in categories]], object)
