"""`partial_fit` of tables: the first rows teach the preprocessor, and each call is an epoch at a constant rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from sklearn.utils import check_random_state

from pellucid import optim
from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.fitted import begin, take_up
from pellucid.estimators.parameters import check_parameters
from pellucid.estimators.recipe import Recipe
from pellucid.estimators.sklearn_callbacks import FitHooks
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tables.views import VIEWS
from pellucid.estimators.target import Target
from pellucid.estimators.training import fit

SHARE = 0.25
"""Of the recipe's highest rate: nobody knows how many calls will come, so nothing can rise and fall over them."""


class IncrementalTabularMLP(BaseTabularMLP):
    """`partial_fit` for the two estimators; what it takes for a target is theirs."""

    def _first_target(self, y: Array, weights: Array | None, classes: Array | None) -> Target:
        """What the first rows are a target of."""
        return self._target(y, weights)

    def _fit_part(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None, classes: Array | None = None
    ) -> Self:
        check_parameters(self)
        with FitHooks(self, X, y, sample_weight, "partial_fit", None) as hooks:
            self._learn_part(X, y, sample_weight, classes, hooks)
            hooks.end()
        return self

    def _learn_part(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike, classes: Array | None, hooks: FitHooks
    ) -> None:
        before = self.fitted if self.__sklearn_is_fitted__() else None
        known = None if before is None else self.preprocessor_
        table, labels, weights, _ = self._read(X, y, sample_weight, known=known)
        preprocessor = self._new_preprocessor(table.rows) if before is None else self.preprocessor_
        target = self._first_target(labels, weights, classes) if before is None else before.target
        target.check(labels)
        matrix = preprocessor.fit_table(table, weights) if before is None else preprocessor.apply_table(table)
        rows = self._samples(target, matrix, labels, weights, part=True)
        views = (*self._views(preprocessor, len(rows), weighed=False), *VIEWS.values())
        count = len(rows)
        recipes = [self._recipe(target, preprocessor, count, count, view, held=False, hooks=hooks) for view in views]
        same = (one for one in recipes if before is not None and one.network == before.model.net)
        recipe = at_constant_rate(next(same, recipes[0]))  # goes on with the network that an earlier fit kept
        rng = check_random_state(self.random_state)
        start = begin(recipe, matrix.shape[1], rng) if before is None else take_up(recipe, before)
        fitted = fit(recipe, rows, None, start, rng, goes_on=before is not None, incremental=True)
        self.__dict__["preprocessor_"] = preprocessor
        self.with_fitted(fitted, preprocessor)


def at_constant_rate(recipe: Recipe) -> Recipe:
    """The same with a share of its highest learning rate, in place of a schedule over the whole run."""
    rate, steps = recipe.optimizer.fit(1000, 10).rule.lr, range(1000)
    highest = max(rate(t) for t in steps) if isinstance(rate, optim.Schedule) else float(rate)
    optimizer = replace(recipe.optimizer, rule=replace(recipe.optimizer.rule, lr=SHARE * highest))
    return replace(recipe, optimizer=optimizer, max_fun=None)
