"""`python -m benchmarks.against REV [--case NAME] [--quick]`: this tree beside a commit, in one interleaved run.

Two processes take turns, one with the package of each. What counts is the minimum of each: others on the machine can
only add to it. A ratio above 1 is a step that has become slower.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.cases import CASES, THREADS
from benchmarks.contestants import OURS
from benchmarks.crew import ROOT, Worker, calibrated, environment
from benchmarks.report import duration

PREDICTED = ("small", "mid")
"""Cases whose predictions are compared, too."""


@dataclass(frozen=True)
class Comparison:
    """Seconds of the same work with the package of a commit and of this tree, round by round."""

    name: str
    threads: int
    before: list[float]
    now: list[float]

    @property
    def ratio(self) -> float:
        return min(self.now) / min(self.before)


@contextmanager
def package_of(revision: str) -> Iterator[Path]:
    """A folder with the package as it was in a commit."""
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        raise SystemExit(f"{revision!r} is no commit of this repository: {packed.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory(prefix="pellucid-against-") as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder) / "src"


def check_package(source: Path) -> None:
    """SystemExit if a process that should use this package would import another."""
    asked = [sys.executable, "-c", "import pellucid; print(pellucid.__file__)"]
    told = subprocess.run(asked, env=environment(1, source), capture_output=True, text=True, check=True)
    if not Path(told.stdout.strip()).resolve().is_relative_to(source.resolve()):
        raise SystemExit(f"the package of {source} was asked for, {told.stdout.strip()} was imported")


def jobs(names: list[str]) -> Iterator[tuple[str, str, dict[str, Any], float]]:
    """(name, job, its specification, units of a piece of work)"""
    for name in names:
        yield name, "train", {"case": name}, CASES[name].batches
    for name in names:
        if name in PREDICTED:
            for rows in (1, 10_000):
                yield f"predict {name}, {rows:,} row{'s' * (rows > 1)}", "predict", {"case": name, "rows": rows}, 1.0


def compared(sources: tuple[Path, Path], names: list[str], rounds: int, seconds: float) -> Iterator[Comparison]:
    for threads in (1, THREADS):
        with ExitStack() as stack:
            workers = [stack.enter_context(closing(Worker(OURS, threads, source))) for source in sources]
            for name, job, spec, units in jobs(names):
                for worker in workers:
                    worker.prepare(job, spec)
                n = max(calibrated(worker, seconds)[0] for worker in workers)
                times: tuple[list[float], list[float]] = [], []
                for turn in range(rounds):
                    for i in (0, 1) if turn % 2 else (1, 0):  # nobody is always the first
                        times[i].append(workers[i].run(n)[0] / n / units)
                yield Comparison(name, threads, *times)


def table(title: str, comparisons: list[Comparison]) -> Table:
    shown = Table(title=title)
    for head in ("case", "threads", "before", "now", "now / before"):
        shown.add_column(head, justify="left" if head == "case" else "right")
    for c in comparisons:
        before, now = (duration(1e6 * min(times)) for times in (c.before, c.now))
        shown.add_row(c.name, str(c.threads), before, now, f"{c.ratio:.3f}")
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("revision", help="a commit, branch or tag")
    parser.add_argument("--case", action="append", choices=list(CASES), help="a training case (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it run?")
    options = parser.parse_args()
    rounds, seconds = (2, 0.02) if options.quick else (9, 0.2)
    console = Console()
    with package_of(options.revision) as before:
        sources = before, ROOT / "src"
        for source in sources:
            check_package(source)
        found = []
        for comparison in compared(sources, options.case or list(CASES), rounds, seconds):
            found.append(comparison)
            console.print(f"{comparison.name}, threads {comparison.threads}: {comparison.ratio:.3f}")
    console.print(table(f"This tree beside {options.revision}: minima of {rounds} rounds in turns", found))


if __name__ == "__main__":
    main()
