"""The steps of a run, one by one: the recorded graph of a step, run by an executor for every batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pellucid.data.rows import Batch
from pellucid.train.loop.divergence import locate
from pellucid.train.loop.step import Snapshot, Trainer, float64s, measured, squared_norm

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


class NumpySteps:
    """A new snapshot for every step. Callbacks that want the gradients get them between its two halves."""

    threads = 1

    def __init__(self, trainer: Trainer, start: Snapshot) -> None:
        self.trainer, self.now = trainer, start

    @property
    def engine(self) -> str:
        """The executor of the graphs; callbacks may want gradients of compiled code."""
        return self.trainer.engine

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        plan = run.plan
        seed = plan.seed if plan.shuffle else None
        for batch in plan.data.batches(plan.batch_size, seed=seed, epoch=run.epoch - 1, start=run.batch):
            run.look(lambda batch=batch: batch)  # type: ignore[misc]
            yield self.step(run, batch, split=listening["gradients"])

    def step(self, run: Run, batch: Batch, split: bool = False) -> bool:
        """One step; the old parameters stay if the result is not finite. Was it made?"""
        trainer, now, t = self.trainer, self.now, run.step
        numbers, settings = run.rule_numbers(t), run.settings(t)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is looked for below
            if split:
                (objective, (state, parts)), gradients = trainer.gradients(now, batch, t, settings)
                gradients = run.changed_gradients(gradients)
                params, rule = trainer.update(now, gradients, t, float64s(numbers))
                new = Snapshot(params, state, rule)
                step = measured(objective, squared_norm(gradients), squared_norm(params), parts)
            else:
                new, step = trainer.step(now, batch, t, float64s(numbers), settings)
        if not step.finite and run.plan.on_divergence != "ignore":
            run.diverge(locate(trainer, now, batch, t, settings, step.objective), batch)
            return False
        self.now, run.numbers = new, numbers
        means, weight = step.means, batch.weight
        sums = {name: run.sums[name] + mean * weight for name, mean in means.items()}
        run.note(1, sums, run.weight + weight, means["loss"], step.objective, step.gradient_norm)
        return True

    def catch_up(self, run: Run) -> None:
        """Nothing is computed ahead of time."""

    def snapshot(self, run: Run) -> Snapshot:
        """The state itself: the next step makes a new one."""
        return self.now

    view = mark = last = snapshot

    def load(self, state: Snapshot | None, run: Run) -> None:
        assert state is not None, "marks of these steps have their snapshots"
        self.now = state

    def close(self) -> None:
        """No memory but that of the snapshot."""
