"""scikit-learn's callbacks, from its version 1.9 on: they are told of the fit and of every epoch, and may stop it.

An estimator without any pays nothing for them. With older versions there is no `set_callbacks`.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

from pellucid.data.types import ArrayLike
from pellucid.estimators.fitted import Fitted
from pellucid.train import Callback, Run

try:
    from sklearn import callback as theirs
except ImportError:  # before 1.9
    theirs = None


class NoCallbacks:
    """There are none to take."""


TakesCallbacks: Any = NoCallbacks if theirs is None else theirs.CallbackSupportMixin
"""Gives an estimator `set_callbacks`, where there is such a thing."""


class FitHooks:
    """One fit, as scikit-learn's callbacks see it: a task with a task for each epoch. For a `with` around the fit.

    `epochs` is how many there may be at most, 0 where nobody counts (L-BFGS).
    """

    task: Any = None

    def __init__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike, name: str, epochs: int
    ) -> None:
        self.estimator = estimator
        self.rows = {
            "X": X,
            "y": y,
            "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
        }
        self.about = {"task_name": name, "max_subtasks": epochs}

    def __enter__(self) -> Self:
        begin = getattr(self.estimator, "_init_callback_context", None)  # its documented way in
        if begin is not None:
            try:
                self.task = begin(**self.about)
                self.task.call_on_fit_task_begin(estimator=self.estimator, **self.rows)
            except BaseException:
                self.__exit__()
                raise
        return self

    def __exit__(self, *error: object) -> None:
        """Callbacks are told that it is over, however it ended."""
        if theirs is not None:  # not around the fit itself: warnings are to point at the line of the user's
            theirs.with_callbacks(lambda estimator: None)(self.estimator)

    def per_epoch(self, start: Fitted, columns: object) -> list[Callback]:
        """What a training must call after each epoch: nothing, where nobody listens."""
        return [EpochHooks(self, start, columns)] if getattr(self.estimator, "_skl_callbacks", None) else []

    def end(self) -> None:
        """The estimator is fitted."""
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.estimator, **self.rows, reconstruction_attributes={})


class EpochHooks(Callback):
    """Each epoch is a task of its own. A hook that returns True ends the training."""

    def __init__(self, fit: FitHooks, start: Fitted, columns: object) -> None:
        self.fit, self.start, self.columns = fit, start, columns

    def on_epoch_begin(self, run: Run) -> None:
        self.epoch = self.fit.task.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(estimator=self.fit.estimator, **self.fit.rows)

    def on_epoch_end(self, run: Run) -> None:
        stop = self.epoch.call_on_fit_task_end(
            estimator=self.fit.estimator, **self.fit.rows, reconstruction_attributes=lambda: self._so_far(run)
        )
        if stop:
            run.stop("a callback of scikit-learn returned True")

    def _so_far(self, run: Run) -> dict[str, Any]:
        """Attributes of an estimator that predicts as if training had ended now."""
        model = copy.copy(self.start.model)
        model.params, model.state = run.prediction
        curves = copy.deepcopy(self.start.curves)
        names = ("n_features_in_", "feature_names_in_", "groups_column_")
        columns = {name: getattr(self.columns, name) for name in names if hasattr(self.columns, name)}
        return columns | {"_fitted": replace(self.start, model=model, curves=curves, epochs=len(curves.losses))}
