"""Schedule-free AdamW: an average of the steps takes the place of a rate that falls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.rules.adam import AdamFamily
from pellucid.optim.rules.rule import correction, counts, mix, zeros
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like


@dataclass(frozen=True)
class ScheduleFreeAdamW(AdamFamily):
    """Defazio et al., 2024: z <- z - lr (g / (√ŝ + eps) + decay w);   x <- x + c (z - x);
    w <- beta1 x + (1 - beta1) z

    x averages the z of all steps, each by the square of its rate: c = lr² / Σ lr². Gradients are taken at w (the
    paper's y), between both; x predicts. The rate stays up, and nothing has to know how long the run will be; a
    warm-up is a schedule, `Warmup(100, 2.5e-3)`, whose first small steps then weigh little. With beta1 = 0 it is the
    plain average of the steps (Polyak and Ruppert). Links that change parameters behind the rule are refused: they
    would change w, which is made anew from z and x at every step. Decay is a setting here, x is the average.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate; one to ten times that of Adam
    beta1 : float | Schedule
        how far from z to x the gradient is taken
    beta2 : float | Schedule
        the share of itself that s, the average of squared gradients, keeps
    eps : float | Schedule
        keeps the divisor from 0
    decay : float | Schedule
        of all parameters, times the rate

    Examples
    --------
    >>> rule, w = ScheduleFreeAdamW(beta1=0.5, eps=0.0), np.array([1.0])
    >>> s = rule.init(w)
    >>> for t in (1, 2):
    ...     w, s = rule.step(w, np.array([2.0]), s, 0.25, t)
    >>> s["z"], rule.for_prediction(w, s), w
    (array([0.5]), array([0.625]), array([0.5625]))
    """

    lr: Number = 2.5e-3
    decay: Number = 0.0
    amounts: ClassVar = ("lr", "eps", "decay")

    def init(self, w: Array) -> Arrays:
        return {"z": np.array(w), "x": np.array(w)} | zeros(w, "s") | counts("c2", "weight")

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        squares, c2 = mix(self.beta2, s["s"], np.square(g)), correction(self.beta2, s["c2"])
        z = s["z"] - like(lr, w) * g / self.size(w, squares, c2) - like(lr * self.decay, w) * w
        weight = s["weight"] + lr * lr
        share = lr * lr / np.where(weight > 0, weight, 1.0)  # a warm-up may begin at rate 0
        x = s["x"] + like(share, w) * (z - s["x"])
        return mix(self.beta1, x, z), {"z": z, "x": x, "s": squares, "c2": c2, "weight": weight}

    def for_prediction(self, w: Array, s: Arrays) -> Array:
        return s["x"]

    def moved(self, w: Array, s: Arrays) -> Arrays:
        return s | {"z": np.array(w), "x": np.array(w)} | counts("weight")
