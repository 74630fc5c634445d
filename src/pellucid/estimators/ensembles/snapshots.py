"""Members from one training: the network at the end of each cycle of the learning rate."""

from __future__ import annotations

import math
from typing import Any

from sklearn.base import clone

from pellucid import optim
from pellucid.data.types import Array, Matrix, Tree
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.protocols import Learner
from pellucid.estimators.settings import TrainingSettings
from pellucid.train import Callback, Run

NEEDED = {"max_iter", "n_iter_no_change", "callbacks", "training", "solver", "optimizer"}


class Cycles(Callback):
    """Keeps the parameters at the end of each cycle of so many epochs, and stops after the last."""

    def __init__(self, count: int, epochs: int) -> None:
        self.count, self.epochs = count, epochs
        self.ends: list[tuple[Tree, Tree]] = []

    def on_epoch_end(self, run: Run) -> None:
        if run.epoch % self.epochs == 0:
            self.ends.append(run.prediction)
        if len(self.ends) == self.count:
            run.stop(f"all {self.count} cycles done")

    def on_fit_end(self, run: Run) -> None:
        if not self.ends:  # stopped in the first cycle, by max_time or Ctrl-C
            self.ends.append(run.prediction)


def snapshots(estimator: Learner, X: Matrix, y: Array, weights: Array | None, count: int) -> list[Learner]:
    """One training whose learning rate falls to 0 `count` times, and the network at the end of each cycle.

    Huang et al., 2017. `max_iter` is the length of all cycles together, rounded up to whole epochs for each. Neither
    `tol` nor `early_stopping` ends a cycle before its time.
    """
    params = estimator.get_params(deep=False)
    missing = ", ".join(sorted(NEEDED - set(params)))
    if missing or (params["solver"] == "lbfgs" and params["optimizer"] is None):
        why = f"{type(estimator).__name__} has no {missing}" if missing else "solver='lbfgs' has none"
        raise ValueError(f"method='snapshots' needs a learning rate that can go in cycles: {why}; use method='seeds'")
    epochs = -(-int(params["max_iter"]) // count)
    cycles = Cycles(count, epochs)
    trained: BaseMLP = clone(estimator)
    schedule = optim.Cosine(_rate(params), steps=optim.Epochs(epochs * count), restarts=count - 1)
    training = trained.training or TrainingSettings()
    trained.set_params(
        max_iter=epochs * count + 1,  # the callback stops it one epoch before, at the end of the last cycle
        n_iter_no_change=math.inf,
        learning_rate="constant",
        early_stopping=False,
        training=training.set_params(schedule=schedule),
        callbacks=[*params["callbacks"], cycles],
    )
    trained.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
    trained.set_params(callbacks=params["callbacks"])
    return [trained.with_parameters(*end) for end in cycles.ends]


def _rate(params: dict[str, Any]) -> float:
    """The learning rate that each cycle begins with."""
    optimizer = params["optimizer"]
    rule = optimizer.rule if isinstance(optimizer, optim.Optimizer) else optimizer
    rate = rule.lr if isinstance(rule, optim.Rule) else params["learning_rate_init"]
    return float(rate(0) if isinstance(rate, optim.Schedule) else rate)
