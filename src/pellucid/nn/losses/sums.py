"""What scikit-learn's networks minimise, and what they show of it: sums over outputs, log-losses with a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.graph.primitives.control import stop_gradient
from pellucid.nn.losses.link import Link, LinkKind
from pellucid.nn.losses.loss import Loss


@dataclass(frozen=True)
class Around(Loss):
    """Another loss, computed otherwise: what it predicts and which targets fit are that loss's affair."""

    of: Loss

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.of.name

    @property
    def labels(self) -> bool:  # type: ignore[override]
        return self.of.labels

    @property
    def per_output(self) -> int:
        return self.of.per_output

    @property
    def point(self) -> int:
        return self.of.point

    @property
    def link(self) -> Link:  # type: ignore[override]
        return self.of.link

    @property
    def members(self) -> int:  # type: ignore[override]
        return self.of.members

    @property
    def single(self) -> Loss:
        return self if self.of.single is self.of else replace(self, of=self.of.single)

    def joined(self, scores: Any) -> Any:
        return self.of.joined(scores)

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        return self.of.prepare(y, outputs)


@dataclass(frozen=True)
class Summed(Around):
    """A loss that averages over outputs, times their number: the sum.

    Parameters
    ----------
    of : Loss
        that loss
    shown : str
        "mean" shows the average, with the gradient of the sum: they do not belong together, but scikit-learn's
        MLPRegressor pairs them so (its issue 8349)

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> loss = nn.Summed(nn.loss("squared_error"))
    >>> float(loss(np.array([[1.0, 2.0]]), np.zeros((1, 2))))
    5.0
    """

    shown: str = "sum"

    def __post_init__(self) -> None:
        if self.shown not in ("sum", "mean"):
            raise ValueError(f"Summed: shown is 'sum' or 'mean', got {self.shown!r}")

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"Σ over outputs of {self.of.formula}"

    def each(self, s: Any, y: Any) -> Any:
        mean, outputs = self.of.each(s, y), s.shape[1] // self.per_output
        if self.shown == "sum":
            return mean * outputs
        return mean + (outputs - 1) * (mean - stop_gradient(mean))


@dataclass(frozen=True)
class Capped(Around):
    """A log-loss that shows at most -log ε for each label, with the gradient of the loss itself; summed over labels.

    scikit-learn shows it so: it keeps probabilities ε (the precision of the numbers) away from 0 and 1.

    Parameters
    ----------
    of : Loss
        that loss

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> loss = Capped(nn.loss("binary_cross_entropy"))
    >>> float(loss(np.array([[-100.0]]), np.ones((1, 1))).round(6))
    36.043653
    """

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"min({self.of.formula}, -log ε)"

    def each(self, s: Any, y: Any) -> Any:
        (n, k), limit = s.shape, -np.log(np.finfo(s.dtype).eps)
        if self.link.kind.for_scores(k) is LinkKind.PROBABILITIES:
            return _at_most(limit, self.of.each(s, y))
        labels = self.of.each(np.reshape(s, (n * k, 1)), np.reshape(y, (n * k, 1)))  # one by one: it averages over them
        return np.sum(_at_most(limit, np.reshape(labels, (n, k))), axis=1)


def _at_most(limit: Any, exact: Any) -> Any:
    """The value with a limit, the gradient without."""
    return exact + stop_gradient(np.minimum(exact, limit) - exact)
