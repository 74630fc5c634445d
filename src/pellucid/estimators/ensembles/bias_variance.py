"""Bias and variance of a learner, by Monte Carlo: where its error comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.protocols import Predictor
from pellucid.markup import Brief
from pellucid.train.side_by_side import side_by_side


@dataclass(frozen=True, repr=False)
class BiasVariance(Brief):
    """E (ŷ - y)² = variance + bias² + noise, averaged over points; each with its standard error.

    `mse` is measured on targets with fresh noise, apart from the other three, so that their sum can be checked.
    """

    variance: float
    bias_squared: float
    noise: float
    mse: float
    variance_error: float
    bias_squared_error: float
    mse_error: float
    repetitions: int

    @property
    def total(self) -> float:
        """variance + bias² + noise: what `mse` is on average."""
        return self.variance + self.bias_squared + self.noise

    def __str__(self) -> str:
        rows = [
            ("variance", self.variance, self.variance_error),
            ("bias²", self.bias_squared, self.bias_squared_error),
            ("noise σ²", self.noise, 0.0),
            ("their sum", self.total, float(np.hypot(self.variance_error, self.bias_squared_error))),
            ("measured E(ŷ-y)²", self.mse, self.mse_error),
        ]
        lines = [f"{self.repetitions} training sets"]
        return "\n".join(lines + [f"{name:<18}{value:10.4g} ± {error:.2g}" for name, value, error in rows])


def bias_variance(
    make_estimator: Callable[[int], Predictor],
    draw_data: Callable[[np.random.Generator], tuple[ArrayLike, ArrayLike]],
    truth: Callable[[Array], ArrayLike],
    x: Array,
    repetitions: int = 100,
    noise: float = 0.0,
    *,
    seed: int = 0,
    threads: int | None = None,
    verbose: bool = False,
) -> BiasVariance:
    """Train on many data sets, and split the squared error at the points `x`, (n, features), into its parts.

    `make_estimator(seed)` gives an unfitted regressor, `draw_data(rng)` a training set (X, y), `truth(x)` the mean of
    y at x, (n,) or (n, outputs); `noise` is the deviation of y around it. Repetitions run side by side and have random
    numbers of their own: the number of threads changes nothing. Bias² is corrected for the variance that is left in
    the mean of finitely many repetitions, so it may come out slightly below 0.

    >>> from sklearn.linear_model import LinearRegression
    >>> def draw(rng):
    ...     X = rng.uniform(-1, 1, (30, 1))
    ...     return X, X[:, 0] ** 2 + rng.normal(0, 0.1, 30)
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> parts = bias_variance(lambda seed: LinearRegression(), draw, lambda x: x[:, 0] ** 2, x, 50, 0.1)
    >>> bool(parts.bias_squared > 5 * parts.variance), abs(parts.total - parts.mse) < 4 * parts.mse_error
    (True, True)
    """
    if repetitions < 3:
        raise ValueError(f"bias and variance need 3 repetitions or more, got {repetitions!r}")
    if noise < 0:
        raise ValueError(f"noise is a deviation, a number from 0, got {noise!r}")
    f = np.asarray(truth(x), float)

    def once(sequence: np.random.SeedSequence) -> tuple[Array, float]:
        rng = np.random.default_rng(sequence)
        X, y = draw_data(rng)
        estimator = make_estimator(int(rng.integers(2**31 - 1)))
        if hasattr(estimator, "set_params") and "threads" in getattr(estimator, "get_params", dict)():
            estimator.set_params(threads=1)
        predicted = np.asarray(estimator.fit(X, y).predict(x), float)
        if predicted.shape != f.shape:
            raise ValueError(f"truth(x) has shape {f.shape}, but predictions have shape {predicted.shape}")
        target = f + noise * rng.normal(size=f.shape)
        return predicted.ravel(), float(np.mean((predicted - target) ** 2))

    sequences = np.random.SeedSequence(seed).spawn(repetitions)
    works = [partial(once, sequence) for sequence in sequences]
    outcomes = side_by_side(works, threads=threads, verbose=verbose, what="bias_variance, repetition")
    predictions, measured = np.stack([p for p, _ in outcomes]), np.array([m for _, m in outcomes])
    variance, bias = _parts(predictions, f.ravel())
    left_out = np.array([_parts(np.delete(predictions, i, axis=0), f.ravel()) for i in range(repetitions)])
    errors = np.std(left_out, axis=0) * np.sqrt(repetitions - 1)  # the jackknife
    return BiasVariance(
        variance,
        bias,
        float(noise) ** 2,
        float(measured.mean()),
        float(errors[0]),
        float(errors[1]),
        float(measured.std(ddof=1) / np.sqrt(repetitions)),
        repetitions,
    )


def _parts(predictions: Array, f: Array) -> tuple[float, float]:
    """Unbiased estimates of variance and bias², averaged over points.   predictions: (repetitions, n)"""
    variance = float(np.mean(np.var(predictions, axis=0, ddof=1)))
    bias = float(np.mean((predictions.mean(axis=0) - f) ** 2)) - variance / len(predictions)
    return variance, bias
