"""TabularMLPClassifier and TabularMLPRegressor: tables as they are, and a network behind them, after RealMLP."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets, unique_labels

from pellucid.data.sparse import dense
from pellucid.data.splits import by_fraction_of_classes
from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.class_target import ClassTarget, is_several, target_of
from pellucid.estimators.classifier import ClassShell, MLPClassifier
from pellucid.estimators.number_target import NumberTarget, number_target, standard_units
from pellucid.estimators.regressor import MLPRegressor, NumberShell, numbers_of
from pellucid.estimators.tables.columns import is_missing
from pellucid.estimators.tables.incremental import IncrementalTabularMLP
from pellucid.estimators.tables.parameters import TableClassParameters, TableNumberParameters
from pellucid.estimators.tables.recipe import CLASSES, NUMBERS

LARGEST = 1e300
"""Targets up to which predictions have room."""


class TabularMLPClassifier(TableClassParameters, ClassShell, IncrementalTabularMLP):
    """Tells classes apart in a table: data frames with numbers, categories, dates and missing values go in as they are.

    Behind a `TablePreprocessor` (in `preprocessor_`) several networks are trained, after RealMLP: a learned scale of
    inputs, NTK parametrisation, Adam with one cycle of the learning rate, weight decay, parameters averaged over some
    50 steps. They see numbers in different ways; rows that are held out choose the epoch of each, how much each
    counts, and a temperature, so that probabilities can be trusted. `quality` is the dial, `get_recipe` tells what it
    sets. `estimator_` shows the networks as an `MLPClassifier` of the preprocessed columns; attributes of a single
    network (`coefs_`, `loss_curve_`, `model_`) are those of the one that counts most.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.empty((300, 2), object)
    >>> X[:, 0], X[:, 1] = rng.normal(size=300), rng.choice(["left", "right"], 300)
    >>> y = np.where((X[:, 0] > 0) == (X[:, 1] == "left"), "yes", "no")
    >>> clf = TabularMLPClassifier((32, 32), max_iter=30, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    taste = CLASSES

    def _checked_target(self, y: ArrayLike) -> Array:
        labels: Array = np.asarray(dense(y))
        if labels.ndim != 2 or labels.shape[1] == 1:
            labels = column_or_1d(labels, warn=True)
        _refuse_missing(labels)
        _refuse_mixed(labels, type(self).__name__)
        check_classification_targets(labels)
        if labels.ndim == 2 and not is_several(labels):
            raise ValueError(
                f"{type(self).__name__}: y of shape {labels.shape} is for several labels, zeros and ones in a column "
                "for each, got other values: fit one estimator for each column (MultiOutputClassifier)"
            )
        return labels

    def _target(self, y: Array, weights: Array | None) -> ClassTarget:
        if y.ndim == 2:
            return target_of(np.arange(y.shape[1]), True, self.loss, self.label_smoothing)
        classes: Array = unique_labels(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes.tolist()[0]!r}, in all of n_samples={len(y)} rows: give rows of "
                "another class"
            )
        return target_of(classes, False, self.loss, self.label_smoothing)

    def _first_target(self, y: Array, weights: Array | None, classes: Array | None) -> ClassTarget:
        if y.ndim == 2 or classes is None:
            return self._target(y, weights)
        return target_of(classes, False, self.loss, self.label_smoothing)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None, classes: ArrayLike = None
    ) -> Self:
        """One epoch over these rows; the optimizer goes on where it was.

        The first call learns the preprocessor from its rows, so they should be like those to come: categories that
        turn up later are unknown ones. After `fit` it goes on with that network; a later `fit` begins anew. No rows
        are held out, and the learning rate is constant, a quarter of `learning_rate_init`: there is no whole run that a
        schedule could rise and fall over.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows
        y : array of shape (n,) or (n, labels)
            their classes
        sample_weight : array of shape (n,)
            how much each row counts
        classes : array
            all classes; the first call names them (several labels need none)

        Returns
        -------
        estimator
            itself
        """
        begun = self.__sklearn_is_fitted__()
        holder = SimpleNamespace(**({"classes_": self.classes_} if begun else {}))
        if classes is None and y is not None and not begun and is_several(y):
            classes = np.arange(dense(y).shape[1])
        _check_partial_fit_first_call(holder, classes)
        return self._fit_part(X, y, sample_weight, holder.classes_)

    def _split(self, y: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
        if y.ndim == 2:
            return random_split(len(y), self.validation_fraction, rng)
        return by_fraction_of_classes(len(y), np.unique(y, return_inverse=True)[1], self.validation_fraction, rng)

    @property
    def estimator_(self) -> MLPClassifier:
        """The network behind the preprocessor, as an estimator of its columns."""
        return self._view(MLPClassifier, self.fitted.target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class TabularMLPRegressor(TableNumberParameters, NumberShell, IncrementalTabularMLP):
    """Predicts numbers from a table: data frames with numbers, categories, dates and missing values go in as they are.

    Like `TabularMLPClassifier`. The target is standardised for training (unless the loss predicts logarithms, like
    "poisson") and everything is given back in its own units, what `monitor` measures too; losses and their curves are
    in standardised ones, and so is `estimator_`.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> X[::10, 1] = np.nan
    >>> y = 1000 + 50 * np.abs(X[:, 0])
    >>> reg = TabularMLPRegressor((32, 32), max_iter=30, random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.9
    True
    """

    taste = NUMBERS

    def _checked_target(self, y: ArrayLike) -> Array:
        numbers: Array = np.asarray(y)
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = column_or_1d(numbers, warn=True)
        if numbers.dtype.kind == "c":
            raise ValueError("Complex data not supported: y holds complex numbers")
        if numbers.dtype.kind not in "biufO":
            raise ValueError(
                f"{type(self).__name__}: y holds numbers, got {numbers.dtype}: for classes use TabularMLPClassifier"
            )
        _refuse_missing(numbers)
        try:
            return numbers.astype(np.float64)
        except (TypeError, ValueError):
            strange = next(value for value in numbers.ravel() if not _is_number(value))
            raise ValueError(
                f"{type(self).__name__}: y holds numbers, got {strange!r:.80}: for classes use TabularMLPClassifier"
            ) from None

    _numbers = _checked_target

    def _target(self, y: Array, weights: Array | None) -> NumberTarget:
        if len(y) == 1:
            raise ValueError("y has 1 sample (n_samples=1): there is nothing to compare it with, give more rows")
        constant = np.atleast_1d(np.all(y == y[:1], axis=0))
        if constant.any():
            which = f" in column {int(np.flatnonzero(constant)[0])}" if y.ndim == 2 else ""
            raise ValueError(f"y is constant{which}, the same in all {len(y)} rows: there is nothing to learn")
        if np.abs(y).max() > LARGEST:
            raise ValueError(
                f"y holds {np.abs(y).max():.3g}, too near the largest float64 for predictions that go beyond: divide it"
            )
        return number_target(y, self.loss, units=standard_units(y, self.loss, weights))

    def _split(self, y: Array, rng: np.random.RandomState) -> tuple[Array, Array]:
        return random_split(len(y), self.validation_fraction, rng)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """One epoch over these rows; the optimizer goes on where it was.

        The first call learns the preprocessor from its rows, and the mean and deviation by which the target is
        standardised, so they should be like those to come: categories that turn up later are unknown ones. After
        `fit` it goes on with that network; a later `fit` begins anew. No rows are held out, and the learning rate is
        constant, a quarter of `learning_rate_init`: there is no whole run that a schedule could rise and fall over.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows
        y : array of shape (n,) or (n, outputs)
            their target
        sample_weight : array of shape (n,)
            how much each row counts

        Returns
        -------
        estimator
            itself
        """
        return self._fit_part(X, y, sample_weight)

    @property
    def estimator_(self) -> MLPRegressor:
        """The network behind the preprocessor, as an estimator of its columns and of the standardised target."""
        return self._view(MLPRegressor, replace(numbers_of(self.fitted), units=None))


def random_split(rows: int, share: float, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Row numbers for training and validation, drawn."""
    mixed, count = rng.permutation(rows), int(np.ceil(share * rows))
    return np.sort(mixed[count:]), np.sort(mixed[:count])


def _refuse_missing(y: Array) -> None:
    """Raise for the first row without a target."""
    gone = np.isnan(y) if y.dtype.kind == "f" else np.array([is_missing(v) for v in y.ravel()], bool).reshape(y.shape)
    endless = np.isinf(y) if y.dtype.kind == "f" else np.zeros(y.shape, bool)
    for places, what in ((gone, "NaN"), (endless, "infinity or a value too large for dtype('float64')")):
        if places.any():
            row = int(np.argwhere(places)[0][0])
            raise ValueError(f"Input y contains {what}. In row {row}: leave out the rows without a target")


def _refuse_mixed(labels: Array, who: str) -> None:
    """Raise for texts among other labels: they have no order."""
    if labels.dtype != object:
        return
    texts = np.array([isinstance(label, str) for label in labels.ravel()])
    if texts.any() and not texts.all():
        word, other = labels.ravel()[[int(np.argmax(texts)), int(np.argmin(texts))]]
        raise TypeError(
            f"{who}: y has texts, such as {word!r:.40}, and others, such as {other!r:.40}: make all labels texts"
        )


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
