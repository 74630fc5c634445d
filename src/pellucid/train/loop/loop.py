"""The training loop: epochs of batches, with events for callbacks. What must survive a resume is in `Run`."""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.data.rows import Batch, Rows
from pellucid.data.streams import Stream
from pellucid.errors import PellucidError, ShapeError
from pellucid.optim import Schedule
from pellucid.train.callbacks.callback import EVENTS, Callback, CallbackError
from pellucid.train.history import History
from pellucid.train.loop.divergence import Diverged, Trouble, ValidationTrouble, locate
from pellucid.train.loop.ending import INTERRUPTED, Ending, EndingKind
from pellucid.train.loop.retreat import Mark, go_back, sound
from pellucid.train.loop.step import Snapshot, Trainer, mean_names, measured, squared_norm

HALT: ContextVar[threading.Event | None] = ContextVar("pellucid_halt", default=None)
"""Set by whoever runs several trainings at once, to end them all."""


@dataclass
class Plan:
    """What was asked for; it does not change during a run."""

    data: Rows | Stream
    validation: Rows | None
    epochs: int | None
    steps: int | None
    batch_size: int
    seed: int
    shuffle: bool
    max_time: float | None
    on_divergence: str
    settings: dict[str, Schedule] = field(default_factory=dict)  # scheduled numbers of layers and loss
    evaluate: Callable[[Any, Any, Rows], dict[str, float]] | None = None
    describe: Callable[[], dict[str, Any]] = dict

    @functools.cached_property
    def task(self) -> dict[str, Any]:
        """What a resumed run must have in common with this one."""
        return self.describe()


