"""What a pass over a data set tells of its target: the classes and how many rows each has, rows, the sum of weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.data.dataset import Dataset
from pellucid.data.parts import Part
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


@dataclass(eq=False)
class _Counts:
    """What has been seen so far: rows, the sum of their weights, and both of each class."""

    rows: int = 0
    total: float = 0.0
    counts: dict[object, int] = field(default_factory=dict)
    weights: dict[object, float] = field(default_factory=dict)

    def add(self, part: Part, *, classes: bool) -> None:
        """Some rows."""
        self.rows += len(part)
        self.total += float(len(part) if part.weights is None else np.sum(part.weights))
        if classes and part.target is not None and part.target.ndim == 1:
            import pandas as pd

            codes, labels = pd.factorize(part.target)
            sums = np.bincount(codes, part.weights)
            self._count(dict(zip(labels.tolist(), np.bincount(codes).tolist(), strict=True)))
            self._weigh(dict(zip(labels.tolist(), sums.tolist(), strict=True)))

    def join(self, other: _Counts) -> None:
        """What somebody else has seen."""
        self.rows += other.rows
        self.total += other.total
        self._count(other.counts)
        self._weigh(other.weights)

    def _count(self, more: dict[Any, int]) -> None:
        for label, count in more.items():
            self.counts[label] = self.counts.get(label, 0) + count

    def _weigh(self, more: dict[Any, float]) -> None:
        for label, weight in more.items():
            self.weights[label] = self.weights.get(label, 0.0) + weight

    def check(self, target: tuple[str, ...]) -> None:
        """Raise where these are no classes."""
        if len(self.counts) > CLASSES:
            raise ValueError(
                f"the target {', '.join(target)} has more than {CLASSES:,} different values, such as "
                f"{next(iter(self.counts))!r}: for numbers take a regressor"
            )


def target_summary(data: Dataset, *, classes: bool) -> TargetSummary:
    """One pass over target and weights alone; none where nothing is asked for that files do not say."""
    if not classes and data.rows is not None and data.read.weight is None and not data.source.has_target:
        return TargetSummary(data.rows, float(data.rows), np.empty(0), np.empty(0, int), np.empty(0))
    own = _Counts()
    for part in data.target_alone().parts():
        own.add(part, classes=classes)
        own.check(data.read.target)
    whole = _Counts()
    for each in data.told(own):
        whole.join(each)
    whole.check(data.read.target)
    counts, weights = whole.counts, whole.weights
    kinds = {type(label) for label in counts}
    if str in kinds and len(kinds) > 1:
        strange = next(label for label in counts if not isinstance(label, str))
        raise ValueError(f"the target has texts and {strange!r}, a {type(strange).__name__}: give all of one kind")
    ordered = sorted(counts)  # type: ignore[type-var]
    return TargetSummary(
        whole.rows,
        whole.total,
        np.array(ordered),
        np.array([counts[label] for label in ordered], int),
        np.array([weights[label] for label in ordered], float),
    )
