"""Averages of parameters over the steps, to predict with: exponential (EMA) and equal (SWA)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pellucid.amounts import is_count
from pellucid.named_arrays import Arrays
from pellucid.optim.checks import check_shares
from pellucid.optim.links import Link
from pellucid.optim.rules.rule import correction
from pellucid.optim.schedules.schedule import Epochs, Number
from pellucid.precision import like

CORRECTION, COUNT = "(correction)", "(count)"


def _averages(state: Arrays) -> Arrays:
    return {name: a for name, a in state.items() if name not in (CORRECTION, COUNT)}


@dataclass(frozen=True)
class EMA(Link):
    """An exponential moving average of the parameters: a <- decay a + (1 - decay) w (Polyak and Juditsky, 1992).

    Training goes on with the parameters themselves.

    Parameters
    ----------
    decay : Number
        the share of itself that the average keeps at each step
    debias : bool
        the parameters that training began with take no part: as if divided by 1 - decay^t, also when decay is
        scheduled. Without, the average begins there

    Examples
    --------
    >>> link, w = EMA(0.5), {"w": np.array([0.0])}
    >>> _, state = link.after({"w": np.array([2.0])}, link.init(w), 1, 0.1, w)
    >>> _, state = link.after({"w": np.array([5.0])}, state, 2, 0.1, w)
    >>> link.for_prediction(w, state)
    {'w': array([4.])}
    """

    decay: Number = 0.999
    debias: bool = True
    name: ClassVar[str] = "ema"

    def __post_init__(self) -> None:
        check_shares(self, "decay")

    def init(self, params: Arrays) -> Arrays:
        numbers = {CORRECTION: np.array(0.0)} if self.debias else {}
        return {name: np.array(w) for name, w in params.items()} | numbers

    def after(self, params: Arrays, state: Arrays, t: Any, lr: Any, old: Arrays) -> tuple[Arrays, Arrays]:
        numbers, share = {}, 1 - self.decay  # type: ignore[operator]
        if self.debias:
            c = numbers[CORRECTION] = correction(self.decay, state[CORRECTION])
            share = share / c
        # the corrected average itself is kept: there is always one to predict with
        return params, {name: state[name] + like(share, w) * (w - state[name]) for name, w in params.items()} | numbers

    def for_prediction(self, params: Arrays, state: Arrays) -> Arrays:
        return _averages(state)


@dataclass(frozen=True)
class SWA(Link):
    """Stochastic weight averaging: the mean of the parameters of all steps after `start` (Izmailov et al., 2018).

    Until then it gives the parameters as they are. It wants a rate that stays up.

    Parameters
    ----------
    start : int | Epochs | None
        steps, or `Epochs(...)`; None is three quarters of the run

    Examples
    --------
    >>> link, state = SWA(start=1), {"w": np.array([0.0]), "(count)": np.array(0.0)}
    >>> for t, w in enumerate((9.0, 1.0, 3.0), start=1):
    ...     _, state = link.after({"w": np.array([w])}, state, t, 0.1, {})
    >>> link.for_prediction({}, state)
    {'w': array([2.])}
    """

    start: int | Epochs | None = None
    name: ClassVar[str] = "swa"

    def __post_init__(self) -> None:
        if not isinstance(self.start, Epochs) and self.start is not None and not is_count(self.start, 0):
            raise ValueError(f"SWA: start is a number of steps from 0, Epochs or None, got {self.start!r}")

    def init(self, params: Arrays) -> Arrays:
        return {name: np.array(w) for name, w in params.items()} | {COUNT: np.array(0.0)}

    def after(self, params: Arrays, state: Arrays, t: Any, lr: Any, old: Arrays) -> tuple[Arrays, Arrays]:
        if self.start is None or isinstance(self.start, Epochs):
            raise ValueError(
                f"SWA: start={self.start!r} depends on the run: give a step, or call .fit(total_steps, steps_per_epoch)"
            )
        count = np.where(t > self.start, state[COUNT] + 1.0, 0.0)
        share = 1.0 / np.maximum(count, 1.0)
        mean = {name: state[name] + like(share, w) * (w - state[name]) for name, w in params.items()}
        return params, {name: np.where(count <= 1.0, w, mean[name]) for name, w in params.items()} | {COUNT: count}

    def for_prediction(self, params: Arrays, state: Arrays) -> Arrays:
        return _averages(state)

    def fit(self, total_steps: int, steps_per_epoch: float) -> Link:
        if isinstance(self.start, Epochs):
            return replace(self, start=self.start.fit(total_steps, steps_per_epoch))
        return replace(self, start=3 * total_steps // 4) if self.start is None else self
