"""How many processors this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath


def default_threads() -> int:
    """`PELLUCID_THREADS`; else the processors that this process may use, and `OMP_NUM_THREADS` at most.

    What runs many processes side by side (joblib, Dask) gives each its share by `OMP_NUM_THREADS`.
    """
    asked = os.environ.get("PELLUCID_THREADS")
    if asked:
        if not asked.isdigit() or int(asked) < 1:
            raise ValueError(f"PELLUCID_THREADS is a number from 1, got {asked!r}")
        return int(asked)
    shared = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    limit = int(shared) if shared.isdigit() and int(shared) else math.inf
    return int(min(usable(), limit))


def usable() -> int:
    """The processors of this process: its affinity, and what the quota of its control groups (a container) gives."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(count, quota())))


def quota(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """Processors' worth of time that the control groups of this process may use: the least of them, or infinity."""
    return min(_quotas(groups, root), default=math.inf)


def _quotas(groups: Path, root: Path) -> Iterator[float]:
    lines: list[str] = []
    with suppress(OSError, UnicodeDecodeError):
        lines = groups.read_text().splitlines()
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        names = controllers.split(",")
        if not controllers:  # version 2: one tree
            tree, files = root, ["cpu.max"]
        elif "cpu" in names:  # version 1: a tree for the processors
            tree, files = root / controllers, ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
            tree = tree if tree.is_dir() else root / "cpu"
        else:
            continue
        inside = PurePosixPath(path.lstrip("/"))
        for group in (inside, *inside.parents):  # a limit above holds for all below
            with suppress(OSError, ValueError, IndexError, ZeroDivisionError):
                words = " ".join((tree / group / name).read_text() for name in files).split()
                if words[0] not in ("max", "-1"):
                    yield float(words[0]) / float(words[1])
