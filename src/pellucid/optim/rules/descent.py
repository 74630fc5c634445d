"""Gradient descent, and with momentum: heavy ball and Nesterov, in the forms of the lectures and of PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.optim.numbers import Array, Arrays, check_choice, like
from pellucid.optim.rules.rule import Rule, counts, zeros
from pellucid.optim.schedules.schedule import Number


@dataclass(frozen=True)
class SGD(Rule):
    """w <- w - lr g. On all rows it is gradient descent, on one row the incremental kind, else on mini-batches.

    >>> SGD().step(np.array([1.0]), np.array([2.0]), {}, 0.25, 1)
    (array([0.5]), {})
    """

    lr: Number = 0.01

    def init(self, w: Array) -> Arrays:
        return {}

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        return w - like(lr, w) * g, {}


@dataclass(frozen=True)
class Momentum(Rule):
    """Heavy ball (Polyak, 1964): v <- beta v + g;   w <- w - lr v

    While the rate is constant the three forms are the same method; they differ in what a change of it does.
    "gradient": as above and in PyTorch; a new rate acts at once, on what was gathered, too.
    "velocity": v <- beta v + lr g;   w <- w - v. The lectures' w - lr g + beta (w - w_before), for any lr and beta.
    "average": v <- (1 - gamma) v + gamma g;   w <- w - alpha v   with alpha <- alpha beta + lr, gamma = lr / alpha.
    The same trajectory as "velocity": momentum is an average of gradients.

    >>> rule, w, s = Momentum(beta=0.5), np.array([1.0]), {"v": np.array([1.0])}
    >>> rule.step(w, np.array([1.0]), s, 0.5, 2)
    (array([0.25]), {'v': array([1.5])})
    """

    lr: Number = 0.01
    beta: Number = 0.9
    form: str = "gradient"
    shares: ClassVar = ("beta",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "form", "gradient", "velocity", "average")

    def init(self, w: Array) -> Arrays:
        return zeros(w, "v") | (counts("alpha") if self.form == "average" else {})

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        if self.form == "gradient":
            v = like(self.beta, w) * s["v"] + g
            return w - like(lr, w) * v, {"v": v}
        if self.form == "velocity":
            v = like(self.beta, w) * s["v"] + like(lr, w) * g
            return w - v, {"v": v}
        alpha = s["alpha"] * self.beta + lr
        gamma = lr / np.where(alpha > 0, alpha, 1.0)  # a warm-up may begin at rate 0
        v = like(1 - gamma, w) * s["v"] + like(gamma, w) * g
        return w - like(alpha, w) * v, {"v": v, "alpha": alpha}


@dataclass(frozen=True)
class Nesterov(Rule):
    """Look ahead, then measure (Nesterov, 1983): v <- beta v + g;   w <- w - lr (g + beta v)

    The parameters are the points where gradients are taken, the lectures' z.
    "gradient": as above and in PyTorch.
    "velocity": v <- beta (v + lr g);   w <- w - lr g - v. The lectures' z, for any lr and beta; v is the way z is
    ahead of their w.

    >>> rule, w, s = Nesterov(beta=0.5), np.array([1.0]), {"v": np.array([1.0])}
    >>> rule.step(w, np.array([1.0]), s, 0.5, 2)
    (array([0.125]), {'v': array([1.5])})
    """

    lr: Number = 0.01
    beta: Number = 0.9
    form: str = "gradient"
    shares: ClassVar = ("beta",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "form", "gradient", "velocity")

    def init(self, w: Array) -> Arrays:
        return zeros(w, "v")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        beta, lr = like(self.beta, w), like(lr, w)
        if self.form == "gradient":
            v = beta * s["v"] + g
            return w - lr * (g + beta * v), {"v": v}
        step = lr * g
        v = beta * (s["v"] + step)
        return w - step - v, {"v": v}
