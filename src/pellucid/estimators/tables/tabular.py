"""TabularMLPClassifier and TabularMLPRegressor: tables in, predictions out."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from pellucid import nn
from pellucid.estimators.classifier import MLPClassifier, weights_by_class
from pellucid.estimators.held import scorer
from pellucid.estimators.regressor import MLPRegressor
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tables.columns import is_missing
from pellucid.train import Metric

LARGEST = 1e300
"""Targets up to which predictions have room."""

UNITLESS = ("loss", "r2")
"""What a regressor may watch without regard to the units of the target."""


class TabularMLPClassifier(ClassifierMixin, BaseTabularMLP):  # type: ignore[misc]
    """Tells classes apart in a table: data frames with numbers, categories, dates and missing values go in as they are.

    Behind a `TablePreprocessor` (in `preprocessor_`) an `MLPClassifier` (in `estimator_`) is trained by RealMLP's
    recipe: a learned scale of inputs, NTK parametrisation, Adam with a learning rate in four cycles, weight decay,
    label smoothing, and the epoch kept that is best on validation rows; parameters are averaged over some 50 steps.

    hidden_layer_sizes, activation, dropout, norm, loss, class_weight, monitor, callbacks, max_time, verbose, engine,
        threads : as in `MLPClassifier`; the activation "auto" is SELU
    learning_rate_init, max_iter, batch_size : the peak of the learning rate, epochs, rows of a step; "auto" chooses by
        the number of rows
    scaling, one_hot_max, categorical : of the preprocessor; columns of more than `one_hot_max` categories get a learned
        vector of `embedding_dim` numbers for each
    periodic : learned waves beside every number (`nn.Periodic`)
    validation_fraction : share of rows that choose the epoch; 0 keeps the last epoch
    monitor : what chooses the epoch: the validation loss, or a metric ("accuracy" is noisier on few rows)
    patience : epochs without improvement after which training ends; None does them all
    calibrated : fit a temperature on the validation rows, for better probabilities

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.empty((300, 2), object)
    >>> X[:, 0], X[:, 1] = rng.normal(size=300), rng.choice(["left", "right"], 300)
    >>> y = np.where((X[:, 0] > 0) == (X[:, 1] == "left"), "yes", "no")
    >>> clf = TabularMLPClassifier((32, 32), max_iter=30, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _auto_activation = "selu"
    _auto_rate = 0.04
    _auto_bias = "standard_normal"
    _auto_decay = 0.02

    def __init__(
        self,
        hidden_layer_sizes: Any = (256, 256, 256),
        activation: Any = "auto",
        *,
        learning_rate_init: float | str = "auto",
        max_iter: int | str = "auto",
        batch_size: int | str = "auto",
        dropout: Any = 0.0,
        norm: Any = None,
        label_smoothing: float = 0.1,
        class_weight: Any = None,
        loss: Any = "log_loss",
        scaling: str | None = "robust",
        one_hot_max: int = 8,
        embedding_dim: Any = 8,
        periodic: bool = True,
        categorical: Any = (),
        validation_fraction: float = 0.2,
        patience: int | None = None,
        monitor: Any = "loss",
        calibrated: bool = False,
        random_state: Any = None,
        verbose: Any = False,
        callbacks: Any = (),
        max_time: float | None = None,
        engine: str = "auto",
        threads: int | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(
            hidden_layer_sizes,
            activation,
            learning_rate_init=learning_rate_init,
            max_iter=max_iter,
            batch_size=batch_size,
            dropout=dropout,
            norm=norm,
            loss=loss,
            scaling=scaling,
            one_hot_max=one_hot_max,
            embedding_dim=embedding_dim,
            periodic=periodic,
            categorical=categorical,
            validation_fraction=validation_fraction,
            patience=patience,
            monitor=monitor,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
            max_time=max_time,
            engine=engine,
            threads=threads,
            dtype=dtype,
        )
        self.label_smoothing = label_smoothing
        self.class_weight = class_weight
        self.calibrated = calibrated

    # the target

    def _target(self, y: Any) -> Any:
        y = column_or_1d(np.asarray(y), warn=True)
        _refuse_missing(y)
        check_classification_targets(y)
        return y

    def _begin_target(self, y: Any, weights: Any) -> None:
        found = np.unique(y)
        if len(found) < 2:
            raise ValueError(
                f"y has one class only, {found.tolist()[0]!r}, in all of n_samples={len(y)} rows: give rows of another "
                "class"
            )
        self.classes_ = found

    def _split(self, y: Any, rng: np.random.RandomState) -> tuple[Any, Any]:
        """Every class gives its share, and keeps a row to train on."""
        codes = np.searchsorted(self.classes_, y)
        mixed = rng.permutation(len(y))
        ordered = mixed[np.argsort(codes[mixed], kind="stable")]
        first = np.r_[True, np.diff(codes[ordered]) > 0]
        free = ordered[~first]
        count = min(int(np.ceil(self.validation_fraction * len(y))), len(free))
        chosen = free[((np.arange(count) + 0.5) * (len(free) / max(count, 1))).astype(int)]
        inside = np.setdiff1d(np.arange(len(y)), chosen)
        return inside, np.sort(chosen)

    def _held_weights(self, y: Any, weights: Any) -> Any:
        if self.class_weight is None:
            return weights
        by_class = weights_by_class(self.class_weight, y)
        return by_class if weights is None else by_class * weights

    def _inner(self, settings: dict[str, Any]) -> Any:
        settings["training"].calibrate = bool(self.calibrated)
        return MLPClassifier(**settings, label_smoothing=self.label_smoothing, class_weight=self.class_weight)

    # prediction

    def predict(self, X: Any) -> Any:
        """The most likely class of each row, (n,)."""
        X = self._inputs(X)
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, (n, classes) in the order of `classes_`."""
        X = self._inputs(X)
        return self.estimator_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities, none of them -inf."""
        X = self._inputs(X)
        return self.estimator_.predict_log_proba(X)

    def decision_function(self, X: Any) -> Any:
        """The scores: (n,) for two classes, positive for the second; else (n, classes)."""
        X = self._inputs(X)
        return self.estimator_.decision_function(X)

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> TabularMLPClassifier:
        """Fit the temperature on rows that were not trained on: better probabilities, the same classes."""
        X = self._inputs(X)
        self.estimator_.calibrate(X, self._target(y), sample_weight)
        return self


class TabularMLPRegressor(RegressorMixin, BaseTabularMLP):  # type: ignore[misc]
    """Predicts numbers from a table: data frames with numbers, categories, dates and missing values go in as they are.

    Like `TabularMLPClassifier`, with Mish as the activation "auto". The target is standardised for training (unless
    the loss predicts logarithms, like "poisson") and everything is given back in its own units, what `monitor` measures
    too; losses and their curves are in standardised ones.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> X[::10, 1] = np.nan
    >>> y = 1000 + 50 * np.abs(X[:, 0])
    >>> reg = TabularMLPRegressor((32, 32), max_iter=30, random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.9
    True
    """

    _auto_activation = "mish"
    _auto_rate = 0.07
    _auto_decay = 0.1

    def __init__(
        self,
        hidden_layer_sizes: Any = (256, 256, 256),
        activation: Any = "auto",
        *,
        learning_rate_init: float | str = "auto",
        max_iter: int | str = "auto",
        batch_size: int | str = "auto",
        dropout: Any = 0.0,
        norm: Any = None,
        loss: Any = "squared_error",
        scaling: str | None = "robust",
        one_hot_max: int = 8,
        embedding_dim: Any = 8,
        periodic: bool = True,
        categorical: Any = (),
        validation_fraction: float = 0.2,
        patience: int | None = None,
        monitor: Any = None,
        random_state: Any = None,
        verbose: Any = False,
        callbacks: Any = (),
        max_time: float | None = None,
        engine: str = "auto",
        threads: int | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(
            hidden_layer_sizes,
            activation,
            learning_rate_init=learning_rate_init,
            max_iter=max_iter,
            batch_size=batch_size,
            dropout=dropout,
            norm=norm,
            loss=loss,
            scaling=scaling,
            one_hot_max=one_hot_max,
            embedding_dim=embedding_dim,
            periodic=periodic,
            categorical=categorical,
            validation_fraction=validation_fraction,
            patience=patience,
            monitor=monitor,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
            max_time=max_time,
            engine=engine,
            threads=threads,
            dtype=dtype,
        )

    # the target

    def _target(self, y: Any) -> Any:
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported: y holds complex numbers")
        if y.dtype.kind not in "biufO":
            raise ValueError(
                f"{type(self).__name__}: y holds numbers, got {y.dtype}: for classes use TabularMLPClassifier"
            )
        _refuse_missing(y)
        return y.astype(np.float64)

    def _begin_target(self, y: Any, weights: Any) -> None:
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
        columns = np.shape(y[:1].reshape(1, -1))[1]
        self._shift, self._factor = np.zeros(columns), np.ones(columns)
        loss = nn.loss("squared_error") if callable(self.loss) and not isinstance(self.loss, nn.Loss) else self.loss
        if "exp" not in nn.loss(loss).link_name:
            self._shift, self._factor = _mean_and_deviation(y.reshape(len(y), -1), weights)

    def _split(self, y: Any, rng: np.random.RandomState) -> tuple[Any, Any]:
        mixed = rng.permutation(len(y))
        count = int(np.ceil(self.validation_fraction * len(y)))
        return np.sort(mixed[count:]), np.sort(mixed[:count])

    def _inner_target(self, y: Any) -> Any:
        made = (y.reshape(len(y), -1) - self._shift) / self._factor
        return made[:, 0] if y.ndim == 1 else made

    def _inner(self, settings: dict[str, Any]) -> Any:
        which = settings["monitor"]
        if which is not None and not (isinstance(which, str) and which in UNITLESS):
            settings["monitor"] = self._in_own_units(scorer(which))
        return MLPRegressor(**settings)

    def _in_own_units(self, metric: Metric) -> Metric:
        """The metric of standardised targets and predictions in the user's units."""

        @wraps(metric.function)  # it takes weights if that one does
        def measured(y: Any, prediction: Any, **more: Any) -> float:
            return metric.function(self._own_units(y), self._own_units(prediction), **more)

        return replace(metric, function=measured)

    def _finish(self, inner: Any) -> None:
        """The metric as it was given, for files and pickles."""
        if inner.monitor is not self.monitor:
            inner.monitor, inner._metric = self.monitor, scorer(self.monitor)
            inner.model_.metrics = [inner._metric]

    def _own_units(self, predictions: Any) -> Any:
        """Standardised predictions, (n,) or (n, outputs · numbers for each), as the user knows them."""
        flat = predictions.reshape(len(predictions), -1).astype(np.float64)
        each = flat.shape[1] // len(self._shift)
        made = flat * np.repeat(self._factor, each) + np.repeat(self._shift, each)
        return made.reshape(predictions.shape)

    # prediction

    def predict(self, X: Any) -> Any:
        """The predicted number of each row: (n,), or (n, outputs)."""
        X = self._inputs(X)
        return self._own_units(self.estimator_.predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², of the predictions in either units; for several quantiles see `MLPRegressor.score`."""
        X = self._inputs(X)
        return float(self.estimator_.score(X, self._inner_target(self._target(y)), sample_weight))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Any, Any]:
        """Lower and upper ends that hold the truth with this probability; see `MLPRegressor.predict_interval`."""
        X = self._inputs(X)
        low, high = self.estimator_.predict_interval(X, coverage)
        return self._own_units(low), self._own_units(high)

    def calibrate(self, X: Any, y: Any) -> TabularMLPRegressor:
        """Learn the size of errors from rows that were not trained on, for `predict_interval`."""
        X = self._inputs(X)
        self.estimator_.calibrate(X, self._inner_target(self._target(y)))
        return self


def _mean_and_deviation(y: Any, weights: Any) -> tuple[Any, Any]:
    """Of each column, (n, outputs) -> (outputs,), (outputs,); also where squares of the numbers leave float64."""
    exponents = np.frexp(np.abs(y).max(axis=0))[1]  # a power of two changes no bit
    near_one = np.ldexp(y, -exponents)
    mean = np.average(near_one, axis=0, weights=weights)
    deviation = np.sqrt(np.average((near_one - mean) ** 2, axis=0, weights=weights))
    return np.ldexp(mean, exponents), np.ldexp(deviation, exponents)


def _refuse_missing(y: Any) -> None:
    """Raise for the first row without a target."""
    gone = np.isnan(y) if y.dtype.kind == "f" else np.array([is_missing(v) for v in y.ravel()], bool).reshape(y.shape)
    endless = np.isinf(y) if y.dtype.kind == "f" else np.zeros(y.shape, bool)
    for found, what in ((gone, "NaN"), (endless, "infinity or a value too large for dtype('float64')")):
        if found.any():
            row = int(np.argwhere(found)[0][0])
            raise ValueError(f"Input y contains {what}. In row {row}: leave out the rows without a target")
