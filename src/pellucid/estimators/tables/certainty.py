"""Certainty: how much surer the networks of all folds may be together than those of one fold, which rows can judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pellucid.data.types import Array


def growth(pooled_temperature: Callable[[Array], float], shares: Array, folds: int, chance: Sequence[bool]) -> float:
    """The factor of the temperature that was learned from one fold's networks, for those of all folds: at most 1.

    Probabilities that are averaged are less sure than each of them, and know more. For networks that err apart from
    each other with a variance of v in their scores, each right about how sure it is, the best ln beta of k of them
    grows as v (1 - 1/k). A row that is held out is answered by one fold: v is what the kinds of network show there,
    counted alike; 1/k is the sum of the squares of shares.

    Parameters
    ----------
    pooled_temperature : (shares) -> float
        of kinds of network, each over its own temperature, joined by these shares
    shares : array of shape (kinds,)
        how much each kind counts
    folds : int
        networks of each kind
    chance : sequence of bool, (kinds,)
        does it depend on chance what a network of the kind learns? Linear models are all alike

    Returns
    -------
    float
        above 0

    Examples
    --------
    >>> two_kinds = lambda shares: float(np.exp(-0.1))  # both together: beta = e^0.1, half of what many would have
    >>> round(float(-np.log(growth(two_kinds, np.array([0.5, 0.5]), 2, [True] * 2))), 3)  # two of four: 0.1 -> 0.15
    0.05
    """
    by_chance = np.where(chance, shares, 0.0)
    used = by_chance > 0
    kinds = int(np.count_nonzero(used))
    if kinds < 2 or folds < 2:  # nothing shows v
        return 1.0
    variance = max(-np.log(pooled_temperature(used / kinds)), 0.0) / (1 - 1 / kinds)
    averaged = float(np.sum(by_chance**2)) * (1 - 1 / folds)  # the part of the variance that further folds take away
    return float(np.exp(-variance * averaged))
