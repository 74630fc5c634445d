"""Several networks for one table: trained side by side, and counted by what rows say that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import numpy as np

from pellucid.data.chunks import spaced
from pellucid.data.samples import Samples, joined
from pellucid.data.types import Array
from pellucid.estimators.fitted import Crew, Fitted, seed_of
from pellucid.estimators.recipe import Recipe, sign_of
from pellucid.estimators.tables.baselines import each_cost
from pellucid.estimators.tables.certainty import growth
from pellucid.estimators.tables.common_epoch import Kind, at_epoch, with_common_epoch
from pellucid.estimators.tables.trials import Fold, Training, Trials
from pellucid.estimators.target import Calibration, Target

ROUNDS = 16
"""Networks that are counted in one after the other, each as often as it helps."""

ENOUGH = 50_000
"""Rows held out that tell how much a kind counts: evenly spaced, of more."""


@dataclass(frozen=True, eq=False)
class Unseen:
    """Rows that networks have not seen, in one order for all, and their scores by each kind."""

    rows: Samples
    scores: list[Array]


@dataclass(frozen=True, eq=False)
class Trained:
    """The networks as one, and their scores for the rows held out, of the first fold, the next...; maybe not of all.

    Of several folds a row's scores are by the networks that have not seen it: one of each kind, where all of them will
    answer together.   unseen: (rows, outputs).   gain: by how much that costs less, measured when it is asked for
    ended: did the user end it before all networks were there?
    """

    fitted: Fitted
    unseen: Array
    gain: Callable[[], float]
    ended: bool


@dataclass(frozen=True, eq=False)
class Judge:
    """A network of the first fold: of which recipe, over which temperature it is counted, and how much."""

    kind: int
    network: Fitted
    temperature: float
    share: float


@dataclass(frozen=True, eq=False)
class Counts:
    """How much each kind of network counts, and what rows told of them: of each alone, of one fold's, of all.

    pooled: the answers of one fold's together for rows that it has not seen, (rows, outputs)
    """

    shares: Array
    each: list[Calibration]
    one_fold: Calibration
    together: Calibration
    pooled: Array


def fit_crew(
    recipes: Sequence[Recipe],
    folds: Sequence[Fold],
    rng: np.random.RandomState,
    train: Training,
    *,
    calibrate: bool,
    stretch: bool = False,
) -> Trained:
    """A network by each recipe for each fold, as one.

    Those of a recipe count alike; how much a recipe counts is chosen by the rows held out (Caruana et al., 2004), and
    so is the temperature of each and of all together.   folds: rows to train on, rows held out

    `max_time` of the recipes is for all together; what is not begun by then is left out.   stretch: may there be more
    epochs than they say, where networks still get better at the end?
    """
    places = [(fold, kind) for fold in range(len(folds)) for kind in range(len(recipes))]
    seeds = {place: seed_of(rng) for place in places}
    result = Trials(recipes, folds, seeds, train).trained(stretch=stretch)
    done = result.networks
    kinds = sorted(kind for fold, kind in done if fold == min(done)[0])
    complete = list(takewhile(lambda fold: all((fold, kind) in done for kind in kinds), range(len(folds))))
    held_out = [folds[fold][1] for fold in complete]
    sign = sign_of(recipes[0].metric)
    by_kind = [with_common_epoch([done[fold, kind] for fold in complete], held_out, sign) for kind in kinds]
    networks = [list(row) for row in zip(*(one.networks for one in by_kind), strict=True)]
    unseen = _unseen(by_kind, held_out)
    counts = _counts([recipes[kind] for kind in kinds], unseen, len(networks), calibrate=calibrate)
    shares = counts.shares
    counted = [
        (replace(row[kind], calibration=counts.each[kind]), float(shares[kind] / len(networks)))
        for kind in np.argsort(-shares, kind="stable")
        if shares[kind]
        for row in networks
    ]
    judges = [
        Judge(kinds[place], networks[0][place], counts.each[place].temperature, float(shares[place]))
        for place in np.flatnonzero(shares)
    ]
    gain = partial(_gain, result.trials, judges, counts.one_fold.temperature)
    crew = Crew(tuple(member for member, _ in counted), tuple(share for _, share in counted))
    fitted = replace(counted[0][0], calibration=counts.together)
    if len(counted) > 1:
        fitted = replace(fitted, crew=crew)
    return Trained(fitted, counts.pooled, gain, result.ended)


# counting


def _unseen(kinds: Sequence[Kind], held_out: Sequence[Samples | None]) -> Unseen | None:
    """What each kind says of the rows held out; None where there are none."""
    scores = [kind.unseen for kind in kinds if kind.unseen is not None]
    return Unseen(joined([rows for rows in held_out if rows is not None]), scores) if scores else None


def _counts(recipes: Sequence[Recipe], unseen: Unseen | None, folds: int, *, calibrate: bool) -> Counts:
    """Shares and temperatures by the rows held out; all alike where there are none."""
    target, kinds = recipes[0].target, len(recipes)
    silent = [Calibration()] * kinds
    if unseen is None:
        return Counts(np.full(kinds, 1 / kinds), silent, Calibration(), Calibration(), np.empty((0, target.outputs)))
    truth, weights = unseen.rows.target, unseen.rows.weights
    learned = partial(target.learn_from, encoded=truth, weights=weights)
    each = [learned(scores) for scores in unseen.scores] if calibrate else silent
    tempered = [scores / one.temperature for scores, one in zip(unseen.scores, each, strict=True)]
    shares = _shares(recipes[0], replace(unseen, scores=tempered))
    if folds * np.count_nonzero(shares) == 1:  # of a single network one temperature is enough
        pooled, each = unseen.scores[int(np.argmax(shares))], silent
    else:
        pooled = _pooled(target, tempered, shares)
    one_fold = learned(pooled) if calibrate or target.always_calibrated else Calibration()
    factor = 1.0
    if calibrate:
        by_steps = [recipe.max_fun is None for recipe in recipes]
        factor = growth(lambda some: learned(_pooled(target, tempered, some)).temperature, shares, folds, by_steps)
    together = replace(one_fold, temperature=one_fold.temperature * factor)
    return Counts(shares, each, one_fold, together, pooled)


def _gain(trials: Trials, judges: Sequence[Judge], temperature: float) -> float:
    """By how much the mean answer of all folds costs less than that of one, which judges a row.

    For the first fold a second network of each kind is trained. Two of them together cost less than each alone, by half
    of what they disagree by; so many together by nearly all of it (Krogh and Vedelsby, 1995).

    judges: the networks of the first fold that count.   temperature: of all together
    """
    held, target, folds = trials.folds[0][1], trials.recipes[0].target, len(trials.folds)
    if held is None or folds < 2 or trials.recipes[0].max_time is not None:
        return 0.0
    seeds = {(0, one.kind): seed_of(np.random.RandomState(trials.seeds[0, one.kind])) for one in judges}
    recipes = [replace(recipe, checkpoint=None) for recipe in trials.recipes]  # a folder has one network for a place
    second = replace(trials, recipes=recipes, seeds=seeds).trained(stretch=False).networks
    if len(second) < len(judges):  # the user had had enough
        return 0.0
    again = [at_epoch(second[0, one.kind], one.network.curves.best_iter) for one in judges]
    rows = [
        [network.scores(held.X).astype(float) / one.temperature for one, network in zip(judges, networks, strict=True)]
        for networks in ([one.network for one in judges], again)
    ]
    shares = np.array([one.share for one in judges])
    answers = [_joined(target, rows[0], shares), _joined(target, rows[1], shares)]
    answers.append(_joined(target, [*rows[0], *rows[1]], np.tile(shares, 2)))
    costs = [each_cost(target, one / temperature, held.target) for one in answers]
    each, together = (float(np.average(one, weights=held.weights)) for one in ((costs[0] + costs[1]) / 2, costs[2]))
    return 2 * (each - together) * (1 - 1 / folds)


def _pooled(target: Target, scores: Sequence[Array], shares: Array) -> Array:
    """Those that count, joined by their shares."""
    used = np.flatnonzero(shares)
    return _joined(target, [scores[int(kind)] for kind in used], shares[used])


def _joined(target: Target, scores: Sequence[Array], shares: Array) -> Array:
    """(n, outputs) each -> (n, outputs)"""
    return np.asarray(target.loss.single.link.pooled(np.stack(scores, axis=1), shares / shares.sum()))


def _shares(recipe: Recipe, unseen: Unseen) -> Array:
    """How much each kind counts: of all, one is counted in that helps most, and again."""
    kinds = len(unseen.scores)
    if kinds == 1:
        return np.ones(1)
    target, metric = recipe.target, recipe.metric
    loss, sign = target.loss, sign_of(metric)
    truth = loss.prepare(spaced(unseen.rows.target, ENOUGH), target.outputs)
    weights = None if unseen.rows.weights is None else spaced(unseen.rows.weights, ENOUGH)
    each = [spaced(scores, ENOUGH) for scores in unseen.scores]
    judge = None if metric is None else target.scored(metric)

    def cost(counts: Array) -> float:
        scores = _pooled(target, each, counts / counts.sum())
        if judge is None:
            return float(loss(scores, truth, weights))
        return -sign * judge(truth, scores, loss, weights)

    counts = np.zeros(kinds)
    for _ in range(ROUNDS):
        costs = [cost(counts + one) for one in np.eye(kinds)]
        counts[int(np.nanargmin(costs)) if np.isfinite(costs).any() else 0] += 1
    return np.asarray(counts / counts.sum())
