"""`python -m benchmarks.precision [--data DIR] [--seeds 5] [--rounds 15] [--case NAME]`: what bfloat16 brings.

Two tables: microseconds of a step with full products and with those of bfloat16 numbers, minima of rounds in turns;
and, with --data, what networks are worth on rows that they have not seen, after the same epochs from the same start.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import pellucid as pel
from benchmarks.cases import CASES, TrainCase, data
from benchmarks.contestants import ours
from benchmarks.tables.sets import task
from pellucid import nn, optim
from pellucid.graph.primitives.products import PRECISIONS

TABLES = {"digits8x8": "accuracy", "letter": "accuracy", "california_housing": "R²"}
"""What the networks are judged by."""

EPOCHS, BATCH, HIDDEN = 30, 128, (256, 256)
FAR = 5.0
"""Deviations at which columns are clipped."""

WIDTH = 120
"""Columns of the terminal that the tables need."""

LONG = 0.03
"""Seconds of a round, about."""


def microseconds(case: TrainCase, threads: int, rounds: int) -> list[float]:
    """Of a step, for each precision."""
    X, y = data(case)
    models = [ours.model(case, threads, precision) for precision in PRECISIONS]
    best = [np.inf] * len(models)
    for number in range(rounds + 1):
        for i, model in enumerate(models):
            epochs = 1 if not number else max(1, round(LONG / (best[0] * case.batches)))
            start = time.perf_counter()
            model.fit(X, y, epochs=epochs, batch_size=case.batch, seed=0, verbose=False)
            seconds = (time.perf_counter() - start) / (epochs * case.batches)
            best[i] = min(best[i], seconds) if number > 1 else seconds  # the first round compiles
    return [1e6 * seconds for seconds in best]


def scores(folder: Path, name: str, seed: int) -> list[float]:
    """On the rows that are held out, for each precision."""
    (X, y), (Z, z), classes = rows(folder, name, seed)
    loss, metric = ("cross_entropy", "accuracy") if classes else ("squared_error", "r2")
    found = []
    for precision in PRECISIONS:
        net = nn.mlp(HIDDEN, classes or 1)
        model = pel.Model(net, loss, optim.Adam(1e-3), [metric], engine="native", precision=precision)
        model.fit(X, y, epochs=EPOCHS, batch_size=BATCH, seed=seed, verbose=False)
        found.append(model.evaluate(Z, z)[metric])
    return found


def rows(folder: Path, name: str, seed: int) -> tuple[tuple[Any, Any], tuple[Any, Any], int]:
    """Columns and targets in units of their deviation; classes as numbers, and how many there are."""
    it = task(folder, name, seed)
    first = len(it.train[0])
    whole = pd.get_dummies(pd.concat([it.train[0], it.test[0]])).to_numpy(np.float32)
    mean, deviation = np.nanmean(whole[:first], axis=0), np.nanstd(whole[:first], axis=0)
    units = np.nan_to_num((whole - mean) / np.where(deviation > 0, deviation, 1))
    inputs = np.split(np.clip(units, -FAR, FAR), [first])  # a category that one row has would be 126 deviations out
    if it.classes is not None:
        targets = [pd.Categorical(y, it.classes).codes.astype(np.int64) for _, y in (it.train, it.test)]
    else:
        y = np.asarray(it.train[1], np.float32)
        targets = [(np.asarray(t, np.float32) - y.mean()) / y.std() for _, t in (it.train, it.test)]
    return (inputs[0], targets[0]), (inputs[1], targets[1]), len(it.classes or ())


def speed(cases: list[str], rounds: int) -> Iterator[tuple[str, ...]]:
    for name in cases:
        for threads in (1, 2):
            full, short = microseconds(CASES[name], threads, rounds)
            yield CASES[name].title(), str(threads), f"{full:,.0f}", f"{short:,.0f}", f"{full / short:.2f}"


def worth(folder: Path, seeds: int) -> Iterator[tuple[str, ...]]:
    for name, metric in TABLES.items():
        full, short = np.array([scores(folder, name, seed) for seed in range(seeds)]).T
        means = (f"{values.mean():.4f} ± {values.std(ddof=1):.4f}" for values in (full, short))
        change = short - full
        yield name, metric, *means, f"{change.mean():+.4f} ± {change.std(ddof=1) / len(change) ** 0.5:.4f}"


def shown(title: str, columns: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> Table:
    table = Table(*columns, title=title)
    for line in lines:
        table.add_row(*line)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with the tables: what networks are worth is measured, too")
    parser.add_argument("--seeds", type=int, default=5, help="networks of each kind")
    parser.add_argument("--rounds", type=int, default=15, help="of steps; 0 measures none")
    parser.add_argument("--case", action="append", choices=list(CASES), help="a training case (may be repeated)")
    options, console = parser.parse_args(), Console()
    console.width = max(console.width, WIDTH)
    if options.rounds:
        columns = ("step", "threads", *PRECISIONS, "times as fast")
        lines = speed(options.case or ["small", "mid", "mnist", "big"], options.rounds)
        console.print(shown("microseconds of a step", columns, lines))
    if options.data is not None:
        title = f"{EPOCHS} epochs, {options.seeds} seeds: mean and deviation; what changes, and its standard error"
        columns = ("table", "judged by", *PRECISIONS, "change")
        console.print(shown(title, columns, worth(options.data, options.seeds)))


if __name__ == "__main__":
    main()
