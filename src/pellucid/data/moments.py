"""Moments: numbers, dates and ISO texts as something that has an order."""

from __future__ import annotations

import datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from pellucid.data.types import Array


def moments(values: Array) -> Array:
    """Numbers, or datetime64, in whose order the rows are; texts are read as ISO dates.   (n,) -> (n,)

    >>> moments(np.array(["2024-03-01", "2024-02-29T12:00"])).argsort().tolist()
    [1, 0]
    """
    if values.dtype.kind in "iufMm":
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise ValueError(f"time is infinite in row {int(np.flatnonzero(np.isinf(values))[0])}: leave such rows out")
        return values
    objects = values.tolist() if values.dtype.kind in "UT" else list(values)
    if all(isinstance(value, str) for value in objects):
        objects = [_from_text(text, row) for row, text in enumerate(objects)]
    if all(isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_) for value in objects):
        return np.array([float(value) for value in objects])
    if all(isinstance(value, datetime.date | np.datetime64) for value in objects):
        zoned = {isinstance(value, datetime.datetime) and value.tzinfo is not None for value in objects}
        if len(zoned) == 2:
            raise ValueError("time holds dates with and without a time zone, which have no order: give all of them one")
        return np.array([_in_utc(value) for value in objects], "datetime64[us]")
    strange = next(
        (v for v in objects if not isinstance(v, Real | Decimal | datetime.date | np.datetime64)), objects[0]
    )
    raise TypeError(
        "time holds numbers, dates or ISO texts such as '2024-03-01' (all of one kind), got a "
        f"{type(strange).__name__}: {strange!r:.80}"
    )


def _from_text(text: str, row: int) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"time holds {text!r:.80} in row {row}, no ISO date such as '2024-03-01' or '2024-03-01T12:00': make dates "
            "(pandas.to_datetime) or numbers of it"
        ) from None


def _in_utc(value: Any) -> np.datetime64:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")
