"""`python -m soak [PART ...] [--quick] [--seed N] [--case N]`: run, show the figures, fail if one is not as wanted."""

from __future__ import annotations

import argparse
import sys
import time
import warnings

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from soak.fits import FITS
from soak.forgeries import FORGERIES
from soak.forks import FORKS
from soak.kills import KILLS
from soak.part import Figure, Part
from soak.runs import RUNS
from soak.threads import THREADS

# fits come first: they measure the memory of a process that has done nothing else
PARTS = {part.name: part for part in (FITS, THREADS, FORKS, KILLS, RUNS, FORGERIES)}


def main(words: list[str] | None = None) -> int:
    """Run the parts that are asked for; 0 if everything is as wanted, else 1."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all without one")
    parser.add_argument("--quick", action="store_true", help="a few cases of each part")
    parser.add_argument("--seed", type=int, default=0, help="other cases (0)")
    parser.add_argument("--case", type=int, help="this case alone: to repeat a failure")
    asked = parser.parse_args(words)
    for name in asked.parts:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}: there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # of convergence and the like: thousands of them, and none is looked at here
    console = Console()
    console.print(f"seed {asked.seed}; case N again: python -m soak PART --seed {asked.seed} --case N", highlight=False)
    table = Table("part", "what", "figure", "wanted", "")
    met = True
    for part in (PARTS[name] for name in asked.parts or PARTS):
        count = part.quick if asked.quick else part.cases
        cases = range(count) if asked.case is None else range(asked.case, asked.case + 1)
        start = time.monotonic()
        figures = _figures(console, part, cases, asked.seed)
        for figure in [*figures, Figure("time", f"{time.monotonic() - start:.0f} s")]:
            mark = "" if figure.met and not figure.wanted else "[green]✓[/]" if figure.met else "[red]✗[/]"
            table.add_row(part.name, escape(figure.name), escape(figure.value), figure.wanted, mark)
            met &= figure.met
        table.add_section()
    console.print(table)
    return 0 if met else 1


def _figures(console: Console, part: Part, cases: range, seed: int) -> list[Figure]:
    columns = (TextColumn(part.name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, refresh_per_second=2) as progress:
        task = progress.add_task("", total=len(cases))
        return list(part.run(cases, seed, lambda: progress.advance(task)))


if __name__ == "__main__":
    sys.exit(main())
