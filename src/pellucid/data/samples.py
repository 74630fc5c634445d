"""Samples: rows with their target and weights, as they come; dense or sparse, in memory or in a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pellucid.data.row_parts import by_parts
from pellucid.data.sparse import dense, is_sparse
from pellucid.data.types import Array, Matrix

if TYPE_CHECKING:
    from pellucid.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows X (n, features), their target (n,) or (n, columns), and weights (n,) or None."""

    X: Matrix
    target: Array
    weights: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """How many columns X has."""
        return int(self.X.shape[1])

    @property
    def total(self) -> float:
        """The sum of weights: how many rows they are."""
        return float(len(self) if self.weights is None else np.sum(self.weights))

    def take(self, rows: Array | slice) -> Samples:
        """Some of them, by number."""
        return Samples(self.X[rows], self.target[rows], None if self.weights is None else self.weights[rows])

    def arrays(self, *, sparse: bool) -> tuple[Matrix, Array, Array | None]:
        """X, the target, the weights. A sparse X stays one if it may be `sparse`."""
        return self.X if sparse else dense(self.X), self.target, self.weights


class TakenSamples(Samples):
    """Some of other samples, by number. Their X is copied when it is first asked for: of folds, not of all at once."""

    whole: Samples
    numbers: Array

    def __init__(self, whole: Samples, numbers: Array) -> None:
        weights = None if whole.weights is None else whole.weights[numbers]
        self.__dict__.update(whole=whole, numbers=numbers, target=whole.target[numbers], weights=weights)

    @cached_property
    def X(self) -> Matrix:
        """The rows (n, features)."""
        X, numbers = self.whole.X, self.numbers
        return X[numbers] if is_sparse(X) else by_parts(lambda some: X[numbers[some]], len(numbers))

    @property
    def width(self) -> int:
        """How many columns X has."""
        return self.whole.width

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Array | slice) -> Samples:
        """Some of them, by number."""
        return self.whole.take(self.numbers[rows])


def joined(parts: Sequence[Samples]) -> Samples:
    """Parts of dense rows, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    weights = [part.weights for part in parts if part.weights is not None]
    return Samples(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights) if weights else None,
    )


@dataclass(frozen=True, eq=False)
class StreamedSamples:
    """Samples that are not in memory: a data set that gives them encoded, and `some` of them that are.

    `total` is the sum of weights.
    """

    data: Dataset
    rows: int
    total: float
    some: Samples

    def __len__(self) -> int:
        return self.rows
