"""The rounds of a search: trials side by side on threads, with Optuna to propose settings and to give up on some."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from pellucid.estimators.protocols import Learner
from pellucid.estimators.tuning.folds import Fold
from pellucid.estimators.tuning.space import default_space
from pellucid.estimators.tuning.trial import Outcome, try_out
from pellucid.train.loop.ending import INTERRUPTED
from pellucid.train.loop.loop import HALT

if TYPE_CHECKING:
    from optuna import Study, Trial

Settings = dict[str, object]
"""Parameters of an estimator by name."""

ROUND = 8
"""Trials in a round. A trial learns from the rounds before its own only, so that the result does not depend on how many
run side by side, nor on which is done first."""

WARM_UP = 5
"""Epochs before a trial can be found to be behind."""

MORE = 2.0
"""The last fit has more rows than a trial: with something to spare, so many times as long."""


@dataclass
class Search:
    """The rounds of a search. `done` has (settings, outcome) of every trial that began."""

    optuna: ModuleType
    base: Learner
    parts: list[Fold]
    space: Callable[[Trial], Mapping[str, object]] | None
    seed: int
    trials: float
    deadline: float
    jobs: int
    done: list[tuple[Settings, Outcome]] = field(default_factory=list)
    stopped: str = ""
    running: list[Future[Outcome]] = field(default_factory=list)
    pending: list[tuple[Trial, Settings, Future[Outcome]]] = field(default_factory=list)  # not yet in `done`
    outcomes: list[Outcome] = field(default_factory=list)  # as they come in

    def __post_init__(self) -> None:
        optuna = self.optuna
        self.study: Study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=self.seed, constant_liar=True),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=WARM_UP),
        )
        self.halt = threading.Event()
        self.lanes: SimpleQueue[int] = SimpleQueue()
        for lane in range(self.jobs):
            self.lanes.put(lane)

    def run(self) -> None:
        """Rounds, until trials or time are at an end, or Ctrl-C, whenever it comes."""
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="pellucid") as pool:
            try:
                while not self.stopped:
                    self._round(pool, int(min(ROUND, self.trials - len(self.done))))
                    if len(self.done) >= self.trials:
                        self.stopped = self.stopped or "all trials done"
                    elif time.monotonic() >= self._end():
                        self.stopped = self.stopped or "the time is over"
            except KeyboardInterrupt:
                self.stopped = INTERRUPTED
                self._give_up()
                self._note()  # what the round has brought so far
            finally:
                self._give_up()  # the pool waits for all that runs

    def _round(self, pool: ThreadPoolExecutor, size: int) -> None:
        trials = [self.study.ask() for _ in range(size)]
        settings = [self._settings(trial, len(self.done) + i) for i, trial in enumerate(trials)]
        self.running = []
        for trial, params in zip(trials, settings, strict=True):
            future = pool.submit(contextvars.copy_context().run, self._work, trial, params)
            self.running.append(future)
            self.pending.append((trial, params, future))
        while wait(self.running, timeout=0.2).not_done:
            if any(f.done() and not f.cancelled() and f.exception() for f in self.running):
                self._give_up()  # wrong data fail in every trial: no need to see it eight times
        self._note()

    def _note(self) -> None:
        """Wait for the trials of the round, and tell the study of them."""
        wait(self.running)
        state = self.optuna.trial.TrialState
        while self.pending:
            trial, params, future = self.pending.pop(0)
            out = Outcome("cut") if future.cancelled() else future.result()
            ending = {"complete": state.COMPLETE, "pruned": state.PRUNED}.get(out.state, state.FAIL)
            if out.state == "cut" and out.value is not None:
                ending = state.COMPLETE
            self.study.tell(trial, out.value if ending == state.COMPLETE else None, state=ending)
            if out.state != "cut" or out.value is not None:
                self.done.append((params, out))

    def _give_up(self) -> None:
        self.halt.set()
        for future in self.running:
            future.cancel()

    def _settings(self, trial: Trial, number: int) -> Settings:
        if number == 0:
            return {}  # the estimator as it was given
        if self.space is not None:
            return dict(self.space(trial))
        return default_space(trial, self.base, self.parts[0].train.rows)

    def _work(self, trial: Trial, settings: Settings) -> Outcome:
        from pellucid.engine.native import cache
        from pellucid.engine.native.blas import LANE

        def behind(value: float, step: int) -> bool:
            trial.report(value, step)
            return bool(trial.should_prune())

        HALT.set(self.halt)
        lane = self.lanes.get()
        LANE.set(lane)
        try:
            with cache.silent():
                out = try_out(self.base, settings, self.parts, self._limit(), behind)
            self.outcomes.append(out)
            return out
        finally:
            self.lanes.put(lane)

    def _limit(self) -> float:
        """When a trial that begins now has to end, so that a last fit with its settings has time, too."""
        now, folds = time.monotonic(), len(self.parts)
        return min(self._end(), now + (self.deadline - now) * folds / (folds + 1))

    def _end(self) -> float:
        """When the search has to end, so that there is time to fit the best so far on all rows."""
        candidates = [out for out in list(self.outcomes) if out.value is not None]
        if not candidates or not np.isfinite(self.deadline):
            return self.deadline
        best = max(candidates, key=lambda out: out.rank)
        share = sum(best.epochs) / sum(map(len, best.curves))  # the last fit ends with the best epoch
        return self.deadline - best.seconds / len(best.values) * min(1.0, MORE * share)

    def best(self) -> tuple[Settings, Outcome]:
        """Settings and outcome of the best trial that saw every fold."""
        whole = [d for d in self.done if d[1].value is not None and d[1].state != "failed"]
        whole = [d for d in whole if len(d[1].values) == len(self.parts)] or whole
        if not whole and self.stopped == INTERRUPTED:
            raise KeyboardInterrupt("tune was interrupted before a trial had ended its first epoch")
        if not whole:
            for _, out in self.done:
                if out.error is not None:
                    raise out.error
            raise ValueError(f"no trial got through its first epoch ({self.stopped}): give a larger budget")
        return max(whole, key=lambda d: d[1].rank)
