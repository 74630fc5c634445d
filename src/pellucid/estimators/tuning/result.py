"""What a search found: the best estimator, its settings, and a table of everything that was tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

from pellucid.markup import Brief, table

if TYPE_CHECKING:
    import pandas as pd
    from optuna import Study

SHOWN = 5
"""Trials in the printed table."""

WIDTH = 120
"""Characters of a part of the short form."""


@dataclass(frozen=True, repr=False)
class Trial(Brief):
    """One setting that was tried. `value` is the best of `curve`, in epoch `epochs`; with folds their means.

    `state` is "complete", "pruned" (it fell behind), "cut" (the time was over, or Ctrl-C) or "failed" (it diverged).
    """

    number: int
    params: dict[str, object]
    state: str
    value: float | None
    epochs: int
    seconds: float
    curve: tuple[float, ...] = ()


@dataclass(frozen=True)
class Tuned:
    """The outcome of `tune`. Trial 0 is the estimator as it was given.

    Parameters
    ----------
    best_estimator : BaseEstimator
        fitted on all rows
    best_params : dict[str, object]
        what differs from the estimator as it was given
    best_value : float
        of the metric, on the validation rows
    best_epochs : int
        of the best trial
    metric : str
        by name
    mode : str
        "max" or "min" is better
    trials : list[Trial]
        all of them, in their order
    seconds : float
        of the whole call
    stopped : str
        why the search ended
    study : Study
        of Optuna
    """

    best_estimator: BaseEstimator  # of pellucid's or the user's class: it has all that one has
    best_params: dict[str, object]
    best_value: float
    best_epochs: int
    metric: str
    mode: str  # "max" or "min"
    trials: list[Trial]
    seconds: float
    stopped: str
    study: Study = field(repr=False)  # Optuna's, for its plots

    def ranked(self) -> list[Trial]:
        """Trials that were judged on all the rows there are for it, the best first."""
        sign = -1.0 if self.mode == "min" else 1.0
        candidates = [t for t in self.trials if t.value is not None and t.state != "pruned"]
        return sorted(candidates, key=lambda t: (-sign * float(t.value or 0.0), t.number))

    def to_frame(self) -> pd.DataFrame:
        """A row for each trial: number, state, value of the metric, epochs, seconds, and every parameter."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"trial": t.number, "state": t.state, self.metric: t.value, "epochs": t.epochs, "seconds": t.seconds}
                | t.params
                for t in self.trials
            ]
        )

    def __repr__(self) -> str:
        best = ", ".join(f"{name}={_short(value)}" for name, value in self.best_params.items()) or "as it was given"
        lines = (line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in (*self._heading(), f"best: {best}"))
        return f"<Tuned: {'; '.join(lines)}; print it for the table>"

    def _repr_html_(self) -> str:
        best = [[name, _short(value)] for name, value in self.best_params.items()]
        settings = table(best, ["best", ""]) if best else ""
        head, *rows = _ranking(self.metric, self.ranked()[:SHOWN])
        return settings + table(rows, head, caption="; ".join(self._heading()), numbers=[0, 1, 2])

    def _heading(self) -> tuple[str, str]:
        first = self.trials[0].value
        beside = "" if first is None or not self.best_params else f"; {_short(first)} as given"
        counts = ", ".join(f"{n} {state}" for state, n in Counter(t.state for t in self.trials).items())
        return (
            f"{self.metric} {_short(self.best_value)} on the validation rows{beside}",
            f"{len(self.trials)} trials in {self.seconds:.1f} s ({counts}): {self.stopped}",
        )

    def __str__(self) -> str:
        """The best settings, and how they compare."""
        width = max(map(len, self.best_params), default=0)
        settings = [f"  {name:<{width}}  {_short(value)}" for name, value in self.best_params.items()]
        settings = settings or ["  nothing was better than the estimator as it was given"]
        rows = _ranking(self.metric, self.ranked()[:SHOWN])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        ranking = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join([*self._heading(), "", *settings, "", *ranking])


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _ranking(metric: str, trials: list[Trial]) -> list[list[str]]:
    """A head and a row for each trial, only those parameters that differ."""
    names = list(dict.fromkeys(name for t in trials for name in t.params))
    differ = [n for n in names if len({_short(t.params.get(n)) for t in trials}) > 1]
    rows = [["trial", metric, "epochs", *(n.partition("__")[2] or n for n in differ)]]
    for t in trials:
        settings = [_short(t.params[n]) if n in t.params else "·" for n in differ]
        rows.append([str(t.number), f"{t.value:.4f}", str(t.epochs), *settings])
    return rows
