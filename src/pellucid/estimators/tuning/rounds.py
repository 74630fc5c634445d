"""The rounds of a search: trials side by side, with Optuna to propose settings and to give up on some."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pellucid.engine.native.runtime.announcement import silent
from pellucid.estimators.inputs import Learner
from pellucid.estimators.tuning.folds import Fold
from pellucid.estimators.tuning.trial import Outcome, Settings, try_out, try_out_elsewhere
from pellucid.processors import default_threads
from pellucid.train.loop.ending import INTERRUPTED
from pellucid.train.loop.loop import HALT
from pellucid.train.side_by_side import side_by_side
from pellucid.train.workers import are_elsewhere, spread

if TYPE_CHECKING:
    from optuna import Study, Trial

ROUND = 8
"""Trials in a round. A trial learns from the rounds before its own only, so that the result does not depend on how many
run side by side, nor on which is done first."""

RECORD = "pellucid"
"""The name under which a shared study has the outcome of a trial."""

MORE = 2.0
"""The last fit has more rows than a trial: with something to spare, so many times as long."""


@dataclass
class Search:
    """The rounds of a search, of at most so many trials, on so many threads (None: all processors).

    `draw(share, words)` moves a bar. `done` has the outcomes of all trials that began here.   shared: other processes
    work on the same study
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
    shared: bool = False
    done: list[Outcome] = field(default_factory=list)
    stopped: str = ""
    pending: list[tuple[Trial, Settings]] = field(default_factory=list)  # not yet in `done`
    outcomes: dict[int, Outcome] = field(default_factory=dict)  # by number of Optuna's trial, as they come in

    def run(self) -> None:
        """Rounds, until trials or time are at an end, or Ctrl-C, whenever it comes."""
        try:
            while not self.stopped:
                left = self.trials - self._begun()
                if left > 0:
                    self._round(int(min(self._size, left)))
                if self._begun() >= self.trials:
                    self.stopped = "all trials done"
                elif time.monotonic() >= self._end():
                    self.stopped = "the time is over"
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
            self._note()  # what the round has brought so far
        finally:
            self._show(1.0)

    @property
    def _size(self) -> int:
        """Trials of a round. Of a shared study no more than run at a time: if this process is killed they are lost."""
        return min(ROUND, self.threads or default_threads()) if self.shared else ROUND

    def _begun(self) -> int:
        """Trials that count, of a shared study also those of others."""
        if not self.shared:
            return len(self.done)
        return sum(
            not one.state.is_finished() or one.value is not None for one in self.study.get_trials(deepcopy=False)
        )

    def _round(self, size: int) -> None:
        trials = [self.study.ask() for _ in range(size)]
        self.pending = [(trial, self._settings(trial)) for trial in trials]
        if are_elsewhere():
            self._work_elsewhere()
        else:
            works = [partial(self._work, *pair) for pair in self.pending]
            with silent():
                side_by_side(works, threads=self.threads, what="tune, trial")
        self._note()

    def _settings(self, trial: Trial) -> Settings:
        """Number 0 is the estimator as it was given."""
        return dict(self.space(trial)) if trial.number else {}

    def _limit(self) -> float:
        """When a trial that begins now has to end."""
        now, folds = time.monotonic(), len(self.parts)
        limit = now + (self.deadline - now) * folds / (folds + 1)  # a last fit with its settings needs time, too
        return min(limit, self._end())

    def _work_elsewhere(self) -> None:
        seconds = self._limit() - time.monotonic()
        data = (self.base, self.parts, seconds)
        outcomes = spread(try_out_elsewhere, self.pending, data, threads=self.threads, what="tune, trial")
        for (trial, _), (out, reports) in zip(self.pending, outcomes, strict=True):
            for value, step in reports:
                trial.report(value, step)
            self.outcomes[trial.number] = out

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
            ending = TrialState.PRUNED if out.state == "pruned" else TrialState.FAIL
            if self.shared:
                trial.set_user_attr(RECORD, out.record())
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

    def everything(self) -> list[Outcome]:
        """The outcomes of all trials that began, of a shared study those of others too, in their order."""
        if not self.shared:
            return self.done
        from optuna.trial import FixedTrial

        outcomes = []
        for trial in self.study.get_trials(deepcopy=False):
            record = trial.user_attrs.get(RECORD)
            if trial.number in self.outcomes:
                outcomes.append(self.outcomes[trial.number])
            elif record is not None:
                settings = self._settings(FixedTrial(trial.params, trial.number))  # type: ignore[arg-type]
                outcomes.append(Outcome.of_record(settings, record))
        return [out for out in outcomes if out.counts]

    def best(self) -> Outcome:
        """The best outcome of those that saw every fold."""
        candidates = [out for out in self.everything() if out.value > -np.inf and out.state != "failed"]
        candidates = [out for out in candidates if len(out.folds) == len(self.parts)] or candidates
        if candidates:
            return max(candidates, key=lambda out: out.value)
        if self.stopped == INTERRUPTED:
            raise KeyboardInterrupt("tune was interrupted before a trial had ended its first epoch")
        errors = (out.error for out in self.done if out.error is not None)
        raise next(errors, ValueError(f"no trial got through its first epoch ({self.stopped}): give a larger budget"))
