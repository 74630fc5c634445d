"""Descent with momentum: heavy ball and Nesterov, in the forms of the lectures and of PyTorch, a class for each.

While rate and beta are constant, the forms of a method are the same; they differ in what a change does.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.checks import check_choice
from pellucid.optim.rules.rule import Rule, counts, zeros
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like


@dataclass(frozen=True)
class WithVelocity(Rule):
    """Rules that gather gradients in a velocity v, which keeps the share `beta` of itself at each step."""

    lr: Number = 0.01
    beta: Number = 0.9
    shares: ClassVar = ("beta",)

    def init(self, w: Array) -> Arrays:
        return zeros(w, "v")


# heavy ball


@dataclass(frozen=True)
class GradientMomentum(WithVelocity):
    """v <- beta v + g;   w <- w - lr v, as in PyTorch: a new rate acts at once, on what was gathered, too."""

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        v = like(self.beta, w) * s["v"] + g
        return w - like(lr, w) * v, {"v": v}


@dataclass(frozen=True)
class VelocityMomentum(WithVelocity):
    """v <- beta v + lr g;   w <- w - v. The lectures' w - lr g + beta (w - w_before), for any lr and beta.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that the velocity keeps

    Examples
    --------
    >>> rule, w, s = VelocityMomentum(beta=0.5), np.array([1.0]), {"v": np.array([0.5])}
    >>> rule.step(w, np.array([1.0]), s, 0.25, 2)
    (array([0.5]), {'v': array([0.5])})
    """

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        v = like(self.beta, w) * s["v"] + like(lr, w) * g
        return w - v, {"v": v}


@dataclass(frozen=True)
class AverageMomentum(WithVelocity):
    """v <- (1 - gamma) v + gamma g;   w <- w - alpha v   with alpha <- alpha beta + lr, gamma = lr / alpha.

    The same trajectory as `VelocityMomentum`: momentum is an average of gradients.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that the velocity keeps

    Examples
    --------
    >>> rule, w = AverageMomentum(beta=0.5), np.array([1.0])
    >>> rule.step(w, np.array([1.0]), rule.init(w), 0.25, 1)
    (array([0.75]), {'v': array([1.]), 'alpha': np.float64(0.25)})
    """

    def init(self, w: Array) -> Arrays:
        return super().init(w) | counts("alpha")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        alpha = s["alpha"] * self.beta + lr
        gamma = lr / np.where(alpha > 0, alpha, 1.0)  # a warm-up may begin at rate 0
        v = like(1 - gamma, w) * s["v"] + like(gamma, w) * g
        return w - like(alpha, w) * v, {"v": v, "alpha": alpha}


# Nesterov


@dataclass(frozen=True)
class GradientNesterov(WithVelocity):
    """v <- beta v + g;   w <- w - lr (g + beta v), as in PyTorch."""

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        beta, lr = like(self.beta, w), like(lr, w)
        v = beta * s["v"] + g
        return w - lr * (g + beta * v), {"v": v}


@dataclass(frozen=True)
class VelocityNesterov(WithVelocity):
    """v <- beta (v + lr g);   w <- w - lr g - v. The lectures' z, for any lr and beta; v is the way z is ahead of w.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that the velocity keeps

    Examples
    --------
    >>> rule, w, s = VelocityNesterov(beta=0.5), np.array([1.0]), {"v": np.array([0.5])}
    >>> rule.step(w, np.array([1.0]), s, 0.25, 2)
    (array([0.375]), {'v': array([0.375])})
    """

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        step = like(lr, w) * g
        v = like(self.beta, w) * (s["v"] + step)
        return w - step - v, {"v": v}


# by the word of their form, as files and older code have them


@dataclass(frozen=True)
class ByForm(WithVelocity):
    """One of the rules above, named by the word for its form."""

    form: str = "gradient"

    @property
    @abstractmethod
    def forms(self) -> dict[str, type[WithVelocity]]:
        """The rules, by their words."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "form", *self.forms)

    @property
    def as_class(self) -> WithVelocity:
        """The same rule as a class of its own."""
        return self.forms[self.form](self.lr, self.beta)

    def init(self, w: Array) -> Arrays:
        return self.as_class.init(w)

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        return self.as_class.step(w, g, s, lr, t)


@dataclass(frozen=True)
class Momentum(ByForm):
    """Heavy ball (Polyak, 1964): v <- beta v + g;   w <- w - lr v

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that the velocity keeps
    form : str
        "gradient"; "velocity" is `VelocityMomentum`, "average" is `AverageMomentum`

    Examples
    --------
    >>> rule, w, s = Momentum(beta=0.5), np.array([1.0]), {"v": np.array([1.0])}
    >>> rule.step(w, np.array([1.0]), s, 0.5, 2)
    (array([0.25]), {'v': array([1.5])})
    """

    forms: ClassVar = {"gradient": GradientMomentum, "velocity": VelocityMomentum, "average": AverageMomentum}


@dataclass(frozen=True)
class Nesterov(ByForm):
    """Look ahead, then measure (Nesterov, 1983): v <- beta v + g;   w <- w - lr (g + beta v)

    The parameters are the points where gradients are taken, the lectures' z.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that the velocity keeps
    form : str
        "gradient"; "velocity" is `VelocityNesterov`

    Examples
    --------
    >>> rule, w, s = Nesterov(beta=0.5), np.array([1.0]), {"v": np.array([1.0])}
    >>> rule.step(w, np.array([1.0]), s, 0.5, 2)
    (array([0.125]), {'v': array([1.5])})
    """

    forms: ClassVar = {"gradient": GradientNesterov, "velocity": VelocityNesterov}
