"""SIGKILL at random moments of a training that writes checkpoints: resumed, it ends with the same bits."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pellucid import train
from pellucid.train.files.container import read
from soak.part import ROOT, Failures, Figure, Part
from soak.samples import same_bits

ENGINES = ("numpy", "native")
ATTEMPTS = 5
"""Starts of one training that end with a kill (or with the training, if that is sooner)."""


def _command(path: Path, engine: str, *words: str) -> tuple[list[str], dict[str, str]]:
    paths = [str(ROOT), *filter(None, sys.path)]
    command = [sys.executable, "-m", "soak.training", str(path), engine, *words]
    return command, {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def train_to_the_end(path: Path, engine: str, *words: str) -> None:
    """The training without interruption, from the start or (with the word "resume") from its checkpoint."""
    command, environment = _command(path, engine, *words)
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"the training ended with status {ended.returncode}: {ended.stderr.strip()[-400:]}")


def train_and_kill(path: Path, engine: str, dice: random.Random, attempts: int = ATTEMPTS) -> int:
    """Start, kill, resume, kill, ..., then resume to the end. How many times it was killed at work."""
    command, environment = _command(path, engine, "resume")
    kills = 0
    for _ in range(attempts):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(dice.randint(2, 9)):
            if not process.stdout.readline():
                break
        time.sleep(dice.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
        process.stdout.close()
        read(path, "checkpoint")  # the newest complete one always loads
    train_to_the_end(path, engine, "resume")
    return kills


def contents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and data of a checkpoint, without the seconds that it took."""
    arrays, data = read(path, "checkpoint")
    data.pop("elapsed")
    return arrays, data


def differences(one: Path, other: Path) -> list[str]:
    """In what two trainings to the end differ: the models they saved, and their last checkpoints."""
    models = [train.load(f"{path}.model") for path in (one, other)]
    (arrays, data), (other_arrays, other_data) = contents(one), contents(other)
    a, b = models
    pairs = {"parameters": (a.params, b.params), "statistics": (a.state, b.state), "arrays": (arrays, other_arrays)}
    apart = [
        f"{part}: {name}"
        for part, (mine, theirs) in pairs.items()
        for name in mine.keys() | theirs.keys()
        if name not in mine or name not in theirs or not same_bits(mine[name], theirs[name])
    ]
    apart += ["history"] if a.history.epochs != b.history.epochs else []
    return apart + [f"data: {key}" for key in data.keys() | other_data.keys() if data.get(key) != other_data.get(key)]


def run(cases: range, seed: int, advance: Callable[[], None]) -> Iterable[Figure]:
    """A case is one training, killed again and again; the two engines take turns."""
    failures, kills = Failures(), 0
    with tempfile.TemporaryDirectory() as folder:
        whole = {engine: Path(folder) / f"{engine}.ckpt" for engine in ENGINES}
        for case in cases:
            engine = ENGINES[case % len(ENGINES)]
            path = Path(folder) / f"run{case}.ckpt"
            try:
                if not whole[engine].exists():
                    train_to_the_end(whole[engine], engine)
                kills += train_and_kill(path, engine, random.Random(f"{seed} {case}"))
                apart = differences(whole[engine], path)
                if apart:
                    failures.add(case, f"{engine}: other {', '.join(apart)[:200]}")
            except Exception as error:
                failures.add(case, f"{engine}: {error!r}"[:300])
            advance()
    yield from failures.figures("trainings with the bits of an uninterrupted one", len(cases))
    yield Figure("kills at work", str(kills), f"≥ {3 * len(cases)}", kills >= 3 * len(cases))


KILLS = Part("kills", run, cases=16, quick=2)
