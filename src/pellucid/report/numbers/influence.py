"""What a model uses: permutation importance, and partial dependence on the columns that matter most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import make_scorer, mean_squared_error

from pellucid.markup import plural
from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample, column, missing, numeric, with_floats, word

COLUMNS = 1000
"""Columns up to which importance is measured."""

ROWS = 600_000
"""Rows to be predicted for it, about: more columns have fewer rows and repeats each."""

WORK = 3e10
"""Rows times parameters, for each of importance and dependence: large networks are asked about fewer rows."""

SHOWN = 15
"""Columns in the chart."""

DEPENDENT = 6
"""Columns whose partial dependence is drawn."""

GRID = 24
"""Values of a column at which it is asked."""

CLASSES = 4
"""Classes with lines of their own: those that change most."""


@dataclass(frozen=True, eq=False)
class Importance:
    """By how much a score falls when a column is shuffled: mean and deviation over repeats, largest first."""

    columns: tuple[str, ...]
    places: tuple[int, ...]
    mean: Any
    std: Any
    score: str
    rows: int
    repeats: int
    total: int

    @property
    def caption(self) -> str:
        """What to notice."""
        silent = int(np.sum(self.mean <= np.maximum(self.std, 0)))
        rest = f" {plural(silent, 'column')} of those shown: nothing that stands out." if silent else ""
        return (
            f"{self.score.capitalize()} lost when one column is shuffled ({self.repeats} repeats, {self.rows:,} rows; "
            f"bars are deviations). “{self.columns[0]}” matters most.{rest} Columns that say the same share the credit."
        )


@dataclass(frozen=True, eq=False)
class Dependence:
    """The mean prediction over one column's values, the others as they are.

    `low` and `high` are where 80 % of the rows would lie if all had the same mean: how differently they react.
    """

    column: str
    values: Any  # numbers, or texts for categories
    categories: bool
    labels: tuple[str, ...]  # the classes that change most; ("",) for one curve
    places: tuple[int, ...]  # their numbers
    mean: Any  # (labels, values)
    low: Any
    high: Any
    marks: Any  # deciles of the column: where rows are
    what: str  # that is predicted
    limits: tuple[float, float]  # of all curves of a report


def importance(asked: Predictor, rows: Sample, seed: int = 0) -> Importance | None:
    """Permutation importance; None for sparse rows, rows that are no vectors, and too many columns."""
    names = rows.columns
    if rows.sparse or not 1 <= len(names) <= COLUMNS or len(rows) < 2:
        return None
    total = budget(asked)
    repeats = 5 if total // (5 * len(names)) >= 200 else 2
    part = rows.some(min(1000, max(total // (repeats * len(names)), 50)), seed)
    scoring = make_scorer(mean_squared_error, greater_is_better=False)
    score = "mean square error (negative)"
    if asked.classes:
        scoring, score = "accuracy", "accuracy"
    elif np.ndim(part.y) == 1 and np.ndim(asked.predict(part.X[:1])) == 1:
        scoring, score = "r2", "R²"
    elif np.shape(asked.predict(part.X[:1]))[1:] != np.shape(part.y)[1:]:
        return None
    measured = permutation_importance(
        asked.estimator, part.X, asked.targets(part.y), scoring=scoring, n_repeats=repeats, random_state=seed
    )
    order = np.argsort(-measured.importances_mean, kind="stable")[:SHOWN]
    return Importance(
        tuple(names[j] for j in order),
        tuple(int(j) for j in order),
        measured.importances_mean[order],
        measured.importances_std[order],
        score,
        len(part),
        repeats,
        len(names),
    )


def budget(asked: Predictor) -> int:
    """How many rows may be predicted."""
    size = sum(int(np.size(array)) for model in asked.models for array in model.params.values())
    return int(min(ROWS, WORK / max(size, 1)))


def dependence(asked: Predictor, rows: Sample, places: tuple[int, ...], seed: int = 0) -> tuple[Dependence, ...]:
    """Partial dependence on these columns, one after the other; () where it cannot be asked."""
    if rows.sparse or not rows.columns or asked.several or len(rows) < 2:
        return ()
    part = rows.some(min(300, max(budget(asked) // (GRID * DEPENDENT), 50)), seed)
    candidates = (_on(asked, rows, part, place) for place in places[:DEPENDENT])
    curves = [one for one in candidates if one is not None]
    ends = np.concatenate([np.ravel(part) for one in curves for part in (one.mean, one.low, one.high)] or [np.zeros(1)])
    limits = (float(ends.min()), float(ends.max()))
    return tuple(replace(one, limits=limits) for one in curves)


def _on(asked: Predictor, rows: Sample, part: Sample, place: int) -> Dependence | None:
    values = column(rows.X, place)
    present = values[~missing(values)]
    if not len(present):
        return None
    distinct, counts = np.unique(present.astype(str) if present.dtype == object else present, return_counts=True)
    categories = not numeric(present)
    if categories and present.dtype.kind not in "OUSbT":
        return None  # dates
    if categories:
        grid = _as_given(present, distinct[np.argsort(-counts)][:12])
    elif len(distinct) <= GRID:
        grid = distinct
    else:
        grid = np.unique(np.quantile(present, np.linspace(0.02, 0.98, GRID)))
    if len(grid) < 2:
        return None
    answer = partial_dependence(
        asked.estimator,
        part.X if categories else with_floats(part.X, place),
        [place],
        categorical_features=[place] if categories else None,
        custom_values={place: grid},
        kind="both",
        method="brute",
    )
    average, single = np.asarray(answer["average"]), np.asarray(answer["individual"])
    if len(asked.classes) == 2:  # one curve, of the second class
        average, single = average[-1:], single[-1:]
    single = single.reshape(len(average), -1, average.shape[1])
    around = single - single.mean(axis=2, keepdims=True) + average.mean(axis=1)[:, None, None]
    low, high = np.quantile(around, [0.1, 0.9], axis=1)
    what = _predicted(asked)
    if what.startswith("probability"):
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    labels: tuple[str, ...] = ("",)
    chosen = np.arange(1)
    if len(average) > 1:
        names = asked.classes or tuple(map(asked.output, range(len(average))))
        chosen = np.sort(np.argsort(-np.ptp(average, axis=1), kind="stable")[:CLASSES])
        labels = tuple(word(names[k]) for k in chosen)
    return Dependence(
        rows.columns[place],
        np.array([word(value) for value in grid], object) if categories else grid,
        categories,
        labels,
        tuple(int(k) for k in chosen),
        average[chosen],
        low[chosen],
        high[chosen],
        np.empty(0) if categories else np.quantile(present, np.linspace(0.1, 0.9, 9)),
        what,
        (0.0, 1.0),
    )


def _predicted(asked: Predictor) -> str:
    if not asked.classes:
        return "prediction"
    likely = "probability" if hasattr(asked.estimator, "predict_proba") else "score"
    return f"{likely} of “{word(asked.classes[1])}”" if len(asked.classes) == 2 else f"{likely} of each class"


def _as_given(present: Any, texts: Any) -> Any:
    """Categories in the types that the column has."""
    if present.dtype != object:
        return texts
    originals = {str(value): value for value in present}
    return np.array([originals[text] for text in texts], object)
