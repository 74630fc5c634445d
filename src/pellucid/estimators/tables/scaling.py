"""Scales of numeric columns: robust with a smooth clip, and scikit-learn's scalers by name."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.amounts import check_number
from pellucid.data.row_parts import by_parts
from pellucid.data.types import Array, ArrayLike, Floats
from pellucid.estimators.inputs import checked_weights
from pellucid.estimators.tables.clipping import smoothly_clipped
from pellucid.estimators.tables.hidden_directions import HiddenDirections
from pellucid.processors import default_threads


def weighted_quantiles(x: Floats, shares: tuple[float, ...], weights: Array | None = None) -> Floats:
    """Quantiles of each column, by linear interpolation; a row of weight 2 counts as two rows.   -> (shares, columns)

    >>> weighted_quantiles(np.array([[1.0], [2.0], [4.0]]), (0.5,), np.array([1, 0, 1])).tolist()
    [[2.5]]
    """
    if weights is None:
        with ThreadPoolExecutor(default_threads()) as pool:  # NumPy puts a column in order without Python's lock
            return np.stack(list(pool.map(lambda column: np.quantile(column, shares), x.T)), axis=1)
    if np.any(weights != np.rint(weights)):
        weights = weights * (len(weights) / np.sum(weights))  # shares, not counts: rows of weight 1 on average
    order = np.argsort(x, axis=0, kind="stable")
    last = np.cumsum(weights[order], axis=0)  # rows up to here, if each were repeated
    quantiles = np.empty((len(shares), x.shape[1]))
    for j in range(x.shape[1]):
        values, ends = x[order[:, j], j], last[:, j]
        for i, share in enumerate(shares):
            place = share * (ends[-1] - 1.0)
            low, high = np.searchsorted(ends, (np.floor(place), np.ceil(place)), side="right")
            low, high = min(low, len(values) - 1), min(high, len(values) - 1)
            quantiles[i, j] = values[low] + (place - np.floor(place)) * (values[high] - values[low])
    return quantiles


class SmoothRobustScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """(x - median) / (q75 - q25), then x / sqrt(1 + (x / limit)²) as RealMLP has it, with a tail beyond ±limit.

    So outliers do no harm, and yet a thousand is not a million: where few rows reach so far, that may be what matters.
    Where both quartiles are equal, half the range takes the place of their distance; a constant column becomes 0.

    Parameters
    ----------
    limit : float
        up to where numbers are nearly as they are
    tail : float
        what each factor of ten adds beyond it, up to a thousand million times the limit; 0 ends at ±limit

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [1000.0]])
    >>> SmoothRobustScaler().fit_transform(x).ravel().round(3).tolist()
    [-0.956, -0.494, 0.0, 0.494, 5.221]
    >>> SmoothRobustScaler(tail=0.0).fit_transform(x).ravel().round(3).tolist()
    [-0.949, -0.493, 0.0, 0.493, 3.0]
    """

    def __init__(self, limit: float = 3.0, tail: float = 1.0) -> None:
        self.limit = limit
        self.tail = tail

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike = None) -> SmoothRobustScaler:
        """Learn medians and scales.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        y : ignored
            as scikit-learn's pipelines want it
        sample_weight : array of shape (n,)
            how much each row counts

        Returns
        -------
        SmoothRobustScaler
            itself
        """
        check_number("a number above 0", above=True, limit=self.limit)
        check_number("a number from 0", tail=self.tail)
        x: Floats = validate_data(self, X, dtype=(np.float64, np.float32))
        weights = checked_weights(sample_weight, len(x))
        if weights is not None:
            x, weights = x[weights > 0], weights[weights > 0]
        low, self.center_, high = weighted_quantiles(x, (0.25, 0.5, 0.75), weights)
        width = high - low
        reach = 0.5 * (x.max(axis=0) - x.min(axis=0))
        width = np.where(width > 0, width, reach)
        self.scale_ = np.where(width > 0, width, np.inf)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Scale, and clip smoothly, but for the tail.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, features)
            each within ±(limit + 9 tail)
        """
        check_is_fitted(self)
        x: Floats = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        with np.errstate(over="ignore"):
            return self.formula(x).astype(x.dtype, copy=False)

    def formula(self, x: Floats) -> Floats:
        """What `transform` computes of checked rows, in plain NumPy: it can be recorded.

        Parameters
        ----------
        x : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, features)
            each within ±(limit + 9 tail)
        """
        return smoothly_clipped((x - self.center_) / self.scale_, self.limit, self.tail)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


SCALERS: dict[str | None, Callable[[int], list[TransformerMixin]]] = {
    "robust": lambda rows: [SmoothRobustScaler()],
    "separate": lambda rows: [SmoothRobustScaler(), HiddenDirections()],
    "standard": lambda rows: [StandardScaler()],
    "quantile": lambda rows: [
        QuantileTransformer(
            n_quantiles=min(max(min(rows // 30, 1000), 10), rows),
            output_distribution="normal",
            subsample=100_000,
            random_state=0,
        )
    ],
    "pca": lambda rows: [StandardScaler(), PCA(svd_solver="full")],
    "whiten": lambda rows: [StandardScaler(), PCA(whiten=True, svd_solver="full")],
    "centre": lambda rows: [StandardScaler(with_std=False)],
    None: lambda rows: [],
}
"""By the parameter `scaling`: transformers, one after the other, for the numeric columns of so many rows.

"separate" is "robust" with what nearly equal columns differ by beside it; "centre" only subtracts the mean; "pca" turns
standardised columns so that they are uncorrelated; "whiten" also gives each the variance 1.
"""


def scaled_by(scaler: TransformerMixin, x: Floats) -> Floats:
    """What a fitted scaler makes of rows that are known to be finite floats; ours need not look at them again."""
    if not isinstance(scaler, SmoothRobustScaler | HiddenDirections):
        scaled: Floats = scaler.transform(x)
        return scaled
    with np.errstate(over="ignore"):
        return scaler.formula(x)


def _scaled(scaler: TransformerMixin, X: Floats) -> Floats:
    """The same of many rows; in the memory they lie column by column."""
    return by_parts(lambda some: scaled_by(scaler, X[some]), len(X), "F")


def fit_scalers(scalers: list[TransformerMixin], X: Array, sample_weight: Array | None = None) -> int:
    """Fit them one after the other; returns how many columns they make.   X: (n, columns)

    Weights count where a scaler has a use for them.
    """
    for number, scaler in enumerate(scalers):
        if number:
            X = _scaled(scalers[number - 1], X)
        counting = isinstance(scaler, StandardScaler | SmoothRobustScaler)
        with np.errstate(invalid="ignore"):  # PCA's shares of no variance at all, where all columns are constant
            scaler.fit(X, **({"sample_weight": sample_weight} if counting else {}))
        if isinstance(scaler, PCA):  # directions without variance would be whitened into noise
            spread = scaler.explained_variance_
            rank = int(np.sum(spread > 1e-10 * max(float(spread[0]), 1e-300)))
            with np.errstate(invalid="ignore"):
                scaler.set_params(n_components=max(rank, 1)).fit(X)
    return int(scalers[-1].transform(X[:1]).shape[1]) if scalers else X.shape[1]
