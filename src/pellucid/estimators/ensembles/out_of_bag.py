"""Rows that members have not seen: what those say of them, and how good that is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils import _safe_indexing

from pellucid.data.types import Array, Matrix
from pellucid.estimators.classifier import DataWarning
from pellucid.estimators.ensembles.outputs import Outputs
from pellucid.estimators.ensembles.resampling import Share
from pellucid.estimators.protocols import Learner

NEVER_OUT = 0.1
"""Share of rows without an out-of-bag prediction from which on there is a warning."""


@dataclass(frozen=True)
class OutOfBag:
    """The mean output of members that have not seen the row, (n, columns), NaN where all have.

    `rows`: a mask of those that have an output, and count. `score` is theirs; NaN for less than two.
    """

    outputs: Array
    rows: Array
    score: float


def out_of_bag(
    reading: Outputs, members: Sequence[Learner], shares: Sequence[Share], X: Matrix, y: Array, weights: Array | None
) -> OutOfBag:
    """Average, for each row, what members say that have not seen it."""
    columns = reading.of(members[0], _safe_indexing(X, [0])).shape[1]
    total, votes = np.zeros((X.shape[0], columns)), np.zeros(X.shape[0])
    for member, share in zip(members, shares, strict=True):
        if len(share.held):
            total[share.held] += reading.of(member, _safe_indexing(X, share.held))
            votes[share.held] += 1
    unseen = votes > 0
    gone = 1 - np.mean(unseen)
    if gone > NEVER_OUT:
        warnings.warn(
            f"{gone:.0%} of the rows were in the bags of all {len(shares)} members: they have no out-of-bag "
            "prediction (NaN), and oob_score_ is of the others. More members (n_estimators) leave fewer.",
            DataWarning,
            stacklevel=3,
        )
    outputs = np.full(total.shape, np.nan)
    outputs[unseen] = total[unseen] / votes[unseen, None]
    rows = unseen if weights is None else unseen & (weights > 0)
    row_weights = None if weights is None else weights[rows]
    score = reading.score(outputs[rows], y[rows], row_weights) if np.sum(rows) >= 2 else np.nan
    return OutOfBag(outputs, rows, score)
