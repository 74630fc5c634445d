"""The columns of a table as the rows of a network, as a formula that can be recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.estimators.tables.columns import BOOLEAN
from pellucid.estimators.tables.encoding import Encoding
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
    many = _beside([codes[name].astype(np.float64) for name in layout.embedded], none)
    return encoding.joined(part, unscaled, many)


def _beside(parts: list[Any], none: Any) -> Any:
    return np.concatenate(parts, axis=1) if parts else none


def _one_hot(code: Any, size: int) -> Any:
    """Codes from 1; 0 is all zeros.   (n, 1) -> (n, size)"""
    return (code == np.arange(1, size + 1)).astype(np.float64)


def _truth_code(x: Any) -> Any:
    """1 for 0 ("False"), 2 for 1 ("True"), 0 for all else, NaN too."""
    return (x == 0).astype(np.int64) + 2 * (x == 1).astype(np.int64)
