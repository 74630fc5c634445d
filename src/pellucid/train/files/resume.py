"""What a resumed run must have in common with the one that wrote the checkpoint, and where it goes on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pellucid.engine.compile import ENGINES
from pellucid.train.callbacks.callback import Callback
from pellucid.train.files.container import CheckpointError
from pellucid.train.files.entries import COUNT, MAPPING, MAPPINGS, NUMBER, TEXT, Kind, among, entry, maybe
from pellucid.train.files.records import described_or_text
from pellucid.train.history import History, epochs_of
from pellucid.train.loop.ending import restored

if TYPE_CHECKING:
    from pellucid.train.loop.run import Plan, Run
    from pellucid.train.loop.step import Trainer

THREADS = Kind("a number of threads", lambda value: COUNT.holds(value) and 0 < value <= 4096)
LATER = {
    "validation": "what is best on other rows cannot be compared. Give the validation data of the first call",
    "metrics": "the history has a column for each. Give the metrics of the first call",
}
"""How the run was judged, and what to do where it was otherwise; old checkpoints did not note it."""


def task_of(plan: Plan, trainer: Trainer) -> dict[str, Any]:
    """What decides on the steps of a run, and how it is judged, as plain data."""
    held = plan.validation
    return {
        "seed": plan.seed,
        "batch_size": plan.batch_size,
        "shuffle": plan.shuffle,
        "dtype": plan.dtype,
        "net": described_or_text(trainer.net),
        "loss": described_or_text(trainer.loss),
        "penalty": described_or_text(trainer.penalty),
        "settings": {name: described_or_text(schedule) for name, schedule in plan.settings.items()},
        "optimizer": described_or_text(trainer.optimizer),
        "data": plan.data.checksum(),
        "validation": "none" if held is None else held.checksum(),
        "metrics": [] if held is None else list(plan.metrics),
    }


def must_be_the_same_run(run: Run, data: dict[str, Any], path: Any, callbacks: Sequence[Callback]) -> None:
    """An error where the call differs in what decides on the steps of a run, or on what its callbacks remember."""
    task, memories = entry(data, "task", MAPPING, path), entry(data, "callbacks", MAPPINGS, path)
    for key, value in run.task.items():
        if key not in LATER and task.get(key) != value:
            raise CheckpointError(
                f"{path}: the checkpoint was made with {_differs(key, task.get(key), value)}: a resumed run "
                "must be the same call (a schedule over the whole run also ties it to the same length)"
            )
    names, ours = [entry(one, "name", TEXT, path) for one in memories], [callback.name for callback in callbacks]
    if names != ours:
        raise CheckpointError(f"{path}: the run had the callbacks {names}, this call has {ours}: give the same ones")
    _must_be_judged_alike(run, task, epochs_of(data, "history", path), path)
    for callback, one in zip(callbacks, memories, strict=True):
        meaning = callback.meaning()
        theirs = entry(one, "meaning", MAPPING, path, default=meaning)
        for key, value in meaning.items():
            if theirs.get(key) != value:
                raise CheckpointError(
                    f"{path}: {callback.name} was made with {_differs(key, theirs.get(key), value)}: what it remembers "
                    "has another meaning. Give it the same settings, or start anew without resume"
                )


def _must_be_judged_alike(run: Run, task: dict[str, Any], epochs: list[dict[str, Any]], path: Any) -> None:
    """The same validation data and metrics."""
    for key, remedy in LATER.items():
        ours = run.task[key]
        theirs = task.get(key, ours)
        if theirs != ours:
            raise CheckpointError(
                f"{path}: the checkpoint was made with {_differs(key, theirs, ours)}: {remedy}, or start anew "
                "without resume"
            )
    held = run.plan.validation is not None
    if epochs and ("val_loss" in epochs[-1]) != held:  # all that an old checkpoint says about it
        raise CheckpointError(
            f"{path}: the run had {'no ' if held else ''}validation data, this call has {'some' if held else 'none'}: "
            f"{LATER['validation']}, or start anew without resume"
        )


def position(run: Run, data: dict[str, Any], path: Any) -> dict[str, Any]:
    """The attributes of a run that a checkpoint knows, beside the arrays."""
    ending, batch = restored(data, path), entry(data, "batch", COUNT, path)
    count = run.steps_per_epoch
    if count is not None and batch > count:
        raise CheckpointError(f"{path}: 'batch' is {batch}, but an epoch of these data has {count}")
    return {
        "epoch": entry(data, "epoch", COUNT, path),
        "step": entry(data, "step", COUNT, path),
        "batch": batch,
        "factor": entry(data, "factor", NUMBER, path),
        "elapsed": entry(data, "elapsed", NUMBER, path),
        "weight": entry(data, "weight", NUMBER, path),
        "sums": _sums(run, data, path),
        "resumed": (
            entry(data, "engine", maybe(among(*ENGINES)), path, default=None),
            entry(data, "threads", maybe(THREADS), path, default=None),
        ),
        "history": _history(run, epochs_of(data, "history", path)),
        # limits may have been raised; the loop checks them
        "ending": None if ending is not None and ending.limited else ending,
    }


def _sums(run: Run, data: dict[str, Any], path: Any) -> dict[str, float]:
    """The sums of the epoch so far. Old checkpoints have only that of the objective."""
    if "sums" not in data:
        objective = {run.means[-1]: entry(data, "sum", NUMBER, path)}
        unknown = math.nan if data["batch"] else 0.0
        return {name: objective.get(name, unknown) for name in run.means}
    sums = entry(data, "sums", MAPPING, path)
    return {name: entry(sums, name, NUMBER, f"{path}: sums") for name in run.means}


def _history(run: Run, epochs: list[dict[str, Any]]) -> History:
    """The epochs so far. In old checkpoints the penalty is inside the loss, and cannot be told apart."""
    if "objective" in run.means:
        unknown = {"loss": math.nan, "penalty": math.nan}
        epochs = [row if "objective" in row else row | {"objective": row.get("loss")} | unknown for row in epochs]
    return run.history.with_epochs(epochs)


def _differs(key: str, theirs: Any, ours: Any) -> str:
    short = len(str(theirs)) < 40 and len(str(ours)) < 40
    return f"{key}={theirs}, this call has {key}={ours}" if short else f"another {key} than this call has"
