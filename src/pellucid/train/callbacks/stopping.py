"""Callbacks that act on what they watch: early stopping, plateaus, broken numbers, checkpoints."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.amounts import FROM_0, Condition, is_count, one_of, or_none
from pellucid.train.callbacks.callback import Callback, KeepsBest
from pellucid.train.files.runs import save_run
from pellucid.whole_files import regular

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


MODE = one_of("min", "max", "auto")


def direction(run: Run, name: str, mode: str) -> str:
    """Is smaller or larger better? As said, or by what the run knows of the quantity."""
    mode = run.history.modes.get(name, "?") if mode == "auto" else mode
    if mode == "?":
        raise ValueError(f"is a larger or a smaller {name} better? Say mode='max' or mode='min'")
    return mode


def better(value: float, best: float | None, mode: str, min_delta: float = 0.0, *, ties: bool = False) -> bool:
    """Is a value an improvement, with `ties` an equal one, too? NaN never is; anything is better than none, or NaN.

    >>> better(0.5, 0.5, "min"), better(0.5, 0.5, "min", ties=True)
    (False, True)
    """
    if math.isnan(value):
        return False
    if best is None or math.isnan(best) or (ties and value == best):
        return True
    return value < best - min_delta if mode == "min" else value > best + min_delta


def watched(run: Run, monitor: str | None, who: str) -> tuple[str, float]:
    """The monitored value of the epoch that just ended (by default the validation loss, else what is minimised)."""
    name = monitor or next(name for name in ("val_loss", "objective", "loss") if name in run.logs)
    if name not in run.logs:
        raise ValueError(
            f"{who} monitors {name!r}, but an epoch has {', '.join(run.logs)}: give validation data or a metric"
        )
    return name, float(run.logs[name])


class EarlyStopping(KeepsBest):
    """Stop when nothing improves any more, and end with the best parameters.

    The best ones are restored however the run ended: patience, last epoch, time, Ctrl-C, another callback. `best`
    and `best_epoch` tell.

    Parameters
    ----------
    patience : int | None
        epochs without improvement after which it stops; None never stops, but still keeps the best
    min_delta : float
        an improvement by less than this is none
    monitor : str | None
        a column of the history; None is the validation loss, else what is minimised
    mode : str
        "min" or "max" is better; "auto" knows the metrics
    restore_best : bool
        end with the best parameters; False keeps the last
    """

    remembers = ("best", "best_epoch", "waited")

    def __init__(
        self,
        patience: int | None = 10,
        *,
        min_delta: float = 0.0,
        monitor: str | None = None,
        mode: str = "auto",
        restore_best: bool = True,
    ) -> None:
        or_none(Condition(is_count, "a number of epochs from 1")).check("EarlyStopping: patience", patience)
        FROM_0.check("EarlyStopping: min_delta", min_delta)
        MODE.check("EarlyStopping: mode", mode)
        self.patience, self.min_delta, self.monitor, self.mode = patience, min_delta, monitor, mode
        self.restore_best = restore_best
        self.reset()

    def reset(self) -> None:
        self.best = math.nan
        self.best_epoch = 0
        self.waited = 0
        self.kept = None

    def on_epoch_end(self, run: Run) -> None:
        name, value = watched(run, self.monitor, "EarlyStopping")
        if better(value, self.best, direction(run, name, self.mode), self.min_delta):
            self.best, self.best_epoch, self.waited = value, run.epoch, 0
            if self.restore_best:
                self.kept = run.prediction
            return
        self.waited += 1
        if self.patience is not None and self.waited >= self.patience:
            run.stop(
                f"{name} has not improved for {self.waited} epochs (best {self.best:.6g} in epoch {self.best_epoch})"
            )

    def meaning(self) -> dict[str, Any]:
        return {"monitor": self.monitor, "mode": self.mode, "restore_best": self.restore_best}


class Plateau(Callback):
    """Lower the learning rate when the monitored value stops improving: a controller of `optim` at work.

    Parameters
    ----------
    controller : optim.Controller
        `optim.ReduceOnPlateau(...)` or one of your own
    monitor : str | None
        a column of the history; None is that of `EarlyStopping`
    """

    def __init__(self, controller: Any, monitor: str | None = None) -> None:
        self.controller, self.monitor = controller, monitor
        self.fresh = controller.state()

    def reset(self) -> None:
        self.controller.load(self.fresh)

    def on_epoch_end(self, run: Run) -> None:
        self.controller.observe(watched(run, self.monitor, "Plateau")[1])
        run.factor = self.controller.factor
        if self.controller.spent:
            run.stop(f"the learning rate is down to {run.lr:.3g} and nothing improves any more")

    def meaning(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self.controller).items() if not name.startswith("_")}
        return {"monitor": self.monitor, "controller": type(self.controller).__name__, **own}

    def state(self) -> dict[str, Any]:
        return dict(self.controller.state())

    def load(self, state: dict[str, Any]) -> None:
        self.controller.load(state)


class StopOnNaN(Callback):
    """Stop when the loss of a batch is not finite; for runs with `on_divergence="ignore"`, which would go on."""

    def on_batch_end(self, run: Run) -> None:
        if not math.isfinite(run.objective):
            run.stop(f"the loss became {run.objective} in epoch {run.epoch}, batch {run.batch}")


class Checkpoint(Callback):
    """Write a checkpoint every so many epochs (or steps), or whenever the monitored value is the best so far.

    `fit(..., resume=path)` goes on from it, bit for bit.

    Parameters
    ----------
    path : str | PathLike
        of the file; it may hold {epoch} and {step}
    every : int
        epochs between two checkpoints
    every_steps : int | None
        steps between two, in place of epochs
    seconds : float
        that have passed since the last one, or the beginning, at least
    best : bool
        only where the monitored value is the best so far
    monitor : str | None
        a column of the history; None is that of `EarlyStopping`
    mode : str
        "min" or "max" is better; "auto" knows the metrics
    """

    remembers = ("best",)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every: int = 1,
        every_steps: int | None = None,
        seconds: float = 0.0,
        best: bool = False,
        monitor: str | None = None,
        mode: str = "auto",
    ) -> None:
        FROM_0.check("Checkpoint: seconds", seconds)
        if not is_count(every) or (every_steps is not None and not is_count(every_steps)):
            raise ValueError(
                f"Checkpoint: every and every_steps count from 1, got every={every!r}, every_steps={every_steps!r}"
            )
        MODE.check("Checkpoint: mode", mode)
        self.path, self.every, self.every_steps, self.every_batch = path, every, every_steps, every_steps is not None
        self.seconds, self.best_only, self.monitor, self.mode = seconds, best, monitor, mode
        self.reset()

    def reset(self) -> None:
        self.best: float | None = None
        self.due, self.written = False, time.monotonic()

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
        """Written when all callbacks have seen what happened, so that the file holds what they know.

        Parameters
        ----------
        run : Run
            where training stands
        """
        if self.due and time.monotonic() - self.written >= self.seconds:
            self.due = False
            if run.plan.writes:
                save_run(run, self._target(run))
            self.written = time.monotonic()

    def _target(self, run: Run) -> Path:
        return Path(str(self.path).replace("{epoch}", str(run.epoch)).replace("{step}", str(run.step)))

    def meaning(self) -> dict[str, Any]:
        return {"best": self.best_only, "monitor": self.monitor, "mode": self.mode}
