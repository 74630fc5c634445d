"""Gradient descent: w goes against the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.rules.rule import Rule
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like


@dataclass(frozen=True)
class SGD(Rule):
    """w <- w - lr g. On all rows it is gradient descent, on one row the incremental kind, else on mini-batches.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate

    Examples
    --------
    >>> import numpy as np
    >>> SGD().step(np.array([1.0]), np.array([2.0]), {}, 0.25, 1)
    (array([0.5]), {})
    """

    lr: Number = 0.01

    def init(self, w: Array) -> Arrays:
        return {}

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        return w - like(lr, w) * g, {}
