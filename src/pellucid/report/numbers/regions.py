"""What a model of two inputs says all over their plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample, column, missing, numeric, word

STEPS = 64
"""Points of the grid each way."""

SHOWN = 400
"""Rows drawn on it."""


@dataclass(frozen=True, eq=False)
class Regions:
    """A grid, x and y (steps,), `values` (layers, steps, steps) with rows along y, and some rows on it.

    For two classes the one layer is the probability of the second (or which class it is, where there is none), for
    more there is one for each class: its lead over the best other one; for numbers it is the prediction.
    """

    columns: tuple[str, str]
    x: Any
    y: Any
    values: Any
    labels: tuple[str, ...]
    points: Any  # (rows, 2)
    targets: Any  # numbers of labels, or the numbers themselves

    @property
    def caption(self) -> str:
        """What to notice."""
        if not self.labels:
            return "Predicted number all over the plane of the two inputs; dots are rows, in the colour of their truth."
        if len(self.labels) == 2:
            return (
                f"Probability of “{self.labels[1]}” all over the plane; the line is where it is one half. Dots are "
                "rows in the colour of their class: look where they lie on the wrong side."
            )
        return "The class that is predicted, all over the plane. Dots are rows in the colour of their class."


def regions(asked: Predictor, rows: Sample) -> Regions | None:
    """The model all over the plane; None unless it has two columns of numbers and one answer."""
    if rows.sparse or len(rows.columns) != 2 or asked.several:
        return None
    both = [column(rows.X, place) for place in (0, 1)]
    if not all(numeric(values) and not missing(values).any() for values in both):
        return None
    plane = np.stack([np.asarray(values, float) for values in both], axis=1)
    low, high = plane.min(axis=0), plane.max(axis=0)
    edge = 0.06 * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[i] - edge[i], high[i] + edge[i], STEPS) for i in (0, 1))
    corners = np.stack([side.ravel() for side in np.meshgrid(x, y)], axis=1)
    grid = pd.DataFrame(corners, columns=rows.X.columns) if isinstance(rows.X, pd.DataFrame) else corners
    values = _values(asked, grid)
    if values is None:
        return None
    part = rows.some(SHOWN)
    targets = asked.targets(part.y)
    labels = tuple(map(word, asked.classes))
    if labels:
        targets = np.array([asked.classes.index(label) for label in targets.tolist()])
    points = np.stack([np.asarray(column(part.X, place), float) for place in (0, 1)], axis=1)
    names = (rows.columns[0], rows.columns[1])
    return Regions(names, x, y, values.reshape(-1, STEPS, STEPS), labels, points, targets)


def _values(asked: Predictor, grid: Any) -> Any:
    """One row for each layer."""
    if not asked.classes:
        answer = np.asarray(asked.predict(grid), float)
        return answer[None] if answer.ndim == 1 else None
    if len(asked.classes) < 2:
        return None
    likely = asked.probabilities(grid)
    if likely is None:
        likely = (asked.predict(grid)[:, None] == np.array(asked.classes)[None, :]).astype(float)
    if likely.shape[1] == 2:
        return likely[:, 1][None]
    order = np.sort(likely, axis=1)
    best_other = np.where(likely == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return (likely - best_other).T
