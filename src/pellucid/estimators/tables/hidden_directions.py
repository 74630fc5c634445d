"""Directions along which nearly equal columns differ: beside the columns, so that a network can see them."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.data.types import Array, ArrayLike, Floats
from pellucid.estimators.tables.clipping import smoothly_clipped

HIDDEN, ROUNDING = 1e-2, 1e-9
"""Shares of a column's variance. A direction with less than the first hardly moves what a network computes, and takes
it very long to be learned; one with less than the second is rounding."""

LIMIT = 3.0


class HiddenDirections(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns, and behind them their principal components of little variance, each with the variance 1.

    Where nearly collinear columns carry the signal in their small differences, gradient descent does not find it: the
    slope along such a direction is as small as the differences are. Tables without such columns stay as they are.

    Of n rows with p independent columns the smallest component has about the variance (1 - sqrt(p/n))² by chance
    (Marchenko and Pastur, 1967): components are hidden if they have less than a hundredth of that.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> HiddenDirections().fit_transform(X).shape
    (1000, 2)
    >>> same = np.column_stack([X[:, 0], X[:, 0] + 1e-3 * X[:, 1]])
    >>> shown = HiddenDirections().fit_transform(same)
    >>> shown.shape, bool(abs(np.corrcoef(shown[:, 2], X[:, 1])[0, 1]) > 0.95)
    ((1000, 3), True)
    """

    def fit(self, X: ArrayLike, y: object = None) -> HiddenDirections:
        """Find them.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        y : ignored
            as scikit-learn's pipelines want it

        Returns
        -------
        HiddenDirections
            itself
        """
        x: Floats = validate_data(self, X, dtype=(np.float64, np.float32)).astype(np.float64, copy=False)
        rows, columns = x.shape
        self.mean_ = x.mean(axis=0)
        deviation = x.std(axis=0)
        varies = deviation > ROUNDING * np.maximum(np.abs(self.mean_), 1.0)
        self.directions_ = np.zeros((columns, 0))
        chance = (1.0 - np.sqrt(min(np.sum(varies) / rows, 1.0))) ** 2
        if chance == 0.0 or np.sum(varies) < 2:
            return self
        z = x[:, varies]
        z -= self.mean_[varies]
        z /= deviation[varies]
        variances, axes = np.linalg.eigh(z.T @ z / rows)
        hidden = (variances > ROUNDING) & (variances < HIDDEN * chance)
        self.directions_ = np.zeros((columns, int(np.sum(hidden))))
        self.directions_[varies] = axes[:, hidden] / np.sqrt(variances[hidden]) / deviation[varies, None]
        return self

    def transform(self, X: ArrayLike) -> Array:
        """The columns, and how far each row is along the hidden directions, smoothly clipped.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, features + directions)
            floats
        """
        check_is_fitted(self)
        x: Floats = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        return self.formula(x)

    def formula(self, x: Floats) -> Floats:
        """What `transform` computes of checked rows, in plain NumPy: it can be recorded.

        Parameters
        ----------
        x : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, features + directions)
            floats
        """
        if not self.directions_.shape[1]:
            return x
        along = (x.astype(np.float64) - self.mean_) @ self.directions_
        return np.column_stack([x, smoothly_clipped(along, LIMIT)])
