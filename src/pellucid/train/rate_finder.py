"""The rate finder: a run with a growing learning rate tells which one to take (Smith, 2017)."""

from __future__ import annotations

import copy
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_number, check_whole, is_number
from pellucid.figures import BLUE, ORANGE, Mark, annotate, axes
from pellucid.markup import plural
from pellucid.train.loop.run import Plan
from pellucid.train.loop.step import float64s
from pellucid.train.model import Model


@dataclass(frozen=True)
class RateCurve:
    """Learning rates and the smoothed loss at each. `suggestion` is a tenth of the rate where the loss was lowest.

    Parameters
    ----------
    rates : tuple[float, ...]
        those that were tried, growing
    losses : tuple[float, ...]
        the smoothed loss at each
    """

    rates: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def suggestion(self) -> float:
        return self.rates[int(np.argmin(self.losses))] / 10.0

    def plot(self, ax: Any = None) -> Any:
        """The curve, with the suggestion marked. What lies far above the first loss is left out.

        Parameters
        ----------
        ax : matplotlib axes
            to draw on; None makes new ones

        Returns
        -------
        matplotlib axes
            those drawn on
        """
        ax = axes(ax)
        low, first = min(self.losses), self.losses[0]
        top = first + 0.3 * ((first - low) or abs(first) or 1.0)
        shown_losses = [loss if loss <= top else math.nan for loss in self.losses]
        ax.plot(self.rates, shown_losses, color=BLUE, lw=2, marker="o" if len(self.rates) == 1 else None)
        ax.set(xscale="log", xlabel="learning rate", ylabel="loss (smoothed)")
        ax.set_title("Rate finder: a tenth of where the loss is lowest", fontsize=11)
        annotate(ax, (), [Mark(self.suggestion, f"{self.suggestion:.2g}", ORANGE)])
        return ax

    def __repr__(self) -> str:
        ends = f"{self.rates[0]:.2g} to {self.rates[-1]:.2g}"
        return f"<RateCurve: {plural(len(self.rates), 'rate')} from {ends}, suggestion {self.suggestion:.2g}>"


def find_rate(
    model: Model,
    X: Any,
    y: Any,
    *,
    low: float = 1e-6,
    high: float = 10.0,
    steps: int = 100,
    batch_size: int = 32,
    smoothing: float = 0.9,
    seed: int = 0,
) -> RateCurve:
    """Train a copy of the model with a rate that grows, until the loss has risen far. The model itself stays as it is.

    Parameters
    ----------
    model : Model
        whose rate is wanted
    X : array of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    low : float
        the first rate
    high : float
        the last rate
    steps : int
        from the first to the last
    batch_size : int
        rows of a step
    smoothing : float
        of the losses: the share of itself that their average keeps
    seed : int
        of first parameters and order of rows

    Returns
    -------
    RateCurve
        with a `suggestion`

    Examples
    --------
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(64, 3))
    >>> curve = find_rate(Model(nn.mlp((8,), 1)), X, X[:, 0], steps=40)
    >>> 1e-5 < curve.suggestion < 1.0
    True
    """
    check_whole(steps=steps, batch_size=batch_size)
    check_whole(0, seed=seed)
    if not is_number(low, above=True) or not is_number(high, low, above=True):
        raise ValueError(f"find_rate: low and high are rates above 0, the second larger, got {low!r} and {high!r}")
    check_number("a number in [0, 1)", 0, 1, smoothing=smoothing)
    trial = copy.copy(model)
    data, _ = trial.prepare(X, y, seed=seed, several=True)
    run = trial.new_run(Plan(data, steps=steps, batch_size=batch_size, seed=seed))
    batches = (batch for epoch in itertools.count() for batch in data.batches(batch_size, seed=seed, epoch=epoch))
    now, settings = run.now, run.settings(0)
    rates, losses, average = [], [], 0.0
    for t, (rate, batch) in enumerate(zip(np.geomspace(low, high, steps), batches, strict=False)):
        numbers = float64s(run.rule_numbers(t) | {"lr": rate})
        with np.errstate(all="ignore"):
            now, step = run.trainer.step(now, batch, t, numbers, settings)
        if not step.finite:
            break
        average = smoothing * average + (1 - smoothing) * step.objective
        rates.append(float(rate))
        losses.append(average / (1 - smoothing ** (t + 1)))
        if losses[-1] > min(losses) + 4 * (abs(losses[0] - min(losses)) + 0.1 * abs(losses[0])):
            break
    if not rates:
        raise ValueError(
            f"find_rate: the loss is not finite even with the rate {low:g}: are inputs and targets scaled?"
        )
    return RateCurve(tuple(rates), tuple(losses))
