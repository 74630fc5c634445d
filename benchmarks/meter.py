"""How much of the machine was used by processes that are not part of the race (Linux; elsewhere nothing is known)."""

from __future__ import annotations

import os
import time
from pathlib import Path

BUSY = 0.1
"""A share of foreign work from which a measurement is disturbed."""


def process_ticks(pid: int) -> int:
    """The ticks of CPU that one process has used in all its threads."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def session_ticks(sessions: set[int]) -> int:
    """The ticks of CPU that the processes of these sessions have used."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        if int(fields[3]) in sessions:
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def machine_ticks() -> int:
    """The ticks that all processes have used: user, nice, system."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[1:4])


class Meter:
    """Started when made."""

    def __init__(self, sessions: set[int]) -> None:
        self.sessions = sessions
        self.start = time.perf_counter(), machine_ticks(), session_ticks(sessions)

    def foreign(self) -> float:
        """The share of all cores' time since then that others used."""
        clock, machine, ours = self.start
        used = (machine_ticks() - machine) - (session_ticks(self.sessions) - ours)
        ticks = (time.perf_counter() - clock) * os.sysconf("SC_CLK_TCK") * (os.cpu_count() or 1)
        return max(0.0, used / ticks) if ticks else 0.0


def wait_for_quiet(at_most: float) -> float:
    """Wait while others use the machine (our own workers are asleep); returns the seconds it took."""
    start = time.perf_counter()
    while time.perf_counter() - start < at_most:
        meter = Meter(set())
        time.sleep(0.2)
        if meter.foreign() <= 2 * BUSY:
            break
    return time.perf_counter() - start
