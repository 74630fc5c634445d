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
    shown = Table(title="One interleaved run; × is how many times longer than pellucid: median (quartiles)")
    shown.add_column("case")
    shown.add_column("who")
    shown.add_column("time", justify="right")
    shown.add_column("×", justify="right")
    for result in results:
        for i, (name, time) in enumerate(result.microseconds.items()):
            ratio = "" if i == 0 else spread(*result.ratios()[name])
            shown.add_row(result.name if i == 0 else "", name, f"{time:,.0f} µs", ratio, end_section=False)
        shown.add_section()
    return shown


def spread(low: float, middle: float, high: float) -> str:
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def write(results: list[Result]) -> None:
    RESULTS.mkdir(exist_ok=True)
    packages = {name: version(name) for name in ("pellucid", "numpy", "autograd", "jax")}
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
    rows = [{"name": r.name, "microseconds": r.microseconds, "ratios": r.ratios()} for r in results]
    data = {"packages": packages, "machine": machine, "results": rows}
    (RESULTS / "autodiff.json").write_text(json.dumps(data, indent=2) + "\n")
    lines = ["| case | who | µs | × pellucid |", "| --- | --- | ---: | ---: |"]
    for result in results:
        for name, time in result.microseconds.items():
            ratio = spread(*result.ratios()[name]) if name in result.ratios() else "1"
            lines.append(f"| {result.name} | {name} | {time:,.0f} | {ratio} |")
    (RESULTS / "autodiff.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
