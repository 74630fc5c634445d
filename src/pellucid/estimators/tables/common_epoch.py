"""Networks of one kind for several folds keep one epoch: the one that all rows held out choose together.

A fold alone has few rows to choose by. The epoch that it chooses suits these rows by chance as well, and makes the
network look better on them than it is.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.data.samples import Samples
from pellucid.data.types import Array
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.recipe import Recipe
from pellucid.train import Callback, Model, Run

CANDIDATES = 16
"""Epochs to choose from, at most: parameters change little from one to the next, and those of all are kept so long."""

MEMORY = 400e6
"""Bytes that the candidates of all networks may take together."""

Arrays = dict[str, np.ndarray]


class Candidates(Callback):
    """Keeps what predicts, parameters and statistics, after every so many epochs."""

    side_by_side = True

    def __init__(self, every: int) -> None:
        self.every = every
        self.kept: dict[int, tuple[Arrays, Arrays]] = {}

    def on_epoch_end(self, run: Run) -> None:
        if run.epoch % self.every == 0:
            self.kept[run.epoch] = run.prediction


def candidates_for(recipe: Recipe, networks: int, model: Model) -> Candidates | None:
    """For the training of a model, one of so many; None where no row chooses the epoch, or they would not fit."""
    if not recipe.early:
        return None
    room = int(MEMORY / (networks * sum(array.nbytes for array in model.params.values())))
    count = min(CANDIDATES, recipe.epochs, room)
    return Candidates(-(-recipe.epochs // count)) if count >= min(CANDIDATES // 4, recipe.epochs) else None


@dataclass(frozen=True, eq=False)
class Trial:
    """A network that was trained for a fold, and the epochs that it may still go back to."""

    network: Fitted
    candidates: Candidates | None = None


@dataclass(frozen=True, eq=False)
class Kind:
    """The networks of one kind, and what each says of the rows held out of it, fold after fold; None without such.

    What a network says there is what it said after the epoch that the other folds choose: these rows had no part in it.
    """

    networks: list[Fitted]
    unseen: Array | None


def with_common_epoch(trials: Sequence[Trial], held: Sequence[Samples | None], sign: float) -> Kind:
    """The networks of one kind, each with the parameters of the epoch that is best on the rows held out of all.

    held: rows held out of each.   sign: -1 where a smaller score is better
    """
    rows = [one for one in held if one is not None]
    networks = [one.network for one in trials]
    if len(rows) < len(trials):
        return Kind(networks, None)
    kept = [one.candidates.kept for one in trials if one.candidates is not None]
    if len(trials) == 1 or len(kept) < len(trials):
        return Kind(networks, _scores(networks, rows))
    shared = np.array(sorted(set.intersection(*map(set, kept))), int)
    curves = sign * np.array([[network.curves.scores[epoch - 1] for epoch in shared] for network in networks])
    sums = curves * np.array([[one.total] for one in rows])
    together, others = sums.sum(axis=0), sums.sum(axis=0) - sums
    if not np.isfinite(together).any() or not np.isfinite(others).any(axis=1).all():
        return Kind(networks, _scores(networks, rows))
    honest = [
        _at(network, one, int(shared[_last_best(means)]), sign)
        for network, one, means in zip(networks, kept, others, strict=True)
    ]
    unseen = _scores(honest, rows)
    epoch = int(shared[_last_best(together)])
    return Kind([_at(network, one, epoch, sign) for network, one in zip(networks, kept, strict=True)], unseen)


def _last_best(means: Array) -> int:
    """The place of the largest, and of equal ones the last."""
    return len(means) - 1 - int(np.nanargmax(means[::-1]))


def _scores(networks: Sequence[Fitted], held: Sequence[Samples]) -> Array:
    """Of each network for its rows, one below the other."""
    scores = [network.scores(rows.X) for network, rows in zip(networks, held, strict=True)]
    return np.concatenate(scores).astype(np.float64)


def _at(network: Fitted, kept: dict[int, tuple[Arrays, Arrays]], epoch: int, sign: float) -> Fitted:
    """The network as it was after an epoch."""
    model = copy.copy(network.model)
    model.params, model.state = kept[epoch]
    curves = replace(network.curves, best_iter=epoch, best_score=sign * network.curves.scores[epoch - 1])
    return replace(network, model=model, curves=curves)
