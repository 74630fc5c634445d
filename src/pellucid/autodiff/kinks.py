"""Difference quotients that know kinks.

Near a kink of ReLU a difference quotient may straddle it: then it is the slope of neither side, and says nothing about
a derivative. A smaller step ends before the kink. At a kink itself no step does: the slopes of the two sides differ
however small the step is. So a derivative is wrong only where a quotient that straddles nothing contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from pellucid.autodiff.numerical import directional_difference

SMALLEST = 1e-8
"""Steps are made no smaller: rounding would be all that is left."""

SHRINK = 8.0
FINEST = 1e-4
"""A tolerance grows with what rounding leaves of a quotient, up to this: an error of 0.1 % is always found."""

# (f(x + kh v) - f(x)) / h for k = 1 ... 4: one-sided, of order h⁴
ONE_SIDED = (4.0, -3.0, 4.0 / 3.0, -1.0 / 4.0)


class Verdict(Enum):
    """What difference quotients say about a derivative."""

    AGREES = "agrees"
    DIFFERS = "differs"
    KINK = "at a kink"


@dataclass(frozen=True)
class Comparison:
    """A derivative and the quotient that speaks for or against it, by the step of that quotient."""

    verdict: Verdict
    automatic: float
    difference: float
    step: float

    @property
    def error(self) -> float:
        """The difference between the two, relative to the larger."""
        return abs(self.automatic - self.difference) / scale_of(self.automatic, self.difference)


def scale_of(a: float, b: float) -> float:
    """What an error is measured against."""
    return max(abs(a), abs(b), 1e-3)


def compare(
    f: Callable[..., Any], xs: list[Any], vs: list[Any], u: Any, automatic: float, rtol: float, step: float
) -> Comparison:
    """Is `automatic` the derivative of <u, f> along `vs` at `xs`? Quotients of smaller and smaller steps decide."""

    def along(h: float) -> float:
        return float(np.vdot(u, directional_difference(f, xs, vs, h)))

    size = float(np.sum(np.abs(u * np.asarray(f(*xs), float))))
    first = Comparison(Verdict.DIFFERS, automatic, along(step), step)
    h, closest = step, first
    while True:
        quotient = first if h == step else Comparison(Verdict.DIFFERS, automatic, along(h), h)
        rounding = 8.0 * float(np.finfo(float).eps) * size / h / scale_of(automatic, quotient.difference)
        if quotient.error <= max(rtol, min(rounding, FINEST)):  # False for NaN, too
            return Comparison(Verdict.AGREES, automatic, quotient.difference, h)
        closest = quotient if quotient.error < closest.error else closest
        if h / SHRINK < SMALLEST:
            break
        h /= SHRINK
    verdict = Verdict.KINK if at_kink(f, xs, vs, u, rtol) else Verdict.DIFFERS
    return Comparison(verdict, automatic, closest.difference, closest.step)


def at_kink(f: Callable[..., Any], xs: list[Any], vs: list[Any], u: Any, rtol: float) -> bool:
    """Do the slopes of the two sides differ, for a small step as for a smaller one?

    For a smooth function they come together as the step becomes smaller.
    """
    gaps = []
    for h in (1e-5, 1e-6):
        right, left = (_one_sided(f, xs, vs, u, side * h) for side in (1.0, -1.0))
        gaps.append(abs(right - left) / scale_of(right, left))
    return bool(gaps[1] > max(100.0 * rtol, 1e-4) and gaps[1] > 0.3 * gaps[0])


def _one_sided(f: Callable[..., Any], xs: list[Any], vs: list[Any], u: Any, h: float) -> float:
    def at(t: float) -> Any:
        return np.asarray(f(*(x + t * v for x, v in zip(xs, vs, strict=True))), dtype=float)

    start = at(0.0)
    total = sum(w * (at(k * h) - start) for k, w in enumerate(ONE_SIDED, start=1))
    return float(np.vdot(u, total)) / h


def moved(xs: list[Any], size: float, rng: np.random.Generator) -> list[Any]:
    """A point nearby, away from the kinks of this one."""
    return [x + size * np.maximum(1.0, np.abs(x)) * rng.uniform(0.5, 1.0, np.shape(x)) * _signs(x, rng) for x in xs]


def _signs(x: Any, rng: np.random.Generator) -> Any:
    return np.where(rng.random(np.shape(x)) < 0.5, -1.0, 1.0)
