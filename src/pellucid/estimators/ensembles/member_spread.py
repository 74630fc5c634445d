"""How much the members of an ensemble differ, and what averaging them is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pellucid.data.types import Array, ArrayLike
from pellucid.markup import Brief

Number = TypeVar("Number", float, Array)


def variance_of_average(sigma2: Number, rho: Number, members: int) -> Number:
    """(1 - ρ) σ² / B + ρ σ²: variance of the mean of B predictors of variance σ² and pairwise correlation ρ.

    Averaging takes away the part of the variance that members do not share; more members never help below ρ σ². The
    mean, and with it the bias, stays what it was.

    >>> variance_of_average(2.0, 0.0, 10), variance_of_average(2.0, 1.0, 10)
    (0.2, 2.0)
    """
    variance: Number = (1 - rho) * sigma2 / members + rho * sigma2
    return variance


@dataclass(frozen=True, repr=False)
class MemberReport(Brief):
    """Members beside their average, over the rows of some data.

    `variance` (σ²) is the members' mean variance over the rows, `correlation` (ρ) their mean correlation in pairs:
    of their errors where the truth is known, else of their predictions. `predicted` is the variance of the average by
    `variance_of_average`, `observed` the one that it has. `disagreement` is the mean variance between members on one
    row.
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
    shared = variances @ [_correlation(c) for c in covariances]
    sigma2 = float(np.mean(variances))
    rho = float(shared / np.sum(variances)) if sigma2 else 0.0
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
