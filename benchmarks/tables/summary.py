"""What the records say: means over seeds, ratios of two contestants, mean ranks. Records may be missing anywhere."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from scipy.stats import rankdata

from benchmarks.tables.records import Record

REFERENCE = "CatBoost"
QUIET = 2.5
"""A load of the machine up to which a time counts, where there are such."""
SURE = 0.02
"""Tables where the reference's log loss is below it are left out of ratios of log losses: chance decides there."""


class Measure(StrEnum):
    """Fields of a record that are compared; less is better."""

    ERROR = "error"
    LOG_LOSS = "log_loss"


@dataclass(frozen=True)
class Mean:
    """Over seeds; `deviation` is its standard error, not a number for one seed."""

    value: float
    deviation: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        many = len(values) > 1
        deviation = float(np.std(values, ddof=1) / math.sqrt(len(values))) if many else math.nan
        return cls(float(np.mean(values)), deviation, len(values))


@dataclass(frozen=True)
class Ratios:
    """Of two contestants, by table.

    seen: tables that both have, with those that have no ratio (0 over 0).   busy: those whose times were measured
    beside other work.
    """

    by_table: dict[str, float]
    seen: int
    busy: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.by_table)

    @property
    def geometric_mean(self) -> float:
        return float(np.exp(np.mean(np.log(list(self.by_table.values()))))) if self.by_table else math.nan

    @property
    def median(self) -> float:
        return float(np.median(list(self.by_table.values()))) if self.by_table else math.nan

    @property
    def largest(self) -> str:
        """The table of the largest one."""
        return max(self.by_table, key=lambda table: self.by_table[table], default="")


@dataclass(frozen=True)
class Results:
    """Records, found by table and contestant."""

    records: Collection[Record]
    by_seed: dict[tuple[str, str], dict[int, Record]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for record in self.records:
            self.by_seed.setdefault((record.table, record.contestant), {})[record.seed] = record

    def of(self, table: str, contestant: str) -> list[Record]:
        return list(self.by_seed.get((table, contestant), {}).values())

    def any_of(self, table: str) -> Record | None:
        """A record of the table, for what all of them say of it."""
        return next((record for record in self.records if record.table == table), None)

    def contestants(self, names: Iterable[str], tables: Collection[str]) -> list[str]:
        """Those of the names that have a record of one of the tables."""
        return [name for name in names if any((table, name) in self.by_seed for table in tables)]

    def mean(self, table: str, contestant: str, measure: Measure) -> Mean | None:
        values = [value for record in self.of(table, contestant) if (value := getattr(record, measure)) is not None]
        return Mean.of(values) if values else None

    def pairs(self, table: str, one: str, other: str, measure: Measure) -> list[tuple[Record, Record]]:
        """The records of the seeds that both have: the same rows, split in the same way."""
        first, second = self.by_seed.get((table, one), {}), self.by_seed.get((table, other), {})
        both = [(first[seed], second[seed]) for seed in sorted(first.keys() & second.keys())]
        return [pair for pair in both if all(getattr(record, measure) is not None for record in pair)]

    def ratio(self, table: str, one: str, other: str, measure: Measure) -> float | None:
        """Mean over mean, of the seeds that both have; None where there is none, or both are 0."""
        pairs = self.pairs(table, one, other, measure)
        if not pairs:
            return None
        values = [float(np.mean([getattr(pair[side], measure) for pair in pairs])) for side in (0, 1)]
        if measure is Measure.ERROR and pairs[0][0].classes and any(values):
            half = 0.5 / sum(record.tests for record, _ in pairs)  # no wrong row of all that were tested: half a one
            values = [value or half for value in values]
        return values[0] / values[1] if all(values) else None

    def ratios(self, tables: Iterable[str], one: str, other: str, measure: Measure) -> Ratios:
        both = [table for table in tables if self.pairs(table, one, other, measure)]
        left_out = self.sure(both) if measure is Measure.LOG_LOSS else frozenset()
        values = {table: self.ratio(table, one, other, measure) for table in both if table not in left_out}
        return Ratios({table: value for table, value in values.items() if value is not None}, len(values))

    def sure(self, tables: Iterable[str]) -> frozenset[str]:
        """Tables where the reference's log loss is next to nothing."""
        means = {table: self.mean(table, REFERENCE, Measure.LOG_LOSS) for table in tables}
        return frozenset(table for table, mean in means.items() if mean is not None and mean.value < SURE)

    def excess(self, table: str, one: str, other: str, measure: Measure, factor: float = 1.0) -> Mean | None:
        """one - factor * other, seed by seed; None without two seeds that both have."""
        pairs = self.pairs(table, one, other, measure)
        gaps = [getattr(first, measure) - factor * getattr(second, measure) for first, second in pairs]
        return Mean.of(gaps) if len(gaps) > 1 else None

    def seconds(self, table: str, contestant: str) -> tuple[float, bool] | None:
        """(median time of a fit, was the machine quiet?): of the quiet ones where there are some, else of all."""
        fits = self.of(table, contestant)
        quiet = [record.seconds for record in fits if record.load < QUIET]
        times = quiet or [record.seconds for record in fits]
        return (float(np.median(times)), bool(quiet)) if times else None

    def time_ratios(self, tables: Iterable[str], one: str, other: str) -> Ratios:
        ratios, busy = {}, set()
        for table in tables:
            times = self.seconds(table, one), self.seconds(table, other)
            if times[0] is None or times[1] is None:
                continue
            ratios[table] = max(times[0][0], 1e-3) / max(times[1][0], 1e-3)  # times are kept in milliseconds
            if not (times[0][1] and times[1][1]):
                busy.add(table)
        return Ratios(ratios, len(ratios), frozenset(busy))

    def mean_ranks(
        self, tables: Iterable[str], names: Iterable[str], measure: Measure
    ) -> tuple[dict[str, float], list[str]]:
        """(mean rank of each, the tables that have all of them); 1 is the best, equal ones share a rank."""
        tables = list(tables)
        present = self.contestants(names, tables)
        means = {table: [self.mean(table, name, measure) for name in present] for table in tables}
        rows = {table: [mean.value for mean in row if mean is not None] for table, row in means.items()}
        whole = [table for table, row in rows.items() if present and len(row) == len(present)]
        ranks = np.mean([rankdata(rows[table]) for table in whole], axis=0).tolist() if whole else []
        return dict(zip(present, ranks, strict=False)), whole

    def calibrated(self, tables: Iterable[str], contestant: str) -> tuple[int, int]:
        """Fits whose calibration error is below the 95 % quantile of labels drawn from the predictions, and all."""
        fits = [record for table in tables for record in self.of(table, contestant)]
        below = [r.calibration < r.expected for r in fits if r.calibration is not None and r.expected is not None]
        return sum(below), len(below)
