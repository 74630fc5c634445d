"""`python -m benchmarks.tables --data DIR [--seeds 5] [--table NAME] [--contestant NAME] [--again]`: fit, test, report.

Each fit is a line of benchmarks/results/tables.jsonl. Those that are there are not done again, unless --again is
given: a run can be interrupted (Ctrl-C) and taken up. At the end, and with --report and no fits, the tables are
printed, and tables.md and tables.png are written beside the file; a run also writes the record of the day. --publish
keeps the file under date and machine, and puts figures and picture into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import report, store
from benchmarks.tables import page, picture, records
from benchmarks.tables.contestants import CONTESTANTS
from benchmarks.tables.measure import measure
from benchmarks.tables.plan import estimate, wanted
from benchmarks.tables.records import Key, Record
from benchmarks.tables.sets import CHOOSING, JUDGING, LARGE, rows_of, task
from benchmarks.tables.summary import Results

RESULTS = Path(__file__).parents[1] / "results"
DOCS = Path(__file__).parents[2] / "docs"
PLACE = re.compile(r"(?<=<!-- tables: begin -->\n).*(?=<!-- tables: end -->)", flags=re.S)
"""Where the figures stand in docs/benchmarks.md."""
WIDTH = 150
"""Columns of the terminal that the tables need."""
PICTURE = "Error and log loss against the time of a fit, over CatBoost's, on the judging tables"


def main() -> None:
    options, console = arguments(), Console()
    console.width = max(console.width, WIDTH)
    if not (options.report or options.publish):
        open_keys = wanted(options.table, options.contestant, options.seeds)
        if not options.again:
            done = records.read(options.results)
            open_keys = [key for key in open_keys if key not in done]
        announce(console, open_keys, options)
        try:
            fit(console, open_keys, options)
        except KeyboardInterrupt:
            console.print("[yellow]interrupted: the same command goes on from here[/]")
    written = show(console, options.results)
    if written and not (options.report or options.publish):
        written.append(report.write(options.results.parent))
    if written and options.publish:
        written += publish(options.results)
    console.print("\n".join(f"written: {path}" for path in written) or f"no fits in {options.results}")


def announce(console: Console, open_keys: Collection[Key], options: argparse.Namespace) -> None:
    """How much there is to do, by the fits of this file and of those that are kept."""
    fits: list[Record] = list(records.read(options.results).values())
    for path in sorted(options.results.parent.glob("20*-tables.jsonl")):
        fits += records.read(path).values()
    seconds, unknown = estimate(open_keys, fits, rows_of(options.data))
    console.print(
        f"{len(open_keys)} fits are open: about {_span(seconds)}" + f", and {unknown} unknown" * bool(unknown)
    )


def _span(seconds: float) -> str:
    """
    >>> _span(40), _span(600), _span(9000)
    ('1 minute', '10 minutes', '2.5 hours')
    """
    minutes = max(round(seconds / 60), 1)
    return f"{minutes} minute{'s' * (minutes > 1)}" if minutes < 90 else f"{seconds / 3600:.1f} hours"


def fit(console: Console, open_keys: Collection[Key], options: argparse.Namespace) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    absent: set[str] = set()
    with Progress(*columns, console=console) as bar:
        row = bar.add_task("fits", total=len(open_keys))
        for table, seed, contestant in open_keys:
            bar.update(row, description=f"{table}, seed {seed}: {contestant}")
            try:
                if contestant not in absent:
                    records.add(options.results, measure(task(options.data, table, seed), seed, contestant))
            except ModuleNotFoundError as error:
                absent.add(contestant)
                bar.console.print(f"[yellow]{contestant} does not take part: {error}[/]")
            except Exception as error:  # the others go on; a later run tries again
                bar.console.print(f"[red]{table}, seed {seed}, {contestant}: {type(error).__name__}: {error}"[:300])
            bar.advance(row)


def show(console: Console, path: Path) -> list[Path]:
    """Print what there is, and write it beside the file."""
    results = Results(records.read(path).values())
    if not results.records:
        return []
    for grid in page.grids(results):
        console.print(page.terminal(grid), "")
    (path.parent / "tables.md").write_text(page.page(results))
    drawn = picture.draw(results, path.parent / "tables.png")
    return [path.parent / "tables.md"] + [path.parent / "tables.png"] * drawn


def publish(path: Path, docs: Path = DOCS) -> list[Path]:
    """Keep the fits beside the file, under date and machine, and put figures and picture into the docs."""
    where = store.setting()
    day = where["date"].split()[0]
    kept = path.parent / f"{day}-{store.machine(where)}-tables.jsonl"
    fits = records.read(path)
    records.keep(kept, fits.values())
    image = docs / "images" / "benchmarks-tables.png"
    shutil.copy(path.parent / "tables.png", image)
    source = f"Published {day}, measured on {where['processor']}, {where['cores']} cores; all fits: `{kept.name}`."
    shown = f"![{PICTURE}](images/{image.name})"
    lines = ["", *page.wrapped([source]), shown, "", page.page(Results(fits.values())), ""]
    text = (docs / "benchmarks.md").read_text()
    (docs / "benchmarks.md").write_text(PLACE.sub(lambda _: "\n".join(lines), text))
    return [kept, docs / "benchmarks.md", image]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with index.json and tables; not needed for a report")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--table", action="append", help="may be repeated; all by default")
    parser.add_argument("--contestant", action="append", choices=list(CONTESTANTS), help="may be repeated")
    parser.add_argument("--again", action="store_true", help="measure anew what is there")
    parser.add_argument("--report", action="store_true", help="no fits: what is there")
    parser.add_argument("--publish", action="store_true", help="no fits: a report, kept and put into the docs")
    parser.add_argument("--results", type=Path, default=RESULTS / "tables.jsonl")
    options = parser.parse_args()
    if not (options.report or options.publish or options.data):
        parser.error("fits need --data DIR, a folder with index.json and tables (or ask for a --report)")
    options.table = options.table or [*CHOOSING, *JUDGING, *LARGE]
    options.contestant = options.contestant or list(CONTESTANTS)
    return options


if __name__ == "__main__":
    main()
