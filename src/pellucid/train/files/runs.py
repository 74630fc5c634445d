"""Runs in files: all that one needs to go on as if nothing had happened, and what both parts must have in common."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.amounts import Condition
from pellucid.engine.compile import ENGINES
from pellucid.graph.core.tree import tree_map
from pellucid.train.callbacks.callback import Callback, KeepsBest
from pellucid.train.files.container import (
    COUNT,
    MAPPING,
    MAPPINGS,
    NUMBER,
    TEXT,
    CheckpointError,
    among,
    entry,
    joined,
    kind_of,
    maybe,
    must_match,
    parted,
    read,
    write,
)
from pellucid.train.files.records import described_or_text
from pellucid.train.history import epochs_of
from pellucid.train.loop.ending import described, restored
from pellucid.train.loop.step import Snapshot, Trainer

if TYPE_CHECKING:
    from pellucid.train.loop.run import Plan, Run

KIND = "checkpoint"
OTHER = "this model: it is a checkpoint of another network, loss or optimizer"
ARRAY = "(array)"  # stands for an array of the file in what a callback remembers
THREADS = Condition(lambda value: COUNT.holds(value) and 0 < value <= 4096, "a number of threads")
SAME_CALL = "a resumed run must be the same call (a schedule over the whole run also ties it to the same length)"
REMEDIES = {
    "validation": "what is best on other rows cannot be compared. Give the validation data of the first call, or start "
    "anew without resume",
    "metrics": "the history has a column for each. Give the metrics of the first call, or start anew without resume",
}
"""Where the run was judged otherwise; old checkpoints did not note how."""


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Parameters, statistics, rule state, position, history, and what the callbacks remember."""
    arrays: dict[str, Any] = joined(run.now._asdict())
    remembered = [
        {
            "name": callback.name,
            "meaning": _plain(callback.meaning()),
            "state": _without_arrays(callback.state(), f"callback{i}", arrays),
        }
        for i, callback in enumerate(with_state(run))
    ]
    metadata = {
        "task": run.task,
        **described(run.ending),
        "epoch": run.epoch,
        "step": run.step,
        "batch": run.batch,
        "sums": run.sums,
        "weight": run.weight,
        "factor": run.factor,
        "elapsed": run.elapsed,
        "engine": run.steps.engine,
        "threads": run.steps.threads,
        "history": _plain(run.history.epochs),
        "callbacks": remembered,
    }
    write(path, arrays, metadata, KIND)


