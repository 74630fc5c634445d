"""`python -m benchmarks.tables --data DIR [--seeds 5] [--table NAME] [--contestant NAME] [--again]`.

Fits that are in benchmarks/results/tables.jsonl are not done again, unless --again is given: a run can be taken up.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.tables import records
from benchmarks.tables.contestants import CONTESTANTS
from benchmarks.tables.measure import measure
from benchmarks.tables.sets import CHOOSING, JUDGING, LARGE, task

RESULTS = Path(__file__).parent.parent / "results" / "tables.jsonl"
DEAR = {"RealMLP-TD": ("sonar", "pima_diabetes", "spambase", "ames_housing", "cpu_act", "higgs_small")}
"""Contestants that take part on a few tables only, once."""


def wanted(options: argparse.Namespace) -> list[records.Key]:
    """What is to be measured, seed by seed."""
    tables = options.table or [*CHOOSING, *JUDGING, *LARGE]
    names = options.contestant or list(CONTESTANTS)
    return [
        (table, seed, name)
        for seed in range(options.seeds)
        for table in tables
        for name in names
        if not (seed and (table in LARGE or name in DEAR)) and (name not in DEAR or table in DEAR[name])
    ]


def main() -> None:
    options = arguments()
    known = {} if options.again else records.read(options.results)
    open_keys = [key for key in wanted(options) if key not in known]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as bar:
        row = bar.add_task("fits", total=len(open_keys))
        for table, seed, contestant in open_keys:
            bar.update(row, description=f"{table}, seed {seed}: {contestant}")
            try:
                records.add(options.results, measure(task(options.data, table, seed), seed, contestant))
            except Exception as error:  # noqa: BLE001 (the others go on; a later run tries again)
                bar.console.print(f"[red]{table}, seed {seed}, {contestant}: {type(error).__name__}: {error}"[:300])
            bar.advance(row)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder with index.json and tables")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--table", action="append", help="may be repeated; all by default")
    parser.add_argument("--contestant", action="append", choices=list(CONTESTANTS), help="may be repeated")
    parser.add_argument("--again", action="store_true", help="measure anew what is there")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
