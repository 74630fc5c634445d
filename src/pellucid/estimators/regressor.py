"""MLPRegressor: scikit-learn's, and what its users have asked for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metaestimators import available_if

from pellucid.data.sparse import is_sparse
from pellucid.data.types import Array, ArrayLike, Matrix
from pellucid.errors import DataWarning
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.classifier import stochastic
from pellucid.estimators.fitted import DRAWS, Fitted, has_noise
from pellucid.estimators.inputs import checked
from pellucid.estimators.mlp_parameters import COMPAT, NumberParameters
from pellucid.estimators.number_target import COVERAGE, NumberTarget, number_target, radius
from pellucid.estimators.shell import Shell
from pellucid.estimators.target import Target
from pellucid.notices import notice


def numbers_of(fitted: Fitted) -> NumberTarget:
    """The target of a regressor."""
    assert isinstance(fitted.target, NumberTarget)
    return fitted.target


def mixture(fitted: Fitted, rows: Matrix, draws: int, who: str) -> tuple[Array, Array]:
    """Mean and deviation of normal distributions taken together, of several networks or of one with dropout at work."""
    target = numbers_of(fitted)

    def means_and_variances(scores: Array) -> Array:
        return np.stack([target.decode(scores), target.deviations(scores) ** 2], axis=-1)

    mean, deviation = fitted.draws(rows, draws, means_and_variances, who)
    return mean[..., 0], np.sqrt(mean[..., 1] + deviation[..., 0] ** 2)


class NumberShell(RegressorMixin, Shell):  # type: ignore[misc]
    """What regressors answer."""

    def predict(self, X: ArrayLike, *, return_std: bool = False, n_draws: int = DRAWS) -> Any:
        """The predicted number of each row.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        return_std : bool
            the deviation, too: over the networks of a table, or over one with dropout at work; with loss="gaussian"
            the predicted one (of several networks, or with dropout, of both: the variances are added up)
        n_draws : int
            how many networks are drawn by dropout

        Returns
        -------
        array of shape (n,) or (n, outputs)
            numbers; with `return_std` a pair, numbers and deviations (with dropout the mean of its networks, else the
            numbers are the same)
        """
        target = numbers_of(self.fitted)
        if not return_std:
            return target.decode(self.logits(X))
        if not target.has_deviations:
            return self._on(X, lambda fitted, rows: fitted.draws(rows, n_draws, target.decode, type(self).__name__))
        if self.fitted.crew is None and not has_noise(self.fitted.model.net):
            scores = self.logits(X)
            return target.decode(scores), target.deviations(scores)
        return self._on(X, lambda fitted, rows: mixture(fitted, rows, n_draws, type(self).__name__))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> float:
        """R²; for several quantiles the mean of their D² (the share of the pinball loss that is explained).

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        y : array of shape (n,) or (n, outputs)
            the truth
        sample_weight : array of shape (n,)
            how much each row counts

        Returns
        -------
        float
            at best 1
        """
        target = numbers_of(self.fitted)
        return target.score(self.logits(X), target.encode(self._numbers(y)), sample_weight)

    def _numbers(self, y: ArrayLike) -> Array:
        """y of new rows, as an array."""
        return np.asarray(y)

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends that hold the truth with this probability.

        With a quantile loss they are its outer quantiles, moved by the errors on held-out rows (conformal, Romano
        et al., 2019); with loss="gaussian" the mean ± so many predicted deviations, a quantile of the held-out errors
        in deviations (Lei et al., 2018); else the prediction ± a quantile of the held-out errors. Held-out rows are
        those that chose the epoch, `X_val`, or `calibrate(X, y)`.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        coverage : float
            the probability

        Returns
        -------
        pair of arrays
            each (n,) or (n, outputs)
        """
        COVERAGE.check("coverage", coverage)
        scores, fitted = self.logits(X), self.fitted
        if fitted.calibration.errors is None:
            raise ValueError(
                "intervals need errors on rows that were not trained on: use early_stopping=True, X_val and y_val, or "
                "calibrate(X, y)"
            )
        return numbers_of(fitted).interval(scores, radius(fitted.calibration.errors, coverage))

    def calibrate(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the size of errors from rows that were not trained on, for `predict_interval`.

        Parameters
        ----------
        X : array of shape (n, features)
            rows that were not trained on
        y : array of shape (n,) or (n, outputs)
            their target

        Returns
        -------
        estimator
            itself
        """
        return self._calibrate(X, y)


class MLPRegressor(NumberShell, BaseMLP, NumberParameters):
    """A multilayer perceptron that predicts numbers: scikit-learn's `MLPRegressor`, and more.

    All parameters of scikit-learn have its names, defaults and meaning. With several outputs their squared errors are
    added up. scikit-learn shows the mean of them, with the gradient of the sum, which misleads L-BFGS:
    `compat="sklearn"` does so too.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] ** 2 - X[:, 1]
    >>> reg = MLPRegressor(hidden_layer_sizes=(32,), solver="lbfgs", tol=0.01, random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.98
    True
    """

    def _checked(self, columns: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Matrix, Array]:
        matrix, numbers = checked(columns, X, y, reset=reset, numeric=True)
        if is_sparse(numbers) or numbers.dtype.kind not in "fiub":
            raise ValueError(
                f"{type(self).__name__}: y holds numbers, got {numbers.dtype}: for classes use MLPClassifier"
            )
        return matrix, numbers

    def _target(self, y: Array, before: Target | None, *, part: bool, classes: Array | None) -> NumberTarget:
        target = number_target(y, self.loss, mean=COMPAT[self.compat].mean_of_outputs)
        if before is not None:
            before.check(y)
        elif not part and len(y) > 1 and np.all(y == y[:1]):
            notice(
                f"y is constant, {np.ravel(y)[0]:g} in all {len(y)} rows: there is nothing to learn but that number.",
                DataWarning,
            )
        return target

    @available_if(stochastic)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """One epoch over these rows. The optimizer goes on where it was.

        Parameters
        ----------
        X : array of shape (n, features)
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
        return self._fit(X, y, sample_weight, incremental=True)
