"""Samples: rows with their target and weights, as they come; dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.data.sparse import dense
from pellucid.data.types import Array, Matrix


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows X (n, features), their target (n,) or (n, columns), and weights (n,) or None."""

    X: Matrix
    target: Array
    weights: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def total(self) -> float:
        """The sum of weights: how many rows they are."""
        return float(len(self) if self.weights is None else np.sum(self.weights))

    def take(self, rows: Array) -> Samples:
        """Some of them, by number."""
        return Samples(self.X[rows], self.target[rows], None if self.weights is None else self.weights[rows])

    def arrays(self, *, sparse: bool) -> tuple[Matrix, Array, Array | None]:
        """X, the target, the weights. A sparse X stays one if it may be `sparse`."""
        return self.X if sparse else dense(self.X), self.target, self.weights


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
