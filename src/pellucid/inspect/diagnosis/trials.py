"""Short trainings on the side: what happens if one thing is changed? The model itself is left as it is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.rows import Rows
from pellucid.inspect.diagnosis.remedies import scaled_rate, variant
from pellucid.inspect.diagnosis.stepper import Trained, trained
from pellucid.train import Model

STEP = 2e-4
"""Seconds that a step takes beside its products."""

SPEED = 1.5e10
"""Multiplications a second, on a modest machine."""

COMPILED = 5.0
"""How many times as fast a step is that the fit has compiled."""

LEAST = 0.6
"""Seconds that all trials may take together, however short the fit was."""

SHARE = 0.05
"""Of the time of a fit that trials may take."""

FEWER = 256
"""Rows that a costly network is tried on."""

LIMIT = 3.0
"""Units that a single row may count for in a standard error."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of single rows: of those that trials learn from, and of others."""

    inside: Any
    outside: Any

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.inside).all() and np.isfinite(self.outside).all())


@dataclass(frozen=True)
class Gain:
    """A difference of mean losses in units of what can be learned, and how many standard errors that is."""

    size: float
    sigmas: float

    def beyond(self, size: float, sigmas: float = 3.0) -> bool:
        """Is it larger than this, and more than chance?"""
        return self.size > size and self.sigmas > sigmas


def gain(before: Any, after: Any, unit: float) -> Gain:
    """How much smaller the losses are after than before, row by row.

    A few rows with enormous losses do not blur the standard error: there no row counts for more than `LIMIT` units.
    """
    if not np.isfinite(after).all():
        return Gain(-math.inf, -math.inf)
    if not np.isfinite(before).all():
        return Gain(math.inf, math.inf)
    with np.errstate(all="ignore"):
        differences = (np.asarray(before, np.float64) - np.asarray(after, np.float64)) / unit
        limited = np.clip(differences, -LIMIT, LIMIT)
        error = float(np.std(limited) / math.sqrt(max(len(limited) - 1, 1)))
    return Gain(float(np.mean(differences)), float(np.mean(limited)) / max(error, 1e-12))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A trial: the model after it, the mean of its losses over the last steps (they may tremble), and how it ended."""

    model: Model
    losses: Losses
    diverged: bool
    steps: int


class Laboratory:
    """Where trials are made: rows to learn from, rows to judge by, and a limit of steps that follows from sizes alone.

    `inside` are rows that a trial learns from, `outside` others: validation rows, or rows that are set aside for it
    (the model has been trained on those, its trials are not), or for very few rows the same.
    """

    def __init__(
        self,
        model: Model,
        inside: Rows,
        outside: Rows,
        judge: Callable[[Model, Rows], Any],
        *,
        rate: float,
        batch: int,
        fit_rows: float,
    ) -> None:
        self.model, self.inside, self.outside, self.judge = model, inside, outside, judge
        self.rate, self.batch = rate, max(min(batch, len(inside)), 1)
        numbers = sum(int(np.size(array)) for array in model.params.values()) or 1
        step = STEP + 6.0 * numbers * self.batch / SPEED
        seconds = max(LEAST, SHARE * fit_rows * 6.0 * numbers / (3.0 * SPEED))
        self.steps = int(np.clip(seconds / (8.0 * step), 16, 120))
        self.longest = int(LEAST / (step / COMPILED if model.compiled else step))
        """Steps that a single trial may take."""
        self.costly = self.steps < 40
        if self.costly:  # looking at many rows would cost more than learning from a few
            self.inside, self.outside = inside.some(FEWER), outside.some(FEWER)
            self.batch = min(self.batch, FEWER)
        self.now = self.judged(model)
        self._memory: dict[Any, Outcome] = {}

    def judged(self, model: Model) -> Losses:
        return Losses(self.judge(model, self.inside), self.judge(model, self.outside))

    def go_on(
        self,
        name: str,
        *,
        rate: float = 1.0,
        batch: int | None = None,
        steps: int | None = None,
        change: Callable[[Model], Model] | None = None,
    ) -> Outcome:
        """Train on from where the model stands: with another rate, other batches, or a model of the same parameters."""
        return self._once(name, lambda: change(self.model) if change else self.model, rate, batch, steps)

    def begin(
        self,
        name: str,
        change: Callable[[Model], Model] | None = None,
        *,
        rate: float = 1.0,
        steps: int | None = None,
        seed: int = 0,
    ) -> Outcome:
        """Train a new model, with one thing changed, from its first parameters."""

        def make() -> Model:
            fresh = variant(self.model) if change is None else change(self.model)
            return fresh.initialize(self.inside.X, seed=seed)

        return self._once(f"fresh {name}", make, rate, None, steps)

    def _once(self, name: str, make: Callable[[], Model], rate: float, batch: int | None, steps: int | None) -> Outcome:
        key = (name, rate, batch, steps)
        if key not in self._memory:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self._memory[key] = self._run(make(), rate, batch or self.batch, steps or self.steps)
        return self._memory[key]

    def _run(self, start: Model, rate: float, batch: int, steps: int) -> Outcome:
        trial = variant(start, optimizer=scaled_rate(start.optimizer, 1.0, self.rate), engine="numpy")
        trial.params, trial.state, trial.features = dict(start.params), dict(start.state), start.features
        seen: list[Losses] = []

        def look(after: Trained) -> None:
            trial.params, trial.state = after.params, after.state
            seen.append(self.judged(trial))

        halts = {steps - round(steps * back) for back in ((0.0, 0.2) if self.costly else (0.0, 0.1, 0.2, 0.3))}
        same = all(
            getattr(start, part) == getattr(self.model, part) for part in ("net", "loss", "penalty", "optimizer")
        )
        after = trained(
            trial,
            self.inside,
            steps=steps,
            batch=batch,
            rate=self.rate * rate,
            seed=1,
            halts=halts,
            look=look,
            compiled=self.model.compiled and same,
        )
        trial.params, trial.state = after.params, after.state
        if after.diverged or not seen:
            lost = Losses(np.full(len(self.inside), np.inf), np.full(len(self.outside), np.inf))
            return Outcome(trial, lost, True, steps)
        inside, outside = (np.mean([getattr(one, part) for one in seen], axis=0) for part in ("inside", "outside"))
        return Outcome(trial, Losses(inside, outside), False, steps)
