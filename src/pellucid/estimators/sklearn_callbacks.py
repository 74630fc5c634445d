"""scikit-learn's callbacks, from its version 1.9 on: they are told of the fit and of every epoch, and may stop it.

An estimator without any pays nothing for them. With older versions there is no `set_callbacks`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from pellucid.data.types import ArrayLike
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.recipe import Recipe
from pellucid.train import Callback, Run

if TYPE_CHECKING:
    from pellucid.estimators.tables.preprocessor import TablePreprocessor

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

    Of a table there is a task for each network, and epochs inside it. `parts` is how many tasks there may be at most,
    0 where nobody counts (L-BFGS), None where nobody knows.
    """

    task: Any = None

    def __init__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike, name: str, parts: int | None
    ) -> None:
        self.estimator = estimator
        self.rows = {
            "X": X,
            "y": y,
            "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
        }
        self.about = {"task_name": name, "max_subtasks": parts}

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

    @property
    def heard(self) -> bool:
        """Does anybody listen?"""
        return bool(getattr(self.estimator, "_skl_callbacks", None))

    def per_epoch(self, start: Fitted, columns: object) -> list[Callback]:
        """What a training must call after each epoch: nothing, where nobody listens."""
        return [EpochHooks(self, partial(_plain_so_far, start, columns))] if self.heard else []

    def per_network(self, recipe: Recipe, preprocessor: TablePreprocessor) -> Recipe:
        """The recipe of one network of a table; its training is a task with a task for each epoch."""
        if not self.heard:
            return recipe
        hooks = NetworkHooks(self, partial(_table_so_far, recipe, preprocessor))
        return replace(recipe, callbacks=[*recipe.callbacks, hooks])

    def end(self) -> None:
        """The estimator is fitted."""
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.estimator, **self.rows, reconstruction_attributes={})


SoFar = Callable[[Run], dict[str, Any]]
"""Attributes of an estimator that predicts as if training had ended now."""


class EpochHooks(Callback):
    """Each epoch is a task of its own. A hook that returns True ends the training."""

    def __init__(self, fit: FitHooks, so_far: SoFar) -> None:
        self.fit, self.so_far = fit, so_far

    @property
    def task(self) -> Any:
        """What epochs are parts of."""
        return self.fit.task

    def on_epoch_begin(self, run: Run) -> None:
        self.epoch = self.task.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(estimator=self.fit.estimator, **self.fit.rows)

    def on_epoch_end(self, run: Run) -> None:
        if self._ends(self.epoch, run):
            run.stop("a callback of scikit-learn returned True")

    def _ends(self, task: Any, run: Run) -> bool:
        """Tell that a task is over; do they want the training to end?"""
        return bool(
            task.call_on_fit_task_end(
                estimator=self.fit.estimator, **self.fit.rows, reconstruction_attributes=lambda: self.so_far(run)
            )
        )


class NetworkHooks(EpochHooks):
    """The same inside a task for the network, of which a table has several, one after the other."""

    network: Any = None

    @property
    def task(self) -> Any:
        return self.network

    def on_fit_begin(self, run: Run) -> None:
        self.network = self.fit.task.subcontext(task_name="network", max_subtasks=None)
        self.network.call_on_fit_task_begin(estimator=self.fit.estimator, **self.fit.rows)

    def on_fit_end(self, run: Run) -> None:
        self._ends(self.network, run)


def _plain_so_far(start: Fitted, columns: object, run: Run) -> dict[str, Any]:
    """Of an estimator of arrays: the columns that it has seen, and the network."""
    model = copy.copy(start.model)
    model.params, model.state = run.prediction
    curves = copy.deepcopy(start.curves)
    fitted = replace(start, model=model, curves=curves, epochs=len(curves.losses))
    return _names_of(columns) | {"_fitted": fitted}


def _table_so_far(recipe: Recipe, preprocessor: TablePreprocessor, run: Run) -> dict[str, Any]:
    """Of a table estimator: what reads the table, and this network alone."""
    model = recipe.model()
    model.features = (len(preprocessor.get_feature_names_out()),)
    model.params, model.state = run.prediction
    fitted = Fitted(model, recipe.target, recipe.metric, epochs=run.epoch, limit=recipe.epochs)
    return _names_of(preprocessor) | {"preprocessor_": preprocessor, "_fitted": fitted}


def _names_of(columns: object) -> dict[str, Any]:
    names = ("n_features_in_", "feature_names_in_", "groups_column_")
    return {name: getattr(columns, name) for name in names if hasattr(columns, name)}
