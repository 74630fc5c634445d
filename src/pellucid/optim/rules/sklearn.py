"""The two rules of scikit-learn's MLPClassifier and MLPRegressor, number by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.rules.adam import AdamFamily
from pellucid.optim.rules.rule import Rule, zeros
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like


@dataclass(frozen=True)
class SklearnSGD(Rule):
    """solver="sgd": v <- beta v - lr g;   w <- w + v, or w + beta v - lr g with `nesterov`

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        scikit-learn's `momentum`
    nesterov : bool
        its `nesterovs_momentum`

    Examples
    --------
    >>> rule = SklearnSGD(beta=0.5, nesterov=False)
    >>> rule.step(np.array([1.0]), np.array([1.0]), {"v": np.array([-1.0])}, 0.25, 2)
    (array([0.25]), {'v': array([-0.75])})
    """

    lr: Number = 1e-3
    beta: Number = 0.9
    nesterov: bool = True
    shares: ClassVar = ("beta",)

    def init(self, w: Array) -> Arrays:
        return zeros(w, "v")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        beta, step = like(self.beta, w), like(lr, w) * g
        v = beta * s["v"] - step
        return w + (beta * v - step if self.nesterov else v), {"v": v}


@dataclass(frozen=True)
class SklearnAdam(AdamFamily):
    """solver="adam": w <- w - lr √c2 / c1 · m / (√s + eps)

    As at the end of Kingma and Ba's section 2: eps, there "epsilon hat", meets the square root ahead of its correction.
    Keras' Adam is the same with its default eps of 1e-7.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta1 : float | Schedule
        the share of itself that m, the average of gradients, keeps
    beta2 : float | Schedule
        the share of itself that s, the average of their squares, keeps
    eps : float | Schedule
        keeps the divisor from 0

    Examples
    --------
    >>> rule, w = SklearnAdam(eps=0.0), np.array([1.0])
    >>> rule.step(w, np.array([4.0]), rule.init(w), 0.5, 1)[0]
    array([0.5])
    """

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        new = self.averages(g, s)
        rate = lr * np.sqrt(new["c2"]) / new["c1"]
        return w - like(rate, w) * new["m"] / (np.sqrt(new["s"]) + like(self.eps, w)), new
