"""What the two table estimators share: preprocessor, target, recipe, `training.fit`."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from pellucid.amounts import check_whole
from pellucid.data.dataset import Dataset
from pellucid.data.dataset_stream import named_column
from pellucid.data.dependence import Dependence, column_of_groups, dependence_of
from pellucid.data.named_columns import without_column
from pellucid.data.samples import Samples, TakenSamples
from pellucid.data.splits import shuffled_folds
from pellucid.data.types import Array, ArrayLike
from pellucid.data.weights import in_reach, joint
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.fitted import seed_of
from pellucid.estimators.inputs import Validation, checked_weights, note_groups
from pellucid.estimators.parameters import check_parameters
from pellucid.estimators.recipe import Recipe
from pellucid.estimators.seeing import told
from pellucid.estimators.shell import Learned
from pellucid.estimators.sklearn_callbacks import FitHooks, TakesCallbacks
from pellucid.estimators.tables.baselines import designs_of
from pellucid.estimators.tables.columns import Table, read_table
from pellucid.estimators.tables.copies import copies_of, rows_of
from pellucid.estimators.tables.crew import Trained, fit_crew
from pellucid.estimators.tables.importances import TableImportances, table_importances
from pellucid.estimators.tables.parameters import TableParameters, is_auto
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.tables.quality import folds_of, views_of
from pellucid.estimators.tables.recipe import Taste, auto_epochs, resolved, table_recipe
from pellucid.estimators.tables.rescue import rescued
from pellucid.estimators.tables.step_rule import multiple
from pellucid.estimators.tables.streamed import TableLearner, fit_streamed
from pellucid.estimators.tables.trials import Fold
from pellucid.estimators.tables.views import Columns, View
from pellucid.estimators.target import Target
from pellucid.estimators.training import Teller, fit

M = TypeVar("M", bound=BaseMLP)


class BaseTabularMLP(TableParameters, TableImportances, TakesCallbacks, BaseEstimator):  # type: ignore[misc]
    """`fit` on tables. The target is the subclasses' affair."""

    taste: ClassVar[Taste]
    calibrated = False  # classifiers have a parameter of this name

    attempts_ = Learned(
        lambda fitted: [dict(attempt) for attempt in fitted.attempts],
        "Trainings with ever lower rates, of which the best was kept: `rate`, `best_epoch`, `loss` on the held-out "
        "rows, and `failure`, why it was tried again. Empty where nothing was compared.",
    )
    baselines_ = Learned(
        lambda fitted: dict(fitted.baselines),
        "Losses on the held-out rows: of the `network`, of a `linear` model, of a `constant` answer. Empty where "
        "nothing was compared: without held-out rows, or in a training of less than a quarter of the usual epochs.",
    )

    # for the subclasses

    @abstractmethod
    def _target(self, y: Array, weights: Array | None) -> Target:
        """What y is a target of; an error where there is nothing to learn."""

    @abstractmethod
    def _split(self, y: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Row numbers for training and validation."""

    # fit

    def fit(
        self,
        X: ArrayLike | Dataset,
        y: ArrayLike = None,
        sample_weight: ArrayLike = None,
        *,
        X_val: ArrayLike = None,
        y_val: ArrayLike = None,
        sample_weight_val: ArrayLike = None,
        groups: ArrayLike = None,
        time: ArrayLike = None,
    ) -> Self:
        """Train on a table. If `fit` fails, the estimator is as it was.

        `validation_fraction` of the rows, drawn at random (of whole `groups` if there are such) or the latest by
        `time`, or `X_val` and `y_val`, are not trained on: they choose the epoch whose parameters are kept.
        Preprocessing is learned from the training rows alone; whether texts are dates or numbers, from all of them.
        With `early_stopping=False` no rows are drawn, the last epoch is kept, and `X_val` only fills the curves.

        Parameters
        ----------
        X : data frame or array of shape (n, features), or Dataset
            the table; a `Dataset` is larger than memory, and brings its target and weights
        y : array of shape (n,)
            classes or numbers
        sample_weight : array of shape (n,)
            how much each row counts
        X_val : data frame or array of shape (m, features)
            validation rows
        y_val : array of shape (m,)
            their target
        sample_weight_val : array of shape (m,)
            how much each of them counts
        groups : array of shape (n,) or str
            labels, or the name of a column of X, which is no feature then (and may be absent when predicting): rows of
            one group are trained on or held out together
        time : array of shape (n,) or str
            numbers, dates or ISO texts, or the name of a column of X: the latest rows are held out

        Returns
        -------
        estimator
            itself
        """
        check_parameters(self)
        with FitHooks(self, X, y, sample_weight, "fit", None) as hooks:
            if isinstance(X, Dataset):
                self._fit_dataset(X, X_val, y_val, groups, time, hooks)
            else:
                validation = Validation(X_val, y_val, sample_weight_val)
                self._fit_rows(X, y, sample_weight, validation, groups, time, hooks)
            hooks.end()
        return self

    def _fit_rows(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike,
        validation: Validation,
        groups: ArrayLike,
        time: ArrayLike,
        hooks: FitHooks,
    ) -> None:
        separate, X_val, y_val = validation.separate, validation.X, validation.y
        if self.importances and not separate and not self._holds_out:
            raise ValueError(
                "importances=True asks for rows that are not trained on: give X_val and y_val, or leave early_stopping "
                "and validation_fraction as they come"
            )
        rng = check_random_state(self.random_state)
        dependence, column = dependence_of(X, groups, time), column_of_groups(groups)
        table, labels, weights, dependence = self._read(without_column(X, column), y, sample_weight, dependence)
        target = self._target(labels, weights)
        parts = self._held_out_parts(table, labels, rng, dependence, split=not separate)
        teaches = np.zeros(table.rows, bool)
        for inside, _ in parts:
            teaches[inside] = True
        learned = np.flatnonzero(teaches)
        preprocessor = self._new_preprocessor(table.rows)
        matrix = preprocessor.fit_table(
            table,
            _pick(weights, learned),
            learned if len(learned) < table.rows else None,
            target.encode(labels[learned]),
        )
        note_groups(preprocessor, column)
        outside = [out for _, out in parts]
        others = table
        if len(learned) < table.rows:  # of one fold: those held out have taught nothing
            whole = np.empty((table.rows, matrix.shape[1]), matrix.dtype)
            whole[learned], whole[outside[0]] = matrix, preprocessor.apply_table(table.take(outside[0]))
            matrix = whole
        rows = self._samples(target, matrix, labels, weights)
        if separate:
            others, truth = preprocessor.known_table(X_val), self._checked_target(y_val)
            if others.rows != len(truth):
                raise ValueError(f"X_val has {others.rows} rows and y_val has {len(truth)}: they must be the same rows")
            target.check(truth)
            counted = _given_weights(validation.weights, len(truth))
            held = self._samples(target, preprocessor.apply_table(others), truth, counted)
            folds: list[Fold] = [(rows, held)]
            outside = [np.arange(len(truth))]
        else:
            taken = partial(TakenSamples, rows)
            folds = [(taken(inside), taken(out) if len(out) else None) for inside, out in parts]
        trained = min(len(inside) for inside, _ in folds)
        recipes = [
            self._recipe(target, preprocessor, len(rows), trained, view, held=folds[0][1] is not None, hooks=hooks)
            for view in self._views(preprocessor, len(rows), weighed=folds[0][1] is not None)
        ]
        seed, checked = seed_of(rng), folds[0][1]

        def attempt(factor: float, left: float | None, tell: Teller) -> Trained:
            slower = [replace(one, rates=replace(one.rates, factor=factor), max_time=left) for one in recipes]
            train = partial(fit, tell=tell)
            return fit_crew(
                slower,
                folds,
                check_random_state(seed),
                train,
                calibrate=bool(self.calibrated),
                stretch=is_auto(self.max_iter) and self.quality != "fast",
            )

        designs = [
            designs_of(preprocessor, table, inside, others, out)
            for (inside, _), out in zip(parts, outside, strict=True)
        ]
        fitted = rescued(attempt, recipes[0], folds, designs, usual=auto_epochs(len(rows)))
        if self.importances and checked is not None:
            judges = others.take(outside[0])
            worth = table_importances(fitted, preprocessor, judges, checked.target, checked.weights, rng)
            fitted = replace(fitted, importances=worth)
        self.__dict__.update(preprocessor_=preprocessor, n_samples_in_=len(labels))
        self.with_fitted(fitted, preprocessor)
        told(self, self.verbose)

    def _fit_dataset(
        self,
        data: Dataset,
        X_val: ArrayLike,
        y_val: ArrayLike,
        groups: ArrayLike,
        time: ArrayLike,
        hooks: FitHooks,
    ) -> None:
        """The same of a table that is not in memory: one network of each kind, rows held out by a hash."""
        if not is_auto(self.folds) and self.folds != 1:
            raise ValueError(
                f"folds={self.folds}: of a Dataset there is one network of each kind, with rows held out by a hash. "
                "Leave folds as it comes, or give rows in memory"
            )
        target = lambda y, weights: self._target(self._checked_target(y), weights)
        learner = TableLearner(
            target, self._new_preprocessor(math.inf), self._views, partial(self._recipe, hooks=hooks)
        )
        column = named_column("groups", groups)
        table = fit_streamed(self, learner, data, X_val, y_val, groups=column, time=named_column("time", time))
        note_groups(table.preprocessor, column)
        self.__dict__.update(preprocessor_=table.preprocessor, n_samples_in_=table.rows)
        self.with_fitted(table.fitted, table.preprocessor)

    def _read(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike,
        dependence: Dependence | None = None,
        known: TablePreprocessor | None = None,
    ) -> tuple[Table, Array, Array | None, Dependence | None]:
        """The table, the target, the weights and what rows have in common; without rows that count for nothing.

        known: of a table with the columns that it knows
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        table = read_table(X, type(self).__name__) if known is None else known.known_table(X)
        labels = self._checked_target(y)
        check_consistent_length(table.columns[0], labels)
        table.refuse_infinite()
        weights = _given_weights(sample_weight, table.rows)
        if weights is None or weights.all():
            return table, labels, weights, dependence
        counting = np.flatnonzero(weights)
        together = None if dependence is None else dependence.take(counting)
        return table.take(counting), labels[counting], weights[counting], together

    def _new_preprocessor(self, rows: float) -> TablePreprocessor:
        """For a table of so many rows."""
        return TablePreprocessor(
            self.scaling,
            one_hot_max=self.one_hot_max,
            categorical=self.categorical,
            dtype=self.dtype,
            straight=any(view.straight for view in views_of(self, rows)),
            codes=any(view.coded for view in views_of(self, rows)),
        )

    def _views(self, preprocessor: TablePreprocessor, rows: int, *, weighed: bool) -> tuple[View, ...]:
        """How networks see numbers; where there are none to see, or none with long tails, each as it is without them.

        A linear network among others is for tables where the others fail, so its share has to be `weighed`.
        """
        views = views_of(self, rows)
        if not weighed:
            views = tuple(view for view in views if view.hidden) or views
        if not preprocessor.straight_places_:
            views = tuple(dict.fromkeys(view.without_tails() for view in views))
        if not preprocessor.named_numbers_:
            views = tuple(view for view in views if not view.coded) or tuple(view.without_names() for view in views)
        if len(preprocessor.embedding_sizes_) == len(preprocessor.named_numbers_):
            views = tuple(dict.fromkeys(view.without_categories() for view in views))
        return views if preprocessor.n_numbers_ else tuple(dict.fromkeys(view.without_numbers() for view in views))

    def _recipe(
        self,
        target: Target,
        preprocessor: TablePreprocessor,
        rows: int,
        trained: int,
        view: View,
        *,
        held: bool,
        hooks: FitHooks | None = None,
    ) -> Recipe:
        columns = Columns(
            preprocessor.n_numbers_,
            preprocessor.straight_places_,
            preprocessor.embedding_sizes_,
            coded=len(preprocessor.named_numbers_),
            width=len(preprocessor.get_feature_names_out()),
        )
        recipe = self._recipe_for(columns, target, view, rows=rows, trained=trained, held=held)
        return recipe if hooks is None else hooks.per_network(recipe, preprocessor)

    def _recipe_for(
        self,
        columns: Columns,
        target: Target,
        view: View,
        *,
        rows: int,
        trained: int,
        held: bool,
    ) -> Recipe:
        """The recipe of a network for such columns."""
        return table_recipe(
            self,
            target,
            replace(self.taste, decay=self.taste.decay / multiple(self.optimizer)),
            view,
            rows=rows,
            trained=trained,
            columns=columns,
            held=held,
        )

    def get_recipe(self, rows: int | None = None) -> dict[str, Any]:
        """All parameters with what "auto" is: what `quality` sets, to look at and to change.

        Parameters
        ----------
        rows : int | None
            of the table, by which much is chosen; None is those of the last fit (`n_samples_in_`), with the epochs
            that it had, or 10,000

        Returns
        -------
        dict
            parameters by name; `TabularMLPClassifier(**recipe)` is the same estimator

        Examples
        --------
        >>> from pellucid import TabularMLPClassifier
        >>> recipe = TabularMLPClassifier(quality="best", max_iter=20).get_recipe(rows=5_000)
        >>> recipe["folds"], recipe["numbers"][:3], recipe["max_iter"], recipe["batch_size"]
        (10, ('waves', 'pieces', 'rough'), 20, 128)
        """
        trained: list[int] = []
        if rows is None:
            rows = vars(self).get("n_samples_in_", 10_000)
            if is_auto(self.max_iter) and hasattr(self, "n_iter_"):
                trained = [network.limit for network in self.fitted.networks if network.early]
        check_whole(1, rows=rows)
        return resolved(self, self.taste, rows) | ({"max_iter": max(trained)} if trained else {})

    def check_parameters(self, y: ArrayLike) -> None:
        """Raise for parameters that no table with such a target can be trained with; nothing is learned.

        Parameters
        ----------
        y : array of shape (n,)
            the target, or some of it: all classes, and enough numbers to be like the others

        Examples
        --------
        >>> from pellucid import TabularMLPRegressor
        >>> try:
        ...     TabularMLPRegressor(activation="rello").check_parameters([1.0, 2.0])
        ... except ValueError as error:
        ...     print(str(error).partition("? ")[0])
        there is no activation called 'rello': did you mean 'relu' or 'relu6'
        """
        check_parameters(self)
        labels = self._checked_target(y)
        target, rows = self._target(labels, None), len(labels)
        target.loss.prepare(target.encode(labels), target.outputs)
        for view in views_of(self, rows):
            self._recipe_for(Columns(1), target, view, rows=rows, trained=rows, held=self._holds_out).model()

    def _samples(
        self, target: Target, matrix: Array, y: Array, weights: Array | None, *, part: bool = False
    ) -> Samples:
        """Rows as the network takes them; weights also by their classes. `part`: they are some of the rows."""
        return Samples(matrix, target.encode(y), joint(weights, self._row_weights(target, y, part=part)))

    @property
    def _holds_out(self) -> bool:
        """Are rows of the table itself kept from training?"""
        return bool(self.early_stopping and self.validation_fraction)

    def _held_out_parts(
        self, table: Table, y: Array, rng: np.random.RandomState, dependence: Dependence | None, split: bool
    ) -> list[tuple[Array, Array]]:
        """The same as `_parts`; rows that are copies of each other are on one side."""
        row_of = copies_of(table, y) if dependence is None and split and self._holds_out else None
        if row_of is None:
            return self._parts(y, rng, dependence, split)
        different = y[np.unique(row_of, return_index=True)[1]]
        parts = self._parts(different, rng, None, split)
        return [(rows_of(inside, row_of), rows_of(outside, row_of)) for inside, outside in parts]

    def _parts(
        self, y: Array, rng: np.random.RandomState, dependence: Dependence | None, split: bool
    ) -> list[tuple[Array, Array]]:
        """Row numbers to train on and to hold out, for each fold."""
        share, count = self.validation_fraction, folds_of(self, len(y))
        blocks = len(y) if dependence is None else dependence.count
        if is_auto(self.folds):
            count = min(count, blocks)
        if not split or not self._holds_out:
            return [(np.arange(len(y)), np.arange(0))]
        strata = y if is_classifier(self) and y.ndim == 1 else None
        if count > 1 and (dependence is None or not dependence.ordered):
            parts = max(count, min(round(1 / share), blocks))
            return self._folds(y, parts, strata, dependence, seed_of(rng))[:count]
        if dependence is None:
            inside, outside = self._split(y, rng)
        else:
            inside, outside = dependence.hold_out(share, strata, rng)
        if len(outside) < 2 or len(inside) < 2:
            raise ValueError(
                f"n_samples={len(y)} is too few to set {share:g} of them aside for validation: {len(outside)} would "
                f"check and {len(inside)} train, 2 are needed. Give X_val and y_val, or set validation_fraction=0"
            )
        return [(inside, outside)]

    def _folds(
        self, y: Array, count: int, strata: Array | None, dependence: Dependence | None, seed: int
    ) -> list[tuple[Array, Array]]:
        if dependence is None:
            if len(y) < 4:
                raise ValueError(f"n_samples={len(y)} is too few for folds, 4 are needed: set folds=1")
            count = max(min(count, len(y) // 2), 2)
            if strata is not None and np.unique(strata, return_counts=True)[1].max() < count:
                strata = None  # no class has a row for each fold
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a class of fewer rows than there are folds
            return shuffled_folds(len(y), count, strata, seed, dependence)

    def network_rows(self, X: ArrayLike) -> Array:
        return self.preprocessor_.apply_table(self.preprocessor_.known_table(X))

    def network_columns(self) -> tuple[str, ...]:
        """The names of the columns that the preprocessor makes."""
        return tuple(str(name) for name in self.preprocessor_.get_feature_names_out())

    def _pairs(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        return self.network_rows(X), self._checked_target(y)

    def _view(self, kind: type[M], target: Target) -> M:
        """The network as an estimator of the preprocessed columns."""
        fitted = self.fitted
        chosen = self.get_recipe()
        shared = {name: chosen[name] for name in kind.declared if name in chosen}
        chosen = {
            "monitor": None,
            "max_iter": fitted.limit,
            "optimizer": fitted.model.optimizer,
            "alpha": 0.0,
            "early_stopping": fitted.early,
        }
        columns = SimpleNamespace(n_features_in_=fitted.model.features[0])
        return kind(**(shared | chosen)).with_fitted(replace(fitted, target=target), columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _given_weights(sample_weight: ArrayLike, rows: int) -> Array | None:
    weights = checked_weights(sample_weight, rows)
    return None if weights is None else np.asarray(in_reach(weights, np.float64)[0])


def _pick(weights: Array | None, rows: Array) -> Array | None:
    return None if weights is None else weights[rows]
