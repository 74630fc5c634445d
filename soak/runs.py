"""SIGKILL at random moments of `pellucid train`: `--resume` ends with the model of a run that was left alone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pellucid.train.files.container import read
from soak.part import ROOT, Failures, Figure, Part
from soak.samples import same_bits

KILLS = 5
"""Of one run, unless it is over sooner."""

ROWS = 300
OPTIONS = ("--target", "price", "--epochs", "8", "--folds", "3", "--layers", "32,32", "--no-report", "--quiet")


def write_table(path: Path) -> None:
    """Numbers, a category, missing cells."""
    dice = random.Random(0)
    lines = ["size,district,rooms,price"]
    for _ in range(ROWS):
        size, district = dice.uniform(30, 200), dice.choice(("north", "south", "west"))
        rooms = "" if dice.random() < 0.1 else str(int(size // 25) + 1)
        lines.append(f"{size:.1f},{district},{rooms},{2000 * size + 50_000 * (district == 'north'):.0f}")
    path.write_text("\n".join(lines) + "\n")


def started(table: Path, folder: Path) -> subprocess.Popen[str]:
    """The command: a new run, or what there is of it completed."""
    words = (
        ["--resume", str(folder)] if (folder / "state.json").exists() else [str(table), *OPTIONS, "--out", str(folder)]
    )
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-m", "pellucid", "train", *words],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def trained(table: Path, folder: Path) -> float:
    """A run to its end; the seconds that it took."""
    begin = time.monotonic()
    process = started(table, folder)
    _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the command ended with {process.returncode}: {said.strip()[-400:]}")
    return time.monotonic() - begin


def killed(table: Path, folder: Path, dice: random.Random, seconds: float) -> tuple[int, int]:
    """A run that is killed again and again, then completed; kills, and networks that were not trained again."""
    kills, networks = 0, 0
    for _ in range(KILLS):
        process = started(table, folder)
        with suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.2, 1.0) * seconds)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            break
        kills += 1
        networks = max(networks, len(list(folder.glob("networks/*.pel"))))
    trained(table, folder)
    return kills, networks


def contents(folder: Path) -> tuple[dict[str, Any], Any]:
    """The arrays of a model, and its scores."""
    arrays, _ = read(folder / "model.pel", "estimator")
    return arrays, json.loads((folder / "metrics.json").read_text())["test"]


def run(cases: range, seed: int, advance: Callable[[], None]) -> Iterable[Figure]:
    """A case is one run."""
    failures, kills, networks = Failures(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        table, whole = Path(name) / "houses.csv", Path(name) / "whole"
        write_table(table)
        seconds = trained(table, whole)
        arrays, scores = contents(whole)
        for case in cases:
            folder = Path(name) / f"run{case}"
            try:
                more_kills, more_networks = killed(table, folder, random.Random(f"{seed} {case}"), seconds)
                kills, networks = kills + more_kills, networks + more_networks
                other_arrays, other_scores = contents(folder)
                if list(arrays) != list(other_arrays):
                    failures.add(case, "other arrays")
                apart = [key for key in arrays if not same_bits(arrays[key], other_arrays[key])]
                if apart or scores != other_scores:
                    failures.add(case, f"other arrays {', '.join(apart)[:200]}, or scores")
            except Exception as error:
                failures.add(case, repr(error)[:300])
            advance()
    yield from failures.figures("runs with the bits of one that was left alone", len(cases))
    yield Figure("kills at work", str(kills), f"≥ {2 * len(cases)}", kills >= 2 * len(cases))
    yield Figure("networks that were not trained again", str(networks))


RUNS = Part("runs", run, cases=10, quick=1)
