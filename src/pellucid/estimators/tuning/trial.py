"""One trial of a search: an estimator trained on some rows, watched on others, ended early where it falls behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import has_fit_parameter

from pellucid.amounts import is_whole
from pellucid.estimators.training import NON_FINITE
from pellucid.estimators.tuning.space import with_settings
from pellucid.train import Callback, Run
from pellucid.train.loop.loop import HALT

PRUNED = "pruned: earlier trials were better at this point"
FAR = 1_000_000
"""Epochs of the second fold are reported from here on, those of the third from twice as far."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on, and rows to judge by."""

    train: tuple[Any, Any, Any]
    held: tuple[Any, Any, Any]

    @property
    def rows(self) -> int:
        """How many there are to train on."""
        _, y, weights = self.train
        return _count(y) if weights is None else int(np.count_nonzero(weights))


def folds(estimator: Any, X: Any, y: Any, weights: Any, validation: Any, cv: Any, seed: int) -> list[Fold]:
    """The parts of the data that every trial sees, cut once.

    `validation` is a share of the rows or (X, y); `cv`, in its place, a number of folds or a splitter of scikit-learn.
    """
    X, y, weights = indexable(X, y, weights)
    classes = is_classifier(estimator) and np.ndim(y) == 1
    if cv is None and isinstance(validation, tuple):
        if len(validation) not in (2, 3):
            raise ValueError(f"validation is (X, y) or (X, y, weights), got {len(validation)} things")
        X_val, y_val, *rest = validation
        return [Fold((X, y, weights), (X_val, y_val, rest[0] if rest else None))]
    if cv is None:
        if isinstance(validation, bool) or not isinstance(validation, float) or not 0.0 < validation < 1.0:
            raise ValueError(f"validation is a share of the rows in (0, 1), or (X, y), got {validation!r}")
        rows = np.arange(_count(y))
        kept, strata = rows[:0], None
        if classes:  # the only row of a class is trained on
            _, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
            kept, rows = rows[counts[codes] == 1], rows[counts[codes] > 1]
            strata = codes[rows]
        inside, outside = train_test_split(rows, test_size=validation, random_state=seed, stratify=strata)
        pairs = [(np.concatenate([inside, kept]), outside)]
    else:
        kind = StratifiedKFold if classes else KFold
        if not is_whole(cv, 2) and (isinstance(cv, str) or not hasattr(cv, "split")):
            raise ValueError(f"cv is a whole number of folds from 2, or a splitter of scikit-learn, got {cv!r}")
        splitter = cv if hasattr(cv, "split") else kind(int(cv), shuffle=True, random_state=seed)
        pairs = list(splitter.split(X, y))
        if classes:  # a class that is not trained on cannot be scored
            names = np.asarray(y)
            pairs = [(inside, outside[np.isin(names[outside], names[inside])]) for inside, outside in pairs]
    return [Fold(_part(X, y, weights, inside), _part(X, y, weights, outside)) for inside, outside in pairs]


def _part(X: Any, y: Any, weights: Any, rows: Any) -> tuple[Any, Any, Any]:
    return _safe_indexing(X, rows), _safe_indexing(y, rows), None if weights is None else _safe_indexing(weights, rows)


def _count(y: Any) -> int:
    return int(y.shape[0]) if hasattr(y, "shape") else len(y)


class Watch(Callback):
    """Keeps the validation curve, and stops a run that is `behind(value, epoch)`; larger values are better there."""

    def __init__(self, behind: Callable[[float, int], bool]) -> None:
        self.behind = behind
        self.watched, self.sign, self.stopped = "val_loss", -1.0, ""
        self.curve: list[float] = []

    def __deepcopy__(self, memo: Any) -> Watch:
        return self  # `clone` copies parameters; what is seen must arrive here

    def on_fit_begin(self, run: Run) -> None:
        own = [name for name in run.history.modes if name.startswith("val_") and name != "val_loss"]
        self.watched = own[0] if own else "val_loss"
        self.sign = -1.0 if run.history.modes[self.watched] == "min" else 1.0

    def on_epoch_end(self, run: Run) -> None:
        self.curve.append(float(run.logs[self.watched]))
        if self.behind(self.sign * self.curve[-1], len(self.curve) - 1):
            run.stop(PRUNED)

    def on_fit_end(self, run: Run) -> None:
        self.stopped = run.stopped

    @property
    def best(self) -> tuple[float, int]:
        """(the best value in larger-is-better form, its epoch from 1)

        The last of several equal ones: where accuracy stands still, the network still learns.
        """
        signed = self.sign * np.asarray(self.curve)
        known = np.where(np.isfinite(signed), signed, -np.inf)
        at = len(known) - 1 - int(np.argmax(known[::-1]))
        return float(signed[at]), at + 1


class StopAfter(Callback):
    """Ends a run after some epochs; its schedules are those of the full length."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs

    def on_epoch_end(self, run: Run) -> None:
        if run.epoch >= self.epochs:
            run.stop(f"as many epochs as were best on the validation rows, {self.epochs}")


@dataclass
class Outcome:
    """What a trial gave; values are larger-is-better."""

    state: str = "complete"
    values: list[float] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    curves: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    metric: str = "loss"
    sign: float = 1.0
    error: Exception | None = None

    @property
    def value(self) -> float | None:
        mean = float(np.mean(self.values)) if self.values else np.nan
        return mean if np.isfinite(mean) else None


def _so_far(behind: Callable[[float, int], bool], done: tuple[float, ...], offset: int) -> Callable[[float, int], bool]:
    """What a pruner is told in a later fold: the mean over the folds so far."""
    return lambda value, epoch: behind(float(np.mean([*done, value])), offset + epoch)


def try_out(
    estimator: Any,
    settings: dict[str, Any],
    parts: list[Fold],
    deadline: float,
    behind: Callable[[float, int], bool],
) -> Outcome:
    """Train on every fold until patience, pruning, the deadline or a halt ends it. Divergence is an outcome."""
    out, begin, halt = Outcome(), time.monotonic(), HALT.get()
    for number, part in enumerate(parts):
        left = deadline - time.monotonic()
        if left <= 0 or (halt is not None and halt.is_set()):
            out.state = "cut"
            break
        watch = Watch(_so_far(behind, tuple(out.values), number * FAR))
        made = with_settings(estimator, settings)
        limit = min(left, made.max_time or np.inf)
        made.set_params(callbacks=[*made.callbacks, watch], max_time=limit if np.isfinite(limit) else None)
        (X, y, weights), (X_val, y_val, w_val) = part.train, part.held
        try:
            held = {"X_val": X_val, "y_val": y_val}
            if w_val is not None and has_fit_parameter(made, "sample_weight_val"):
                held["sample_weight_val"] = w_val
            made.fit(X, y, sample_weight=weights, **held)
        except ValueError as error:
            if not str(error).startswith(NON_FINITE):
                raise
            out.state, out.error = "failed", error
            break
        out.metric, out.sign = watch.watched.removeprefix("val_"), watch.sign
        if watch.curve:
            value, epoch = watch.best
            out.values.append(value)
            out.epochs.append(epoch)
            out.curves.append(watch.curve)
        if watch.stopped == PRUNED:
            out.state = "pruned"
            break
        if (halt is not None and halt.is_set()) or time.monotonic() >= deadline:
            out.state = "cut"
            break
    out.seconds = time.monotonic() - begin
    if out.value is None and out.state != "cut":
        out.state = "failed"
    return out
