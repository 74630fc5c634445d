"""When scikit-learn's networks stop: patience on the training loss or the validation score, and its learning rates."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from pellucid.train import Run
from pellucid.train.callbacks.callback import KeepsBest
from pellucid.train.callbacks.stopping import better


@dataclass
class Curves:
    """What an estimator knows of its training; it goes on with a warm start."""

    losses: list[float] = field(default_factory=list)  # what is minimised, the penalty included, as scikit-learn's
    validation_losses: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)  # as the metric has them, larger or smaller the better
    best_loss: float = math.inf
    best_score: float = -math.inf  # times the sign: larger is better
    best_iter: int = 0  # its place among the scores, from 1
    waited: int = 0
    rows: int = 0  # seen so far
    factor: float = 1.0  # of the learning rate


@dataclass(frozen=True)
class Patience:
    """How long nothing may improve, and what is meant by that.

    `scored` names what the validation rows are scored by ("val_accuracy"), `sign` is -1 where smaller is better. With
    `early` the score decides, and the best parameters are kept; else the training loss decides. `late` stops one epoch
    later, as scikit-learn does.
    """

    tol: float
    epochs: float
    scored: str | None = None
    sign: float = 1.0
    early: bool = False
    late: bool = False
    keep: str = "first"  # of equally good epochs

    @property
    def asks(self) -> bool:
        """Is anything asked of the loss? A tolerance is, as in scikit-learn, though patience may have no end."""
        return self.tol > 0 or self.epochs < math.inf


@dataclass(frozen=True)
class Rates:
    """learning_rate="constant", "invscaling" (by rows seen), or "adaptive" (a fifth when nothing improves)."""

    kind: str = "constant"
    start: float = 1e-3
    power: float = 0.5
    factor: float = 1.0  # of all rates of the run, whatever their kind or schedule


class Convergence(KeepsBest):
    """Fills the curves, stops when patience is at an end, and ends with the best parameters if a score decides."""

    remembers = ("epochs",)

    def __init__(self, curves: Curves, patience: Patience, rates: Rates, rows: int, *, verbose: bool) -> None:
        self.curves, self.patience, self.rates, self.rows, self.verbose = curves, patience, rates, rows, verbose
        self.limit = patience.epochs if patience.late else patience.epochs - 1
        self.done, self.epochs = False, 0

    def on_fit_begin(self, run: Run) -> None:
        curves, patience = self.curves, self.patience
        if patience.early and self.kept is None and curves.scores:
            self.kept = run.prediction  # a warm start: it begins with the best so far
        if curves.waited > self.limit and not patience.late and not self.epochs:
            curves.waited = 0  # an earlier fit ended by its patience: this one has its own
        run.factor = curves.factor

    def on_epoch_end(self, run: Run) -> None:
        curves, patience, rates = self.curves, self.patience, self.rates
        self.epochs += 1
        curves.rows += self.rows
        loss = float(run.logs.get("objective", run.logs["loss"]))
        curves.losses.append(loss)
        self._say(f"Iteration {self.epochs}, loss = {loss:.8f}")
        worse = loss > curves.best_loss - patience.tol
        curves.best_loss = min(loss, curves.best_loss)
        if "val_loss" in run.logs:
            curves.validation_losses.append(float(run.logs["val_loss"]))
        if patience.scored is not None:
            score = float(run.logs[patience.scored])
            curves.scores.append(score)
            self._say(f"Validation {self._watched}: {score:f}{self._name}")
            value = patience.sign * score
            if patience.early:
                worse = value < curves.best_score + patience.tol
            if better(value, curves.best_score, "max", ties=patience.keep == "last"):
                curves.best_score, curves.best_iter = value, len(curves.scores)
                if patience.early:
                    self.kept = run.prediction
        curves.waited = curves.waited + 1 if worse else 0
        if rates.kind == "invscaling":
            curves.factor = rates.factor * (curves.rows + 1) ** -rates.power
        if curves.waited > self.limit:
            self._waited_long_enough(run)
        run.factor = curves.factor

    def meaning(self) -> dict[str, Any]:
        meaning = {name: value for name, value in asdict(self.patience).items() if name not in ("tol", "epochs")}
        rates = {name: value for name, value in asdict(self.rates).items() if name != "factor" or value != 1.0}
        return meaning | {"rates": rates}

    def state(self) -> dict[str, Any]:
        """The curves and the best parameters, for a resumed run."""
        return {"curves": asdict(self.curves), **super().state()}

    def load(self, state: dict[str, Any]) -> None:
        vars(self.curves).update(vars(Curves(**state["curves"])))
        super().load(state)

    def _say(self, text: str) -> None:
        if self.verbose:
            print(text)

    @property
    def _watched(self) -> str:
        """What is measured on validation rows, by its direction."""
        return "score" if self.patience.sign > 0 else "loss"

    @property
    def _name(self) -> str:
        """And which, where the word does not say it."""
        name = str(self.patience.scored).removeprefix("val_")
        return "" if name == "loss" else f" ({name})"

    def _waited_long_enough(self, run: Run) -> None:
        curves, patience, rates = self.curves, self.patience, self.rates
        what = f"Validation {self._watched}" if patience.early else "Training loss"
        text = f"{what} did not improve more than tol={patience.tol:g} for {patience.epochs:g} consecutive epochs."
        if rates.kind == "adaptive" and rates.start * curves.factor > 1e-6:
            curves.factor, curves.waited = curves.factor / 5.0, 0
            self._say(f"{text} Setting learning rate to {rates.start * curves.factor:f}")
            return
        self.done = True
        self._say(f"{text} {'Learning rate too small. ' * (rates.kind == 'adaptive')}Stopping.")
        run.stop(text)
