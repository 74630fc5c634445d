"""The rate finder: a run with a growing learning rate tells which one to take (Smith, 2017)."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_number, check_whole, is_number
from pellucid.train.batches import rows_of
from pellucid.train.model import Model
from pellucid.train.step import Snapshot, Trainer


@dataclass(frozen=True)
class RateCurve:
    """Learning rates and the smoothed loss at each. `suggestion` is a tenth of the rate where the loss was lowest."""

    rates: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def suggestion(self) -> float:
        return self.rates[int(np.argmin(self.losses))] / 10.0

    def plot(self, ax: Any = None) -> Any:
        """The curve, with the suggestion marked."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'pellucid[plot]'") from error
        ax = plt.subplots(figsize=(6, 3.6), layout="constrained")[1] if ax is None else ax
        ax.plot(self.rates, self.losses, color="#0072b2", lw=2)
        ax.axvline(self.suggestion, color="#d55e00", lw=1.2, ls="--")
        ax.annotate(
            f"  {self.suggestion:.2g}",
            (self.suggestion, 0.96),
            xycoords=("data", "axes fraction"),
            color="#d55e00",
            va="top",
        )
        low, start = min(self.losses), self.losses[0]
        ax.set(
            xscale="log",
            xlabel="learning rate",
            ylabel="loss (smoothed)",
            ylim=(low - 0.1 * (start - low), start * 1.3),
        )
        ax.set_title("Rate finder: a tenth of where the loss is lowest", fontsize=11)
        ax.grid(color="0.9", lw=0.8)
        ax.spines[["top", "right"]].set_visible(False)
        return ax


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
    """Train a copy of the model with a rate that grows from `low` to `high`, until the loss has risen far.

    The model itself stays as it is.

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
    if not trial.params:
        trial.initialize(np.asarray(X), seed=seed)
    data = rows_of(X, y, None, trial.loss, trial._outputs(), trial.dtype)
    tuned = trial.optimizer.fit(steps, data.count(batch_size) or 1)
    trainer = Trainer(trial.net, trial.loss, tuned, trial.penalty, key=seed)
    now = Snapshot(trial.params, trial.state, tuned.init(trial.params))
    settings = {name: np.float64(s(0)) for name, s in trial.settings.items()}
    rates, losses, average = [], [], 0.0
    for t, rate in enumerate(np.geomspace(low, high, steps)):
        per_epoch = data.count(batch_size) or 1
        batch = next(data.batches(batch_size, seed=seed, epoch=t // per_epoch, start=t % per_epoch))
        numbers = {k: np.float64(v) for k, v in tuned.numbers(t).items()} | {"lr": np.float64(rate)}
        with np.errstate(all="ignore"):
            new, loss, size, reach = trainer.step(now, batch, t, numbers, settings)
        if not (math.isfinite(loss) and math.isfinite(size) and math.isfinite(reach)):
            break
        now = new
        average = smoothing * average + (1 - smoothing) * loss
        rates.append(float(rate))
        losses.append(average / (1 - smoothing ** (t + 1)))
        if losses[-1] > min(losses) + 4 * (abs(losses[0] - min(losses)) + 0.1 * abs(losses[0])):
            break
    if not rates:
        raise ValueError(
            f"find_rate: the loss is not finite even with the rate {low:g}: are inputs and targets scaled?"
        )
    return RateCurve(tuple(rates), tuple(losses))
