"""MLPRegressor: scikit-learn's, and what its users have asked for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid import nn
from pellucid.amounts import is_number
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.classifier import DataWarning, _stochastic
from pellucid.estimators.uncertainty import DRAWS, draws, radius
from pellucid.nn.losses.numbers import Poisson, Quantile


class MLPRegressor(RegressorMixin, BaseMLP):  # type: ignore[misc]
    """A multilayer perceptron that predicts numbers: scikit-learn's `MLPRegressor`, and more.

    All parameters of scikit-learn have its names, defaults and meaning; those beyond it are described at
    `MLPClassifier`. Losses: "squared_error" (halved, as in scikit-learn), "poisson", "absolute_error", "huber",
    "gamma", "quantile" or `nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))` for several at once (one column each, never
    crossing), a loss of `pellucid.nn`, or a function f(scores, y).

    With several outputs their squared errors are added up. scikit-learn shows the mean of them, with the gradient of
    the sum, which misleads L-BFGS: `compat="sklearn"` does so too.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] ** 2 - X[:, 1]
    >>> reg = MLPRegressor(hidden_layer_sizes=(32,), solver="lbfgs", tol=0.01, random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.98
    True
    """

    def __init__(
        self,
        loss: Any = "squared_error",
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: Any = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int | float = 10,
        max_fun: int = 15000,
        dropout: Any = 0.0,
        norm: Any = None,
        penalty: nn.Penalty | None = None,
        optimizer: Any = None,
        monitor: Any = None,
        callbacks: Any = (),
        max_time: float | None = None,
        network: Any = None,
        training: Any = None,
        compat: str | None = None,
        dtype: Any = None,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        super().__init__(
            hidden_layer_sizes,
            activation,
            solver=solver,
            alpha=alpha,
            batch_size=batch_size,
            learning_rate=learning_rate,
            learning_rate_init=learning_rate_init,
            power_t=power_t,
            max_iter=max_iter,
            loss=loss,
            shuffle=shuffle,
            random_state=random_state,
            tol=tol,
            verbose=verbose,
            warm_start=warm_start,
            momentum=momentum,
            nesterovs_momentum=nesterovs_momentum,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            beta_1=beta_1,
            beta_2=beta_2,
            epsilon=epsilon,
            n_iter_no_change=n_iter_no_change,
            max_fun=max_fun,
            dropout=dropout,
            norm=norm,
            penalty=penalty,
            optimizer=optimizer,
            monitor=monitor,
            callbacks=callbacks,
            max_time=max_time,
            network=network,
            training=training,
            compat=compat,
            dtype=dtype,
            engine=engine,
            threads=threads,
        )

    _score_metric = "r2"
    _numeric_target = True

    # the target

    def _encode(self, y: Any, first: bool, incremental: bool) -> Any:
        y = np.asarray(y)
        if y.dtype.kind not in "fiub":
            raise ValueError(f"{type(self).__name__}: y holds numbers, got {y.dtype}: for classes use MLPClassifier")
        if not first:
            columns = 1 if y.ndim == 1 else y.shape[1]
            if columns * self.model_.loss.per_output != self.n_outputs_:
                made = self.n_outputs_ // self.model_.loss.per_output
                raise ValueError(f"y has {columns} columns, but the network was made for {made}")
        if first and not incremental and len(y) > 1 and np.all(y == y[:1]):
            warnings.warn(
                f"y is constant, {np.ravel(y)[0]:g} in all {len(y)} rows: there is nothing to learn but that number.",
                DataWarning,
                stacklevel=5,
            )
        return y

    def _loss_for(self, y: Any) -> tuple[nn.Loss, int, str]:
        if isinstance(self.loss, str) and self.loss == "squared_error":
            loss = nn.loss("half_squared_error")
        elif isinstance(self.loss, str) and self.loss == "poisson":
            loss = Poisson("deviance")
        else:
            loss = nn.loss(self.loss)
        columns = 1 if y.ndim == 1 else y.shape[1]
        if columns > 1 and loss.name in ("half_squared_error", "poisson"):
            mean = self.compat == "sklearn" and loss.name != "poisson"
            loss = nn.Summed(loss, "mean" if mean else "sum")
        return loss, columns * loss.per_output, "exp" if "exp" in loss.link_name else "identity"

    def _monitored(self, loss: nn.Loss) -> Any:
        if self.monitor is None and isinstance(loss, Quantile) and loss.per_output > 1:
            return None  # R² needs one prediction for each output
        return super()._monitored(loss)

    @available_if(_stochastic)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> MLPRegressor:
        """One epoch over these rows. The optimizer goes on where it was."""
        self._fit(X, y, sample_weight, incremental=True)
        return self

    # prediction

    def predict(self, X: Any, *, return_std: bool = False, n_draws: int = DRAWS) -> Any:
        """The predicted number of each row: (n,), or (n, outputs).

        With `return_std` the mean and the deviation over `n_draws` networks with dropout at work.
        """
        if return_std:
            return draws(self, X, n_draws, self._predictions)
        return self._predictions(self._scores(X))

    def _predictions(self, scores: Any) -> Any:
        """(n, outputs) -> (n,) or (n, outputs)"""
        return self._shaped(np.asarray(self.model_.loss.link(scores)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²; for several quantiles the mean of their D² (the share of the pinball loss that is explained)."""
        check_is_fitted(self)
        loss = self.model_.loss
        if not isinstance(loss, Quantile) or loss.per_output == 1:
            return float(super().score(X, y, sample_weight))
        found, y = self._scores(X), np.asarray(y, float)
        parts = np.asarray(loss.link(found)).reshape(len(found), -1, loss.per_output)
        y = y.reshape(len(y), -1)
        scores = [
            d2_pinball_score(y, parts[:, :, i], sample_weight=sample_weight, alpha=q)
            for i, q in enumerate(loss.quantiles)
        ]
        return float(np.mean(scores))

    def logits(self, X: Any) -> Any:
        """The network's scores, ahead of the loss's link (log of the mean for "poisson").   -> (n, outputs)"""
        return self._scores(X)

    def _shaped(self, predictions: Any) -> Any:
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Any, Any]:
        """Lower and upper ends that hold the truth with this probability, each (n,) or (n, outputs).

        With a quantile loss they are its outer quantiles, moved by the errors on held-out rows (conformal, Romano et
        al., 2019); else the prediction ± a quantile of the held-out errors. Held-out rows are those of early stopping,
        `X_val`, or `calibrate(X, y)`.
        """
        if not is_number(coverage, 0, 1, above=True):
            raise ValueError(f"coverage is a number between 0 and 1, got {coverage!r}")
        scores = self._scores(X)
        low, high = self._ends(np.asarray(self.model_.loss.link(scores)))
        if "residuals" not in self._calibration:
            raise ValueError(
                "intervals need errors on rows that were not trained on: use early_stopping=True, X_val and y_val, or "
                "calibrate(X, y)"
            )
        r = radius(self._calibration["residuals"], coverage)
        return self._shaped(low - r), self._shaped(high + r)

    def _ends(self, predictions: Any) -> tuple[Any, Any]:
        """The outer quantiles of each output; both are the prediction where there is one number only."""
        q = self.model_.loss.per_output
        grouped = predictions.reshape(len(predictions), -1, q)
        return grouped[:, :, 0], grouped[:, :, -1]

    def calibrate(self, X: Any, y: Any) -> MLPRegressor:
        """Learn the size of errors from rows that were not trained on, for `predict_interval`."""
        X, y = self._known(X, y)
        self._note_errors(self._scores_of(X), np.asarray(self._encode(y, False, True), float))
        return self

    def _note_errors(self, scores: Any, y: Any) -> None:
        low, high = self._ends(np.asarray(self.model_.loss.link(scores)))
        y = y.reshape(len(y), -1)
        self._calibration["residuals"] = np.sort(np.maximum(low - y, y - high), axis=0)

    def _keep_held(self, held: Any) -> None:
        X, target, _ = held
        self._note_errors(self.model_.scores(np.asarray(X, self.model_.dtype)), np.asarray(target, float))
