"""Peak memory of one fit beyond its data, and growth over 1,000 epochs, each in a fresh process.

A first fit of another network of the same kind, large enough for all threads, loads libraries and compiles; then what
it left is given back, the peak is reset, and the case itself is trained.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES, THREADS, TrainCase, data
from benchmarks.contestants import CONTESTANTS, OURS
from benchmarks.crew import environment
from benchmarks.figures import Figure

PEERS = (OURS, "PyTorch", "JAX", "scikit-learn")
MEASURED = ("mid", "mnist", "big")
MB = 1e6


def limit(case: TrainCase) -> float:
    """1.5 (parameters (2 + rule state) + activations of one batch), in MB. Adam's state is two numbers a parameter."""
    state = 2 if case.rule == "adam" else 1
    activations = case.batch * sum(case.sizes)
    size = 4 if case.dtype == "float32" else 8
    return 1.5 * size * (case.parameters * (2 + state) + activations) / MB


def measure_memory(quick: bool = False) -> Iterator[Figure]:
    for name in MEASURED[: 1 if quick else None]:
        for who in PEERS:
            yield _asked(who, name, "peak", limit(CASES[name]) if who == OURS else None)
    yield _asked(OURS, "tiny", "growth", 1.0)


def _asked(who: str, case: str, what: str, most: float | None) -> Figure:
    command = [sys.executable, "-m", "benchmarks.memory", CONTESTANTS[who].module, case, what]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(THREADS))
    name = f"{case}: peak of a fit beyond data" if what == "peak" else f"{case}: growth over 1,000 epochs"
    if done.returncode:
        return Figure(name, who, float("nan"), "MB", most, done.stderr.strip().splitlines()[-1])
    return Figure(name, who, json.loads(done.stdout.splitlines()[-1]) / MB, "MB", most)


# in the fresh process


def status(field: str) -> int:
    """VmRSS (now) or VmHWM (the peak), in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def give_back() -> None:
    """Free what can be freed, return it to the system, and forget the peak."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def peak(module: Any, case: TrainCase) -> int:
    small = replace(case, features=64, hidden=(128,) * len(case.hidden), batch=128, batches=3)
    module.train(small, *data(small), THREADS)(2)
    X, y = data(case)
    give_back()
    before = status("VmRSS")
    module.train(case, X, y, THREADS)(2)
    return status("VmHWM") - before


def growth(module: Any, case: TrainCase) -> int:
    work = module.train(case, *data(case), THREADS)
    work(20)
    give_back()
    before = status("VmRSS")
    work(1000)
    gc.collect()
    return status("VmRSS") - before


if __name__ == "__main__":
    module_name, case_name, what = sys.argv[1:]
    found = {"peak": peak, "growth": growth}[what](import_module(module_name), CASES[case_name])
    print(json.dumps(found))
