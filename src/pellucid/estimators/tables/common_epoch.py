"""Networks of one kind for several folds keep one epoch: the one that all rows held out choose together.

A fold alone has few rows to choose by. The epoch that it chooses suits these rows by chance as well, and makes the
network look better on them than it is.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.samples import Samples
from pellucid.data.types import Array
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.recipe import Recipe
from pellucid.train import Callback, Model, Run
from pellucid.train.files.container import joined, parted

CANDIDATES = 16
"""Epochs to choose from, at most: parameters change little from one to the next, and those of all are kept so long."""

MEMORY = 400e6
"""Bytes that the candidates of all networks may take together."""

Arrays = dict[str, np.ndarray]

Epochs = dict[int, tuple[Arrays, Arrays]]
"""What predicts, parameters and statistics, by the number of the epoch."""


class Candidates(Callback):
    """Keeps what predicts, parameters and statistics, after every so many epochs."""

    side_by_side = True

    def __init__(self, every: int) -> None:
        self.every = every
        self.kept: Epochs = {}

    def on_epoch_end(self, run: Run) -> None:
        if run.epoch % self.every == 0:
            self.kept[run.epoch] = run.prediction

    def state(self) -> dict[str, Any]:
        """All arrays, by epoch and part."""
        parts = {f"{epoch}.{part}": arrays for epoch, both in self.kept.items() for part, arrays in enumerate(both)}
        return {"kept": joined(parts, "|")}

    def load(self, state: dict[str, Any]) -> None:
        """The way back.

        Parameters
        ----------
        state : dict[str, Any]
            what `state` gave
        """
        parts = parted(state["kept"], "|")
        epochs = sorted({int(name.partition(".")[0]) for name in parts})
        self.kept = {epoch: (parts[f"{epoch}.0"], parts[f"{epoch}.1"]) for epoch in epochs}


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
    candidates: Epochs | None = None


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
    kept = [one.candidates for one in trials if one.candidates is not None]
    if len(trials) == 1:
        return Kind(networks, _scores(networks, rows))
    counts = [one.total for one in rows]
    if len(kept) < len(trials):
        return Kind(_scored_alike(networks, counts), _scores(networks, rows))
    shared = np.array(sorted(set.intersection(*map(set, kept))), int)
    curves = sign * np.array([[network.curves.scores[epoch - 1] for epoch in shared] for network in networks])
    sums = curves * np.array(counts)[:, None]
    together, others = sums.sum(axis=0), sums.sum(axis=0) - sums
    if not np.isfinite(together).any() or not np.isfinite(others).any(axis=1).all():
        return Kind(_scored_alike(networks, counts), _scores(networks, rows))
    honest = [at_epoch(one, int(shared[_last_best(means)])) for one, means in zip(trials, others, strict=True)]
    unseen = _scores(honest, rows)
    best = _last_best(together)
    score = float(together[best] / sum(counts))
    return Kind([_gone_back(one.network, one.candidates, int(shared[best]), score) for one in trials], unseen)


def _scored_alike(networks: Sequence[Fitted], counts: Sequence[float]) -> list[Fitted]:
    """Networks that have each an epoch of its own, with the mean of their scores."""
    score = float(np.average([network.curves.best_score for network in networks], weights=counts))
    return [replace(network, curves=replace(network.curves, best_score=score)) for network in networks]


def _last_best(means: Array) -> int:
    """The place of the largest, and of equal ones the last."""
    return len(means) - 1 - int(np.nanargmax(means[::-1]))


def _scores(networks: Sequence[Fitted], held: Sequence[Samples]) -> Array:
    """Of each network for its rows, one below the other."""
    scores = []
    for network, rows in zip(networks, held, strict=True):
        scores.append(network.scores(rows.X))
        network.model.give_back()
    return np.concatenate(scores).astype(np.float64)


def at_epoch(trial: Trial, epoch: int) -> Fitted:
    """A copy of the network as it was after an epoch, if that is one that it may go back to."""
    network = replace(trial.network, model=copy.copy(trial.network.model))
    return _gone_back(network, trial.candidates, epoch, network.curves.best_score)


def _gone_back(network: Fitted, kept: Epochs | None, epoch: int, score: float) -> Fitted:
    """The network itself, from now on as it was after an epoch.   score: of all rows held out, larger is better"""
    network.model.give_back()  # a copy shares compiled predictions with the first
    if kept is None or epoch not in kept:
        return network
    network.model.params, network.model.state = kept[epoch]
    return replace(network, curves=replace(network.curves, best_iter=epoch, best_score=score))
