"""How predictions spread: members of an ensemble and their average, a learner over many training sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.inputs import Predictor
from pellucid.markup import Brief
from pellucid.train.side_by_side import side_by_side

Number = TypeVar("Number", float, Array)


def variance_of_average(sigma2: Number, rho: Number, members: int) -> Number:
    """(1 - ρ) σ² / B + ρ σ²: variance of the mean of B predictors of variance σ² and pairwise correlation ρ.

    Averaging takes away the part of the variance that members do not share; more members never help below ρ σ². The
    mean, and with it the bias, stays what it was.

    Parameters
    ----------
    sigma2 : Number
        σ², the variance of each member
    rho : Number
        ρ, the correlation of two members
    members : int
        B, how many there are

    Returns
    -------
    number
        the variance of their mean

    Examples
    --------
    >>> variance_of_average(2.0, 0.0, 10), variance_of_average(2.0, 1.0, 10)
    (0.2, 2.0)
    """
    variance: Number = (1 - rho) * sigma2 / members + rho * sigma2
    return variance


@dataclass(frozen=True, repr=False)
class MemberReport(Brief):
    """Members beside their average, over the rows of some data.

    Parameters
    ----------
    members : int
        how many
    of : str
        "errors" where the truth is known, else "predictions"
    variance : float
        σ², the members' mean variance over the rows
    correlation : float
        ρ, their mean correlation in pairs
    predicted : float
        the variance of the average, by `variance_of_average`
    observed : float
        the one that it has
    disagreement : float
        the mean variance between members on one row
    member_scores : tuple[float, ...] | None
        each member's score, where the truth is known
    ensemble_score : float | None
        the score of the average
    """

    members: int
    of: str
    variance: float
    correlation: float
    predicted: float
    observed: float
    disagreement: float
    member_scores: tuple[float, ...] | None = None
    ensemble_score: float | None = None

    def __str__(self) -> str:
        lines = [
            f"{self.members} members, {self.of}",
            f"variance of a member σ²        {self.variance:10.4g}",
            f"correlation of two members ρ   {self.correlation:10.4g}",
            f"variance of the average        {self.observed:10.4g}   (1-ρ)σ²/B + ρσ² = {self.predicted:.4g}",
            f"variance between members       {self.disagreement:10.4g}",
        ]
        if self.member_scores is not None:
            low, high = min(self.member_scores), max(self.member_scores)
            mean = float(np.mean(self.member_scores))
            lines.append(f"score of a member              {mean:10.4f}   from {low:.4f} to {high:.4f}")
            lines.append(f"score of the ensemble          {self.ensemble_score:10.4f}")
        return "\n".join(lines)


def compare(
    outputs: ArrayLike, truth: ArrayLike = None, scores: tuple[float, ...] | None = None, score: float | None = None
) -> MemberReport:
    """The report of members' outputs, (B, n) or (B, n, k), beside the truth, (n,) or (n, k).

    >>> shared, own = np.random.default_rng(0).normal(size=1000), np.random.default_rng(1).normal(size=(4, 1000))
    >>> report = compare(shared + own)
    >>> 0.4 < report.correlation < 0.6, abs(report.predicted / report.observed - 1) < 0.05
    (True, True)
    """
    predictions = np.asarray(outputs, float)
    predictions = predictions.reshape(*predictions.shape[:2], -1)
    B, n, columns = predictions.shape
    if n < 2:
        raise ValueError(f"a report of members needs 2 rows or more, got {n}")
    errors = predictions if truth is None else predictions - np.asarray(truth, float).reshape(n, -1)
    covariances = [np.atleast_2d(np.cov(errors[:, :, c])) for c in range(columns)]
    variances = np.array([np.mean(np.diag(c)) for c in covariances])
    common = variances @ [_correlation(c) for c in covariances]
    sigma2 = float(np.mean(variances))
    rho = float(common / np.sum(variances)) if sigma2 else 0.0
    return MemberReport(
        members=B,
        of="predictions" if truth is None else "errors",
        variance=sigma2,
        correlation=rho,
        predicted=variance_of_average(sigma2, rho, B),
        observed=float(np.mean(np.var(errors.mean(axis=0), axis=0, ddof=1))),
        disagreement=float(np.mean(np.var(predictions, axis=0, ddof=1))) if B > 1 else 0.0,
        member_scores=scores,
        ensemble_score=score,
    )


def _correlation(covariance: Array) -> float:
    """Mean correlation of two different members; a member without variance has none with others."""
    B = len(covariance)
    if B == 1:
        return 1.0
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, np.inf)
    pairs = covariance / np.outer(scale, scale)
    return float((np.sum(pairs) - np.trace(pairs)) / (B * (B - 1)))


@dataclass(frozen=True, repr=False)
class BiasVariance(Brief):
    """E (ŷ - y)² = variance + bias² + noise, averaged over points; each with its standard error.

    `mse` is measured on targets with fresh noise, apart from the other three, so that their sum can be checked.

    Parameters
    ----------
    variance : float
        of predictions over training sets
    bias_squared : float
        the square of the mean prediction's distance from the truth
    noise : float
        the variance of y around the truth
    mse : float
        the mean squared error
    variance_error : float
        standard error of the variance
    bias_squared_error : float
        of the squared bias
    mse_error : float
        of the mean squared error
    repetitions : int
        training sets
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
        lines = [f"{name:<18}{value:10.4g} ± {error:.2g}" for name, value, error in rows]
        return "\n".join([f"{self.repetitions} training sets", *lines])


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
    """Train on many data sets, and split the squared error at some points into its parts.

    Repetitions run side by side and have random numbers of their own: the number of threads changes nothing. Bias²
    is corrected for the variance that is left in the mean of finitely many repetitions, so it may come out slightly
    below 0.

    Parameters
    ----------
    make_estimator : Callable[[int], Predictor]
        `make_estimator(seed)` gives an unfitted regressor
    draw_data : Callable[[np.random.Generator], tuple[ArrayLike, ArrayLike]]
        `draw_data(rng)` gives a training set (X, y)
    truth : Callable[[Array], ArrayLike]
        the mean of y at x, (n,) or (n, outputs)
    x : array of shape (n, features)
        the points
    repetitions : int
        training sets
    noise : float
        the deviation of y around the truth
    seed : int
        of the draws
    threads : int | None
        at most; None is all processors
    verbose : bool
        show how many are done

    Returns
    -------
    BiasVariance
        print it

    Examples
    --------
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
        answers = np.asarray(estimator.fit(X, y).predict(x), float)
        if answers.shape != f.shape:
            raise ValueError(f"truth(x) has shape {f.shape}, but predictions have shape {answers.shape}")
        target = f + noise * rng.normal(size=f.shape)
        return answers.ravel(), float(np.mean((answers - target) ** 2))

    works = [partial(once, sequence) for sequence in np.random.SeedSequence(seed).spawn(repetitions)]
    outcomes = side_by_side(works, threads=threads, verbose=verbose, what="bias_variance, repetition")
    predictions, losses = np.stack([p for p, _ in outcomes]), np.array([m for _, m in outcomes])
    variance, bias = _parts(predictions, f.ravel())
    left_out = np.array([_parts(np.delete(predictions, i, axis=0), f.ravel()) for i in range(repetitions)])
    errors = np.std(left_out, axis=0) * np.sqrt(repetitions - 1)  # the jackknife
    return BiasVariance(
        variance,
        bias,
        float(noise) ** 2,
        float(losses.mean()),
        float(errors[0]),
        float(errors[1]),
        float(losses.std(ddof=1) / np.sqrt(repetitions)),
        repetitions,
    )


def _parts(predictions: Array, f: Array) -> tuple[float, float]:
    """Unbiased estimates of variance and bias², averaged over points.   predictions: (repetitions, n)"""
    variance = float(np.mean(np.var(predictions, axis=0, ddof=1)))
    bias = float(np.mean((predictions.mean(axis=0) - f) ** 2)) - variance / len(predictions)
    return variance, bias
