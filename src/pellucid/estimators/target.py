"""What the target of an estimator is: how y becomes what a loss takes, how scores become answers, how sure they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from pellucid import nn
from pellucid.data.types import Array
from pellucid.train import Metric


@dataclass(frozen=True, eq=False)
class Calibration:
    """What rows that were not trained on have told: the temperature of the scores, the size of errors.

    `doubt` is the share of the uniform distribution in probabilities: so many rows can not make an answer certain.
    """

    temperature: float = 1.0
    doubt: float = 0.0
    errors: Array | None = None  # sorted, (rows, columns)


@dataclass(frozen=True, eq=False)
class Target(ABC):
    """Learned from y, with the loss that suits it and the number of scores that the network gives for a row."""

    loss: nn.Loss
    outputs: int

    @property
    @abstractmethod
    def link_name(self) -> str:
        """What makes predictions of scores, in scikit-learn's words: `out_activation_`."""

    @property
    @abstractmethod
    def usual_metric(self) -> Metric | None:
        """What validation rows are scored by, if nothing else is asked for; None is the loss."""

    @abstractmethod
    def check(self, y: Array) -> None:
        """Raise for a y that the network was not made for."""

    @abstractmethod
    def encode(self, y: Array) -> Array:
        """y as the loss takes it.   (n,) or (n, outputs)"""

    @abstractmethod
    def decode(self, scores: Array) -> Array:
        """The answer for each row.   (n, outputs) -> (n,) or (n, columns)"""

    def strata(self, encoded: Array, share: float) -> Array | None:
        """What a random split keeps the shares of, or None."""
        return None

    @abstractmethod
    def learn_from(self, scores: Array, encoded: Array, weights: Array | None) -> Calibration:
        """What rows tell that were not trained on; `loss` is that of training, which knows of members."""

    @abstractmethod
    def score(self, scores: Array, encoded: Array, weights: Array | None) -> float:
        """How good the answers are: at best 1."""

    always_calibrated: ClassVar[bool] = False
    """Is that wanted of all validation rows?"""

    def scored(self, metric: Metric) -> Metric:
        """A metric of encoded targets and of predictions of the loss, as the user knows it."""
        return metric
