"""The networks of a crew, trained: side by side, until the time is up, for as many epochs as suit the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from pellucid.data.samples import Samples
from pellucid.estimators.fitted import Fitted, begin
from pellucid.estimators.recipe import Recipe
from pellucid.estimators.tables.common_epoch import Trial, candidates_for
from pellucid.estimators.tables.kept_networks import KeptNetworks, task_of
from pellucid.estimators.tables.time_limit import Clock, Pace, shortened
from pellucid.processors import default_threads
from pellucid.train import Callback
from pellucid.train.loop.ending import EndingKind
from pellucid.train.side_by_side import side_by_side

PILOTS = 2
"""Networks that are trained ahead of the others, to see how many epochs suit the table."""

LATE = 0.75
"""Of the epochs: a best epoch behind it is one of a training that could go on."""

LONGER, SHORTER = 2.0, 0.5
"""Times the epochs that pilots try then, and else: with as many as it needs, the schedule ends where it should."""

TELLING = 500
"""Rows held out that can tell which of two trainings is better; of fewer, only a best epoch near the end speaks."""

Fold = tuple[Samples, Samples | None]
"""Rows to train on, rows held out."""

Training = Callable[..., Fitted]
"""`training.fit`, or something around it."""

Place = tuple[int, int]
"""The number of a fold and that of a recipe."""


@dataclass(frozen=True, eq=False)
class Done:
    """What was trained, by the place; by which trials; did the user end it before all was?"""

    networks: dict[Place, Trial]
    trials: Trials
    ended: bool


@dataclass(frozen=True, eq=False)
class Trials:
    """A network by each recipe for each fold; `seeds` say which, so that it does not matter who is trained when.

    train: what trains one.   length: times the epochs of the recipes.   begun: by the clock
    """

    recipes: Sequence[Recipe]
    folds: Sequence[Fold]
    seeds: dict[Place, int]
    train: Training
    length: float = 1.0
    begun: float = field(default_factory=time.monotonic)

    def trained(self, *, stretch: bool) -> Done:
        """The networks: those that were trained until the time was up or the user had had enough.

        stretch: may there be more epochs, or fewer, than the recipes say?
        """
        self._tell(list(self.seeds))
        if self._limit is not None:
            return self._timely(self._limit)
        places, early = list(self.seeds), [kind for kind, recipe in enumerate(self.recipes) if recipe.early]
        stretch = stretch and len(self.folds) > 1  # else the pilots are half of all
        pilots = [(0, kind) for kind in early[:PILOTS]] if stretch else []
        first, ended = self.some(pilots)
        chosen = self
        if pilots and not ended:
            late = all(_late(first[place].network) for place in pilots)
            if late or self._telling:
                other = self._lasting(LONGER if late else SHORTER)
                self._tell(pilots)
                tried, ended = other.some(pilots)
                if not ended and (_score(tried) > _score(first) or not self._telling):
                    chosen, first = other, tried
        if ended:
            return Done(first, chosen, ended)
        others, ended = chosen.some([place for place in places if place not in first])
        return Done(first | others, chosen, ended)

    def _tell(self, places: Sequence[Place]) -> None:
        """Tell callbacks how many networks will be trained by steps."""
        recipe, by_steps = self.recipes[0], [place for place in places if self.recipes[place[1]].max_fun is None]
        for one in recipe.callbacks:
            if isinstance(one, Callback):
                one.on_networks(len(by_steps), anew=recipe.rates.factor < 1.0)

    @property
    def _telling(self) -> bool:
        """Are there enough rows held out of the first fold to tell two trainings apart?"""
        held = self.folds[0][1]
        return held is not None and len(held) >= TELLING

    def _timely(self, limit: float) -> Done:
        """As many as there is time for, with a schedule that ends in so many seconds."""
        clock, chosen = Clock(limit, self.begun), self
        by_steps = [one for one in self.recipes if one.max_fun is None]
        if by_steps:
            count, pace = len(self.folds) * len(by_steps), self._pace(by_steps[0], clock)
            recipes = [
                one if one.max_fun is not None else shortened(one, count, clock.left, pace, self._lanes)
                for one in self.recipes
            ]
            chosen = replace(self, recipes=recipes)
        networks, ended = chosen.some(list(self.seeds), clock)
        return Done(networks, chosen, ended)

    def _pace(self, recipe: Recipe, clock: Clock) -> float:
        """Seconds of an epoch, by a training that is not carried on."""
        pace, (rows, held), own = Pace(), self.folds[0], np.random.RandomState(self.seeds[0, 0])
        recipe = replace(recipe, callbacks=(pace,), checkpoint=None, verbose=False, max_time=max(clock.left, 1e-3))
        if self._singly:
            recipe = replace(recipe, threads=1)
        self.train(recipe, rows, held, begin(recipe, rows.X.shape[1], own), own, tell=_nothing)
        return pace.seconds

    def _lasting(self, length: float) -> Trials:
        """Times so many epochs."""
        recipes = [_lasting(one, length) if one.early else one for one in self.recipes]
        return replace(self, recipes=recipes, length=length)

    @property
    def _limit(self) -> float | None:
        """Seconds, for all together."""
        return self.recipes[0].max_time

    @property
    def _singly(self) -> bool:
        """Has each a thread for itself?"""
        return _many(self.recipes[0], len(self.seeds))

    @property
    def _lanes(self) -> int:
        """How many are trained at a time."""
        return _lanes(self.recipes[0]) if self._singly else 1

    def some(self, places: Sequence[Place], clock: Clock | None = None) -> tuple[dict[Place, Trial], bool]:
        """Some of the networks, those that there is time for; did the user end it?"""
        done, lanes, singly = dict[Place, Trial](), self._lanes, self._singly

        def work(place: Place) -> None:
            recipe = self.recipes[place[1]]
            if singly:
                recipe = replace(recipe, threads=1)
            if lanes > 1:
                recipe = replace(recipe, verbose=False)
            if clock is None:
                done[place] = self._one(place, recipe)
            elif place == (0, 0) or clock.enough(recipe):
                with clock.timed(recipe):
                    done[place] = self._one(place, replace(recipe, max_time=max(clock.left, 1e-3)))

        if lanes == 1:
            for place in places:
                work(place)
                if place in done and _interrupted(done[place].network):
                    return done, True
            return done, False
        shown = isinstance(self.recipes[0].verbose, str) and self.recipes[0].verbose != "silent"
        try:
            side_by_side([partial(work, place) for place in places], threads=lanes, verbose=shown, what="network")
        except KeyboardInterrupt:
            if not done:
                raise
            return done, True
        return done, False

    def _one(self, place: Place, recipe: Recipe) -> Trial:
        """A network, from first weights or from where its training was killed."""
        (rows, held), seed = self.folds[place[0]], self.seeds[place]
        train = self.train if recipe.max_fun is None else partial(self.train, tell=_nothing)

        def from_first_weights(recipe: Recipe) -> Trial:
            own = np.random.RandomState(seed)
            start = begin(recipe, rows.X.shape[1], own)
            candidates = candidates_for(recipe, len(self.seeds), start.model) if len(self.folds) > 1 else None
            if candidates is not None:
                recipe = replace(recipe, callbacks=(candidates, *recipe.callbacks))
            fitted = train(recipe, rows, held, start, own)
            fitted.model.progress = None  # nothing goes on from here: the rule's state would only swell the file
            fitted.model.give_back()  # of many networks, each would keep its own until all are done
            return Trial(fitted, None if candidates is None else candidates.kept)

        if recipe.checkpoint is None:
            trial = from_first_weights(recipe)
        else:
            name = f"rate-{recipe.rates.factor:.2g}-fold-{place[0] + 1}-kind-{place[1] + 1}{_suffix(self.length)}"
            task = task_of(recipe, rows, held, seed)
            trial = KeptNetworks(Path(recipe.checkpoint)).trial(name, task, recipe, from_first_weights)
        trial.network.model.threads = self.recipes[place[1]].threads
        return trial


def _late(network: Fitted) -> bool:
    """Was the best epoch one of the last?"""
    return network.curves.best_iter > LATE * network.limit


def _score(trials: dict[Place, Trial]) -> float:
    """Of the best epochs, on the rows held out: more is better."""
    return float(np.mean([trial.network.curves.best_score for trial in trials.values()]))


def _lasting(recipe: Recipe, length: float) -> Recipe:
    return replace(recipe, epochs=max(round(length * recipe.epochs), 1))


def _suffix(length: float) -> str:
    """Of a file's name."""
    return "" if length == 1 else "-longer" if length > 1 else "-shorter"


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
