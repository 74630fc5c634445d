"""Which fits a run is made of, and how long those that are open will take."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from benchmarks.tables.records import Key, Record
from benchmarks.tables.sets import LARGE, MOST

DEAR = {"RealMLP-TD": ("sonar", "pima_diabetes", "spambase", "ames_housing", "cpu_act", "higgs_small")}
"""Contestants that take part on a few tables only, once."""


def wanted(tables: Iterable[str], contestants: Iterable[str], seeds: int) -> list[Key]:
    """Seed by seed, so that a run that ends early has all tables; large tables and dear contestants have one seed."""
    tables, contestants = list(tables), list(contestants)
    return [
        (table, seed, name)
        for seed in range(seeds)
        for table in tables
        for name in contestants
        if not (seed and (table in LARGE or name in DEAR)) and (name not in DEAR or table in DEAR[name])
    ]


def estimate(keys: Iterable[Key], records: Collection[Record], rows: dict[str, int]) -> tuple[float, int]:
    """(seconds, fits of which nothing is known), by fits of the same table, or else by rows of other tables."""
    seconds, unknown = 0.0, 0
    for table, _, name in keys:
        fits = [record for record in records if record.contestant == name]
        same = [record.seconds for record in fits if record.table == table]
        if same:
            seconds += float(np.mean(same))
        elif fits and table in rows:
            size = rows[table] if table in LARGE else min(rows[table], MOST)
            seconds += float(np.median([record.seconds / record.rows for record in fits])) * 0.8 * size
        else:
            unknown += 1
    return seconds, unknown
