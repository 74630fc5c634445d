"""The rounds of a search: trials side by side on threads, with Optuna to propose settings and to give up on some."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.engine.native.announcement import silent
from pellucid.estimators.inputs import Learner
from pellucid.estimators.tuning.folds import Fold
from pellucid.estimators.tuning.trial import Outcome, Settings, Watch, try_out
from pellucid.train.apart import Task, in_processes, run_apart
from pellucid.train.loop.ending import INTERRUPTED
from pellucid.train.loop.loop import HALT
from pellucid.train.side_by_side import side_by_side

if TYPE_CHECKING:
    from optuna import Study, Trial

ROUND = 8
"""Trials in a round. A trial learns from the rounds before its own only, so that the result does not depend on how many
run side by side, nor on which is done first."""

MORE = 2.0
"""The last fit has more rows than a trial: with something to spare, so many times as long."""

OUTCOME = "pellucid"
"""The attribute of a trial in a shared study that has its outcome."""


def told(out: Outcome) -> dict[str, Any]:
    """An outcome as plain data, for a storage."""
    curves = [{"metric": fold.metric, "sign": fold.sign, "curve": fold.curve} for fold in out.folds]
    return {"state": out.state, "seconds": out.seconds, "folds": curves}


def retold(settings: Settings, data: Mapping[str, Any]) -> Outcome:
    """The outcome that `told` told."""
    folds = []
    for one in data["folds"]:
        watch = Watch(never)
        watch.metric, watch.sign, watch.runs = one["metric"], one["sign"], [list(one["curve"])]
        folds.append(watch)
    return Outcome(settings, data["state"], folds, data["seconds"])


def never(value: float, step: int) -> bool:
    """No trial is given up."""
    return False


def _try_apart(settings: Settings, limit: float, base: Learner, parts: list[Fold]) -> Outcome:
    """A trial in a process of its own, whose clock is another one."""
    return try_out(base, settings, parts, time.monotonic() + limit - time.time(), never)


@dataclass
class Search:
    """The rounds of a search, of at most so many trials, on so many threads (None: all processors).

    `draw(share, words)` moves a bar. `done` has the outcomes of all trials that began.
    """

    study: Study
    base: Learner
    parts: list[Fold]
    space: Callable[[Trial], Mapping[str, object]]
    trials: float
    threads: int | None
    begin: float
    deadline: float
    draw: Callable[[float, str], None]
    shared: bool = False  # a study that others work on, too
    size: int = ROUND  # trials in a round
    done: list[Outcome] = field(default_factory=list)
    stopped: str = ""
    pending: list[tuple[Trial, Settings]] = field(default_factory=list)  # not yet in `done`
    outcomes: dict[int, Outcome] = field(default_factory=dict)  # by number of Optuna's trial, as they come in

    def run(self) -> None:
        """Rounds, until trials or time are at an end, or Ctrl-C, whenever it comes."""
        try:
            while not self.stopped:
                self._round(int(min(self.size, self.trials - self._count())))
                if self._count() >= self.trials:
                    self.stopped = "all trials done"
                elif time.monotonic() >= self._end():
                    self.stopped = "the time is over"
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
            self._note()  # what the round has brought so far
        finally:
            self._show(1.0)

    def _count(self) -> int:
        """Trials that have ended, those of other processes included where they share a study."""
        if not self.shared:
            return len(self.done)
        return sum(trial.state.is_finished() for trial in self.study.get_trials(deepcopy=False))

    def _round(self, size: int) -> None:
        trials = [self.study.ask() for _ in range(size)]
        first = len(self.done)  # number 0 is the estimator as it was given
        numbers = [trial.number for trial in trials] if self.shared else range(first, first + len(trials))
        settings = [dict(self.space(trial)) if number else {} for number, trial in zip(numbers, trials, strict=True)]
        self.pending = list(zip(trials, settings, strict=True))
        with silent():
            if in_processes():
                self._apart()
            else:
                works = [partial(self._work, *pair) for pair in self.pending]
                side_by_side(works, threads=self.threads, what="tune, trial")
        self._note()

    def _apart(self) -> None:
        """The round in other processes. A trial cannot be compared with others there: none is given up."""
        now = time.time()
        limit = now + self._limit() - time.monotonic()
        tasks = [Task(_try_apart, (settings, limit), (self.base, self.parts)) for _, settings in self.pending]
        for (trial, _), outcome in zip(self.pending, run_apart(tasks, self.threads), strict=True):
            self.outcomes[trial.number] = outcome
            self._show()

    def _limit(self) -> float:
        """When a trial has to end."""
        now, folds = time.monotonic(), len(self.parts)
        limit = now + (self.deadline - now) * folds / (folds + 1)  # a last fit with its settings needs time, too
        return min(limit, self._end())

    def _work(self, trial: Trial, settings: Settings) -> None:
        def behind(value: float, step: int) -> bool:
            trial.report(value, step)
            self._show()
            return bool(trial.should_prune())

        try:
            self.outcomes[trial.number] = try_out(self.base, settings, self.parts, self._limit(), behind)
        except BaseException:
            halt = HALT.get()
            if halt is not None:
                halt.set()  # wrong data fail in every trial: no need to see it eight times
            raise

    def _note(self) -> None:
        """Tell the study of the trials of the round."""
        from optuna.trial import TrialState

        while self.pending:
            trial, settings = self.pending.pop(0)
            out = self.outcomes.get(trial.number, Outcome(settings))
            has_value = out.state in ("complete", "cut") and out.counts
            if self.shared and out.folds:
                trial.set_user_attr(OUTCOME, told(out))
            ending = TrialState.PRUNED if out.state == "pruned" else TrialState.FAIL
            self.study.tell(trial, out.value if has_value else None, state=TrialState.COMPLETE if has_value else ending)
            if out.counts:
                self.done.append(out)

    def _show(self, share: float = 0.0) -> None:
        """Move the bar, by trials or by time, whichever is further, with the best value so far."""
        count = sum(out.counts for out in list(self.outcomes.values()))
        seconds, best = time.monotonic() - self.begin, self._leader()
        value = "" if best is None else f", best {best.folds[0].metric} {best.folds[0].sign * best.value:.4g}"
        share = max(share, count / self.trials, seconds / (self.deadline - self.begin))
        self.draw(min(share, 1.0), f"{count} trials{value}")

    def _leader(self) -> Outcome | None:
        """The best of all outcomes that have come in, also those of this round."""
        candidates = [out for out in list(self.outcomes.values()) if out.value > -np.inf]
        return max(candidates, key=lambda out: out.value, default=None)

    def _end(self) -> float:
        """When the search has to end, so that there is time to fit the best so far on all rows."""
        best = self._leader()
        if best is None or not np.isfinite(self.deadline):
            return self.deadline
        epochs = sum(len(fold.curve) for fold in best.folds)
        share = sum(fold.best[1] for fold in best.folds) / epochs  # the last fit ends with the best epoch
        return self.deadline - best.seconds / len(best.folds) * min(1.0, MORE * share)

    def all_outcomes(self) -> list[Outcome]:
        """Those of this search, and of others that share its study, by their numbers."""
        if not self.shared:
            return self.done
        outcomes = []
        for trial in self.study.get_trials(deepcopy=False):
            if trial.number in self.outcomes:
                outcomes.append(self.outcomes[trial.number])
            elif OUTCOME in trial.user_attrs:
                # one that has ended answers with what it was
                settings = dict(self.space(trial)) if trial.number else {}  # type: ignore[arg-type]
                outcomes.append(retold(settings, trial.user_attrs[OUTCOME]))
        return [out for out in outcomes if out.counts]

    def best(self) -> Outcome:
        """The best outcome of those that saw every fold."""
        candidates = [out for out in self.all_outcomes() if out.value > -np.inf and out.state != "failed"]
        candidates = [out for out in candidates if len(out.folds) == len(self.parts)] or candidates
        if candidates:
            return max(candidates, key=lambda out: out.value)
        if self.stopped == INTERRUPTED:
            raise KeyboardInterrupt("tune was interrupted before a trial had ended its first epoch")
        errors = (out.error for out in self.done if out.error is not None)
        raise next(errors, ValueError(f"no trial got through its first epoch ({self.stopped}): give a larger budget"))
