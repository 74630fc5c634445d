"""Measurements as JSON: one file for each benchmark, entries replaced by name."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import time
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES
from benchmarks.figures import Figure
from benchmarks.timing import Result

Entry = Result | Figure
PACKAGES = ["pellucid", "numpy", "scipy", "llvmlite", "torch", "jax", "scikit-learn", "onnxruntime", "autograd"]
PACKAGES += ["lightgbm", "catboost", "pytabkit"]


def setting() -> dict[str, Any]:
    """Where and when."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "system": platform.platform(),
        "packages": packages,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def machine(where: dict[str, Any]) -> str:
    """Processor and cores as a part of a file's name: "amd-epyc-2-cores"."""
    return re.sub(r"[^a-z0-9]+", "-", f"{where['processor']} {where['cores']} cores".lower()).strip("-")


def save(folder: Path, benchmark: str, entries: list[Entry]) -> None:
    """Add the entries to those of earlier calls; one of the same name and contestant is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {_key(entry): entry for entry in load(folder, benchmark)} | {_key(entry): entry for entry in entries}
    order = {name: i for i, name in enumerate(CASES)}
    rows = [_row(entry) for entry in sorted(kept.values(), key=lambda entry: order.get(entry.name, len(order)))]
    (folder / f"{benchmark}.json").write_text(json.dumps({"setting": setting(), "entries": rows}, indent=1) + "\n")


def load(folder: Path, benchmark: str) -> list[Entry]:
    file = folder / f"{benchmark}.json"
    if not file.exists():
        return []
    return [_entry(row) for row in json.loads(file.read_text()).get("entries", [])]


def measured_at(folder: Path, benchmark: str) -> str:
    """Date and time at which the benchmark was last written."""
    date: str = json.loads((folder / f"{benchmark}.json").read_text())["setting"]["date"]
    return date


def _key(entry: Entry) -> tuple[str, str]:
    return (entry.name, entry.who if isinstance(entry, Figure) else "")


def _row(entry: Entry) -> dict[str, Any]:
    row = asdict(entry)
    if isinstance(entry, Result):
        return row | {"microseconds": entry.microseconds, "ratios": entry.ratios()}
    return row | {"value": None if math.isnan(entry.value) else entry.value, "met": entry.met}


def _entry(row: dict[str, Any]) -> Entry:
    if "rounds" in row:
        return Result(**{k: v for k, v in row.items() if k not in ("microseconds", "ratios")})
    value = math.nan if row["value"] is None else row["value"]
    return Figure(**{k: v for k, v in row.items() if k != "met"} | {"value": value})
