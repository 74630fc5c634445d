"""What a pass over a data set tells of its target: the classes and how many rows each has, rows, the sum of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.data.dataset import Dataset
from pellucid.data.types import Array

CLASSES = 10_000
"""Different values of a target of classes, at most."""


@dataclass(frozen=True, eq=False)
class TargetSummary:
    """classes: (k,) in their order, of each the rows, counts (k,), and the sum of their weights (k,).

    Of a target of several columns, and of numbers, there are none.
    """

    rows: int
    total: float
    classes: Array
    counts: Array
    weights: Array


def target_summary(data: Dataset, *, classes: bool) -> TargetSummary:
    """One pass over target and weights alone; none where nothing is asked for that files do not say."""
    if not classes and data.rows is not None and data.read.weight is None and not data.source.has_target:
        return TargetSummary(data.rows, float(data.rows), np.empty(0), np.empty(0, int), np.empty(0))
    import pandas as pd

    counts: dict[object, int] = {}
    weights: dict[object, float] = {}
    rows, total = 0, 0.0
    for part in data.target_alone().parts():
        rows += len(part)
        total += float(len(part) if part.weights is None else np.sum(part.weights))
        if classes and part.target is not None and part.target.ndim == 1:
            codes, labels = pd.factorize(part.target)
            sums = np.bincount(codes, part.weights)
            for label, count, weight in zip(labels.tolist(), np.bincount(codes).tolist(), sums.tolist(), strict=True):
                counts[label] = counts.get(label, 0) + count
                weights[label] = weights.get(label, 0.0) + weight
            if len(counts) > CLASSES:
                raise ValueError(
                    f"the target {', '.join(data.read.target)} has more than {CLASSES:,} different values, such as "
                    f"{next(iter(counts))!r}: for numbers take a regressor"
                )
    kinds = {type(label) for label in counts}
    if str in kinds and len(kinds) > 1:
        strange = next(label for label in counts if not isinstance(label, str))
        raise ValueError(f"the target has texts and {strange!r}, a {type(strange).__name__}: give all of one kind")
    ordered = sorted(counts)  # type: ignore[type-var]
    return TargetSummary(
        rows,
        total,
        np.array(ordered),
        np.array([counts[label] for label in ordered], int),
        np.array([weights[label] for label in ordered], float),
    )
