"""The first fit of a process: one epoch of `small`, libraries imported, with an empty cache and with a filled one."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module

from benchmarks.cases import CASES, THREADS, data
from benchmarks.contestants import CONTESTANTS, OURS
from benchmarks.crew import environment
from benchmarks.timing import Result

PEERS = (OURS, "PyTorch", "JAX", "scikit-learn")
COLD, WARM = "first fit, cold cache", "first fit, warm cache"


def measure_latency(quick: bool = False) -> Iterator[Result]:
    """A round: everyone with an empty cache, then everyone again in a second process with the cache it left."""
    times: dict[str, dict[str, list[float]]] = {COLD: {}, WARM: {}}
    failures: dict[str, str] = {}
    for _ in range(1 if quick else 3):
        for who in PEERS:
            with tempfile.TemporaryDirectory() as cache:
                for state in (COLD, WARM):
                    try:
                        times[state].setdefault(who, []).append(_asked(who, cache))
                    except RuntimeError as error:
                        failures[who] = str(error)
                        break
    for state in (COLD, WARM):
        raced = {who: each for who, each in times[state].items() if who not in failures}
        yield Result(state, raced, unit="first fit", failures=failures)


def _asked(who: str, cache: str) -> float:
    caches = dict.fromkeys(("PELLUCID_CACHE_DIR", "NUMBA_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR"), cache)
    caches |= {f"JAX_PERSISTENT_CACHE_MIN_{what}": "-1" for what in ("COMPILE_TIME_SECS", "ENTRY_SIZE_BYTES")}
    command = [sys.executable, "-m", "benchmarks.latency", CONTESTANTS[who].module]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(THREADS) | caches)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(json.loads(done.stdout.splitlines()[-1]))


def first_fit(module_name: str) -> float:
    """In the fresh process."""
    module, case = import_module(module_name), CASES["small"]
    X, y = data(case)
    start = time.perf_counter()
    module.train(case, X, y, THREADS)(1)
    return time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(first_fit(sys.argv[1])))
