"""Losses of several outputs added up instead of averaged: what scikit-learn's networks minimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.graph.primitives.control import stop_gradient
from pellucid.nn.losses import Loss


@dataclass(frozen=True)
class Summed(Loss):
    """A loss that averages over outputs, times their number: the sum.

    `shown="mean"` shows the average, with the gradient of the sum: they do not belong together, but scikit-learn's
    MLPRegressor pairs them so (its issue 8349).

    >>> import numpy as np
    >>> from pellucid import nn
    >>> loss = nn.Summed(nn.loss("squared_error"))
    >>> float(loss(np.array([[1.0, 2.0]]), np.zeros((1, 2))))
    5.0
    """

    of: Loss
    shown: str = "sum"

    def __post_init__(self) -> None:
        if self.shown not in ("sum", "mean"):
            raise ValueError(f"Summed: shown is 'sum' or 'mean', got {self.shown!r}")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.of.name

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"Σ over outputs of {self.of.formula}"

    @property
    def link_name(self) -> str:  # type: ignore[override]
        return self.of.link_name

    @property
    def labels(self) -> bool:  # type: ignore[override]
        return self.of.labels

    @property
    def per_output(self) -> int:
        return self.of.per_output

    def each(self, s: Any, y: Any) -> Any:
        mean, outputs = self.of.each(s, y), s.shape[1] // self.per_output
        if self.shown == "sum":
            return mean * outputs
        return mean + (outputs - 1) * (mean - stop_gradient(mean))

    def link(self, scores: Any) -> Any:
        return self.of.link(scores)

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        return self.of.prepare(y, outputs)
