"""One trial of a search: an estimator trained on some rows, watched on others, ended early where it falls behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from pellucid.estimators.protocols import Learner
from pellucid.estimators.training import NON_FINITE
from pellucid.estimators.tuning.folds import Fold
from pellucid.estimators.tuning.space import with_settings
from pellucid.train import Callback, Run
from pellucid.train.loop.loop import HALT

PRUNED = "pruned: earlier trials were better at this point"
FAR = 1_000_000
"""Epochs of the second fold are reported from here on, those of the third from twice as far."""


Behind = Callable[[float, int], bool]
"""Is a trial with this value (larger is better) after this epoch behind the others?"""


class Watch(Callback):
    """Keeps the validation curve, and stops a run that is `behind(value, epoch)`; larger values are better there."""

    def __init__(self, behind: Behind) -> None:
        self.behind = behind
        self.watched, self.sign, self.stopped = "val_loss", -1.0, ""
        self.curve: list[float] = []

    def __deepcopy__(self, memo: object) -> Watch:
        return self  # `clone` copies parameters; what is seen must arrive here

    def on_fit_begin(self, run: Run) -> None:
        own = [name for name in run.history.modes if name.startswith("val_") and name != "val_loss"]
        self.watched = own[0] if own else "val_loss"
        self.sign = -1.0 if run.history.modes[self.watched] == "min" else 1.0

    def on_epoch_end(self, run: Run) -> None:
        self.curve.append(float(run.logs[self.watched]))
        if self.behind(self.sign * self.curve[-1], len(self.curve) - 1):
            run.stop(PRUNED)

    def on_fit_end(self, run: Run) -> None:
        self.stopped = run.stopped

    @property
    def best(self) -> tuple[float, int]:
        """(the best value in larger-is-better form, its epoch from 1)

        The last of several equal ones: where accuracy stands still, the network still learns.
        """
        signed = self.sign * np.asarray(self.curve)
        finite = np.where(np.isfinite(signed), signed, -np.inf)
        at = len(finite) - 1 - int(np.argmax(finite[::-1]))
        return float(signed[at]), at + 1


class StopAfter(Callback):
    """Ends a run after some epochs; its schedules are those of the full length."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs

    def on_epoch_end(self, run: Run) -> None:
        if run.epoch >= self.epochs:
            run.stop(f"as many epochs as were best on the validation rows, {self.epochs}")


@dataclass
class Outcome:
    """What a trial gave; values are larger-is-better."""

    state: str = "complete"
    values: list[float] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    curves: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    metric: str = "loss"
    sign: float = 1.0
    error: Exception | None = None

    @property
    def value(self) -> float | None:
        mean = float(np.mean(self.values)) if self.values else np.nan
        return mean if np.isfinite(mean) else None

    @property
    def rank(self) -> float:
        """The value to compare by; without one it is the worst."""
        return -np.inf if self.value is None else self.value


def _so_far(behind: Behind, done: tuple[float, ...], offset: int) -> Behind:
    """What a pruner is told in a later fold: the mean over the folds so far."""
    return lambda value, epoch: behind(float(np.mean([*done, value])), offset + epoch)


def try_out(
    estimator: Learner, settings: Mapping[str, object], parts: list[Fold], deadline: float, behind: Behind
) -> Outcome:
    """Train on every fold until patience, pruning, the deadline or a halt ends it. Divergence is an outcome."""
    out, begin, halt = Outcome(), time.monotonic(), HALT.get()
    for number, part in enumerate(parts):
        left = deadline - time.monotonic()
        if left <= 0 or (halt is not None and halt.is_set()):
            out.state = "cut"
            break
        watch = Watch(_so_far(behind, tuple(out.values), number * FAR))
        candidate = with_settings(estimator, settings)
        params = candidate.get_params(deep=False)
        limit = min(left, params["max_time"] or np.inf)
        candidate.set_params(callbacks=[*params["callbacks"], watch], max_time=limit if np.isfinite(limit) else None)
        held = {"X_val": part.held.X, "y_val": part.held.y}
        if part.held.weights is not None and has_fit_parameter(candidate, "sample_weight_val"):
            held["sample_weight_val"] = part.held.weights
        try:
            candidate.fit(part.train.X, part.train.y, sample_weight=part.train.weights, **held)
        except ValueError as error:
            if not str(error).startswith(NON_FINITE):
                raise
            out.state, out.error = "failed", error
            break
        out.metric, out.sign = watch.watched.removeprefix("val_"), watch.sign
        if watch.curve:
            value, epoch = watch.best
            out.values.append(value)
            out.epochs.append(epoch)
            out.curves.append(watch.curve)
        if watch.stopped == PRUNED:
            out.state = "pruned"
            break
        if (halt is not None and halt.is_set()) or time.monotonic() >= deadline:
            out.state = "cut"
            break
    out.seconds = time.monotonic() - begin
    if out.value is None and out.state != "cut":
        out.state = "failed"
    return out
