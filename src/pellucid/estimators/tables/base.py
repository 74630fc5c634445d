"""What the two table estimators share: preprocessor, target, recipe, `training.fit`."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from pellucid.data.samples import Samples
from pellucid.data.types import Array, ArrayLike
from pellucid.data.weights import in_reach, joint
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.fitted import seed_of
from pellucid.estimators.inputs import Validation, checked_weights
from pellucid.estimators.parameters import check_parameters
from pellucid.estimators.seeing import told
from pellucid.estimators.shell import Learned, Shell
from pellucid.estimators.tables.baselines import designs_of
from pellucid.estimators.tables.columns import Table, read_table
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.tables.recipe import TableParameters, Taste, is_auto, table_recipe
from pellucid.estimators.tables.rescue import rescued_fit
from pellucid.estimators.target import Target

M = TypeVar("M", bound=BaseMLP)


class BaseTabularMLP(TableParameters, Shell, BaseEstimator):  # type: ignore[misc]
    """`fit` on tables. The target is the subclasses' affair."""

    preprocessor_: ClassVar[TablePreprocessor]  # of each object; for type checkers no parameter
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
    def _checked_target(self, y: ArrayLike) -> Array:
        """y checked: (n,) or (n, outputs)."""

    @abstractmethod
    def _target(self, y: Array, weights: Array | None) -> Target:
        """What y is a target of; an error where there is nothing to learn."""

    @abstractmethod
    def _split(self, y: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Row numbers for training and validation."""

    # fit

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike = None,
        *,
        X_val: ArrayLike = None,
        y_val: ArrayLike = None,
        sample_weight_val: ArrayLike = None,
    ) -> Self:
        """Train on a table. If `fit` fails, the estimator is as it was.

        `validation_fraction` of the rows, drawn at random, or `X_val` and `y_val`, are not trained on: they choose
        the epoch whose parameters are kept. Preprocessing is learned from the training rows alone.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            the table
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

        Returns
        -------
        estimator
            itself
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        check_parameters(self)
        separate = Validation(X_val, y_val, sample_weight_val).separate
        rng = check_random_state(self.random_state)
        table, labels, weights = self._read(X, y, sample_weight)
        target = self._target(labels, weights)
        inside, outside = self._numbers_of_rows(labels, rng, split=not separate)
        preprocessor = TablePreprocessor(
            self.scaling, one_hot_max=self.one_hot_max, categorical=self.categorical, dtype=self.dtype
        )
        matrix = preprocessor.fit_table(table.take(inside), _pick(weights, inside))
        held, others = None, table.take(outside)
        if separate:
            others, truth = preprocessor.known_table(X_val), self._checked_target(y_val)
            if others.rows != len(truth):
                raise ValueError(f"X_val has {others.rows} rows and y_val has {len(truth)}: they must be the same rows")
            target.check(truth)
            counted = _given_weights(sample_weight_val, len(truth))
            held = self._samples(target, preprocessor.apply_table(others), truth, counted)
        elif len(outside):
            held = self._samples(target, preprocessor.apply_table(others), labels[outside], _pick(weights, outside))
        rows = self._samples(target, matrix, labels[inside], _pick(weights, inside))
        recipe = table_recipe(
            self,
            target,
            self.taste,
            rows=len(rows),
            numbers=preprocessor.n_numbers_,
            embeddings=preprocessor.embedding_sizes_,
            held=held is not None,
            calibrate=bool(self.calibrated),
        )
        rng = check_random_state(seed_of(rng))
        designs = designs_of(preprocessor, table, inside, others)
        fitted = rescued_fit(recipe, rows, held, matrix.shape[1], rng, designs)
        fitted.model.progress = None  # nothing goes on from here: the rule's state would only swell the file
        self.__dict__["preprocessor_"] = preprocessor
        self.with_fitted(fitted, preprocessor)
        told(self, self.verbose)
        return self

    def _read(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike) -> tuple[Table, Array, Array | None]:
        """The table, the target and the weights; without rows that count for nothing."""
        table = read_table(X, type(self).__name__)
        labels = self._checked_target(y)
        check_consistent_length(table.columns[0], labels)
        table.refuse_infinite()
        weights = _given_weights(sample_weight, table.rows)
        if weights is None or weights.all():
            return table, labels, weights
        counting = np.flatnonzero(weights)
        return table.take(counting), labels[counting], weights[counting]

    def _samples(self, target: Target, matrix: Array, y: Array, weights: Array | None) -> Samples:
        """Rows as the network takes them; weights also by their classes."""
        return Samples(matrix, target.encode(y), joint(weights, self._row_weights(target, y)))

    def _numbers_of_rows(self, y: Array, rng: np.random.RandomState, split: bool) -> tuple[Array, Array]:
        share = self.validation_fraction
        if not split or not share:
            return np.arange(len(y)), np.arange(0)
        inside, outside = self._split(y, rng)
        if len(outside) < 2 or len(inside) < 2:
            raise ValueError(
                f"n_samples={len(y)} is too few to set {share:g} of them aside for validation: {len(outside)} would "
                f"check and {len(inside)} train, 2 are needed. Give X_val and y_val, or set validation_fraction=0"
            )
        return inside, outside

    def network_rows(self, X: ArrayLike) -> Array:
        return self.preprocessor_.apply_table(self.preprocessor_.known_table(X))

    def network_columns(self) -> tuple[str, ...]:
        """The names of the columns that the preprocessor makes."""
        return tuple(str(name) for name in self.preprocessor_.get_feature_names_out())

    def _pairs(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        return self.network_rows(X), self._checked_target(y)

    def _view(self, kind: type[M], target: Target) -> M:
        """The network as an estimator of the preprocessed columns."""
        fitted, taste = self.fitted, self.taste
        shared = {name: getattr(self, name) for name in kind.declared if name in self.declared}
        chosen = {
            "activation": taste.activation if is_auto(self.activation) else self.activation,
            "learning_rate_init": taste.rate if is_auto(self.learning_rate_init) else self.learning_rate_init,
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
