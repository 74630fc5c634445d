"""What a training run shows: curves of losses and scores, rates, the best epoch, why it ended, how long it took."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pellucid.markup import plural, short
from pellucid.train import Callback, History, Run

NOT_CURVES = ("epoch", "step", "lr", "objective", "penalty")
SETTLED = 0.01
"""Of the highest learning rate."""


@dataclass(frozen=True, eq=False)
class Line:
    """One quantity over the epochs; NaN where an epoch has none."""

    name: str
    x: tuple[int, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """Losses and scores over the epochs.

    `best` is the epoch with the lowest loss, of the validation rows where there are some; `kept` the one whose
    parameters were kept, where that is known; `ending` says why the run ended.
    """

    losses: tuple[Line, ...]
    scores: tuple[Line, ...]
    rates: Line | None
    best: int | None
    best_of: str
    best_value: float
    ending: str
    complete: bool
    kept: int | None = None

    @property
    def caption(self) -> str:
        """What to notice."""
        by_name = {line.name: line for line in self.losses}
        words = []
        if self.best is not None:
            words.append(f"Best {self.best_of}: {short(self.best_value)} in epoch {self.best}.")
        held = by_name.get("val_loss")
        if held is not None and self.best is not None and len(held.y) > 2:
            later = [value for epoch, value in zip(held.x, held.y, strict=True) if epoch > self.best]
            lowest = min((value for value in held.y if value == value), default=math.nan)
            if later and lowest > 0 and later[-1] > 1.1 * lowest:
                words.append(
                    f"Afterwards the validation loss rose by {later[-1] / lowest - 1:.0%} while the training loss went "
                    "on falling: it grows too sure of itself, or learns rows by heart."
                )
            elif not later and not self._settled:
                words.append("It was still getting better at the end: more epochs may help.")
        elif held is None:
            words.append("Training rows only: whether new rows would be predicted as well cannot be seen here.")
        if self.kept is not None:
            words.append(f"The parameters of epoch {self.kept} were kept.")
        if self.ending:
            words.append(f"The run ended: {self.ending}.")
        return " ".join(words)

    @property
    def _settled(self) -> bool:
        """Had the learning rate fallen to next to nothing? Then the best epoch is one of the last, as it should be."""
        return self.rates is not None and self.rates.y[-1] < SETTLED * max(self.rates.y)


def learning_curves(history: History, kept: int | None = None) -> LearningCurves | None:
    """The curves of a history; `kept` is the epoch whose parameters were kept, if that is known."""
    if not len(history):
        return None
    names = [name for name in dict.fromkeys(key for row in history for key in row) if name not in NOT_CURVES]
    lines = [_line(history, name) for name in names]
    lines = [line for line in lines if any(math.isfinite(value) for value in line.y)]
    losses = tuple(line for line in lines if line.name in ("loss", "val_loss"))
    scores = tuple(line for line in lines if line not in losses)
    by = next((name for name in ("val_loss", "loss") if any(line.name == name for line in losses)), "")
    best, value = None, math.nan
    if by:
        row = history.best(by)
        best, value = int(row["epoch"]), float(row[by])
    rates = _line(history, "lr") if any("lr" in row for row in history) else None
    ending = history.ending
    complete = ending is None or ending.complete
    name = {"val_loss": "validation loss", "loss": "training loss"}.get(by, by)
    return LearningCurves(losses, scores, rates, best, name, value, history.stopped.rstrip("."), complete, kept)


def _line(history: History, name: str) -> Line:
    rows = [row for row in history if row.get(name) is not None]
    return Line(name, tuple(int(row["epoch"]) for row in rows), tuple(float(row[name]) for row in rows))


class Stopwatch(Callback):
    """The seconds that each epoch took, for the timings of a report.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, nn, report
    >>> X = np.random.default_rng(0).normal(size=(64, 2))
    >>> watch = report.Stopwatch()
    >>> history = Model(nn.mlp((4,), 1)).fit(X, X[:, 0], epochs=3, callbacks=[watch], verbose=False)
    >>> len(watch.seconds)
    3
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.last = 0.0

    def reset(self) -> None:
        self.seconds, self.last = [], 0.0

    def on_fit_begin(self, run: Run) -> None:
        self.last = run.elapsed

    def on_epoch_end(self, run: Run) -> None:
        self.seconds.append(run.elapsed - self.last)
        self.last = run.elapsed

    def state(self) -> dict[str, Any]:
        return {"seconds": list(self.seconds)}

    def load(self, state: dict[str, Any]) -> None:
        self.seconds = list(state["seconds"])

    def __repr__(self) -> str:
        return f"Stopwatch({plural(len(self.seconds), 'epoch')}, {sum(self.seconds):.3g} s)"
