"""Targets of numbers: as they are, or standardised for training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from typing import ClassVar

import numpy as np
from sklearn.metrics import d2_pinball_score, r2_score

from pellucid import nn
from pellucid.amounts import Condition, is_number
from pellucid.data.types import Array
from pellucid.estimators.mlp_parameters import Loss
from pellucid.estimators.target import Calibration, Target
from pellucid.nn.losses.link import LinkKind
from pellucid.nn.losses.numbers import Gaussian, Poisson, Quantile
from pellucid.train import METRICS, Metric

NAMED = {
    "squared_error": nn.loss("half_squared_error"),
    "poisson": Poisson("deviance"),
    "gaussian": Gaussian(beta=0.5),
}
"""What estimators mean by these names: for the first two what scikit-learn means."""

SUMMED = (type(NAMED["squared_error"]), Poisson)
"""Losses of which several outputs are added up, as in scikit-learn."""


@dataclass(frozen=True)
class Units:
    """How numbers are standardised: (y - shift) / factor, of each column."""

    shift: Array
    factor: Array

    def standardised(self, y: Array) -> Array:
        """(n,) or (n, columns), of the same shape."""
        columns = (y.reshape(len(y), -1) - self.shift) / self.factor
        return columns[:, 0] if y.ndim == 1 else columns

    def own(self, numbers: Array) -> Array:
        """The way back, for (n,) or (n, columns · numbers for each)."""
        flat = (numbers[:, None] if numbers.ndim == 1 else numbers).astype(np.float64)
        each = flat.shape[1] // len(self.shift)
        own: Array = flat * np.repeat(self.factor, each) + np.repeat(self.shift, each)
        return own.reshape(numbers.shape)

    def own_widths(self, widths: Array) -> Array:
        """The way back for distances, (n,) or (n, columns): they have a size and no place."""
        return np.asarray(widths.reshape(len(widths), -1) * self.factor).reshape(widths.shape)


@dataclass(frozen=True, eq=False)
class NumberTarget(Target):
    """Numbers, with the units that they are standardised by, if they are."""

    units: Units | None = None
    always_calibrated: ClassVar[bool] = True  # intervals need it

    @property
    def columns(self) -> int:
        """Of y: with several quantiles each has more than one score."""
        return self.outputs // self.loss.per_output

    @property
    def link_name(self) -> str:
        return "exp" if self.loss.link.kind is LinkKind.POSITIVE else "identity"

    @property
    def quantiles(self) -> tuple[float, ...]:
        """Those that the loss predicts, where they are several."""
        if isinstance(self.loss, Quantile) and self.loss.per_output > 1:
            return tuple(self.loss.quantiles)
        return ()

    @property
    def has_deviations(self) -> bool:
        """Does the loss predict a deviation beside each mean?"""
        return isinstance(self.loss, Gaussian)

    @property
    def usual_metric(self) -> Metric | None:
        single = self.loss.of if isinstance(self.loss, nn.Summed) else self.loss
        if self.loss.per_output > 1 or isinstance(single, Quantile):  # R² is of one prediction for each output: a mean
            return None
        return METRICS["r2"]

    def check(self, y: Array) -> None:
        """Raise for another number of columns than the network was made for."""
        columns = 1 if y.ndim == 1 else y.shape[1]
        if columns != self.columns:
            raise ValueError(f"y has {columns} columns, but the network was made for {self.columns}")

    def encode(self, y: Array) -> Array:
        return y if self.units is None else self.units.standardised(y)

    def scored(self, metric: Metric) -> Metric:
        units = self.units
        if units is None or metric.name == "r2":  # which is the same in all units
            return metric

        @wraps(metric.function)  # it takes weights if that one does
        def measured(y: Array, prediction: Array, **more: Array) -> float:
            return metric.function(units.own(y), units.own(prediction), **more)

        return replace(metric, function=measured)

    # answers

    def predictions(self, scores: Array) -> Array:
        """In the units of training.   (n, outputs) -> (n, outputs)"""
        predictions: Array = self.loss.link(scores)
        return predictions

    def decode(self, scores: Array) -> Array:
        return self._shown(self._grouped(scores)[:, :, 0] if self.has_deviations else self.predictions(scores))

    def deviations(self, scores: Array) -> Array:
        """Those that the loss predicts, in the shape and the units of `decode`."""
        widths = shaped(self._grouped(scores)[:, :, 1])
        return widths if self.units is None else self.units.own_widths(widths)

    def _shown(self, numbers: Array) -> Array:
        return shaped(numbers) if self.units is None else self.units.own(shaped(numbers))

    def interval(self, scores: Array, radius: Array) -> tuple[Array, Array]:
        """The outer quantiles, moved outwards by so many widths; the prediction ± that much where it is one number."""
        low, high, width = self._ends(scores)
        low, high = low - radius * width, high + radius * width
        if self.loss.link.kind is LinkKind.POSITIVE:
            low = np.maximum(low, 0.0)
        return self._shown(low), self._shown(high)

    def learn_from(self, scores: Array, encoded: Array, weights: Array | None) -> Calibration:
        """How many widths the truth lies outside the outer quantiles."""
        low, high, width = self._ends(scores)
        truth = np.asarray(encoded, float).reshape(len(encoded), -1)
        return Calibration(errors=np.sort(np.maximum(low - truth, truth - high) / width, axis=0))

    def _ends(self, scores: Array) -> tuple[Array, Array, Array | float]:
        """The outer quantiles of each column, or the prediction twice; and what errors are measured in.

        With predicted deviations errors are multiples of them, so that intervals are wide where rows are uncertain
        (Lei et al., 2018); else the unit is that of training.
        """
        grouped = self._grouped(scores)
        if self.has_deviations:
            return grouped[:, :, 0], grouped[:, :, 0], grouped[:, :, 1]
        return grouped[:, :, 0], grouped[:, :, -1], 1.0

    def _grouped(self, scores: Array) -> Array:
        """(n, outputs) -> (n, columns, numbers for each)"""
        predictions, each = self.predictions(scores), self.loss.per_output
        return predictions.reshape(predictions.shape[0], predictions.shape[1] // each, each)

    def score(self, scores: Array, encoded: Array, weights: Array | None) -> float:
        """R²; for several quantiles the mean of their D² (the share of the pinball loss that is explained)."""
        if not self.quantiles:
            return float(r2_score(encoded, replace(self, units=None).decode(scores), sample_weight=weights))
        truth = np.asarray(encoded, float).reshape(len(encoded), -1)
        parts = self._grouped(scores)
        explained = [
            d2_pinball_score(truth, parts[:, :, i], sample_weight=weights, alpha=q)
            for i, q in enumerate(self.quantiles)
        ]
        return float(np.mean(explained))


def shaped(numbers: Array) -> Array:
    """One column as the numbers themselves.   (n, 1) -> (n,)"""
    return numbers[:, 0] if numbers.shape[1] == 1 else numbers


def number_target(y: Array, loss: Loss, *, mean: bool = False, units: Units | None = None) -> NumberTarget:
    """The target that these numbers are of; `mean`: of several outputs the mean of squared errors is shown.

    y: (n,) or (n, outputs)
    """
    record = nn.loss(NAMED.get(loss, loss) if isinstance(loss, str) else loss)
    columns = 1 if y.ndim == 1 else y.shape[1]
    if columns > 1 and isinstance(record, SUMMED):
        record = nn.Summed(record, "mean" if mean and not isinstance(record, Poisson) else "sum")
    return NumberTarget(record, columns * record.per_output, units)


def standard_units(y: Array, loss: Loss, weights: Array | None) -> Units:
    """Mean and deviation of each column; 0 and 1 where the network predicts logarithms.   y: (n,) or (n, outputs)"""
    record = nn.loss("squared_error") if callable(loss) and not isinstance(loss, nn.Loss) else nn.loss(loss)
    columns = y.reshape(len(y), -1)
    if record.link.kind is LinkKind.POSITIVE:
        return Units(np.zeros(columns.shape[1]), np.ones(columns.shape[1]))
    exponents = np.frexp(np.abs(columns).max(axis=0))[1]  # a power of two changes no bit, and keeps squares in reach
    near_one = np.ldexp(columns, -exponents)
    mean = np.average(near_one, axis=0, weights=weights)
    deviation = np.sqrt(np.average((near_one - mean) ** 2, axis=0, weights=weights))
    return Units(np.ldexp(mean, exponents), np.ldexp(deviation, exponents))


COVERAGE = Condition(lambda value: is_number(value, 0, 1, above=True), "a number between 0 and 1")


def radius(errors: Array, coverage: float) -> Array:
    """How far from the prediction the truth lies, with this probability: the split-conformal quantile.

    errors: sorted absolute errors of rows that were not trained on, (m, outputs)
    """
    m = len(errors)
    place = int(np.ceil(coverage * (m + 1))) - 1
    if place >= m:
        needed = int(np.ceil(coverage / (1 - coverage)))
        raise ValueError(
            f"{m} held-out rows are too few for intervals that hold with probability {coverage:g}: give {needed} or "
            "more (validation_fraction, X_val, or calibrate(X, y))"
        )
    return np.asarray(errors[place])
