"""Adam and its family. Bias corrections are gathered along with the averages, so they hold for changing betas, too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.rules.rule import Rule, correction, counts, mix, root, zeros
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like


@dataclass(frozen=True)
class AdamFamily(Rule):
    """Rules by m and s, moving averages of gradients and of their squares, and c1 and c2, their bias corrections.

    c1 and c2 are the same averages of a constant 1 (see `correction`): 1 - beta^t for constant betas.

    >>> list(Adam().init(np.ones(2)))
    ['m', 's', 'c1', 'c2']
    """

    lr: Number = 1e-3
    beta1: Number = 0.9
    beta2: Number = 0.999
    eps: Number = 1e-8
    amounts: ClassVar[tuple[str, ...]] = ("lr", "eps")
    shares: ClassVar = ("beta1", "beta2")

    eps_inside = False  # not a field here: AdamW has it behind another one

    def init(self, w: Array) -> Arrays:
        return zeros(w, "m", "s") | counts("c1", "c2")

    def averages(self, g: Array, s: Arrays) -> Arrays:
        """m <- beta1 m + (1 - beta1) g;   s <- beta2 s + (1 - beta2) g²;   c1, c2 <- the same of a constant 1.

        Parameters
        ----------
        g : Array
            the gradient
        s : Arrays
            the state

        Returns
        -------
        dict of arrays
            the new state
        """
        return {
            "m": mix(self.beta1, s["m"], g),
            "s": mix(self.beta2, s["s"], np.square(g)),
            "c1": correction(self.beta1, s["c1"]),
            "c2": correction(self.beta2, s["c2"]),
        }

    def size(self, w: Array, squares: Array, c2: Any) -> Array:
        """√ŝ + eps, or √(ŝ + eps) with `eps_inside`, for ŝ = squares / c2.

        Parameters
        ----------
        w : Array
            the parameters, for their dtype
        squares : Array
            s, or the largest so far
        c2 : number
            its correction

        Returns
        -------
        array
            what a step is divided by
        """
        return root(squares * like(1 / c2, w), self.eps, self.eps_inside)

    def way(self, w: Array, new: Arrays, squares: Array, lr: Any) -> Array:
        """lr m̂ / (√ŝ + eps): how far w goes.

        Parameters
        ----------
        w : Array
            the parameters, for their dtype
        new : Arrays
            the new state
        squares : Array
            s, or the largest so far
        lr : number
            the rate

        Returns
        -------
        array
            the step
        """
        size = self.size(w, squares, new["c2"])
        return like(lr / new["c1"], w) * new["m"] / size


@dataclass(frozen=True)
class Adam(AdamFamily):
    """Kingma and Ba, 2015: m̂ = m / c1, ŝ = s / c2;   w <- w - lr m̂ / (√ŝ + eps)

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
    eps_inside : bool
        write √(ŝ + eps)

    Examples
    --------
    >>> rule, w = Adam(), np.array([1.0])
    >>> w, s = rule.step(w, np.array([1e-3]), rule.init(w), 0.1, 1)
    >>> w.round(4), s["c1"].round(3)
    (array([0.9]), np.float64(0.1))
    """

    eps_inside: bool = False

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        new = self.averages(g, s)
        return w - self.way(w, new, new["s"], lr), new


@dataclass(frozen=True)
class AdamW(AdamFamily):
    """Adam with decoupled decay (Loshchilov and Hutter, 2019): w <- (1 - lr decay) w - lr m̂ / (√ŝ + eps)

    As in PyTorch all parameters decay; `Group("*.bias", decay=0.0)` leaves some out.

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
    decay : float | Schedule
        of all parameters, times the rate
    eps_inside : bool
        write √(ŝ + eps)

    Examples
    --------
    >>> rule, w = AdamW(decay=0.5), np.array([2.0])
    >>> rule.step(w, np.zeros(1), rule.init(w), 0.5, 1)[0]
    array([1.5])
    """

    decay: Number = 0.01
    eps_inside: bool = False
    amounts: ClassVar = ("lr", "eps", "decay")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        new = self.averages(g, s)
        return like(1 - lr * self.decay, w) * w - self.way(w, new, new["s"], lr), new


@dataclass(frozen=True)
class AMSGrad(AdamFamily):
    """Adam with the largest s so far (Reddi, Kale and Kumar, 2018): w <- w - lr m̂ / (√(max s / c2) + eps)

    As in PyTorch the largest is taken ahead of the correction.

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
    eps_inside : bool
        write √(ŝ + eps)

    Examples
    --------
    >>> sorted(AMSGrad().init(np.ones(1)))
    ['c1', 'c2', 'm', 's', 'top']
    """

    eps_inside: bool = False

    def init(self, w: Array) -> Arrays:
        return super().init(w) | zeros(w, "top")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        new = self.averages(g, s)
        new["top"] = np.maximum(s["top"], new["s"])
        return w - self.way(w, new, new["top"], lr), new


@dataclass(frozen=True)
class NAdam(AdamFamily):
    """Adam with Nesterov's look ahead (Dozat, 2016), as in PyTorch:
    w <- w - lr (mu' m / (1 - p mu') + (1 - mu) g / (1 - p)) / (√ŝ + eps)

    mu = beta1 (1 - ½ 0.96^(t warm)) grows with the steps, mu' is the next one, p the product of all so far.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta1 : float | Schedule
        what mu grows to
    beta2 : float | Schedule
        the share of itself that s, the average of squared gradients, keeps
    eps : float | Schedule
        keeps the divisor from 0
    warm : float | Schedule
        how fast mu grows

    Examples
    --------
    >>> sorted(NAdam().init(np.ones(1)))
    ['c2', 'm', 'p', 's']
    """

    lr: Number = 2e-3
    warm: Number = 4e-3
    amounts: ClassVar = ("lr", "eps", "warm")

    def init(self, w: Array) -> Arrays:
        return zeros(w, "m", "s") | counts("c2") | counts("p", start=1.0)

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        m, squares = mix(self.beta1, s["m"], g), mix(self.beta2, s["s"], np.square(g))
        c2 = correction(self.beta2, s["c2"])
        mu, ahead = self._mu(t), self._mu(t + 1)
        p = s["p"] * mu
        size = self.size(w, squares, c2)
        step = like(lr * ahead / (1 - p * ahead), w) * m + like(lr * (1 - mu) / (1 - p), w) * g
        return w - step / size, {"m": m, "s": squares, "c2": c2, "p": p}

    def _mu(self, t: Any) -> Any:
        # exp instead of a power: the same bits eagerly and recorded
        return self.beta1 * (1 - 0.5 * np.exp(math.log(0.96) * (t * self.warm)))


@dataclass(frozen=True)
class RAdam(AdamFamily):
    """Rectified Adam (Liu et al., 2020), as in PyTorch: w <- w - lr r m̂ / (√ŝ + eps / √c2), at first w - lr m̂

    r = √((ρ - 4) (ρ - 2) ρ∞ / ((ρ∞ - 4) (ρ∞ - 2) ρ)) with ρ∞ = 2 / (1 - beta2) - 1 and ρ = ρ∞ - 2 t (1 - c2) / c2,
    once ρ > 5: until then the average of squares is too unsure to scale by.

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
    >>> rule, w = RAdam(), np.array([1.0])
    >>> rule.step(w, np.array([2.0]), rule.init(w), 0.25, 1)[0]
    array([0.5])
    """

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        new = self.averages(g, s)
        most = 2 / (1 - self.beta2) - 1  # type: ignore[operator]
        sure = most - 2 * t * (1 - new["c2"]) / new["c2"]
        # the limits are those of sure > 5: they only keep the unused branch free of warnings
        r = (np.maximum(sure, 5.0) - 4) * (np.maximum(sure, 5.0) - 2) * most
        r = np.sqrt(r / (np.maximum((most - 4) * (most - 2), 3.0) * np.maximum(sure, 5.0)))
        scale = np.where(sure > 5.0, like(r * np.sqrt(new["c2"]), w) / root(new["s"], self.eps, False), like(1.0, w))
        return w - like(lr / new["c1"], w) * new["m"] * scale, new
