"""Dates and times as numbers that a network can use: time elapsed, the year, and cycles as points on a circle."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from pellucid.data.types import Array

DAY = 86_400_000_000  # microseconds
CYCLES = {"month": 12, "weekday": 7, "hour": 24}


class DateUse(TypedDict):
    """What is made of a column of dates: days elapsed since `start`, and `parts` that vary."""

    start: float
    parts: list[str]


def date_parts(when: Array) -> dict[str, Array]:
    """Days since 1970, year, month (0-11), weekday (0 is Monday) and hour (with fraction); NaN where missing.

    >>> parts = date_parts(np.array(["2024-03-01T18:30"], "datetime64[us]"))
    >>> {name: float(value[0]) for name, value in parts.items()}
    {'elapsed': 19783.770833333332, 'year': 2024.0, 'month': 2.0, 'weekday': 4.0, 'hour': 18.5}
    """
    missing = np.isnat(when)
    filled = np.where(missing, np.datetime64(0, "us"), when)
    micro = filled.astype(np.int64)
    day = micro // DAY
    months = filled.astype("datetime64[M]").astype(np.int64)
    parts = {
        "elapsed": micro / DAY,
        "year": months // 12 + 1970,
        "month": months % 12,
        "weekday": (day + 3) % 7,
        "hour": (micro - day * DAY) / (DAY / 24),
    }
    return {name: np.where(missing, np.nan, value) for name, value in parts.items()}


def useful_parts(when: Array) -> DateUse:
    """What a column of dates is turned into: always the time elapsed, the rest where it varies.

    >>> useful_parts(np.array(["2024-03-01", "2024-03-02"], "datetime64[us]"))
    {'start': 19783.0, 'parts': ['weekday']}
    """
    parts = date_parts(when)
    varying = [k for k, v in parts.items() if k != "elapsed" and len(np.unique(v[~np.isnan(v)])) > 1]
    return {"start": float(np.nanmin(parts["elapsed"])), "parts": varying}


def date_names(name: str, use: DateUse) -> list[str]:
    """Names of the columns that a column of dates becomes."""
    names = [f"{name}_elapsed"]
    for part in use["parts"]:
        names += [f"{name}_{part}_sin", f"{name}_{part}_cos"] if part in CYCLES else [f"{name}_{part}"]
    return names


def date_numbers(when: Array, use: DateUse) -> list[Array]:
    """The columns that `date_names` names, each (n,)."""
    parts = date_parts(when)
    columns = [parts["elapsed"] - use["start"]]
    for part in use["parts"]:
        if part in CYCLES:
            angle = parts[part] * (2 * np.pi / CYCLES[part])
            columns += [np.sin(angle), np.cos(angle)]
        else:
            columns.append(parts[part])
    return columns
