"""Run all benchmarks, print the table, and write it as Markdown and JSON to benchmarks/results/."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import autodiff
from benchmarks.imports import measure_imports
from benchmarks.timing import Result, measure

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    cases = autodiff.cases()
    results = []
    with Progress() as progress:
        task = progress.add_task("measuring", total=len(cases) + 1)
        for case in cases:
            results.append(measure(case))
            progress.advance(task)
        results.append(measure_imports())
        progress.advance(task)
    Console().print(table(results))
    write(results)


def table(results: list[Result]) -> Table:
    shown = Table(title="Medians of one interleaved run; × is how many times longer than pellucid")
    shown.add_column("case")
    shown.add_column("who")
    shown.add_column("time", justify="right")
    shown.add_column("×", justify="right")
    for result in results:
        for i, (name, time) in enumerate(result.microseconds.items()):
            ratio = "" if i == 0 else f"{result.ratios()[name]:.2f}"
            shown.add_row(result.name if i == 0 else "", name, f"{time:,.0f} µs", ratio, end_section=False)
        shown.add_section()
    return shown


def write(results: list[Result]) -> None:
    RESULTS.mkdir(exist_ok=True)
    packages = {name: version(name) for name in ("pellucid", "numpy", "autograd", "jax")}
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
    data = {"packages": packages, "machine": machine, "results": [vars(r) | {"ratios": r.ratios()} for r in results]}
    (RESULTS / "autodiff.json").write_text(json.dumps(data, indent=2) + "\n")
    lines = ["| case | who | µs | × pellucid |", "| --- | --- | ---: | ---: |"]
    for result in results:
        for name, time in result.microseconds.items():
            lines.append(f"| {result.name} | {name} | {time:,.0f} | {result.ratios().get(name, 1.0):.2f} |")
    (RESULTS / "autodiff.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
