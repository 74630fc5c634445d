"""Some of many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.data.rows import Rows


def places(count: int, limit: int) -> Any:
    """So many row numbers, evenly taken."""
    return np.linspace(0, count - 1, min(limit, count)).astype(np.int64)


def taken(rows: Rows, limit: int) -> Rows:
    return rows if len(rows) <= limit else subset(rows, places(len(rows), limit))


def subset(rows: Rows, index: Any) -> Rows:
    batch = rows.take(index)
    return Rows(batch.X, batch.y, batch.weights)
