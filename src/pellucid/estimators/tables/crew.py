"""Several networks for one table: trained side by side, and counted by what rows say that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import numpy as np

from pellucid.data.samples import Samples, joined
from pellucid.data.types import Array
from pellucid.engine.native.processors import default_threads
from pellucid.estimators.fitted import Crew, Fitted, begin, seed_of
from pellucid.estimators.recipe import Recipe, sign_of
from pellucid.estimators.tables.common_epoch import Kind, Trial, candidates_for, with_common_epoch
from pellucid.estimators.target import Calibration, Target
from pellucid.train import Callback
from pellucid.train.loop.ending import EndingKind
from pellucid.train.side_by_side import side_by_side

ROUNDS = 16
"""Networks that are counted in one after the other, each as often as it helps."""

Fold = tuple[Samples, Samples | None]
"""Rows to train on, rows held out."""

Training = Callable[..., Fitted]
"""`training.fit`, or something around it."""


@dataclass(frozen=True, eq=False)
class Unseen:
    """Rows that networks have not seen, in one order for all, and their scores by each kind."""

    rows: Samples
    scores: list[Array]


@dataclass(frozen=True, eq=False)
class Trained:
    """The networks as one, and their scores for the rows held out, of the first fold, the next...; maybe not of all.

    Of several folds a row's scores are by the networks that have not seen it.   unseen: (rows, outputs)
    """

    fitted: Fitted
    unseen: Array


def fit_crew(
    recipes: Sequence[Recipe],
    folds: Sequence[Fold],
    rng: np.random.RandomState,
    train: Training,
    *,
    calibrate: bool,
) -> Trained:
    """A network by each recipe for each fold, as one.

    Those of a recipe count alike; how much a recipe counts is chosen by the rows held out (Caruana et al., 2004), and
    so is the temperature of each and of all together.   folds: rows to train on, rows held out

    `max_time` of the recipes is for all together; what is not begun by then is left out.
    """
    done = _trained(recipes, folds, rng, train)
    kinds = sorted(kind for fold, kind in done if fold == min(done)[0])
    complete = list(takewhile(lambda fold: all((fold, kind) in done for kind in kinds), range(len(folds))))
    held_out = [folds[fold][1] for fold in complete]
    sign = sign_of(recipes[0].metric)
    by_kind = [with_common_epoch([done[fold, kind] for fold in complete], held_out, sign) for kind in kinds]
    networks = [list(row) for row in zip(*(one.networks for one in by_kind), strict=True)]
    unseen = _unseen(by_kind, held_out)
    target = recipes[0].target
    shares, told, all_told = np.full(len(kinds), 1 / len(kinds)), [Calibration()] * len(kinds), Calibration()
    pooled = np.empty((0, target.outputs))
    if unseen is not None:
        if calibrate:
            told = [target.learn_from(scores, unseen.rows.target, unseen.rows.weights) for scores in unseen.scores]
        tempered = [scores / one.temperature for scores, one in zip(unseen.scores, told, strict=True)]
        shares = _shares(recipes[0], replace(unseen, scores=tempered))
        alone = len(networks) * np.count_nonzero(shares) == 1
        pooled = unseen.scores[int(np.argmax(shares))] if alone else _pooled(target, tempered, shares)
        if calibrate or target.always_calibrated:
            all_told = target.learn_from(pooled, unseen.rows.target, unseen.rows.weights)
        if alone:  # one temperature is enough
            told = [Calibration()] * len(kinds)
    counted = [
        (replace(row[kind], calibration=told[kind]), float(shares[kind] / len(networks)))
        for kind in np.argsort(-shares, kind="stable")
        if shares[kind]
        for row in networks
    ]
    first = counted[0][0]
    if len(counted) == 1:
        return Trained(replace(first, calibration=all_told), pooled)
    crew = Crew(tuple(member for member, _ in counted), tuple(share for _, share in counted))
    return Trained(replace(first, calibration=all_told, crew=crew), pooled)


# training

Place = tuple[int, int]
"""The number of a fold and that of a recipe."""


def _trained(
    recipes: Sequence[Recipe],
    folds: Sequence[Fold],
    rng: np.random.RandomState,
    train: Training,
) -> dict[Place, Trial]:
    """The networks, those that were trained until the time was up or the user had had enough."""
    places = [(fold, kind) for fold in range(len(folds)) for kind in range(len(recipes))]
    own = {place: np.random.RandomState(seed_of(rng)) for place in places}
    singly = _many(recipes[0], len(places))
    lanes = _lanes(recipes[0]) if singly else 1
    limit, begun = recipes[0].max_time, time.monotonic()
    waiting, done = list(places), dict[Place, Trial]()

    def work(place: Place) -> None:
        recipe, (rows, held) = recipes[place[1]], folds[place[0]]
        if singly:
            recipe = replace(recipe, threads=1)
        if lanes > 1:
            recipe = replace(recipe, verbose=False)
        if limit is not None:
            spare = limit - (time.monotonic() - begun)
            if spare <= 0 and place != places[0]:
                return
            recipe = replace(recipe, max_time=max(spare, 1e-3) * min(lanes / len(waiting), 1.0))
        waiting.remove(place)
        train_one = train if recipe.max_fun is None else partial(train, tell=_nothing)
        start = begin(recipe, rows.X.shape[1], own[place])
        candidates = candidates_for(recipe, len(places), start.model) if len(folds) > 1 else None
        if candidates is not None:
            recipe = replace(recipe, callbacks=(*recipe.callbacks, candidates))
        fitted = train_one(recipe, rows, held, start, own[place])
        fitted.model.progress = None  # nothing goes on from here: the rule's state would only swell the file
        fitted.model.threads = recipes[place[1]].threads
        done[place] = Trial(fitted, candidates)

    if lanes == 1:
        for place in places:
            work(place)
            if place in done and _interrupted(done[place].network):
                break
        return done
    shown = isinstance(recipes[0].verbose, str) and recipes[0].verbose != "silent"
    try:
        side_by_side([partial(work, place) for place in places], threads=lanes, verbose=shown, what="network")
    except KeyboardInterrupt:
        if not done:
            raise
    return done


def _many(recipe: Recipe, networks: int) -> bool:
    """Are there enough of them that each has a thread for itself, and all threads have work?"""
    return networks >= 2 * (recipe.threads or default_threads())


def _lanes(recipe: Recipe) -> int:
    """How many of many networks are trained at a time.

    Lines for each epoch would be mixed, and callbacks may not be made for several trainings at once: then it is one
    after the other, each on one thread all the same, with the same results.
    """
    lines = bool(recipe.verbose) and not isinstance(recipe.verbose, str)
    patient = all(isinstance(one, Callback) and one.side_by_side for one in recipe.callbacks)
    return 1 if lines or not patient else recipe.threads or default_threads()


def _nothing(text: str, kind: type[Warning]) -> None:
    """Of a linear network that has not come to its very end nobody need know: it is there in case others fail."""


def _interrupted(fitted: Fitted) -> bool:
    """Did Ctrl-C end it?"""
    ending = fitted.model.history.ending
    return ending is not None and ending.kind is EndingKind.INTERRUPTED


# counting


def _unseen(kinds: Sequence[Kind], held_out: Sequence[Samples | None]) -> Unseen | None:
    """What each kind says of the rows held out; None where there are none."""
    scores = [kind.unseen for kind in kinds if kind.unseen is not None]
    return Unseen(joined([rows for rows in held_out if rows is not None]), scores) if scores else None


def _pooled(target: Target, scores: Sequence[Array], shares: Array) -> Array:
    used = np.flatnonzero(shares)
    stacked = np.stack([scores[int(kind)] for kind in used], axis=1)
    return np.asarray(target.loss.single.link.pooled(stacked, shares[used]))


def _shares(recipe: Recipe, unseen: Unseen) -> Array:
    """How much each kind counts: of all, one is counted in that helps most, and again."""
    kinds = len(unseen.scores)
    if kinds == 1:
        return np.ones(1)
    target, metric = recipe.target, recipe.metric
    loss, sign = target.loss, sign_of(metric)
    truth = loss.prepare(unseen.rows.target, target.outputs)
    judge = None if metric is None else target.scored(metric)

    def cost(counts: Array) -> float:
        scores = _pooled(target, unseen.scores, counts / counts.sum())
        if judge is None:
            return float(loss(scores, truth, unseen.rows.weights))
        return -sign * judge(truth, scores, loss, unseen.rows.weights)

    counts = np.zeros(kinds)
    for _ in range(ROUNDS):
        costs = [cost(counts + one) for one in np.eye(kinds)]
        counts[int(np.nanargmin(costs)) if np.isfinite(costs).any() else 0] += 1
    return np.asarray(counts / counts.sum())
