"""Interleaved timing: absolute times on a busy machine are noise, ratios of one run are not."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One piece of work, done by each of the contestants. Ours comes first."""

    name: str
    contestants: dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Result:
    name: str
    rounds: dict[str, list[float]]  # seconds of each contestant in each round
    unit: str = "call"  # what was done in that time
    notes: dict[str, str] = field(default_factory=dict)  # how a contestant ran
    failures: dict[str, str] = field(default_factory=dict)  # why one did not
    foreign: float = 0.0  # share of the machine that other processes used meanwhile
    ours: str = "pellucid"

    @property
    def microseconds(self) -> dict[str, float]:
        """The median of each contestant."""
        return {name: 1e6 * statistics.median(times) for name, times in self.rounds.items()}

    def spread(self, name: str) -> tuple[float, float, float]:
        """Quartile, median, quartile of a contestant's seconds."""
        return _quartiles(self.rounds[name])

    def ratios(self) -> dict[str, tuple[float, float, float]]:
        """How many times longer each peer takes than ours, round by round: quartile, median, quartile."""
        found = {}
        for peer, times in self.rounds.items():
            if self.ours in self.rounds and peer != self.ours:
                found[peer] = _quartiles([b / a for a, b in zip(self.rounds[self.ours], times, strict=True)])
        return found


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def measure(case: Case, repeats: int = 31, seconds: float = 0.02) -> Result:
    """The median over `repeats` rounds; in each round every contestant runs for about `seconds`."""
    loops = {}
    for name, work in case.contestants.items():
        work()  # warm up
        start = time.perf_counter()
        work()
        loops[name] = max(1, int(seconds / max(time.perf_counter() - start, 1e-7)))
    times: dict[str, list[float]] = {name: [] for name in case.contestants}
    for _ in range(repeats):
        for name, work in case.contestants.items():
            start = time.perf_counter()
            for _ in range(loops[name]):
                work()
            times[name].append((time.perf_counter() - start) / loops[name])
    return Result(case.name, times)
