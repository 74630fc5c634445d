"""Several networks for one table: trained one after the other, and counted by what rows say that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pellucid.data.samples import Samples
from pellucid.data.types import Array
from pellucid.estimators.fitted import Crew, Fitted, begin, seed_of
from pellucid.estimators.recipe import Recipe, sign_of
from pellucid.estimators.target import Calibration, Target
from pellucid.train.loop.ending import EndingKind

ROUNDS = 16
"""Networks that are counted in one after the other, each as often as it helps."""

Fold = tuple[Samples, Samples | None]
"""Rows to train on, rows held out."""

Training = Callable[..., Fitted]
"""`training.fit`, or something around it."""


@dataclass(frozen=True, eq=False)
class Unseen:
    """Rows that networks have not seen, in one order for all: their target, weights, and the scores by each kind."""

    truth: Array
    weights: Array | None
    scores: list[Array]


@dataclass(frozen=True, eq=False)
class Trained:
    """The networks as one, and their scores for the rows held out, fold after fold; none without such rows.

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
    networks = list(_trained(recipes, folds, rng, train))
    kinds = len(networks[0])
    whole = [row for row in networks if len(row) == kinds]  # of the last fold some may be missing
    unseen = _unseen(whole, folds)
    target = recipes[0].target
    shares, told, all_told = np.full(kinds, 1 / kinds), [Calibration()] * kinds, Calibration()
    pooled = np.empty((0, target.outputs))
    if unseen is not None:
        if calibrate:
            told = [target.learn_from(scores, unseen.truth, unseen.weights) for scores in unseen.scores]
        tempered = [scores / one.temperature for scores, one in zip(unseen.scores, told, strict=True)]
        shares = _shares(recipes[0], replace(unseen, scores=tempered))
        alone = len(whole) * np.count_nonzero(shares) == 1
        pooled = unseen.scores[int(np.argmax(shares))] if alone else _pooled(target, tempered, shares)
        if calibrate or target.always_calibrated:
            all_told = target.learn_from(pooled, unseen.truth, unseen.weights)
        if alone:  # one temperature is enough
            told = [Calibration()] * kinds
    counted = [
        (replace(row[kind], calibration=told[kind]), float(shares[kind] / len(whole)))
        for kind in np.argsort(-shares, kind="stable")
        if shares[kind]
        for row in whole
    ]
    first = counted[0][0]
    if len(counted) == 1:
        return Trained(replace(first, calibration=all_told), pooled)
    crew = Crew(tuple(member for member, _ in counted), tuple(share for _, share in counted))
    return Trained(replace(first, calibration=all_told, crew=crew), pooled)


def _trained(
    recipes: Sequence[Recipe],
    folds: Sequence[Fold],
    rng: np.random.RandomState,
    train: Training,
) -> Iterator[list[Fitted]]:
    """The networks of each fold, until the time is up or the user has had enough."""
    limit, start = recipes[0].max_time, time.monotonic()
    left = len(recipes) * len(folds)
    for number, (rows, held) in enumerate(folds):
        done: list[Fitted] = []
        for recipe in recipes:
            spare = None if limit is None else limit - (time.monotonic() - start)
            begun = number > 0 or bool(done)
            over = begun and ((spare is not None and spare <= 0) or _interrupted(done))
            if over:
                break
            own = np.random.RandomState(seed_of(rng))
            recipe = recipe if spare is None else replace(recipe, max_time=max(spare, 1e-3) / left)
            train_one = train if recipe.max_fun is None else partial(train, tell=_nothing)
            fitted = train_one(recipe, rows, held, begin(recipe, rows.X.shape[1], own), own)
            fitted.model.progress = None  # nothing goes on from here: the rule's state would only swell the file
            done.append(fitted)
            left -= 1
        if done:
            yield done
        if over or _interrupted(done):
            return


def _nothing(text: str, kind: type[Warning]) -> None:
    """Of a linear network that has not come to its very end nobody need know: it is there in case others fail."""


def _interrupted(done: list[Fitted]) -> bool:
    """Did Ctrl-C end the last of them?"""
    ending = done[-1].model.history.ending if done else None
    return ending is not None and ending.kind is EndingKind.INTERRUPTED


def _unseen(networks: list[list[Fitted]], folds: Sequence[Fold]) -> Unseen | None:
    """What each kind says of the rows held out; None where there are none."""
    parts = [held for _, (_, held) in zip(networks, folds, strict=False) if held is not None]
    if not parts:
        return None
    kinds = range(len(networks[0]))
    scores = [
        np.concatenate([row[kind].scores(held.X) for row, held in zip(networks, parts, strict=True)]).astype(np.float64)
        for kind in kinds
    ]
    weights = None if parts[0].weights is None else np.concatenate([held.weights for held in parts])
    return Unseen(np.concatenate([held.target for held in parts]), weights, scores)


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
    truth = loss.prepare(unseen.truth, target.outputs)
    judge = None if metric is None else target.scored(metric)

    def cost(counts: Array) -> float:
        scores = _pooled(target, unseen.scores, counts / counts.sum())
        if judge is None:
            return float(loss(scores, truth, unseen.weights))
        return -sign * judge(truth, scores, loss, unseen.weights)

    counts = np.zeros(kinds)
    for _ in range(ROUNDS):
        costs = [cost(counts + one) for one in np.eye(kinds)]
        counts[int(np.nanargmin(costs)) if np.isfinite(costs).any() else 0] += 1
    return np.asarray(counts / counts.sum())
