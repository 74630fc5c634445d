"""Members of an ensemble: trained side by side, each with its seed and its rows; or taken from one training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from pellucid import optim
from pellucid.data.dependence import Dependence
from pellucid.data.types import Array, Matrix, Tree
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.ensembles.gathered_warnings import gathered_warnings
from pellucid.estimators.ensembles.resampling import Share
from pellucid.estimators.inputs import Learner
from pellucid.estimators.settings import TrainingSettings
from pellucid.train import Callback, Run
from pellucid.train.apart import Task
from pellucid.train.side_by_side import side_by_side

CYCLING = {"max_iter", "n_iter_no_change", "callbacks", "training", "solver", "optimizer"}
"""Parameters of estimators whose learning rate can go in cycles."""


def make_member(estimator: Learner, seed: int, threads: int | None = 1) -> Learner:
    """A copy with this seed, computing on one thread; inside pipelines too."""
    member: Learner = clone(estimator)
    values = {"random_state": seed} | ({} if threads is None else {"threads": threads})
    names = {name: name.rpartition("__")[2] for name in member.get_params()}
    return member.set_params(**{name: values[last] for name, last in names.items() if last in values})


def validates(estimator: Learner) -> bool:
    """Does its training look at validation rows, and would it take them from the rows it is given?"""
    params = estimator.get_params(deep=False)
    stops = "early_stopping" in params
    return bool(params.get("early_stopping", True) and params.get("validation_fraction", stops))


def train_members(
    members: Sequence[Learner],
    X: Matrix,
    y: Array,
    weights: Array | None,
    shares: Sequence[Share],
    dependence: Dependence | None = None,
    *,
    validate: bool,
    threads: int | None,
    verbose: bool,
) -> list[Learner]:
    """Fit each member to its share, one on each thread. With `validate` the rows it never sees are its validation.

    A member that sets rows aside by itself is told how they depend on each other.
    """
    classes = y.ndim == 1 and is_classifier(members[0])

    shared = (X, y, weights, dependence, validate, classes)
    works = [Task(_fitted, (member, share), shared) for member, share in zip(members, shares, strict=True)]
    return gathered_warnings(partial(side_by_side, works, threads=threads, verbose=verbose, what="ensemble, member"))


def _fitted(
    member: Learner,
    share: Share,
    X: Matrix,
    y: Array,
    weights: Array | None,
    dependence: Dependence | None,
    validate: bool,
    classes: bool,
) -> Learner:
    """A member, trained on its share of the rows."""
    rows, more = share.rows, dict[str, object]()
    row_weights = weights if share.weighted else None
    others = share.held if weights is None else share.held[weights[share.held] > 0]
    if weights is not None and not share.weighted:
        others = np.repeat(others, weights[others].astype(int))  # copies of rows check as often as they count
    if validate and len(others) and has_fit_parameter(member, "val_rows"):
        rows = np.concatenate([rows, others])
        more["val_rows"] = np.arange(len(share.rows), len(rows))
    elif validate and has_fit_parameter(member, "X_val"):
        judges = others[np.isin(y[others], y[rows])] if classes else others  # a class it has not met has no score
        if len(judges):
            more |= {"X_val": _safe_indexing(X, judges), "y_val": y[judges]}
            if row_weights is not None and has_fit_parameter(member, "sample_weight_val"):
                more["sample_weight_val"] = row_weights[judges]
    if dependence is not None and not more and has_fit_parameter(member, "groups"):
        more |= dependence.take(rows).fit_parameters
    if row_weights is not None:
        more["sample_weight"] = row_weights[rows]
    if np.array_equal(rows, np.arange(X.shape[0])):
        member.fit(X, y, **more)  # all rows as they are: nothing is copied
    else:
        member.fit(_safe_indexing(X, rows), y[rows], **more)
    return member


# snapshots


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
    missing = ", ".join(sorted(CYCLING - set(params)))
    if missing or (params["solver"] == "lbfgs" and params["optimizer"] is None):
        why = f"{type(estimator).__name__} has no {missing}" if missing else "solver='lbfgs' has none"
        raise ValueError(f"method='snapshots' needs a learning rate that can go in cycles: {why}; use method='seeds'")
    epochs = -(-int(params["max_iter"]) // count)
    cycles = Cycles(count, epochs)
    network: BaseMLP = clone(estimator)
    rule = network.optimizer.rule if isinstance(network.optimizer, optim.Optimizer) else network.optimizer
    rate = rule.lr if isinstance(rule, optim.Rule) else network.learning_rate_init
    start = float(rate(0) if isinstance(rate, optim.Schedule) else rate)
    schedule = optim.Cosine(start, steps=optim.Epochs(epochs * count), restarts=count - 1)
    network.set_params(
        max_iter=epochs * count + 1,  # the callback stops it one epoch before, at the end of the last cycle
        n_iter_no_change=math.inf,
        learning_rate="constant",
        early_stopping=False,
        training=(network.training or TrainingSettings()).set_params(schedule=schedule),
        callbacks=[*params["callbacks"], cycles],
    )
    network.fit(X, y, weights)
    network.set_params(callbacks=params["callbacks"])
    return [network.with_parameters(*end) for end in cycles.ends]
