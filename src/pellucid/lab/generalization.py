"""Fits that are too simple and too flexible: polynomials through noisy points, bias and variance by size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from pellucid.estimators.ensembles.spread import BiasVariance, bias_variance
from pellucid.estimators.inputs import Predictor
from pellucid.lab.costs import text_table
from pellucid.markup import Brief

NOISE = 0.3
"""Deviation of the targets around the curve, as in Bishop (2006, section 1.1)."""


def curve(x: Any) -> Any:
    """sin(2πx), what all fits of this page look for.

    >>> float(curve(0.25))
    1.0
    """
    return np.sin(2 * np.pi * np.asarray(x, float))


def points(n: int, noise: float = NOISE, rng: np.random.Generator | None = None) -> tuple[Any, Any]:
    """n points from 0 to 1 at equal distances, and the curve there with normal noise.   -> x (n,), y (n,)"""
    x = np.linspace(0.0, 1.0, n)
    rng = np.random.default_rng(0) if rng is None else rng
    return x, curve(x) + noise * rng.normal(size=n)


def rmse(y: Any, predicted: Any) -> float:
    """Root of the mean squared error.

    >>> rmse([0.0, 0.0, 0.0, 0.0], [2.0, 2.0, -2.0, 2.0])
    2.0
    """
    return float(np.sqrt(np.mean((np.asarray(y, float) - predicted) ** 2)))


@dataclass(frozen=True, repr=False)
class CurveFits(Brief):
    """Polynomials of several degrees through the same points; errors on these and on fresh ones.

    `largest` is the largest coefficient of each, in powers of x.
    """

    x: Any
    y: Any
    degrees: tuple[int, ...]
    fits: tuple[Polynomial, ...]
    train: tuple[float, ...]
    test: tuple[float, ...]
    largest: tuple[float, ...]

    def at(self, degree: int) -> Polynomial:
        """The fit of this degree, a function of x."""
        return self.fits[self.degrees.index(degree)]

    @property
    def best(self) -> int:
        """The degree with the smallest error on the fresh points."""
        return self.degrees[int(np.argmin(self.test))]

    def table(self) -> str:
        rows = [
            [degree, f"{train:.3f}", f"{test:.3f}", f"{largest:,.1f}"]
            for degree, train, test, largest in zip(self.degrees, self.train, self.test, self.largest, strict=True)
        ]
        return text_table(["degree", "RMSE train", "RMSE test", "largest coefficient"], rows)

    __str__ = table


def curve_fits(
    n: int = 10, degrees: Sequence[int] = range(10), noise: float = NOISE, test: int = 100, seed: int = 11
) -> CurveFits:
    """Bishop's example: least squares fits of degree M to n points of sin(2πx) + noise, tested on fresh points.

    A polynomial of degree n - 1 goes through all n points: no error there, and a large one elsewhere. Data sets
    differ much; that of seed 11 is a usual one: its test error at degree 9 is near the median of `more_data`.

    >>> found = curve_fits()
    >>> found.best, found.train[9] < 1e-10, found.test[9] > 1.9 * found.test[3]
    (3, True, True)
    """
    if max(degrees) >= n:
        raise ValueError(f"{n} points determine a polynomial of degree {n - 1} at most, got degree {max(degrees)}")
    rng = np.random.default_rng(seed)
    x, y = points(n, noise, rng)
    fresh_x, fresh_y = points(test, noise, rng)
    fits = tuple(Polynomial.fit(x, y, degree) for degree in degrees)
    return CurveFits(
        x,
        y,
        tuple(degrees),
        fits,
        tuple(rmse(y, fit(x)) for fit in fits),
        tuple(rmse(fresh_y, fit(fresh_x)) for fit in fits),
        tuple(float(np.abs(fit.convert().coef).max()) for fit in fits),
    )


@dataclass(frozen=True, repr=False)
class MoreData(Brief):
    """For each number of points the median error of one degree, on these points and on fresh ones."""

    degree: int
    sizes: tuple[int, ...]
    train: tuple[float, ...]
    test: tuple[float, ...]

    def table(self) -> str:
        rows = [[n, f"{a:.3f}", f"{b:.3f}"] for n, a, b in zip(self.sizes, self.train, self.test, strict=True)]
        return text_table(["points", "RMSE train", "RMSE test"], rows)

    __str__ = table


def more_data(
    sizes: Sequence[int] = (10, 15, 30, 100, 1000), degree: int = 9, repetitions: int = 100, seed: int = 0
) -> MoreData:
    """The same flexible polynomial overfits less, the more points there are; both errors go to the noise, 0.3.

    >>> found = more_data((10, 100), repetitions=20)
    >>> found.test[0] > found.test[1]
    True
    """
    errors = [
        [(f.train[0], f.test[0]) for f in (curve_fits(n, (degree,), seed=seed + i) for i in range(repetitions))]
        for n in sizes
    ]
    train, test = np.median(np.array(errors), axis=1).T.tolist()
    return MoreData(degree, tuple(sizes), tuple(train), tuple(test))


class PolynomialRegressor:
    """Least squares with powers of one feature up to `degree`, as an estimator.   X: (n, 1)"""

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def fit(self, X: Any, y: Any) -> PolynomialRegressor:
        self.fit_ = Polynomial.fit(X[:, 0], y, self.degree, domain=[0.0, 1.0])
        return self

    def predict(self, X: Any) -> Any:
        return self.fit_(X[:, 0])


class _Noting:
    """An estimator that writes down its mean squared error on the rows it was fitted to."""

    def __init__(self, estimator: Predictor, errors: list[float]) -> None:
        self.estimator, self.errors = estimator, errors

    def fit(self, X: Any, y: Any) -> _Noting:
        self.estimator.fit(X, y)
        self.errors.append(rmse(y, self.estimator.predict(X)) ** 2)
        return self

    def predict(self, X: Any) -> Any:
        return self.estimator.predict(X)


@dataclass(frozen=True, repr=False)
class BySize(Brief):
    """Bias², variance and errors of models of several sizes. `train` is the mean squared error on training rows."""

    sizes: tuple[int, ...]
    parts: tuple[BiasVariance, ...]
    train: tuple[float, ...]

    @property
    def best(self) -> int:
        """The size with the smallest measured error."""
        return self.sizes[int(np.argmin([part.mse for part in self.parts]))]

    def table(self) -> str:
        rows = [
            [size, *(f"{v:.3f}" for v in (part.bias_squared, part.variance, part.noise, part.total, part.mse, train))]
            for size, part, train in zip(self.sizes, self.parts, self.train, strict=True)
        ]
        return text_table(["size", "bias²", "variance", "noise", "their sum", "measured MSE", "train MSE"], rows)

    __str__ = table


def bias_variance_by_size(
    sizes: Sequence[int] = range(10),
    make: Callable[[int, int], Any] = lambda size, seed: PolynomialRegressor(size),
    n: int = 20,
    repetitions: int = 200,
    noise: float = NOISE,
    seed: int = 0,
) -> BySize:
    """E(ŷ - y)² = bias² + variance + noise for each size of a model: the first falls with it, the second rises.

    The mean is over training sets, their noise, and the noise of the target that is predicted (the lecture writes the
    first only). `make(size, seed)` gives an unfitted regressor: by default a polynomial of this degree.

    >>> found = bias_variance_by_size((0, 3, 9), repetitions=50)
    >>> simple, _, flexible = found.parts
    >>> simple.bias_squared > 10 * simple.variance, flexible.variance > 10 * flexible.bias_squared, found.best
    (True, True, 3)
    """
    x = np.linspace(0.0, 1.0, 101)[:, None]

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = points(n, noise, rng)
        return X[:, None], y

    parts, train = [], []
    for size in sizes:
        errors: list[float] = []
        maker = lambda seed, size=size, errors=errors: _Noting(make(size, seed), errors)
        parts.append(bias_variance(maker, draw, lambda x: curve(x[:, 0]), x, repetitions, noise, seed=seed))
        train.append(float(np.mean(sorted(errors))))  # threads finish in any order
    return BySize(tuple(sizes), tuple(parts), tuple(train))
