"""Losses of numbers: squared, absolute, Huber, quantiles, normal distributions, counts and positive numbers.

They average over outputs, so that more outputs do not change the scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pellucid.amounts import is_number
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.primitives.control import stop_gradient
from pellucid.nn.losses.link import EXP, Link, bounded_exp
from pellucid.nn.losses.loss import Loss, must, over_outputs, refuse
from pellucid.precision import like


@dataclass(frozen=True)
class SquaredError(Loss):
    """(s - y)², averaged over outputs. Predicts the mean."""

    name = "squared_error"
    formula = "(s - y)²"

    def each(self, s: Any, y: Any) -> Any:
        return over_outputs(np.square(s - y))


@dataclass(frozen=True)
class HalfSquaredError(Loss):
    """(s - y)² / 2, whose slope is the error s - y itself (the lectures' J; ADALINE's rule is its gradient descent)."""

    name = "half_squared_error"
    formula = "½ (s - y)²"

    def each(self, s: Any, y: Any) -> Any:
        return 0.5 * over_outputs(np.square(s - y))


@dataclass(frozen=True)
class AbsoluteError(Loss):
    """|s - y|, averaged over outputs; slope 0 where they are equal. Predicts the median."""

    name = "absolute_error"
    formula = "|s - y|"

    def each(self, s: Any, y: Any) -> Any:
        return over_outputs(np.abs(s - y))


@dataclass(frozen=True)
class Huber(Loss):
    """(s - y)² / 2 for errors up to `delta`, then linear with slope delta."""

    delta: Any = 1.0

    name = "huber"
    formula = "½ r² if |r| ≤ δ, else δ (|r| - ½ δ);  r = s - y"
    reference = "Huber, 1964"

    def __post_init__(self) -> None:
        must(self, "delta", "a number above 0", lambda v: 0 < v < np.inf)

    def each(self, s: Any, y: Any) -> Any:
        r, delta = s - y, like(self.delta, s)
        inner = np.clip(r, -delta, delta)
        return over_outputs(inner * (r - 0.5 * inner))


@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss of several quantiles at once, averaged over quantiles and outputs; slope ½ - τ where s = y.

    Scores lie side by side: q for the first column of the target, q for the second, ... Predictions are sorted within
    each group, for quantiles must not cross (Chernozhukov et al., 2010).
    """

    quantiles: Any = (0.5,)

    name = "quantile"
    formula = "max(τ (y - s), (τ - 1) (y - s))"
    reference = "Koenker and Bassett, 1978"

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantiles", tuple(np.atleast_1d(self.quantiles).tolist()))
        fine = lambda v: len(v) > 0 and all(map(is_number, v)) and all(np.diff((0.0, *v, 1.0)) > 0)
        must(self, "quantiles", "increasing numbers between 0 and 1", fine)

    @property
    def per_output(self) -> int:
        return len(self.quantiles)

    def each(self, s: Any, y: Any) -> Any:
        tau = np.asarray(self.quantiles, s.dtype)
        r = y[:, :, None] - self._grouped(s)
        return np.mean(np.maximum(tau * r, (tau - 1.0) * r), axis=(1, 2))

    @property
    def link(self) -> Link:  # type: ignore[override]
        return Link("sorted", self._sorted, idempotent=True)

    def _sorted(self, scores: Any) -> Any:
        return np.reshape(np.sort(self._grouped(scores), axis=-1), scores.shape)

    def _grouped(self, s: Any) -> Any:
        return np.reshape(s, (*s.shape[:-1], s.shape[-1] // self.per_output, self.per_output))


@dataclass(frozen=True)
class Gaussian(Loss):
    """A normal distribution for every row: minus the log-likelihood, without ½ log 2π, averaged over outputs.

    Two scores for each column of the target, side by side, mean and logarithm of the deviation; so are predictions,
    mean and deviation. The variance never falls below `floor`²: else a row that is met exactly would pull without end.

    `beta` above 0 multiplies the gradient of each row by σ^(2 beta), the value stays: rows that are called uncertain
    are else not learned any more, and remain so. 0.5 finds better means and likelihoods where there is little noise.
    """

    floor: Any = 1e-3
    beta: Any = 0.0

    name = "gaussian"
    formula = "log σ + ½ ((y - μ) / σ)²;  μ = s₁, σ² = exp(2 s₂) + floor²"
    reference = "Nix and Weigend, 1994; beta: Seitzer et al., 2022"

    def __post_init__(self) -> None:
        must(self, "floor", "a number above 0", lambda v: 0 < v < np.inf)
        must(self, "beta", "a number from 0 to 1", lambda v: 0 <= v <= 1)

    @property
    def per_output(self) -> int:
        return 2

    @property
    def point(self) -> int:
        return 0

    def each(self, s: Any, y: Any) -> Any:
        mean, log_deviation = self._parts(s)
        each = log_deviation + 0.5 * np.square(y - mean) * np.exp(-2.0 * log_deviation)
        if type(self.beta) is Tracer or self.beta:
            factor = stop_gradient(bounded_exp(like(2.0 * self.beta, s) * log_deviation))
            each = each + (factor - 1.0) * (each - stop_gradient(each))
        return over_outputs(each)

    @property
    def link(self) -> Link:  # type: ignore[override]
        return Link("mean and deviation", self._mean_and_deviation)

    def _mean_and_deviation(self, scores: Any) -> Any:
        mean, log_deviation = self._parts(scores)
        return np.reshape(np.stack([mean, bounded_exp(log_deviation)], axis=-1), scores.shape)

    def _parts(self, s: Any) -> tuple[Any, Any]:
        """Means and logarithms of deviations.   (n, 2 outputs) -> two of (n, outputs)"""
        pairs = np.reshape(s, (s.shape[0], s.shape[1] // 2, 2))
        lowest = like(np.log(self.floor), s)
        above = pairs[:, :, 1] - lowest
        return pairs[:, :, 0], lowest - 0.5 * special.log_expit(-2.0 * above)  # log sqrt(exp(2 s) + floor²)


@dataclass(frozen=True)
class Poisson(Loss):
    """Counts with mean exp(s): minus the log-likelihood, without what does not depend on s.

    `constant=True` adds log y!; `constant="deviance"` what makes it half the deviance, 0 where exp(s) = y.
    """

    constant: bool | str = False

    name = "poisson"
    formula = "exp(s) - y s"
    link = EXP
    target = "numbers from 0, (n,) or (n, outputs)"

    def __post_init__(self) -> None:
        if not isinstance(self.constant, bool) and self.constant != "deviance":
            raise ValueError(f"poisson: constant is False, True or 'deviance', got {self.constant!r}")

    def each(self, s: Any, y: Any) -> Any:
        each = bounded_exp(s) - y * s
        if self.constant == "deviance":
            return over_outputs(each + y * np.log(np.where(y > 0, y, 1.0)) - y)
        return over_outputs(each + special.gammaln(y + 1.0) if self.constant else each)

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        y = super().prepare(y, outputs)
        refuse(self, y, y < 0, "a count from 0")
        return y


@dataclass(frozen=True)
class Gamma(Loss):
    """Positive numbers with mean exp(s) and constant relative spread: -log-likelihood up to a factor and a constant."""

    name = "gamma"
    formula = "y exp(-s) + s"
    link = EXP
    target = "numbers above 0, (n,) or (n, outputs)"

    def each(self, s: Any, y: Any) -> Any:
        return over_outputs(y * bounded_exp(-s) + s)

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        y = super().prepare(y, outputs)
        refuse(self, y, y <= 0, "a number above 0")
        return y
