"""The columns of a table as the rows of a network, as a formula that can be recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.estimators.tables.columns import BOOLEAN
from pellucid.estimators.tables.encoding import Encoding
from pellucid.estimators.tables.number_codes import as_value
from pellucid.export.scalers import scaled


def table_rows(encoding: Encoding, columns: Mapping[str, Any]) -> Any:
    """Columns by name, each (n, 1): numbers with NaN, codes of categories.   -> (n, columns of the network)"""
    layout = encoding.layout
    none = next(iter(columns.values()))[:, :0].astype(np.float64)
    numbers = _beside([columns[name].astype(np.float64) for name in layout.number_names()], none)
    codes = {
        name: _truth_code(columns[name]) if layout.kinds[name] == BOOLEAN else columns[name]
        for name in layout.categories
    }
    hot = [_one_hot(codes[name], len(layout.categories[name])) for name in layout.one_hot]
    unscaled = encoding.filled(numbers, _beside(hot, none) if hot else None)
    part = unscaled[:, : encoding.scaled]
    for scaler in encoding.scalers if encoding.scaled else ():
        part = scaled(scaler, part)
    known = [codes[name].astype(np.float64) for name in layout.embedded]
    if encoding.number_codes is not None:
        both = zip(encoding.number_codes.places, encoding.number_codes.values, strict=True)
        known += [_value_code(numbers[:, place : place + 1], values) for place, values in both]
    many = _beside(known, none)
    return encoding.joined(part, unscaled, many)


def _beside(parts: list[Any], none: Any) -> Any:
    return np.concatenate(parts, axis=1) if parts else none


def _one_hot(code: Any, size: int) -> Any:
    """Codes from 1; 0 is all zeros.   (n, 1) -> (n, size)"""
    return (code == np.arange(1, size + 1)).astype(np.float64)


def _value_code(x: Any, values: Any) -> Any:
    """The place of a number among some, from 1; 0 for one that is none of them, NaN too.   (n, 1) -> (n, 1)"""
    places = np.arange(1.0, len(values) + 1)
    return np.sum((as_value(x) == values) * places, axis=1, keepdims=True)


def _truth_code(x: Any) -> Any:
    """1 for 0 ("False"), 2 for 1 ("True"), 0 for all else, NaN too."""
    return (x == 0).astype(np.int64) + 2 * (x == 1).astype(np.int64)
