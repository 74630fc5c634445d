"""Networks of a fit in a folder, so that a fit that is killed goes on where it was, with the same bits.

A network that is done is a file; of one that takes long there is a checkpoint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.data.samples import Samples
from pellucid.errors import CheckpointError
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.recipe import Recipe
from pellucid.estimators.tables.common_epoch import Trial
from pellucid.train import Checkpoint
from pellucid.train.files.container import MAPPING, entry, read, write
from pellucid.train.files.records import described_or_text
from pellucid.train.loop.ending import EndingKind

KIND = "network"

SECONDS = 10.0
"""Between two checkpoints of a network, at least."""


@dataclass(frozen=True)
class KeptNetworks:
    """The folder, and what is taken out of it and put into it."""

    folder: Path

    def trial(self, name: str, task: str, recipe: Recipe, train: Callable[[Recipe], Trial]) -> Trial:
        """The network of this name, if it is there; else it is trained, and kept if nothing ended it early.

        task: what it is trained for (see `task_of`); a network of another task is an error
        """
        done, half_done = self.folder / f"{name}.pel", self.folder / f"{name}.ckpt"
        if done.exists():
            return _read(done, task)
        checkpoint = Checkpoint(half_done, seconds=SECONDS)
        trial = train(
            replace(
                recipe,
                callbacks=[*recipe.callbacks, checkpoint],
                checkpoint=None,
                resume=half_done if half_done.exists() else None,
            )
        )
        ending = trial.network.model.history.ending
        if ending is None or ending.kind not in (EndingKind.INTERRUPTED, EndingKind.TIME):
            _write(done, task, trial)
            half_done.unlink(missing_ok=True)
        return trial


def task_of(recipe: Recipe, rows: Samples, held: Samples | None, seed: int) -> str:
    """A digest of all that decides on the weights of a network."""
    parts = (recipe.network, recipe.optimizer, recipe.penalty, recipe.target.loss)
    words = [described_or_text(part) for part in parts]
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((words, recipe.epochs, recipe.batch_size, recipe.rates, recipe.patience, seed)).encode())
    for samples in (rows, held):
        for array in () if samples is None else samples.arrays(sparse=False):
            if array is not None:
                digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def _write(path: Path, task: str, trial: Trial) -> None:
    from pellucid.estimators.storage import Writer

    writer = Writer()
    network = writer.write(trial.network, "the network")
    candidates = writer.write(trial.candidates, "its epochs")
    write(path, writer.arrays, {"task": task, "network": network, "candidates": candidates}, KIND)


def _read(path: Path, task: str) -> Trial:
    from pellucid.estimators.storage import Reader
    from pellucid.estimators.stored_classes import CLASSES

    arrays, data = read(path, KIND)
    if data.get("task") != task:
        raise CheckpointError(
            f"{path} is a network of another fit (other rows, parameters or seed): give an empty folder as checkpoint"
        )
    reader = Reader(arrays, {}, path, CLASSES)
    fitted: Any = reader.read(entry(data, "network", MAPPING, path))
    if not isinstance(fitted, Fitted):
        raise CheckpointError(f"{path} is to hold a network, got a {type(fitted).__name__}")
    return Trial(fitted, reader.read(data.get("candidates")))