def load_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Put a run where a checkpoint (the newest complete one of a folder) left it: all of it, or nothing."""
    if Path(path).is_dir():
        latest = newest(path, kind=KIND)
        if latest is None:
            raise CheckpointError(f"{path}: there is no complete checkpoint (*.ckpt) in this folder")
        path = latest
    arrays, data = read(path, KIND)
    trees = parted(arrays)
    for part, ours in run.now._asdict().items():
        must_match(path, part, ours, trees[part], OTHER)
    must_be_the_same_run(run, data, path, with_state(run))
    attributes = position(run, data, path)
    for callback, memory in zip(with_state(run), data["callbacks"], strict=True):
        _remember(callback, memory, arrays, run, path)
    run.now = Snapshot(*(trees[part] for part in Snapshot._fields))
    vars(run).update(attributes)


def newest(folder: str | os.PathLike[str], pattern: str = "*.ckpt", kind: str | None = None) -> Path | None:
    """The newest file of a folder that loads (and is of this kind); damaged ones are passed over with a warning."""

    def age(path: Path) -> tuple[int, list[str | int]]:  # among equal times epoch-10 is newer than epoch-9
        return path.stat().st_mtime_ns, [
            int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path.name)
        ]

    candidates = [path for path in Path(folder).glob(pattern) if path.is_file() and not path.name.endswith(".tmp")]
    for path in sorted(candidates, key=age, reverse=True):
        try:
            if kind in (None, kind_of(path)):
                return path
        except CheckpointError as error:
            warnings.warn(f"passed over: {error}", stacklevel=2)
    return None


def _remember(callback: Callback, memory: dict[str, Any], arrays: dict[str, Any], run: Run, path: Any) -> None:
    """Tell a callback what it knew; whatever is wrong with that is an error of the file."""
    try:
        callback.load(_with_arrays(memory["state"], arrays))
    except Exception as error:
        raise CheckpointError(f"{path}: what {callback.name} remembers cannot be read ({error!r:.200})") from error
    if isinstance(callback, KeepsBest) and callback.kept is not None:
        for part, theirs in zip(("params", "state"), callback.kept, strict=True):
            must_match(path, f"the best {part} of {callback.name}:", getattr(run.now, part), theirs, OTHER)


def with_state(run: Run) -> list[Callback]:
    """The callbacks that have something to remember; others may come and go between the parts of a run."""
    return [callback for callback in run.callbacks if callback.state()]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return tree_map(lambda leaf: leaf.item() if isinstance(leaf, np.generic) else leaf, value)


def _without_arrays(value: Any, path: str, arrays: dict[str, Any]) -> Any:
    """A nest with references in the place of its arrays, which are put aside by name."""
    if isinstance(value, np.ndarray | np.generic):
        arrays[path] = np.asarray(value)
        return {ARRAY: path}
    if isinstance(value, dict):
        return {key: _without_arrays(item, f"{path}/{key}", arrays) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(item, f"{path}/{i}", arrays) for i, item in enumerate(value)]
    return value


def _with_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        if set(value) == {ARRAY}:
            array = arrays[value[ARRAY]]
            return array[()] if array.ndim == 0 else array
        return {key: _with_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, arrays) for item in value]
    return value


# the same run


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

    def compare(keys: Iterable[str]) -> None:
        for key in keys:
            ours, remedy = run.task[key], REMEDIES.get(key, SAME_CALL)
            theirs = task.get(key, ours if key in REMEDIES else None)
            if theirs != ours:
                raise CheckpointError(f"{path}: the checkpoint was made with {_differs(key, theirs, ours)}: {remedy}")

    compare(key for key in run.task if key not in REMEDIES)
    names, own = [entry(one, "name", TEXT, path) for one in memories], [callback.name for callback in callbacks]
    if names != own:
        raise CheckpointError(f"{path}: the run had the callbacks {names}, this call has {own}: give the same ones")
    compare(REMEDIES)
    held, epochs = run.plan.validation is not None, epochs_of(data, "history", path)
    if epochs and ("val_loss" in epochs[-1]) != held:  # all that an old checkpoint says about it
        raise CheckpointError(
            f"{path}: the run had {'no ' if held else ''}validation data, this call has {'some' if held else 'none'}: "
            f"{REMEDIES['validation']}"
        )
    for callback, one in zip(callbacks, memories, strict=True):
        meaning = callback.meaning()
        theirs = entry(one, "meaning", MAPPING, path, default=meaning)
        for key, value in meaning.items():
            if theirs.get(key) != value:
                raise CheckpointError(
                    f"{path}: {callback.name} was made with {_differs(key, theirs.get(key), value)}: what it remembers "
                    "has another meaning. Give it the same settings, or start anew without resume"
                )


def position(run: Run, data: dict[str, Any], path: Any) -> dict[str, Any]:
    """The attributes of a run that a checkpoint knows, beside the arrays."""
    ending, batch, epochs = restored(data, path), entry(data, "batch", COUNT, path), epochs_of(data, "history", path)
    if "objective" in run.means:  # in old checkpoints the penalty is inside the loss, and cannot be told apart
        unknown = {"loss": math.nan, "penalty": math.nan}
        epochs = [row if "objective" in row else row | {"objective": row.get("loss")} | unknown for row in epochs]
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
        "history": replace(run.history, epochs=epochs),
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


def _differs(key: str, theirs: Any, ours: Any) -> str:
    short = len(str(theirs)) < 40 and len(str(ours)) < 40
    return f"{key}={theirs}, this call has {key}={ours}" if short else f"another {key} than this call has"
