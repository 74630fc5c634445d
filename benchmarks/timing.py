"""Interleaved timing: absolute times on a busy machine are noise, ratios of one run are not."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One piece of work, done by each of the contestants. Ours comes first."""

    name: str
    contestants: dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Result:
    name: str
    rounds: dict[str, list[float]]  # seconds of each contestant in each round; ours first

    @property
    def microseconds(self) -> dict[str, float]:
        """The median of each contestant."""
        return {name: 1e6 * statistics.median(times) for name, times in self.rounds.items()}

    def ratios(self) -> dict[str, tuple[float, float, float]]:
        """How many times longer each peer takes than the first, round by round: quartile, median, quartile."""
        ours, *peers = self.rounds
        found = {}
        for peer in peers:
            each = [theirs / mine for theirs, mine in zip(self.rounds[peer], self.rounds[ours], strict=True)]
            low, middle, high = statistics.quantiles(each, n=4)
            found[peer] = (low, middle, high)
        return found


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
