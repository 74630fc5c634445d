"""What MLPClassifier and MLPRegressor share: from scikit-learn's `fit` to a recipe, rows, and `training.fit`."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state

from pellucid.data.dataset import Dataset
from pellucid.data.dataset_stream import checking_rows, held_out, named_column, without_groups
from pellucid.data.dependence import column_of_groups, dependence_of
from pellucid.data.samples import Samples
from pellucid.data.types import Array, ArrayLike, Matrix
from pellucid.data.weights import joint
from pellucid.estimators.fitted import Fitted, begin, seed_of, take_up
from pellucid.estimators.inputs import Validation, by_number, checked_rows, checked_weights, note_groups
from pellucid.estimators.parameters import check_parameters
from pellucid.estimators.recipe import PlainParameters, plain_recipe
from pellucid.estimators.seeing import told
from pellucid.estimators.shell import Shell
from pellucid.estimators.sklearn_callbacks import FitHooks, TakesCallbacks
from pellucid.estimators.streamed import learned_target, note_columns, refuse_other_targets
from pellucid.estimators.target import Target
from pellucid.estimators.training import fit, parted


class BaseMLP(PlainParameters, Shell, TakesCallbacks, BaseEstimator):  # type: ignore[misc]
    """`fit`, and weights that can be set. The target is the subclasses' affair."""

    # for the subclasses

    @abstractmethod
    def _checked(self, columns: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Matrix, Array]:
        """X as floats, y as an array; `columns` notes the features, or knows them."""

    @abstractmethod
    def _target(self, y: Array, before: Target | None, *, part: bool, classes: Array | None) -> Target:
        """What y is a target of; that of an earlier fit goes on. `part`: y may lack some `classes`."""

    # fit

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike = None,
        sample_weight: ArrayLike = None,
        *,
        X_val: ArrayLike = None,
        y_val: ArrayLike = None,
        sample_weight_val: ArrayLike = None,
        val_rows: ArrayLike = None,
        groups: ArrayLike = None,
        time: ArrayLike = None,
    ) -> Self:
        """Train. If `fit` fails, the estimator is as it was.

        Validation data are `X_val` and `y_val`, or `val_rows`; else early stopping takes a random
        `validation_fraction`, of whole `groups` if there are such, or the latest rows by `time`. With validation data
        the curves `validation_scores_` and `validation_loss_curve_` are filled. With `early_stopping` they decide when
        to stop, and the best parameters are kept, however training ends; `n_iter_no_change=np.inf` keeps the best
        without stopping.

        Of a `Dataset`, classes are learned in a pass over its target, and early stopping holds out
        `validation_fraction` of the rows by a hash of their numbers, as far as they fit into memory.

        Parameters
        ----------
        X : array of shape (n, features)
            array, data frame or sparse matrix; or a `pellucid.data.Dataset`, which brings target and weights
        y : array of shape (n,) or (n, outputs)
            classes or numbers; None with a `Dataset`
        sample_weight : array of shape (n,)
            how much each row counts
        X_val : array of shape (m, features)
            validation rows; beside a `Dataset` it may be another one
        y_val : array of shape (m,) or (m, outputs)
            their target
        sample_weight_val : array of shape (m,)
            how much each of them counts
        val_rows : array of int
            numbers of rows of X that are not trained on, in place of `X_val`
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
        if isinstance(X, Dataset):
            refuse_other_targets(y=y, sample_weight=sample_weight)
            if val_rows is not None:
                raise ValueError("val_rows are for rows in memory: give a Dataset as X_val")
            return self._fit_dataset(X, X_val, Validation(X_val, y_val, sample_weight_val), groups, time)
        validation = Validation(X_val, y_val, sample_weight_val, val_rows, dependence_of(X, groups, time))
        return self._fit(X, y, sample_weight, validation, groups_column=column_of_groups(groups))

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike,
        validation: Validation | None = None,
        *,
        incremental: bool = False,
        classes: Array | None = None,
        groups_column: str | None = None,
    ) -> Self:
        check_parameters(self)
        if incremental and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True: call fit, or leave it out")
        epochs = 0 if not self.stochastic else 1 if incremental else int(self.max_iter)
        with FitHooks(self, X, y, sample_weight, "partial_fit" if incremental else "fit", epochs) as hooks:
            before = self.fitted if self.__sklearn_is_fitted__() and (self.warm_start or incremental) else None
            columns = copy.copy(self)
            note_groups(columns, groups_column, reset=before is None)
            matrix, labels = self._checked(columns, X, y, reset=before is None)
            target = self._target(labels, None if before is None else before.target, part=incremental, classes=classes)
            weights = self._weights(target, matrix, labels, sample_weight, part=incremental)
            recipe = plain_recipe(self, target, matrix.dtype)
            rng = check_random_state(self.random_state)
            start = begin(recipe, matrix.shape[1], rng) if before is None else take_up(recipe, before)
            for name, arrays in vars(self).get("_first_weights", {}).items():
                put_layers(start, name, arrays)
            samples = Samples(matrix, target.encode(labels), weights)
            rows, held = self._parts(samples, validation or Validation(), target, columns)
            goes_on = before is not None and (incremental or not recipe.compat.forgets)
            dependence = None if validation is None else validation.dependence
            recipe = replace(recipe, callbacks=[*recipe.callbacks, *hooks.per_epoch(start, columns)])
            fitted = fit(
                recipe, rows, held, start, rng, dependence=dependence, goes_on=goes_on, incremental=incremental
            )
            self.__dict__.pop("_first_weights", None)
            self.with_fitted(fitted, columns)
            hooks.end()
            told(self, self.verbose and not incremental)
        return self

    def _fit_dataset(
        self, data: Dataset, others: ArrayLike, validation: Validation, groups: ArrayLike, time: ArrayLike
    ) -> Self:
        """The same of rows that are not in memory; `others` is a Dataset to check by, or the X of `validation`."""
        check_parameters(self)
        groups, time = named_column("groups", groups), named_column("time", time)
        data = without_groups(data, groups)
        if not self.stochastic:
            raise ValueError("solver='lbfgs' takes all rows at once: for a Dataset use 'adam' or 'sgd'")
        before = self.fitted if self.__sklearn_is_fitted__() and self.warm_start else None
        columns = note_columns(copy.copy(self), data)
        note_groups(columns, groups, reset=before is None)
        learned = learned_target(
            data,
            lambda y: self._target(y, None if before is None else before.target, part=False, classes=None),
            classes=is_classifier(self),
            class_weight=getattr(self, "class_weight", None),
        )
        dtype = np.dtype(np.float32 if self.dtype is None else self.dtype)
        recipe = plain_recipe(self, learned.target, dtype)
        rng = check_random_state(self.random_state)
        start = begin(recipe, len(data.columns), rng) if before is None else take_up(recipe, before)
        rows, held = learned.encoded(data, lambda part: part.floats(dtype)), None
        if isinstance(others, Dataset):
            others = without_groups(others, groups)
            held = checking_rows(learned.encoded(others, lambda part: part.floats(dtype)), dtype)
        elif validation.separate:
            X, y = self._checked(columns, validation.X, validation.y, reset=False)
            held = Samples(X, learned.target.encode(y), checked_weights(validation.weights, X.shape[0]))
        elif self.early_stopping:
            rows, unseen = held_out(rows, float(self.validation_fraction), seed_of(rng), groups=groups, time=time)
            held = checking_rows(unseen, dtype)
        goes_on = before is not None and not recipe.compat.forgets
        fitted = fit(recipe, learned.streamed(rows), held, start, rng, goes_on=goes_on)
        self.with_fitted(fitted, columns)
        told(self, self.verbose)
        return self

    def _weights(self, target: Target, X: Matrix, y: Array, sample_weight: ArrayLike, *, part: bool) -> Array | None:
        """Weights of rows: those given, times those of their classes; None where there are none."""
        weights = joint(checked_weights(sample_weight, X.shape[0]), self._row_weights(target, y, part=part))
        if weights is not None and not np.any(weights):
            raise ValueError("all sample weights are 0: nothing is left to learn from")
        return weights

    def _parts(
        self, rows: Samples, validation: Validation, target: Target, columns: BaseEstimator
    ) -> tuple[Samples, Samples | float | None]:
        """What is trained on, and the validation rows, or the share of rows that is to be drawn for them."""
        if validation.separate:
            try:
                X, y = self._checked(columns, validation.X, validation.y, reset=False)
            except ValueError as error:
                raise ValueError(f"X_val, y_val: {error}") from None
            target.check(y)
            return rows, Samples(X, target.encode(y), checked_weights(validation.weights, X.shape[0]))
        if validation.rows is not None:
            return parted(rows, *by_number(validation.rows, len(rows)))
        return rows, float(self.validation_fraction) if self.early_stopping and self.stochastic else None

    def network_rows(self, X: ArrayLike) -> Matrix:
        return checked_rows(self, X, finite=False)

    def _pairs(self, X: ArrayLike, y: ArrayLike) -> tuple[Matrix, Array]:
        return self._checked(self, X, y, reset=False)

    # weights

    @property
    def coefs_(self) -> list[Array]:
        """Weights of each layer, (n_in, n_out); the arrays themselves, to be read or changed."""
        return self._layers(0, "coefs_")

    @coefs_.setter
    def coefs_(self, arrays: Sequence[Array]) -> None:
        self._set_layers("coefs_", arrays)

    @property
    def intercepts_(self) -> list[Array]:
        """Biases of each layer, (n_out,)."""
        return self._layers(1, "intercepts_")

    @intercepts_.setter
    def intercepts_(self, arrays: Sequence[Array]) -> None:
        self._set_layers("intercepts_", arrays)

    def _layers(self, which: int, name: str) -> list[Array]:
        if self.__sklearn_is_fitted__():
            names = (pair[which] for pair in self.fitted.layers)
            return [self.fitted.model.params[one] for one in names if one is not None]
        first: dict[str, list[Array]] = vars(self).get("_first_weights", {})
        if name in first:
            return first[name]
        raise AttributeError(f"this {type(self).__name__} has no {name} yet: call fit first")

    def _set_layers(self, name: str, arrays: Sequence[Array]) -> None:
        if self.__sklearn_is_fitted__():
            put_layers(self.fitted, name, arrays)
        else:
            self.__dict__.setdefault("_first_weights", {})[name] = arrays

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


def put_layers(fitted: Fitted, name: str, arrays: Sequence[Array]) -> None:
    """Put weights ("coefs_") or biases ("intercepts_") of all layers in the place of those of the network."""
    model = fitted.model
    names = [pair[name == "intercepts_"] for pair in fitted.layers]
    if len(arrays) != len(names):
        raise ValueError(f"{name} has one array for each of the {len(names)} layers, got {len(arrays)}")
    params = dict(model.params)
    for key, array in zip(names, arrays, strict=True):
        new = np.asarray(array, model.dtype)
        if key is None or new.shape != params[key].shape:
            shape = None if key is None else params[key].shape
            raise ValueError(f"{name}: {key} has shape {shape}, got an array of shape {new.shape}")
        params[key] = new
    model.params = params
