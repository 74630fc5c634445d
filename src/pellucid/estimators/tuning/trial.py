"""One trial of a search: an estimator trained on some rows, watched on others, ended early where it falls behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data.types import Array
from pellucid.estimators.inputs import Learner
from pellucid.estimators.training import NON_FINITE
from pellucid.estimators.tuning.folds import Fold
from pellucid.estimators.tuning.space import with_settings
from pellucid.train import Callback, Run
from pellucid.train.loop.loop import HALT

if TYPE_CHECKING:
    from optuna import Trial as Asked

PRUNED = "pruned: earlier trials were better at this point"
FAR = 1_000_000
"""Epochs of the second fold are reported from here on, those of the third from twice as far."""

Settings = dict[str, object]
"""Parameters of an estimator by name."""

Behind = Callable[[float, int], bool]
"""Is a trial with this value (larger is better) after this epoch behind the others?"""


class Watch(Callback):
    """Keeps the validation curve, and stops a run that is `behind(value, epoch)`; larger values are better there.

    An estimator may train several networks, or begin anew with a lower rate: the curve is that of the best run, and
    the first one is compared with other trials. In a later fold the value is the mean over it and the `earlier` ones.
    """

    def __init__(self, behind: Behind, earlier: tuple[float, ...] = ()) -> None:
        self.behind, self.earlier = behind, earlier
        self.metric, self.sign, self.stopped = "loss", -1.0, ""
        self.runs: list[list[float]] = []

    def on_fit_begin(self, run: Run) -> None:
        modes = run.history.modes
        name = next((name for name in modes if name.startswith("val_") and name != "val_loss"), "val_loss")
        self.metric, self.sign = name.removeprefix("val_"), -1.0 if modes[name] == "min" else 1.0
        self.runs.append([])

    def on_epoch_end(self, run: Run) -> None:
        curve = self.runs[-1]
        curve.append(float(run.logs[f"val_{self.metric}"]))
        value = float(np.mean([*self.earlier, self.sign * curve[-1]]))
        first = len(self.runs) == 1
        if self.behind(value, FAR * len(self.earlier) + len(curve) - 1) if first else self.stopped == PRUNED:
            run.stop(PRUNED)

    def on_fit_end(self, run: Run) -> None:
        self.stopped = run.stopped

    @property
    def curve(self) -> list[float]:
        """Of the best run."""
        return max(self.runs, key=lambda curve: max(self._values(curve), default=-np.inf), default=[])

    def _values(self, curve: list[float]) -> Array:
        """Larger is better; what is not finite is worst."""
        values = self.sign * np.asarray(curve, np.float64)
        return np.where(np.isfinite(values), values, -np.inf)

    @cached_property
    def best(self) -> tuple[float, int]:
        """(the best value in larger-is-better form, its epoch from 1), when the run has ended.

        The last of several equal ones: where accuracy stands still, the network still learns.
        """
        values = self._values(self.curve)
        at = len(values) - 1 - int(np.argmax(values[::-1]))
        return float(values[at]), at + 1


def _not_behind(value: float, epoch: int) -> bool:
    """Of a trial that has ended."""
    return False


@dataclass
class Outcome:
    """What settings gave: a curve for each fold that had an epoch."""

    settings: Settings
    state: str = "cut"
    folds: list[Watch] = field(default_factory=list)
    seconds: float = 0.0
    error: Exception | None = None

    @cached_property
    def value(self) -> float:
        """The mean of the folds' best, larger is better; -inf where there is none."""
        mean = float(np.mean([fold.best[0] for fold in self.folds])) if self.folds else -np.inf
        return mean if np.isfinite(mean) else -np.inf

    @property
    def epochs(self) -> int:
        """The best epoch, the mean over folds."""
        return round(float(np.mean([fold.best[1] for fold in self.folds]))) if self.folds else 0

    @property
    def curve(self) -> tuple[float, ...]:
        """The mean over folds, as far as all of them go."""
        shortest = min((len(fold.curve) for fold in self.folds), default=0)
        return tuple(np.mean([fold.curve[:shortest] for fold in self.folds], axis=0).tolist()) if shortest else ()

    @property
    def counts(self) -> bool:
        """Is there anything to tell of it?"""
        return self.state != "cut" or self.value > -np.inf

    # as plain data, in a storage that several searches share

    def record(self) -> dict[str, object]:
        """All but the settings and an error."""
        folds = [{"metric": one.metric, "sign": one.sign, "curve": one.curve} for one in self.folds]
        return {"state": self.state, "seconds": self.seconds, "folds": folds}

    @classmethod
    def of_record(cls, settings: Settings, record: dict[str, Any]) -> Outcome:
        folds = []
        for one in record["folds"]:
            watch = Watch(_not_behind)
            watch.metric, watch.sign, watch.runs = one["metric"], one["sign"], [one["curve"]]
            folds.append(watch)
        return cls(settings, record["state"], folds, record["seconds"])


Reports = list[tuple[float, int]]
"""Values of a trial, and after which epoch."""


def try_out_elsewhere(
    pair: tuple[Asked, Settings], estimator: Learner, parts: list[Fold], seconds: float
) -> tuple[Outcome, Reports]:
    """`try_out` on a worker. The trial that Optuna asks for brings all earlier ones along, so it can be given up here.

    What it reports here is reported again to the study that it came from.
    """
    trial, settings = pair
    reports: Reports = []

    def behind(value: float, step: int) -> bool:
        reports.append((value, step))
        trial.report(value, step)
        return bool(trial.should_prune())

    out = try_out(estimator, settings, parts, time.monotonic() + seconds, behind)
    for watch in out.folds:
        watch.behind = _not_behind  # it refers to the trial, and so to the whole study
    return out, reports


def try_out(estimator: Learner, settings: Settings, parts: list[Fold], deadline: float, behind: Behind) -> Outcome:
    """Train on every fold until patience, pruning, the deadline or a halt ends it. Divergence is an outcome."""
    out, begin, halt = Outcome(settings), time.monotonic(), HALT.get()

    def time_left() -> float:
        return 0.0 if halt is not None and halt.is_set() else deadline - time.monotonic()

    for part in parts:
        seconds = time_left()
        if seconds <= 0:
            break
        watch = Watch(behind, tuple(fold.best[0] for fold in out.folds))
        candidate = with_settings(estimator, settings)
        params = candidate.get_params(deep=False)
        limit = min(seconds, params["max_time"] or np.inf)
        candidate.set_params(callbacks=[*params["callbacks"], watch], max_time=limit if np.isfinite(limit) else None)
        try:
            candidate.fit(
                part.train.X,
                part.train.y,
                sample_weight=part.train.weights,
                X_val=part.held.X,
                y_val=part.held.y,
                sample_weight_val=part.held.weights,
            )
        except ValueError as error:
            if not str(error).startswith(NON_FINITE):
                raise
            out.state, out.error = "failed", error
            break
        if watch.curve:
            out.folds.append(watch)
        if watch.stopped == PRUNED:
            out.state = "pruned"
            break
    else:
        if time_left() > 0:
            out.state = "complete"
    out.seconds = time.monotonic() - begin
    if out.state != "cut" and out.value == -np.inf:
        out.state = "failed"
    return out
