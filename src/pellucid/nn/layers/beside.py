"""What stands beside numbers: the shapes that layers share which put learned functions beside their first columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.nn.layers.layer import Features, Layer, rows_of


def other_columns(layer: Layer, columns: int, features: Features) -> int:
    """How many features there are behind the first columns; an error where there are not even these."""
    others = rows_of(layer, features) - columns
    if others < 0:
        raise ShapeError(f"{layer} expects {columns} features at least, got {features[0]}")
    return others


def first_columns(layer: Layer, columns: int, x: Any) -> Any:
    """The numbers.   (n, features) -> (n, columns)"""
    if len(x.shape) != 2:
        raise ShapeError(f"{layer} expects rows (n, features), got shape {tuple(x.shape)}")
    return x[:, :columns]


def apart(numbers: Any) -> Any:
    """Each column by itself, to be put beside its functions.   (n, columns) -> (columns, n, 1)"""
    rows, columns = numbers.shape
    return np.reshape(np.transpose(numbers), (columns, rows, 1))


def beside(numbers: Any, functions: Any, x: Any) -> Any:
    """Numbers, the functions of each, and the other columns of x.   functions: (columns, n, dims)"""
    columns, _, dims = functions.shape
    flat = np.reshape(np.transpose(functions, (1, 0, 2)), (x.shape[0], columns * dims))
    others = [x[:, columns:]] if x.shape[1] > columns else []
    return np.concatenate([numbers, flat, *others], axis=1)
