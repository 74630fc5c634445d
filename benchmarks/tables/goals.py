"""What is asked of the qualities, on tables that took no part in choosing, and what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.tables.sets import JUDGING, LARGE
from benchmarks.tables.summary import REFERENCE, Mean, Measure, Ratios, Results

LINEAR, TREES = "linear", "LightGBM"
MANY_ROWS = 16_000
"""Training rows of a table of 20,000."""
MANY_TESTS = 9_000


@dataclass(frozen=True)
class Goal:
    """`value` is not a number where nothing was measured."""

    name: str
    value: float
    aim: float
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        if math.isnan(self.value):
            return None
        return self.value >= self.aim if self.at_least else self.value <= self.aim


def goals(results: Results, judging: Sequence[str] = JUDGING, large: Sequence[str] = LARGE) -> list[Goal]:
    """All of them, in the order in which they are asked."""
    return [
        *_against_reference(results, judging),
        *_worse_tables(results, judging),
        *_best(results, judging),
        *_times(results, judging, large),
        *_calibration(results, judging, large),
    ]


def _against_reference(results: Results, tables: Sequence[str]) -> Iterator[Goal]:
    losses = results.ratios(tables, "default", REFERENCE, Measure.LOG_LOSS)
    errors = results.ratios(tables, "default", REFERENCE, Measure.ERROR)
    yield Goal(f"default, log loss over {REFERENCE}'s: median", losses.median, 0.97, note=_counted(losses))
    yield Goal("… geometric mean", losses.geometric_mean, 0.92, note=_counted(losses))
    yield Goal(f"default, error over {REFERENCE}'s: geometric mean", errors.geometric_mean, 0.80, note=_counted(errors))


def _worse_tables(results: Results, tables: Sequence[str]) -> Iterator[Goal]:
    def count(name: str, excesses: dict[str, Mean | None], errors: int) -> Goal:
        compared = {case: gap for case, gap in excesses.items() if gap is not None}
        worse = [case for case, gap in compared.items() if gap.value > errors * gap.deviation]
        note = ", ".join(worse) or f"{len(compared)} compared"
        return Goal(name, float(len(worse)) if compared else math.nan, 0.0, note=note)

    losses = {t: results.excess(t, "default", REFERENCE, Measure.LOG_LOSS, factor=1.1) for t in tables}
    sure = results.sure(tables)
    named = {f"{table} (next to nothing)" if table in sure else table: gap for table, gap in losses.items()}
    yield count(f"default, log loss above 1.10 of {REFERENCE}'s by two standard errors: tables", named, 2)
    beside = {
        f"{table} ({measure.replace('_', ' ')})": results.excess(table, "default", LINEAR, measure)
        for table in tables
        for measure in Measure
    }
    yield count("default, worse than linear by one standard error: error or log loss of a table", beside, 1)


def _best(results: Results, tables: Sequence[str]) -> Iterator[Goal]:
    for measure in Measure:
        ratios = results.ratios(tables, "best", "default", measure)
        name = f"best, {measure.replace('_', ' ')} over default's: geometric mean"
        yield Goal(name, ratios.geometric_mean, 0.96, note=_counted(ratios))


def _times(results: Results, judging: Sequence[str], large: Sequence[str]) -> Iterator[Goal]:
    ratios = results.time_ratios(judging, "default", REFERENCE)
    yield Goal(f"default, time over {REFERENCE}'s: geometric mean", ratios.geometric_mean, 5.0, note=_timed(ratios))
    many = [t for t in (*judging, *large) if (any_of := results.any_of(t)) is not None and any_of.rows >= MANY_ROWS]
    ratios = results.time_ratios(many, "fast", TREES)
    name = f"fast, time over {TREES}'s from 20,000 rows up: geometric mean"
    yield Goal(name, ratios.geometric_mean, 3.0, note=_timed(ratios))


def _calibration(results: Results, judging: Sequence[str], large: Sequence[str]) -> Iterator[Goal]:
    below, fits = results.calibrated(judging, "default")
    name = "default, calibration error below the 95 % quantile of its own: share of fits"
    yield Goal(name, below / fits if fits else math.nan, 0.95, at_least=True, note=f"{below} of {fits} fits")
    errors = {
        record.table: record.calibration
        for table in (*judging, *large)
        for record in results.of(table, "default")
        if record.tests >= MANY_TESTS and record.calibration is not None
    }
    worst: Callable[[str], float] = lambda table: errors[table]
    table = max(errors, key=worst, default="")
    name = "default, calibration error from 9,000 test rows up: the largest"
    yield Goal(name, errors.get(table, math.nan), 0.02, note=table)


def _counted(ratios: Ratios) -> str:
    return plural(len(ratios), "table")


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "table"), plural(2, "table")
    ('1 table', '2 tables')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def _timed(ratios: Ratios) -> str:
    if not ratios:
        return _counted(ratios)
    largest = f"largest {ratios.by_table[ratios.largest]:.1f}, {ratios.largest}"
    beside = f", {len(ratios.busy)} of them beside other work" if ratios.busy else ""
    return f"{_counted(ratios)}{beside}; {largest}"