@dataclass
class Run:
    """A training run: where it stands, what it has seen. Callbacks read it, and may call `stop`.

    `epoch` counts from 1 inside an epoch; `step` is the number of updates made; `batch` the number of the batch in
    the epoch, from 1; `loss` that of the last batch, without the penalty, and `objective` with it; `logs` the row of
    the epoch that just ended; `lr` the current learning rate.
    """

    plan: Plan
    trainer: Trainer
    start: Snapshot
    callbacks: Sequence[Callback]
    history: History = field(default_factory=History)
    epoch: int = 0
    step: int = 0
    batch: int = 0
    loss: float = math.nan
    objective: float = math.nan
    gradient_norm: float = math.nan
    logs: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    factor: float = 1.0  # of the learning rate, set by controllers such as ReduceOnPlateau
    ending: Ending | None = None
    elapsed: float = 0.0
    final: Any = None  # (params, state) that a callback wants the model to end with
    total: int | None = None  # steps, where that is known beforehand
    resumed: tuple[str | None, int | None] = (None, None)  # engine and threads of the checkpoint that it goes on from
    compiled: Any = None  # the native engine's step, where it is used
    _sums: dict[str, float] = field(default_factory=dict)  # of what the epoch has the mean of
    trouble: Trouble | ValidationTrouble | None = None  # what made it diverge
    begins: tuple[Mark, ...] = ()  # where the run, the last epoch and this one began
    _weight: float = 0.0
    _now: Snapshot | None = None

    def __post_init__(self) -> None:
        self._now = self.start
        self._sums = dict.fromkeys(self.means, 0.0)

    @property
    def now(self) -> Snapshot:
        """Parameters, statistics and rule state as they are now."""
        if self._now is None:
            if self.compiled is None:
                raise PellucidError("the run is over: its parameters are in the model")
            self._now = self.compiled.take(self)
        return self._now

    @now.setter
    def now(self, snapshot: Snapshot) -> None:
        self._now = snapshot
        if self.compiled is not None:
            self.compiled.put(snapshot, self)

    def outcome(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The parameters and statistics that the model ends with; the engine's memory is given back."""
        if self.compiled is None:
            return self.final if self.final is not None else self.prediction
        found = self.final
        if found is None and self._now is None and self.compiled.hand_over():
            found = self.glance()  # the arrays themselves: nothing is copied
        elif found is None:
            params, state = self.glance()
            found = {k: np.array(v)[()] for k, v in params.items()}, {k: np.array(v)[()] for k, v in state.items()}
        self.compiled.close()
        self.compiled = None
        return found  # type: ignore[no-any-return]

    def touch(self) -> None:
        """The engine has gone on: what is known of the state is old."""
        self._now = None

    @property
    def threads(self) -> int:
        """How many the step runs on."""
        return 1 if self.compiled is None else int(self.compiled.threads)

    @property
    def means(self) -> tuple[str, ...]:
        """What an epoch has the mean of."""
        return mean_names(self.trainer.penalty)

    @property
    def lr(self) -> float:
        return self.numbers.get("lr", math.nan)

    @property
    def steps_per_epoch(self) -> int | None:
        return self.plan.data.count(self.plan.batch_size)

    @property
    def prediction(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters and statistics as they would predict now (averages, where there are any)."""
        return self.trainer.optimizer.for_prediction(self.now.params, self.now.rule), self.now.state

    def glance(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The same, to be used at once and not kept: nothing is copied."""
        now = self.compiled.look() if self._now is None else self._now
        return self.trainer.optimizer.for_prediction(now.params, now.rule), now.state

    def stop(self, reason: str) -> None:
        """End the run after the current batch (or epoch), with a reason."""
        if reason:
            self.end(EndingKind.CALLBACK, reason)

    def end(self, kind: EndingKind, text: str) -> None:
        """End the run after the current batch (or epoch). The first ending counts."""
        self.ending = self.ending or Ending(kind, text)

    @property
    def stopped(self) -> str:
        """Why the run ended; empty while it goes on."""
        return "" if self.ending is None else self.ending.text

    def begin_epoch(self, epoch: int) -> None:
        self.begins = (self.begins[0], *self.begins[1:][-1:], Mark(epoch - 1, self.step, 0, self._now))
        self.epoch, self._sums, self._weight = epoch, dict.fromkeys(self.means, 0.0), 0.0

    def return_to(self, mark: Mark) -> None:
        """Be there again."""
        self.epoch, self.step, self.batch = mark.epoch, mark.step, mark.batch
        if mark.now is None:
            self.compiled.rewind(self)
        else:
            rule = mark.now.rule or self.trainer.optimizer.init(mark.now.params)
            self.now = Snapshot(mark.now.params, mark.now.state, rule)

    def diverge(self, trouble: Trouble | ValidationTrouble, batch: Batch | None = None) -> None:
        """End the run, by an error if that is asked for, with the last parameters whose predictions are finite."""
        self.trouble = trouble = replace(trouble, kept=go_back(self, batch))
        self.end(EndingKind.DIVERGED, str(trouble))
        if self.plan.on_divergence == "raise":
            raise Diverged(trouble)

    def end_epoch(self) -> None:
        """The row of the history."""
        row: dict[str, Any] = {
            "epoch": self.epoch,
            "step": self.step,
            **{name: total / self._weight if self._weight else 0.0 for name, total in self._sums.items()},
            "lr": self.lr,
        }
        if self.plan.validation is not None and self.plan.evaluate is not None:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is told below
                found = self.plan.evaluate(*self.glance(), self.plan.validation)
            row |= {f"val_{name}": value for name, value in found.items()}
        self.logs = row
        self.history.epochs.append(row)
        self.batch = 0
        if not math.isfinite(row.get("val_loss", 0.0)) and self.plan.on_divergence != "ignore":
            self.diverge(ValidationTrouble(self.epoch, row["val_loss"]))

    def emit(self, event: str) -> None:
        """Tell the callbacks; an error inside one names it and the event. The end is told to all of them."""
        first: Exception | None = None
        for callback in self.callbacks:
            if callback.handles(event):
                try:
                    getattr(callback, f"on_{event}")(self)
                except (KeyboardInterrupt, Diverged):
                    raise
                except Exception as error:
                    named = CallbackError(f"callback {callback.name}, event {event}: {error}")
                    named.__cause__ = error
                    if event != "fit_end":
                        raise named from error
                    first = first or named
        if first is not None:
            raise first

    def changed_gradients(self, gradients: dict[str, Any]) -> dict[str, Any]:
        """The gradients after the callbacks have seen them, and perhaps changed them."""
        for callback in self.callbacks:
            if callback.handles("gradients"):
                try:
                    changed = getattr(callback, "on_gradients")(self, gradients)  # noqa: B009
                except Exception as error:
                    raise CallbackError(f"callback {callback.name}, event gradients: {error}") from error
                gradients = gradients if changed is None else changed
        return gradients


def train(run: Run) -> None:
    """The loop itself."""
    begin = time.monotonic() - run.elapsed
    listening = {event: any(c.handles(event) for c in run.callbacks) for event in EVENTS}
    run.begins = (Mark(run.epoch, run.step, run.batch, run._now or run.start),)
    try:
        run.emit("fit_begin")
        check_limits(run)
        while run.ending is None and (run.plan.epochs is None or run.epoch - bool(run.batch) < run.plan.epochs):
            if not run.batch:
                run.begin_epoch(run.epoch + 1)
                run.emit("epoch_begin")
            before = run.batch
            for taken in parts(run, listening):
                run.elapsed = time.monotonic() - begin
                if taken and listening["batch_end"]:
                    run.emit("batch_end")
                check_limits(run)
                if run.ending is not None:
                    break
                if listening["batch_end"] and listening["checkpoint"] and run.batch != run.steps_per_epoch:
                    run.emit("checkpoint")
            if run.batch == before and run.ending is None:
                raise ShapeError("an epoch had no batches: the source of batches is empty")
            if run.ending is None or run.batch == run.steps_per_epoch:
                run.end_epoch()
                run.elapsed = time.monotonic() - begin
                if run.trouble is None:
                    run.emit("epoch_end")
                    run.emit("checkpoint")
        run.end(EndingKind.EPOCHS, f"all {run.plan.epochs} epochs done")
    except KeyboardInterrupt:
        run.end(EndingKind.INTERRUPTED, INTERRUPTED)
    except BaseException as error:
        run.end(EndingKind.FAILED, f"an error: {error}")
        raise
    finally:
        run.elapsed = time.monotonic() - begin
        if run.compiled is not None:
            with suppress(Diverged):  # it has been told already
                run.compiled.catch_up(run)
        run.history.ending = run.ending
        run.emit("fit_end")
        if run.trouble is not None and run.final is not None and not sound(run, *run.final).predicts:
            run.final = None


def parts(run: Run, listening: dict[str, bool]) -> Iterator[bool]:
    """The epoch, batch by batch, or in larger parts where nobody listens to single batches."""
    if run.compiled is not None:
        yield from run.compiled.advance(run, listening)
        return
    seed = run.plan.seed if run.plan.shuffle else None
    for batch in run.plan.data.batches(run.plan.batch_size, seed=seed, epoch=run.epoch - 1, start=run.batch):
        yield advance(run, batch, split=listening["gradients"])


def advance(run: Run, batch: Batch, split: bool) -> bool:
    """One step; the old parameters stay if the result is not finite. Was it taken?"""
    trainer, t = run.trainer, run.step
    numbers = trainer.optimizer.numbers(t)
    numbers["lr"] *= run.factor
    settings = {name: np.float64(schedule(t)) for name, schedule in run.plan.settings.items()}
    given = {name: np.float64(value) for name, value in numbers.items()}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is looked for below
        if split:
            (objective, (state, parts)), gradients = trainer.gradients(run.now, batch, t, settings)
            gradients = run.changed_gradients(gradients)
            params, rule = trainer.update(run.now, gradients, t, given)
            new = Snapshot(params, state, rule)
            step = measured(objective, squared_norm(gradients), squared_norm(params), parts)
        else:
            new, step = trainer.step(run.now, batch, t, given, settings)
    if not step.finite and run.plan.on_divergence != "ignore":
        run.diverge(locate(trainer, run.now, batch, t, settings, step.objective), batch)
        return False
    run.now, run.gradient_norm, run.numbers = new, step.gradient_norm, numbers
    run.loss, run.objective = step.means["loss"], step.objective
    run.step, run.batch = t + 1, run.batch + 1
    run._sums = {name: run._sums[name] + mean * batch.weight for name, mean in step.means.items()}
    run._weight += batch.weight
    return True


def check_limits(run: Run) -> None:
    halt = HALT.get()
    if halt is not None and halt.is_set():
        run.end(EndingKind.INTERRUPTED, INTERRUPTED)
    if run.plan.steps is not None and run.step >= run.plan.steps:
        run.end(EndingKind.STEPS, f"all {run.plan.steps} steps done")
    if run.plan.max_time is not None and run.elapsed >= run.plan.max_time:
        run.end(EndingKind.TIME, f"the time of {run.plan.max_time:g} s is over")
