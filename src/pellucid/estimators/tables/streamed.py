"""A table larger than memory, learned: its rows go by in pools, a sample of them and those held out stay in memory.

The recipe, the networks and what is compared are those of tables in memory. What differs: preprocessing is learned in
passes over the table, networks with hidden layers see all rows by steps, and linear ones, which need all rows at once,
see the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from pellucid.data.dataset import Dataset
from pellucid.data.dataset_stream import checking_part, held_out, without_groups
from pellucid.data.door import dataset
from pellucid.data.parts import Part
from pellucid.data.samples import Samples
from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.fitted import Fitted, seed_of
from pellucid.estimators.parameters import check_parameters
from pellucid.estimators.recipe import Recipe
from pellucid.estimators.streamed import LearnedTarget, learned_target
from pellucid.estimators.tables.baselines import designs_of
from pellucid.estimators.tables.crew import Trained, fit_crew
from pellucid.estimators.tables.importances import table_importances
from pellucid.estimators.tables.parameters import TableParameters
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.tables.recipe import auto_epochs
from pellucid.estimators.tables.rescue import rescued
from pellucid.estimators.tables.views import View
from pellucid.estimators.target import Target
from pellucid.estimators.training import Teller, fit


class Recipes(Protocol):
    """The recipe of a network, as `BaseTabularMLP` makes it."""

    def __call__(
        self, target: Target, preprocessor: TablePreprocessor, rows: int, trained: int, view: View, *, held: bool
    ) -> Recipe: ...


class Views(Protocol):
    """How networks see the numbers of a table."""

    def __call__(self, preprocessor: TablePreprocessor, rows: int, *, weighed: bool) -> tuple[View, ...]: ...


@dataclass(frozen=True, eq=False)
class TableLearner:
    """How an estimator makes what a fit needs: its target of y and weights, preprocessor, views and recipes."""

    target: Callable[[Array, Array | None], Target]
    preprocessor: TablePreprocessor
    views: Views
    recipe: Recipes


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """What was learned, from how many rows."""

    fitted: Fitted
    preprocessor: TablePreprocessor
    rows: int


def fit_streamed(
    parameters: TableParameters,
    learner: TableLearner,
    data: Dataset,
    X_val: ArrayLike = None,
    y_val: ArrayLike = None,
    *,
    groups: str | None = None,
    time: str | None = None,
) -> StreamedTable:
    """Train on a data set as on a table. Rows held out are `X_val`, or a share of `data` by a hash; in memory.

    The share is one of whole `groups`, or the latest by `time`, where these columns are named.

    Folds are for tables in memory: there is one network for each view.   X_val: a Dataset, or a table with `y_val`
    """
    check_parameters(parameters)
    rng = check_random_state(parameters.random_state)
    share = float(parameters.validation_fraction) if parameters.early_stopping else 0.0
    data = without_groups(data, groups)
    training, unseen = data, _given(X_val, y_val, groups)
    if unseen is None and share:
        training, unseen = held_out(data, share, seed_of(rng), groups=groups, time=time)
    preprocessor = learner.preprocessor
    sample, matrix = preprocessor.fit_dataset(training)
    learned = learned_target(
        data,
        lambda y: learner.target(y, None if is_classifier(parameters) else sample.weights),
        classes=is_classifier(parameters),
        class_weight=getattr(parameters, "class_weight", None),
        shown=sample.part.target,
    )
    known = learned.samples(sample.part, matrix)
    part = None if unseen is None else checking_part(unseen)
    held = None if part is None else _held(learned, preprocessor, part)
    rows = replace(learned.streamed(learned.encoded(training, preprocessor.part_rows)), some=known)
    total = learned.summary.rows
    views = learner.views(preprocessor, total, weighed=held is not None)
    recipes = [
        learner.recipe(learned.target, preprocessor, total, len(rows), view, held=held is not None) for view in views
    ]
    seed = seed_of(rng)

    def attempt(factor: float, left: float | None, tell: Teller) -> Trained:
        def train(
            recipe: Recipe,
            some: Samples,
            held: Samples | None,
            start: Fitted,
            own: np.random.RandomState,
            tell: Teller = tell,
        ) -> Fitted:
            return fit(recipe, rows if recipe.max_fun is None else some, held, start, own, tell=tell)

        slower = [replace(one, rates=replace(one.rates, factor=factor), max_time=left) for one in recipes]
        calibrate = bool(getattr(parameters, "calibrated", False))
        return fit_crew(slower, [(known, held)], check_random_state(seed), train, calibrate=calibrate)

    others = sample.table.take(np.arange(0)) if part is None else preprocessor.known_table(part.native)
    designs = designs_of(preprocessor, sample.table, np.arange(len(known)), others, np.arange(others.rows))
    fitted = rescued(attempt, recipes[0], [(known, held)], [designs], usual=auto_epochs(total))
    if parameters.importances and held is not None:
        worth = table_importances(fitted, preprocessor, others, held.target, held.weights, rng)
        fitted = replace(fitted, importances=worth)
    return StreamedTable(fitted, preprocessor, total)


def _given(X_val: ArrayLike, y_val: ArrayLike, groups: str | None) -> Dataset | None:
    """Validation data as a data set, without the column of groups."""
    if X_val is None:
        return None
    return without_groups(X_val if isinstance(X_val, Dataset) else dataset([(X_val, y_val)]), groups)


def _held(learned: LearnedTarget, preprocessor: TablePreprocessor, part: Part) -> Samples:
    return learned.samples(part, preprocessor.part_rows(part))
