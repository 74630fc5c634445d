"""Checkpoints: all that a run needs to go on as if nothing had happened, in one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.amounts import is_count
from pellucid.train.callbacks.callback import Callback
from pellucid.train.callbacks.stopping import KeepsBest, better, direction, known_mode, watched
from pellucid.train.files.atomic import regular
from pellucid.train.files.container import CheckpointError, newest, read, write
from pellucid.train.files.entries import must_match
from pellucid.train.files.resume import must_be_the_same_run, position
from pellucid.train.loop.ending import described
from pellucid.train.loop.step import Snapshot

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

KIND = "checkpoint"
OTHER = "this model: it is a checkpoint of another network, loss or optimizer"
ARRAY = "(array)"  # stands for an array of the file in what a callback remembers


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Parameters, statistics, rule state, position, history, and what the callbacks remember."""
    arrays: dict[str, Any] = {}
    for part, tree in (("params", run.now.params), ("state", run.now.state), ("rule", run.now.rule)):
        arrays |= {f"{part}/{name}": np.asarray(value) for name, value in tree.items()}
    remembered = []
    for i, callback in enumerate(with_state(run)):
        plain, more_arrays = _without_arrays(callback.state(), f"callback{i}")
        arrays |= more_arrays
        remembered.append({"name": callback.name, "meaning": _plain(callback.meaning()), "state": plain})
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
    trees: dict[str, dict[str, Any]] = {"params": {}, "state": {}, "rule": {}}
    for key, value in arrays.items():
        part, _, name = key.partition("/")
        if part in trees:
            trees[part][name] = value[()] if value.ndim == 0 else value
    for part, ours in (("params", run.now.params), ("state", run.now.state), ("rule", run.now.rule)):
        must_match(path, part, ours, trees[part], OTHER)
    must_be_the_same_run(run, data, path, with_state(run))
    attributes = position(run, data, path)
    for callback, memory in zip(with_state(run), data["callbacks"], strict=True):
        _remember(callback, memory, arrays, run, path)
    run.now = Snapshot(trees["params"], trees["state"], trees["rule"])
    vars(run).update(attributes)


def _remember(callback: Callback, memory: dict[str, Any], arrays: dict[str, Any], run: Run, path: Any) -> None:
    """Tell a callback what it knew; whatever is wrong with that is an error of the file."""
    try:
        callback.load(_with_arrays(memory["state"], arrays))
    except Exception as error:
        raise CheckpointError(f"{path}: what {callback.name} remembers cannot be read ({error!r:.200})") from error
    if isinstance(callback, KeepsBest) and callback.kept is not None:
        for part, ours, theirs in zip(("params", "state"), (run.now.params, run.now.state), callback.kept, strict=True):
            must_match(path, f"the best {part} of {callback.name}:", ours, theirs, OTHER)


def with_state(run: Run) -> list[Callback]:
    """The callbacks that have something to remember; others may come and go between the parts of a run."""
    return [callback for callback in run.callbacks if callback.state()]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


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
        if not is_count(every) or (every_steps is not None and not is_count(every_steps)):
            raise ValueError(
                f"Checkpoint: every and every_steps count from 1, got every={every!r}, every_steps={every_steps!r}"
            )
        known_mode(mode, "Checkpoint")
        self.path, self.every, self.every_steps = path, every, every_steps
        self.best_only, self.monitor, self.mode = best, monitor, mode
        self.reset()

    def reset(self) -> None:
        self.best: float | None = None
        self.due = False

    def handles(self, event: str) -> bool:
        return super().handles(event) and (event != "batch_end" or self.every_steps is not None)

    def on_fit_begin(self, run: Run) -> None:
        regular(self._target(run))  # an error now, rather than after an epoch of work

    def on_batch_end(self, run: Run) -> None:
        self.due = self.every_steps is not None and run.step % self.every_steps == 0

    def on_epoch_end(self, run: Run) -> None:
        if not self.best_only:
            self.due = run.epoch % self.every == 0
            return
        name, value = watched(run, self.monitor, "Checkpoint")
        self.due = better(value, self.best, direction(run, name, self.mode))
        self.best = value if self.due else self.best

    def on_checkpoint(self, run: Run) -> None:
        """Written when all callbacks have seen what happened, so that the file holds what they know."""
        if self.due:
            self.due = False
            save_run(run, self._target(run))

    def _target(self, run: Run) -> Path:
        return Path(str(self.path).replace("{epoch}", str(run.epoch)).replace("{step}", str(run.step)))

    def meaning(self) -> dict[str, Any]:
        return {"best": self.best_only, "monitor": self.monitor, "mode": self.mode}

    def state(self) -> dict[str, Any]:
        return {"best": self.best}

    def load(self, state: dict[str, Any]) -> None:
        self.best = state["best"]


def _without_arrays(value: Any, path: str) -> tuple[Any, dict[str, Any]]:
    """A nest with references in the place of its arrays, and the arrays by name."""
    if isinstance(value, np.ndarray | np.generic):
        return {ARRAY: path}, {path: np.asarray(value)}
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


def _with_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        if set(value) == {ARRAY}:
            array = arrays[value[ARRAY]]
            return array[()] if array.ndim == 0 else array
        return {key: _with_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, arrays) for item in value]
    return value
