"""Rules that scale each coordinate by the gradients it has seen: Adagrad, RMSprop, Adadelta; Lion, by signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.rules.rule import Rule, mix, root, zeros
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like


@dataclass(frozen=True)
class Adagrad(Rule):
    """Duchi, Hazan and Singer, 2011: s <- s + g²;   w <- w - lr g / (√s + eps)

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    eps : float | Schedule
        keeps the divisor from 0
    start : float
        the first value of s
    eps_inside : bool
        write √(s + eps), as the lectures do

    Examples
    --------
    >>> Adagrad(eps=0.0).step(np.array([1.0]), np.array([3.0]), {"s": np.array([16.0])}, 0.5, 2)
    (array([0.7]), {'s': array([25.])})
    """

    lr: Number = 0.01
    eps: Number = 1e-10
    start: float = 0.0
    eps_inside: bool = False
    amounts: ClassVar = ("lr", "eps", "start")

    def init(self, w: Array) -> Arrays:
        return {"s": np.full_like(w, self.start)}

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        total = s["s"] + np.square(g)
        return w - like(lr, w) * g / root(total, self.eps, self.eps_inside), {"s": total}


@dataclass(frozen=True)
class RMSprop(Rule):
    """Tieleman and Hinton, 2012: s <- beta s + (1 - beta) g²;   w <- w - lr g / (√s + eps)

    There is no bias correction, as in PyTorch.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that s keeps
    eps : float | Schedule
        keeps the divisor from 0
    momentum : float | Schedule
        gathers the scaled gradients: v <- momentum v + g / (√s + eps);   w <- w - lr v
    centered : bool
        take the square of the average gradient off s (Graves, 2013)
    eps_inside : bool
        write √(s + eps)

    Examples
    --------
    >>> RMSprop(beta=0.75, eps=0.0).step(np.array([1.0]), np.array([2.0]), {"s": np.array([0.0])}, 0.25, 1)
    (array([0.5]), {'s': array([1.])})
    """

    lr: Number = 0.01
    beta: Number = 0.99
    eps: Number = 1e-8
    momentum: Number = 0.0
    centered: bool = False
    eps_inside: bool = False
    amounts: ClassVar = ("lr", "eps")
    shares: ClassVar = ("beta", "momentum")

    def init(self, w: Array) -> Arrays:
        used = {"s": True, "m": self.centered, "v": self.momentum != 0.0}
        return zeros(w, *(name for name, needed in used.items() if needed))

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        new = {"s": mix(self.beta, s["s"], np.square(g))}
        spread = new["s"]
        if "m" in s:
            new["m"] = mix(self.beta, s["m"], g)
            spread = np.maximum(spread - np.square(new["m"]), 0.0)  # a variance: rounding must not make it negative
        step = g / root(spread, self.eps, self.eps_inside)
        if "v" in s:
            step = new["v"] = like(self.momentum, w) * s["v"] + step
        return w - like(lr, w) * step, new


@dataclass(frozen=True)
class Adadelta(Rule):
    """Zeiler, 2012: s <- beta s + (1 - beta) g²;   d = √((u + eps) / (s + eps)) g;   u <- beta u + (1 - beta) d²;
    w <- w - lr d

    The step has the unit of the parameters, which is why the rate is 1.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of themselves that s and u keep
    eps : float | Schedule
        keeps both roots from 0

    Examples
    --------
    >>> w, s = Adadelta().step(np.array([1.0]), np.array([2.0]), {"s": np.zeros(1), "u": np.zeros(1)}, 1.0, 1)
    >>> float((1 - w[0]).round(6)), s["s"]
    (0.003162, array([0.4]))
    """

    lr: Number = 1.0
    beta: Number = 0.9
    eps: Number = 1e-6
    amounts: ClassVar = ("lr", "eps")
    shares: ClassVar = ("beta",)

    def init(self, w: Array) -> Arrays:
        return zeros(w, "s", "u")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        squares = mix(self.beta, s["s"], np.square(g))
        d = root(s["u"], self.eps, True) / root(squares, self.eps, True) * g
        return w - like(lr, w) * d, {"s": squares, "u": mix(self.beta, s["u"], np.square(d))}


@dataclass(frozen=True)
class Lion(Rule):
    """Chen et al., 2023: w <- w - lr (sign(beta1 m + (1 - beta1) g) + decay w);   m <- beta2 m + (1 - beta2) g

    Every coordinate moves by the rate, so it wants one some ten times lower than Adam's.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta1 : float | Schedule
        the share of m in the direction
    beta2 : float | Schedule
        the share of itself that m keeps
    decay : float | Schedule
        of all parameters, times the rate

    Examples
    --------
    >>> Lion().step(np.array([1.0, 1.0]), np.array([5.0, -0.1]), {"m": np.zeros(2)}, 0.25, 1)[0]
    array([0.75, 1.25])
    """

    lr: Number = 1e-4
    beta1: Number = 0.9
    beta2: Number = 0.99
    decay: Number = 0.0
    amounts: ClassVar = ("lr", "decay")
    shares: ClassVar = ("beta1", "beta2")

    def init(self, w: Array) -> Arrays:
        return zeros(w, "m")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        direction = np.sign(mix(self.beta1, s["m"], g))
        return like(1 - lr * self.decay, w) * w - like(lr, w) * direction, {"m": mix(self.beta2, s["m"], g)}
