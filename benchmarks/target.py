"""Time to a given validation loss on a real data set: the letters (20,000 rows, 16 features, 26 classes).

The same architecture, rule, batch size and target; each epoch ends with an evaluation. `--data` names a folder that
has `letter.csv.xz`: the target first (`letter`), then numbers.
"""

from __future__ import annotations

import csv
import lzma
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import OURS
from benchmarks.crew import Crew, race
from benchmarks.timing import Result

PEERS = (OURS, "PyTorch", "JAX", "scikit-learn")
CASE = {"features": 16, "hidden": (128, 128), "classes": 26, "batch": 128, "lr": 1e-3}
LOSS, EPOCHS = 0.25, 60


def letters(folder: Path) -> dict[str, Any]:
    """Standardised rows, 16,000 to train (a multiple of the batch size) and 4,000 to validate, always the same."""
    with lzma.open(folder / "letter.csv.xz", "rt") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "letter"]
    X = np.array([[float(row[name]) for name in names] for row in rows], np.float32)
    y = np.unique([row["letter"] for row in rows], return_inverse=True)[1].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(X))
    train, valid = order[:16_000], order[16_000:]
    X = (X - X[train].mean(0)) / X[train].std(0)
    return {"X": X[train], "y": y[train], "Xv": X[valid], "yv": y[valid]}


def measure_target(crew: Crew, folder: Path, quick: bool = False) -> Iterator[Result]:
    """Each round trains every contestant from another seed. Compiling is done before, in a first run."""
    loss, rounds = (0.9, 2) if quick else (LOSS, 7)
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, **letters(folder))
        file.flush()
        spec = {"file": file.name, "case": CASE, "loss": loss, "epochs": EPOCHS}
        name = f"letters to a validation loss of {loss}"
        yield race(crew, name, "target", spec, PEERS, unit="run", rounds=rounds, seeded="epochs")
