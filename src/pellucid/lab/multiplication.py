"""The multiplication gate of Lin and Tegmark (2016): four hidden units that multiply two numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.lab.curves import continuity, derivative
from pellucid.markup import Brief

FLAT = 1e-9
"""A second derivative below this counts as 0."""


@dataclass(frozen=True, repr=False)
class Gate(Brief):
    """A network 2-4-1 with its weights, and the numbers they are made of."""

    net: Any
    params: dict[str, Any]
    curvature: float
    mu: float

    def __call__(self, x1: Any, x2: Any) -> Any:
        """About x1 x2."""
        x1, x2 = np.broadcast_arrays(np.asarray(x1, float), np.asarray(x2, float))
        y = self.net.predict(self.params, np.column_stack([x1.ravel(), x2.ravel()]))
        return y.reshape(x1.shape)


def multiplication_gate(activation: Any = "softplus", lam: float = 0.1, shift: float = 0.0) -> Gate:
    """The gate for an activation f: its four units see ±λ(x1 + x2) and ±λ(x1 - x2), each plus `shift`.

    y = μ [f(b + λu) + f(b - λu) - f(b + λv) - f(b - λv)] with u = x1 + x2, v = x1 - x2 and μ = 1 / (4 λ² f''(b)): by
    Taylor's formula, λ² f''(b) (u² - v²) μ = x1 x2 as λ goes to 0. It needs f''(b) ≠ 0, so a function such as tanh
    must be shifted away from its turning point.

    >>> float(multiplication_gate("softplus", lam=0.01)(2.0, 3.0).round(4))
    5.9994
    """
    record = nn.activation(activation)
    curvature = float(derivative(record, shift, 2))
    if continuity(record, shift, 2) < 2:
        raise ValueError(
            f"{record.label} has a kink at {shift:g}: no second derivative there, so no multiplication gate"
        )
    if abs(curvature) < FLAT:
        raise ValueError(
            f"{record.label} has f''({shift:g}) = 0, and the gate divides by it: shift it to where it is curved, such "
            "as shift=0.6585 for tanh, or take softplus"
        )
    mu = 1.0 / (4.0 * lam * lam * curvature)
    weight = lam * np.array([[1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0]])
    net = nn.Sequential(nn.Dense(4), record, nn.Dense(1))
    params = {
        "dense1.weight": weight,
        "dense1.bias": np.full(4, shift),
        "dense2.weight": mu * np.array([[1.0], [1.0], [-1.0], [-1.0]]),
        "dense2.bias": np.zeros(1),
    }
    return Gate(net, params, curvature, mu)


def product(gate: Gate, numbers: Any) -> float:
    """The product of many numbers by gates of gates, two by two: each layer halves how many are left.

    >>> gate = multiplication_gate("softplus", lam=0.001)
    >>> round(product(gate, [1.0, 2.0, 3.0, 4.0]), 2)
    24.0
    """
    left = [float(x) for x in numbers]
    while len(left) > 1:
        odd = left[-1:] if len(left) % 2 else []
        left = [float(gate(a, b)) for a, b in zip(left[0::2], left[1::2], strict=False)] + odd
    return left[0]
