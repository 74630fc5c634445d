"""When scikit-learn's networks stop: patience on the training loss or the validation score, and its learning rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pellucid.train import Callback, Run


@dataclass
class Curves:
    """What an estimator knows of its training; it goes on with a warm start."""

    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    best_loss: float = math.inf
    best_score: float = -math.inf
    best_iter: int = 0
    waited: int = 0
    rows: int = 0  # seen so far
    factor: float = 1.0  # of the learning rate


@dataclass
class Patience:
    """What to watch, and for how long. `strict` counts as scikit-learn does: it stops one epoch later."""

    tol: float
    epochs: float
    monitored: str | None = None  # "val_accuracy"; None watches the training loss
    sign: float = 1.0  # -1 where smaller is better
    strict: bool = False
    keep: str = "first"


@dataclass
class Rates:
    """learning_rate="constant", "invscaling" (by rows seen), or "adaptive" (a fifth when nothing improves)."""

    kind: str = "constant"
    start: float = 1e-3
    power: float = 0.5


class Convergence(Callback):
    """Fills the curves, stops when patience is at an end, and keeps the best parameters if a score is watched."""

    def __init__(
        self, curves: Curves, patience: Patience, rates: Rates, rows: int, say: Callable[[str], None] | None = None
    ) -> None:
        self.curves, self.patience, self.rates, self.rows, self.say = curves, patience, rates, rows, say
        self.done = False
        self.kept: Any = None
        self.epochs = 0

    def on_fit_begin(self, run: Run) -> None:
        run.factor = self.curves.factor
        if run.resumed[0] is not None:  # from a checkpoint: what it has seen
            for row in run.history.epochs:
                self._note(row)

    def on_epoch_end(self, run: Run) -> None:
        improved = self._note(run.logs)
        if improved:
            self.kept = run.prediction
        curves, rates = self.curves, self.rates
        if rates.kind == "invscaling":
            curves.factor = (curves.rows + 1) ** -rates.power
        limit = self.patience.epochs if self.patience.strict else self.patience.epochs - 1
        if curves.waited > limit:
            self._waited_long_enough(run)
        run.factor = curves.factor

    def on_fit_end(self, run: Run) -> None:
        if self.patience.monitored is not None and self.kept is not None:
            run.final = self.kept

    def state(self) -> dict[str, Any]:
        """The best parameters, for a resumed run."""
        if self.kept is None:
            return {"kept": {}}
        params, state = self.kept
        return {
            "kept": {**{f"params.{k}": v for k, v in params.items()}, **{f"state.{k}": v for k, v in state.items()}}
        }

    def load(self, state: dict[str, Any]) -> None:
        parts: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for key, value in state["kept"].items():
            part, _, name = key.partition(".")
            parts[part == "state"][name] = value
        self.kept = parts if parts[0] else None

    def _note(self, row: dict[str, Any]) -> bool:
        """Add an epoch to the curves. Is it the best so far?"""
        curves, patience = self.curves, self.patience
        self.epochs += 1
        curves.rows += self.rows
        curves.losses.append(float(row["loss"]))
        self._tell(f"Iteration {self.epochs}, loss = {row['loss']:.8f}")
        if "val_loss" in row:
            curves.validation_losses.append(float(row["val_loss"]))
        if patience.monitored is None:
            value, best = -curves.losses[-1], -curves.best_loss
            curves.waited = curves.waited + 1 if value < best + patience.tol else 0
            curves.best_loss = min(curves.losses[-1], curves.best_loss)
            return False
        score = patience.sign * float(row[patience.monitored])
        curves.scores.append(float(row[patience.monitored]))
        self._tell(f"Validation score: {curves.scores[-1]:f}")
        curves.waited = curves.waited + 1 if score < curves.best_score + patience.tol else 0
        if score > curves.best_score or (patience.keep == "last" and score == curves.best_score):
            curves.best_score, curves.best_iter = score, self.epochs
            return True
        return False

    def _tell(self, text: str) -> None:
        if self.say is not None:
            self.say(text)

    def _waited_long_enough(self, run: Run) -> None:
        curves, patience, rates = self.curves, self.patience, self.rates
        what = "Training loss" if patience.monitored is None else "Validation score"
        text = f"{what} did not improve more than tol={patience.tol:f} for {patience.epochs:g} consecutive epochs."
        if rates.kind == "adaptive" and rates.start * curves.factor > 1e-6:
            curves.factor, curves.waited = curves.factor / 5.0, 0
            self._tell(f"{text} Setting learning rate to {rates.start * curves.factor:f}")
            return
        self.done = True
        self._tell(f"{text} {'Learning rate too small. ' * (rates.kind == 'adaptive')}Stopping.")
        run.stop(text)
