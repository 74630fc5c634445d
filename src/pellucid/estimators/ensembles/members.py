"""Members of an ensemble: made with their seeds, trained side by side, or taken from one training in cycles."""

from __future__ import annotations

import copy
import math
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from pellucid import optim
from pellucid.estimators.build import training_settings
from pellucid.estimators.ensembles.shares import Share
from pellucid.estimators.settings import TrainingSettings
from pellucid.train import Callback, Run
from pellucid.train.side_by_side import side_by_side


def make_member(estimator: Any, seed: int, threads: int | None = 1) -> Any:
    """A copy with this seed, computing on one thread; inside pipelines too."""
    member = clone(estimator)
    changed: dict[str, Any] = {}
    for name in member.get_params():
        last = name.rpartition("__")[2]
        if last == "random_state":
            changed[name] = seed
        elif last == "threads" and threads is not None:
            changed[name] = threads
    return member.set_params(**changed)


def validates(estimator: Any) -> bool:
    """Does its training look at validation rows, and would it take them from the rows it is given?"""
    if "early_stopping" in estimator.get_params(deep=False):
        return bool(estimator.early_stopping)
    return bool(getattr(estimator, "validation_fraction", 0))


def train_members(
    members: Sequence[Any],
    X: Any,
    y: Any,
    weights: Any,
    shares: Sequence[Share],
    *,
    validate: bool,
    threads: int | None,
    verbose: bool,
) -> list[Any]:
    """Fit each member to its share, one on each thread. With `validate` the rows it never sees are its validation."""

    def work(member: Any, share: Share) -> Any:
        rows, given = share.rows, {}
        held = share.held if weights is None else share.held[weights[share.held] > 0]
        if weights is not None and not share.weighted:
            held = np.repeat(held, weights[held].astype(int))  # copies of rows check as often as they count
        if validate and len(held) and has_fit_parameter(member, "val_rows"):
            rows = np.concatenate([rows, held])
            given["val_rows"] = np.arange(len(share.rows), len(rows))
        elif validate and has_fit_parameter(member, "X_val"):
            known = held if numbers else held[np.isin(y[held], y[rows])]  # a class it has not met cannot be scored
            if len(known):
                given |= {"X_val": _safe_indexing(X, known), "y_val": y[known]}
                if weights is not None and share.weighted and has_fit_parameter(member, "sample_weight_val"):
                    given["sample_weight_val"] = weights[known]
        if weights is not None and share.weighted:
            given["sample_weight"] = weights[rows]
        if np.array_equal(rows, np.arange(X.shape[0])):
            return member.fit(X, y, **given)  # all rows as they are: nothing is copied
        return member.fit(_safe_indexing(X, rows), y[rows], **given)

    numbers = y.ndim == 2 or not is_classifier(members[0])
    works = [partial(work, member, share) for member, share in zip(members, shares, strict=True)]
    with gathered():
        return side_by_side(works, threads=threads, verbose=verbose, what="ensemble, member")


class Cycles(Callback):
    """Keeps the parameters at the end of each cycle of so many epochs, and stops after the last."""

    def __init__(self, count: int, epochs: int) -> None:
        self.count, self.epochs = count, epochs
        self.kept: list[Any] = []

    def on_epoch_end(self, run: Run) -> None:
        if run.epoch % self.epochs == 0:
            self.kept.append(run.prediction)
        if len(self.kept) == self.count:
            run.stop(f"all {self.count} cycles done")

    def on_fit_end(self, run: Run) -> None:
        if not self.kept:  # stopped in the first cycle, by max_time or Ctrl-C
            self.kept.append(run.prediction)


def snapshots(estimator: Any, X: Any, y: Any, weights: Any, count: int) -> list[Any]:
    """One training whose learning rate falls to 0 `count` times, and the network at the end of each cycle.

    Huang et al., 2017. `max_iter` is the length of all cycles together, rounded up to whole epochs for each. Neither
    `tol` nor `early_stopping` ends a cycle before its time.
    """
    needed = {"max_iter", "n_iter_no_change", "callbacks", "training", "solver", "optimizer"}
    missing = needed - set(estimator.get_params(deep=False))
    if missing or (estimator.solver == "lbfgs" and estimator.optimizer is None):
        why = (
            f"{type(estimator).__name__} has no {', '.join(sorted(missing))}" if missing else "solver='lbfgs' has none"
        )
        raise ValueError(f"method='snapshots' needs a learning rate that can go in cycles: {why}; use method='seeds'")
    epochs = -(-int(estimator.max_iter) // count)
    cycles = Cycles(count, epochs)
    trained = clone(estimator)
    schedule = optim.Cosine(_rate(estimator), steps=optim.Epochs(epochs * count), restarts=count - 1)
    trained.set_params(
        max_iter=epochs * count + 1,  # the callback stops it one epoch before, at the end of the last cycle
        n_iter_no_change=math.inf,
        learning_rate="constant",
        early_stopping=False,
        training=TrainingSettings(**{**training_settings(estimator).get_params(deep=False), "schedule": schedule}),
        callbacks=[*estimator.callbacks, cycles],
    )
    trained.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
    trained.set_params(callbacks=estimator.callbacks)
    return [_with_parameters(trained, *kept) for kept in cycles.kept]


def _rate(estimator: Any) -> float:
    """The learning rate that each cycle begins with."""
    given = estimator.optimizer
    rule = given.rule if isinstance(given, optim.Optimizer) else given
    rate = rule.lr if isinstance(rule, optim.Rule) else estimator.learning_rate_init
    return float(rate(0) if isinstance(rate, optim.Schedule) else rate)


def _with_parameters(estimator: Any, params: dict[str, Any], state: dict[str, Any]) -> Any:
    """A fitted estimator once more, with other parameters."""
    member, model = copy.copy(estimator), copy.copy(estimator.model_)
    model.params, model.state, model.progress = params, state, None
    model.compiled = model.compiled  # sessions of its own
    member.model_ = model
    return member


# warnings

_GATHERED: ContextVar[list[Warning] | None] = ContextVar("pellucid_gathered", default=None)


class _Door:
    """In the place of `warnings.showwarning`: warnings of members go to their ensemble, all others pass.

    `warnings.catch_warnings` is not made for threads: leaving it in another order than entering can lose warnings
    for good. This door may stay open without harm.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.before = threading.Lock(), 0, warnings.showwarning

    def __call__(self, message: Any, category: Any, *place: Any, **more: Any) -> None:
        into = _GATHERED.get()
        if into is not None:
            into.append(message)
        else:
            self.before(message, category, *place, **more)

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if warnings.showwarning is not self:
                self.before, warnings.showwarning = warnings.showwarning, self

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.users -= 1
            if not self.users and warnings.showwarning is self:
                warnings.showwarning = self.before


_DOOR = _Door()


@contextmanager
def gathered() -> Iterator[None]:
    """What members warn of in here is said once when they are done: the first of each kind, and how many more."""
    found: list[Warning] = []
    with _DOOR:
        token = _GATHERED.set(found)
        try:
            yield
        finally:
            _GATHERED.reset(token)
    kinds: dict[tuple[type[Warning], str], list[Warning]] = {}
    for one in found:
        kinds.setdefault((type(one), str(one).partition(".")[0]), []).append(one)
    for (category, _), alike in kinds.items():
        more = f" {len(alike) - 1} more members say the like." if len(alike) > 1 else ""
        warnings.warn(f"A member of the ensemble: {alike[0]}{more}", category, stacklevel=6)
