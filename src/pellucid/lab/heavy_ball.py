"""Momentum in the lectures' three ways of writing it: a step and a memory, an extrapolation, a velocity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.markup import Brief
from pellucid.optim import VelocityMomentum


@dataclass(frozen=True, eq=False, repr=False)
class HeavyBall(Brief):
    """Trajectories, each (steps + 1, d): by the formulas, and by the library's own rule."""

    momentum: Any  # w - η ∇ + β (w - w_before)
    extrapolation: Any  # (1 + β) w - β w_before - η ∇
    velocity: Any  # v <- β v + η ∇;  w <- w - v
    rule: Any

    @property
    def difference(self) -> float:
        """The largest difference between any two of them."""
        paths = [self.momentum, self.extrapolation, self.velocity, self.rule]
        return max(float(np.max(np.abs(a - b))) for a in paths for b in paths)


def heavy_ball(gradient: Callable[[Any], Any], start: Any, rates: Sequence[float], betas: Sequence[float]) -> HeavyBall:
    """The same descent four times, with rates and betas that may change from step to step.

    >>> path = heavy_ball(lambda w: w, [1.0], rates=[0.1] * 3, betas=[0.9] * 3)
    >>> path.difference < 1e-15
    True
    """
    start = np.asarray(start, float)

    def path(step: Callable[[Any, Any, float, float], Any]) -> Any:
        ws = [start, start]  # before the first step there was none: w_{-1} = w_0
        for rate, beta in zip(rates, betas, strict=True):
            ws.append(step(ws[-1], ws[-2], rate, beta))
        return np.stack(ws[1:])

    def by_velocity() -> Any:
        w, v, ws = start, np.zeros_like(start), [start]
        for rate, beta in zip(rates, betas, strict=True):
            v = beta * v + rate * gradient(w)
            w = w - v
            ws.append(w)
        return np.stack(ws)

    def by_rule() -> Any:
        w, ws = start, [start]
        state = VelocityMomentum().init(w)
        for t, (rate, beta) in enumerate(zip(rates, betas, strict=True), start=1):
            w, state = VelocityMomentum(beta=beta).step(w, gradient(w), state, rate, t)
            ws.append(w)
        return np.stack(ws)

    return HeavyBall(
        path(lambda w, before, rate, beta: w - rate * gradient(w) + beta * (w - before)),
        path(lambda w, before, rate, beta: (1 + beta) * w - beta * before - rate * gradient(w)),
        by_velocity(),
        by_rule(),
    )
