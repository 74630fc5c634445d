"""The training loop: epochs of batches, with events for callbacks."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from contextvars import ContextVar

from pellucid.errors import ShapeError
from pellucid.train.callbacks.callback import EVENTS
from pellucid.train.loop.divergence import Diverged, soundness_of
from pellucid.train.loop.ending import INTERRUPTED, EndingKind
from pellucid.train.loop.run import Run
from pellucid.train.loop.step import Mark

HALT: ContextVar[threading.Event | None] = ContextVar("pellucid_halt", default=None)
"""Set by whoever runs several trainings at once, to end them all."""


def train(run: Run) -> None:
    """The loop itself."""
    begin = time.monotonic() - run.elapsed
    listening = {event: any(c.handles(event) for c in run.callbacks) for event in EVENTS}
    run.begins = (Mark(run.epoch, run.step, run.batch, run.steps.mark(run)),)
    try:
        run.emit("fit_begin")
        check_limits(run)
        while run.ending is None and (run.plan.epochs is None or run.epoch - bool(run.batch) < run.plan.epochs):
            if not run.batch:
                run.begin_epoch(run.epoch + 1)
                run.emit("epoch_begin")
            begin_batch = run.batch
            for taken in run.steps.advance(run, listening):
                run.elapsed = time.monotonic() - begin
                if taken and listening["batch_end"]:
                    run.emit("batch_end")
                check_limits(run)
                if run.ending is not None:
                    break
                if listening["batch_end"] and listening["checkpoint"] and run.batch != run.steps_per_epoch:
                    run.emit("checkpoint")
            if run.batch == begin_batch and run.ending is None:
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
        if not run.plan.alone:  # the others are elsewhere in the run: it ends for all, and can be resumed
            raise
    except BaseException as error:
        run.end(EndingKind.FAILED, f"an error: {error}")
        raise
    finally:
        run.elapsed = time.monotonic() - begin
        with suppress(Diverged):  # it has been told already
            run.steps.catch_up(run)
        run.history.ending, run.history.seconds = run.ending, run.elapsed
        run.emit("fit_end")
        if run.trouble is not None and run.final is not None and not soundness_of(run, *run.final).predicts:
            run.final = None


def check_limits(run: Run) -> None:
    halt = HALT.get()
    if halt is not None and halt.is_set():
        run.end(EndingKind.INTERRUPTED, INTERRUPTED)
    if run.plan.steps is not None and run.step >= run.plan.steps:
        run.end(EndingKind.STEPS, f"all {run.plan.steps} steps done")
    if run.plan.max_time is not None and run.plan.agreed(run.elapsed >= run.plan.max_time):
        run.end(EndingKind.TIME, f"the time of {run.plan.max_time:g} s is over")
