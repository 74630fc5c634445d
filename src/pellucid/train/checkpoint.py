"""Checkpoints: all that a run needs to go on as if nothing had happened, in one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.train.callbacks import Callback
from pellucid.train.files import CheckpointError, read, write
from pellucid.train.history import History
from pellucid.train.step import Snapshot
from pellucid.train.stopping import direction, watched

if TYPE_CHECKING:
    from pellucid.train.loop import Run

KIND = "checkpoint"


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Parameters, statistics, rule state, position, history, and what the callbacks remember."""
    arrays: dict[str, Any] = {}
    for part, tree in (("params", run.now.params), ("state", run.now.state), ("rule", run.now.rule)):
        arrays |= {f"{part}/{name}": np.asarray(value) for name, value in tree.items()}
    remembered = []
    for i, callback in enumerate(run.callbacks):
        plain, found = _without_arrays(callback.state(), f"callback{i}")
        arrays |= found
        remembered.append({"name": callback.name, "state": plain})
    metadata = {
        "seed": run.plan.seed,
        "batch_size": run.plan.batch_size,
        "epoch": run.epoch,
        "step": run.step,
        "batch": run.batch,
        "sum": run._sum,
        "weight": run._weight,
        "factor": run.factor,
        "elapsed": run.elapsed,
        "history": run.history.epochs,
        "callbacks": remembered,
    }
    write(path, arrays, metadata, KIND)


def load_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Put a run where a checkpoint left it. Either all of it is taken over, or an error is raised and nothing is."""
    arrays, data = read(path, KIND)
    trees: dict[str, dict[str, Any]] = {"params": {}, "state": {}, "rule": {}}
    for key, value in arrays.items():
        part, _, name = key.partition("/")
        if part in trees:
            trees[part][name] = value[()] if value.ndim == 0 else value
    for part, ours in (("params", run.now.params), ("state", run.now.state), ("rule", run.now.rule)):
        _must_match(path, part, ours, trees[part])
    for key in ("seed", "batch_size"):
        asked = getattr(run.plan, key)
        if data[key] != asked:
            raise CheckpointError(
                f"{path}: the checkpoint was made with {key}={data[key]}, this call has {key}={asked}: "
                "a resumed run must see the same batches"
            )
    names = [entry["name"] for entry in data["callbacks"]]
    if names != [callback.name for callback in run.callbacks]:
        ours_listed = [callback.name for callback in run.callbacks]
        raise CheckpointError(
            f"{path}: the run had the callbacks {names}, this call has {ours_listed}: give the same ones"
        )
    run.now = Snapshot(trees["params"], trees["state"], trees["rule"])
    run.epoch, run.step, run.batch = data["epoch"], data["step"], data["batch"]
    run._sum, run._weight, run.factor, run.elapsed = data["sum"], data["weight"], data["factor"], data["elapsed"]
    run.history = History(list(data["history"]))
    for i, (callback, entry) in enumerate(zip(run.callbacks, data["callbacks"], strict=True)):
        callback.load(_with_arrays(entry["state"], arrays, f"callback{i}"))


class Checkpoint(Callback):
    """Write a checkpoint every so many epochs (or steps), or whenever the monitored value is the best so far.

    The path may hold {epoch} and {step}. `fit(..., resume=path)` goes on from it, bit for bit.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every: int = 1,
        every_steps: int | None = None,
        best: bool = False,
        monitor: str | None = None,
        mode: str = "auto",
    ) -> None:
        if every < 1 or (every_steps is not None and every_steps < 1):
            raise ValueError(
                f"Checkpoint: every and every_steps count from 1, got every={every}, every_steps={every_steps}"
            )
        self.path, self.every, self.every_steps = path, every, every_steps
        self.best_only, self.monitor, self.mode = best, monitor, mode
        self.best: float | None = None

    def handles(self, event: str) -> bool:
        return super().handles(event) and (event != "batch_end" or self.every_steps is not None)

    def _write(self, run: Run) -> None:
        target = Path(str(self.path).replace("{epoch}", str(run.epoch)).replace("{step}", str(run.step)))
        target.parent.mkdir(parents=True, exist_ok=True)
        save_run(run, target)

    def on_batch_end(self, run: Run) -> None:
        if self.every_steps is not None and run.step % self.every_steps == 0 and run.batch != run.steps_per_epoch:
            self._write(run)

    def on_epoch_end(self, run: Run) -> None:
        if self.best_only:
            name, value = watched(run, self.monitor, "Checkpoint")
            sign = 1.0 if direction(name, self.mode) == "min" else -1.0
            if self.best is not None and not sign * value < sign * self.best:
                return
            self.best = value
        elif run.epoch % self.every:
            return
        self._write(run)

    def state(self) -> dict[str, Any]:
        return {"best": self.best}

    def load(self, state: dict[str, Any]) -> None:
        self.best = state["best"]


def _must_match(path: Any, part: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """The same names and shapes, or an error that says which differ."""
    for name in ours.keys() | theirs.keys():
        mine, stored = (np.shape(tree[name]) if name in tree else None for tree in (ours, theirs))
        if mine != stored:
            raise CheckpointError(
                f"{path}: {part} {name!r} has shape {stored} in the file and {mine} in this model "
                "(None: not there): it is a checkpoint of another network, loss or optimizer"
            )


def _without_arrays(value: Any, path: str) -> tuple[Any, dict[str, Any]]:
    """A nest with references in the place of its arrays, and the arrays by name."""
    if isinstance(value, np.ndarray | np.generic):
        return {"array": path}, {path: np.asarray(value)}
    arrays: dict[str, Any] = {}
    if isinstance(value, dict):
        plain: Any = {}
        for key, item in value.items():
            plain[key], more = _without_arrays(item, f"{path}/{key}")
            arrays |= more
        return plain, arrays
    if isinstance(value, list | tuple):
        items = [_without_arrays(item, f"{path}/{i}") for i, item in enumerate(value)]
        for _, more in items:
            arrays |= more
        return [item for item, _ in items], arrays
    return value, arrays


def _with_arrays(value: Any, arrays: dict[str, Any], path: str) -> Any:
    if isinstance(value, dict):
        if set(value) == {"array"}:
            found = arrays[value["array"]]
            return found[()] if found.ndim == 0 else found
        return {key: _with_arrays(item, arrays, path) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, arrays, path) for item in value]
    return value
