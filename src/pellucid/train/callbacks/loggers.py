"""Callbacks that tell: progress, CSV, TensorBoard, learning rates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pellucid.amounts import is_count
from pellucid.train.callbacks.callback import Callback, callback
from pellucid.train.callbacks.csv_file import CsvLog
from pellucid.train.callbacks.progress import ProgressView
from pellucid.train.callbacks.tensorboard import EventWriter

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

Path = str | os.PathLike[str]


class ProgressBar(Callback):
    """A bar in a terminal or a notebook, plain lines elsewhere ("auto"); "bar", "lines" or "silent" choose."""

    def __init__(self, mode: str = "auto", *, every_batch: bool = False) -> None:
        self.mode, self.every_batch = mode, every_batch
        self.view: ProgressView | None = None
        self.last_elapsed = 0.0

    def handles(self, event: str) -> bool:
        return super().handles(event) and (event != "batch_end" or self.every_batch)

    def on_fit_begin(self, run: Run) -> None:
        self.view = ProgressView(run.plan.epochs, run.steps_per_epoch, mode=self.mode)  # type: ignore[arg-type]
        self.view.start(done=run.epoch - bool(run.batch))
        self.last_elapsed = run.elapsed

    def on_batch_end(self, run: Run) -> None:
        if self.view:
            self.view.batch(run.batch, run.loss)

    def on_epoch_end(self, run: Run) -> None:
        if self.view:
            numbers = {k: v for k, v in run.logs.items() if k not in ("epoch", "step", "lr", "objective")}
            self.view.epoch(run.epoch, numbers, run.lr, run.elapsed - self.last_elapsed)
            self.last_elapsed = run.elapsed

    def on_fit_end(self, run: Run) -> None:
        if self.view:
            self.view.finish(run.stopped)
            self.view = None


def with_progress(callbacks: Sequence[Any], verbose: bool | str) -> list[Callback]:
    """The callbacks of a call, functions as such, with a progress bar where one is wanted and none is there."""
    if isinstance(callbacks, Callback) or callable(callbacks):
        raise TypeError(f"callbacks is a list: write [{callbacks!r}]")
    listed = [callback(each) for each in callbacks]
    if verbose and not any(isinstance(each, ProgressBar) for each in listed):
        listed.append(ProgressBar("auto" if verbose is True else str(verbose)))
    return listed


class CSVLogger(Callback):
    """A line of a CSV file for every epoch; a resumed run goes on in the same file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log: CsvLog | None = None

    def on_fit_begin(self, run: Run) -> None:
        self.log = CsvLog(self.path)
        for row in run.history:  # of a resumed run: the file may hold epochs that were lost, so it is written anew
            self.log.row(row)

    def on_epoch_end(self, run: Run) -> None:
        if self.log:
            self.log.row(run.logs)

    def on_fit_end(self, run: Run) -> None:
        if self.log:
            self.log.close()
            self.log = None


class TensorBoard(Callback):
    """Event files for TensorBoard: every quantity of an epoch; with `every` the batch loss and rate, too."""

    def __init__(self, folder: Path, *, every: int | None = None) -> None:
        if every is not None and not is_count(every):
            raise ValueError(f"TensorBoard: every is a number of steps from 1, or None, got {every!r}")
        self.folder, self.every = folder, every
        self.writer: EventWriter | None = None

    def handles(self, event: str) -> bool:
        return super().handles(event) and (event != "batch_end" or self.every is not None)

    def on_fit_begin(self, run: Run) -> None:
        self.writer = EventWriter(self.folder)

    def on_batch_end(self, run: Run) -> None:
        if self.writer and self.every and run.step % self.every == 0:
            self.writer.scalar("batch/loss", run.loss, run.step)
            self.writer.scalar("batch/lr", run.lr, run.step)

    def on_epoch_end(self, run: Run) -> None:
        for name, value in run.logs.items():
            if self.writer and isinstance(value, int | float) and name not in ("epoch", "step"):
                self.writer.scalar(f"epoch/{name}", float(value), run.epoch)

    def on_fit_end(self, run: Run) -> None:
        if self.writer:
            self.writer.close()
            self.writer = None


class LearningRateLogger(Callback):
    """The learning rate of every step, in `rates`."""

    def __init__(self) -> None:
        self.rates: list[float] = []

    def reset(self) -> None:
        self.rates = []

    def on_batch_end(self, run: Run) -> None:
        self.rates.append(run.lr)

    def state(self) -> dict[str, Any]:
        return {"rates": list(self.rates)}

    def load(self, state: dict[str, Any]) -> None:
        self.rates = list(state["rates"])
