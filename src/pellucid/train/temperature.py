"""How sure scores are: the temperature that makes probabilities fit rows that were not trained on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

LOWEST, HIGHEST = -math.log(100.0), 16.0
"""ln beta lies between: scores over more than 100 would tie in float32, and classes change."""

BELIEF = 4.0
"""How strongly scores are believed to be as sure as they should: as by rows that tell ln beta with a deviation of 1/2.

It is k in a prior beta^k exp(-k beta), the most likely of which is 1. Rows that are all told right, however many, say
only that beta is large: without a prior they would make every answer certain."""


def temperature(scores: Any, y: Any, weights: Any = None, precision: float = 1e-8) -> float:
    """The T that makes the probabilities of scores / T fit the target best (Guo et al., 2017).

    The log loss is convex in beta = 1/T, and its slope there is E[z] - z_y: the mean of the scores under the
    probabilities that beta gives, minus the score of the truth. With the belief that beta is about 1, k (1 - 1/beta),
    the slope still rises with beta, so bisection of ln beta finds where it is 0; Newton's steps are taken in its place
    where they stay inside, and get there in a few.
    Neither the classes nor their order change by a temperature.

    Parameters
    ----------
    scores : array of shape (n, k)
        one for each class; one for two classes, or one for each of several labels
    y : array of shape (n,) or (n, k)
        numbers of classes; zeros and ones where scores are those of labels
    weights : array of shape (n,)
        how much each row counts
    precision : float
        of ln beta

    Returns
    -------
    float
        T

    Examples
    --------
    >>> scores, y = np.array([[2.0], [2.0], [2.0], [-2.0]]), np.array([1, 1, 0, 0])
    >>> sure = special.expit(2.0 / temperature(scores, y))
    >>> bool(0.75 < sure < special.expit(2.0))
    True
    """
    z = np.asarray(scores, np.float64)
    together = z.shape[1] > 1 and np.ndim(y) == 1
    if together:
        z = z - np.max(z, axis=1, keepdims=True)  # the same probabilities, and nothing overflows
    counts = np.ones(len(z)) if weights is None else np.asarray(weights, np.float64)
    counts = counts / max(float(counts.max()), 1e-300)  # their unit does not matter
    if not counts.any() or not np.isfinite(z).all() or not np.any(z):
        return 1.0

    squares = z * z

    def moments(beta: float) -> tuple[Any, Any]:
        """Mean and variance of the scores of each row, under its probabilities; of labels their sums."""
        if together:
            odds = np.exp(beta * z)
            total = odds.sum(axis=1)
            mean = np.einsum("ij,ij->i", z, odds) / total
            return mean, np.einsum("ij,ij->i", squares, odds) / total - mean**2
        shares = special.expit(beta * z)
        return np.einsum("ij,ij->i", z, shares), np.einsum("ij,ij->i", squares, shares * (1 - shares))

    if together:
        true = np.take_along_axis(z, np.asarray(y, np.int64)[:, None], axis=1)[:, 0]
    else:
        true = np.sum(z * np.asarray(y, np.float64).reshape(len(z), -1), axis=1)
    low, here, high = LOWEST, 0.0, HIGHEST
    mean, variance = moments(1.0)
    while high - low > precision:
        beta = math.exp(here)
        slope = counts @ (mean - true) + BELIEF * (1 - 1 / beta)
        rise = beta * (counts @ variance) + BELIEF / beta  # of the slope, along ln beta
        low, high = (low, here) if slope > 0 else (here, high)
        step = slope / rise if rise > 0 else math.inf
        if low < here - step < high:
            here -= step
            if abs(step) <= precision:
                break
        else:
            here = (low + high) / 2
        mean, variance = moments(math.exp(here))
    return math.exp(-here)


def calibrated_log_loss(y: Any, scores: Any, sample_weight: Any = None) -> float:
    """The log loss of rows after their own best temperature: what a network knows, apart from how sure it is.

    Parameters
    ----------
    y : array of shape (n,) or (n, k)
        as for `temperature`
    scores : array of shape (n,) or (n, k)
        of the network
    sample_weight : array of shape (n,)
        how much each row counts

    Returns
    -------
    float
        mean of -log of the probability of the truth; of labels the sum over them
    """
    z = np.asarray(scores, np.float64).reshape(len(y), -1)
    z = z / temperature(z, y, sample_weight, precision=1e-4)
    if z.shape[1] > 1 and np.ndim(y) == 1:
        logs = np.take_along_axis(special.log_softmax(z, axis=1), np.asarray(y, np.int64)[:, None], axis=1)[:, 0]
    else:
        truth = np.asarray(y, np.float64).reshape(len(z), -1)
        logs = np.sum(truth * special.log_expit(z) + (1 - truth) * special.log_expit(-z), axis=1)
    share = 1 / (len(z) + 1)  # as predictions are mixed: one row that is certain and wrong does not decide alone
    base = np.log(share / max(z.shape[1], 2))
    return float(-np.average(np.logaddexp(logs + np.log1p(-share), base), weights=sample_weight))
