"""`python -m benchmarks [WHICH ...] [--case NAME] [--quick] [--data DIR]`: measure, show the tables, write the report.

Writes benchmarks/results/: JSON for each benchmark and train.png, which git ignores, and a record of all there is,
<date>-<machine>.md, which is kept (`--quick`, for trying out the benchmarks themselves, writes to results/quick).
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks import report
from benchmarks.cases import CASES
from benchmarks.crew import Crew
from benchmarks.fits import measure_fits
from benchmarks.imports import measure_imports
from benchmarks.latency import measure_latency
from benchmarks.many import measure_many
from benchmarks.memory import measure_memory
from benchmarks.plot import plot_training
from benchmarks.predict import measure_prediction
from benchmarks.profile import measure_profile
from benchmarks.reading import measure_reading
from benchmarks.store import Entry, load, save
from benchmarks.target import measure_target
from benchmarks.timing import Result, measure
from benchmarks.train import measure_training
from benchmarks.watching import measure_watching

RESULTS = Path(__file__).parent / "results"


def measurements(
    crew: Crew, cases: list[str], data: Path | None, quick: bool
) -> dict[str, Callable[[], Iterable[Entry]]]:
    """The benchmarks by name, in the order in which they run."""

    def autodiff() -> Iterator[Result]:
        from benchmarks.autodiff import cases as pieces  # imports its peers into this process: the last to run

        yield from (measure(piece, repeats=5 if quick else 31) for piece in pieces())

    found: dict[str, Callable[[], Iterable[Entry]]] = {
        "train": lambda: measure_training(crew, cases, quick),
        "predict": lambda: measure_prediction(crew, quick),
        "many": lambda: measure_many(crew, quick),
        "fits": lambda: measure_fits(crew, quick),
    }
    if data is not None:
        found["target"] = lambda: measure_target(crew, data, quick)
    return found | {
        "profile": lambda: measure_profile(cases, quick),
        "memory": lambda: measure_memory(quick),
        "latency": lambda: measure_latency(quick),
        "watching": lambda: measure_watching(quick),
        "reading": lambda: [measure_reading(quick)],
        "imports": lambda: [measure_imports(3 if quick else 11)],
        "autodiff": autodiff,
    }


def main() -> None:
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the workers end with us
    console, folder = Console(), RESULTS / "quick" if options.quick else RESULTS
    with Crew() as crew:
        known = measurements(crew, options.case or list(CASES), options.data, options.quick)
        chosen = options.which or list(known)
        for name in chosen:
            if name not in known:
                console.print(f"[yellow]{name} needs --data DIR, a folder with letter.csv.xz: left out[/]")
                continue
            entries: list[Entry] = []
            with Progress(
                SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), transient=True
            ) as bar:
                task = bar.add_task(f"{name} …", total=None)
                for entry in known[name]():
                    entries.append(entry)
                    save(folder, name, [entry])
                    bar.update(task, description=f"{name}: {len(entries)} done, last {entry.name}")
            console.print(report.table(report.TITLES[name], entries))
    plot_training([entry for entry in load(folder, "train") if isinstance(entry, Result)], folder / "train.png")
    console.print(f"written: {report.write(folder)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", help=f"some of {', '.join(report.TITLES)}; all by default")
    parser.add_argument("--case", action="append", choices=list(CASES), help="a training case (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it run?")
    parser.add_argument("--data", type=Path, help="a folder with letter.csv.xz, for the time to a validation loss")
    options = parser.parse_args()
    for name in options.which:
        if name not in report.TITLES:
            parser.error(f"there is no benchmark {name!r}: there are {', '.join(report.TITLES)}")
    return options


if __name__ == "__main__":
    main()
