"""Callbacks that tell: progress, CSV, TensorBoard, learning rates."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from pellucid.amounts import Condition, is_count, or_none
from pellucid.train.callbacks.callback import Callback, callback
from pellucid.train.callbacks.progress import ProgressView
from pellucid.train.callbacks.tensorboard import EventWriter
from pellucid.whole_files import regular, write_atomically

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


class ProgressBar(Callback):
    """Shows how far a training is.

    Parameters
    ----------
    mode : str
        "auto": a bar in a terminal or a notebook, plain lines elsewhere; "bar", "lines" or "silent" choose
    every_batch : bool
        count batches, too, not epochs alone
    """

    def __init__(self, mode: str = "auto", *, every_batch: bool = False) -> None:
        self.mode, self.every_batch = mode, every_batch
        self.view: ProgressView | None = None
        self.last_elapsed = 0.0

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


class CsvLog:
    """One row per call, written through to the file at once; the header is the first row's keys.

    A later row may lack keys (the cells stay empty) or bring new ones: then the file is replaced, in one step, by one
    with the added columns. Floats are written so that reading them gives the same number. With `append` an existing
    file is continued under its own header; a last line that was cut off when its writer was killed is dropped.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = CsvLog(Path(folder.name) / "log.csv")
    >>> log.row({"epoch": 1, "loss": 0.1 + 0.2})
    >>> log.row({"epoch": 2, "loss": 0.25, "val_loss": float("nan")})
    >>> log.close()
    >>> print(log.path.read_text(), end="")
    epoch,loss,val_loss
    1,0.30000000000000004,
    2,0.25,nan
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        self.path = Path(path)
        self.columns: list[str] = []
        self._file: TextIO | None = None
        if regular(self.path) is not None and append:
            lines, complete = self._lines()
            self.columns = lines[0] if lines else []
            if not complete:
                self._rewrite(lines)

    def row(self, values: Mapping[str, object]) -> None:
        """Add a row, and new columns where it has keys that no row had before. An empty row is left out."""
        if not values:
            return
        new = [key for key in values if key not in self.columns]
        if new:
            lines = self._lines()[0] if self.columns else [[]]
            columns = [*self.columns, *new]
            self._rewrite([columns, *(line + [""] * (len(columns) - len(line)) for line in lines[1:])])
            self.columns = columns
        if self._file is None:
            self._file = open(self.path, "a", newline="", encoding="utf-8")  # noqa: SIM115  (closed by close)
        self._file.write(_line(_text(values.get(key)) for key in self.columns))
        self._file.flush()

    def close(self) -> None:
        """Close the file; the next row opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lines(self) -> tuple[list[list[str]], bool]:
        """The file's rows, the header first, without a last one that was cut off; and whether none was."""
        text = self.path.read_bytes().decode("utf-8", errors="surrogateescape")  # a cut may go through a character
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
        complete = text.endswith("\n") and text.count('"') % 2 == 0
        return (lines if complete else lines[:-1]), complete

    def _rewrite(self, lines: Iterable[list[str]]) -> None:
        self.close()
        write_atomically(self.path, "".join(map(_line, lines)).encode(errors="surrogateescape"))


def _line(cells: Iterable[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)  # csv quotes a carriage return only if the line end has one
    return out.getvalue().removesuffix("\r\n") + "\n"


def _text(value: object) -> str:
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)


class CSVLogger(Callback):
    """A line of a CSV file for every epoch; a resumed run goes on in the same file.

    Parameters
    ----------
    path : str | PathLike
        of the file
    """

    writes = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
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
    """Event files for TensorBoard: every quantity of an epoch.

    Parameters
    ----------
    folder : str | PathLike
        where they go
    every : int | None
        the batch loss and rate too, every so many steps
    """

    writes = True

    def __init__(self, folder: str | os.PathLike[str], *, every: int | None = None) -> None:
        or_none(Condition(is_count, "a number of steps from 1")).check("TensorBoard: every", every)
        self.folder, self.every, self.every_batch = folder, every, every is not None
        self.writer: EventWriter | None = None

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

    remembers = ("rates",)

    def __init__(self) -> None:
        self.rates: list[float] = []

    def reset(self) -> None:
        self.rates = []

    def on_batch_end(self, run: Run) -> None:
        self.rates.append(run.lr)
