"""What a fit leaves behind: all that an estimator needs to predict, to show itself, and to go on learning."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.amounts import check_whole
from pellucid.data.chunks import input_chunks
from pellucid.data.types import Array, Matrix
from pellucid.estimators.convergence import Curves
from pellucid.estimators.importances import Importances
from pellucid.estimators.recipe import Recipe, name_of
from pellucid.estimators.target import Calibration, Target
from pellucid.train import Metric, Model

Scoring = Callable[[Model, Matrix], Array]
"""Rows to the output of a network, members apart."""

DRAWS = 50
"""Networks that are drawn by dropout."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A network, trained or with its first weights. It is never changed: a further fit makes another."""

    model: Model
    target: Target
    metric: Metric | None
    curves: Curves = field(default_factory=Curves)
    epochs: int = 0  # of the last fit
    limit: int = 0  # and how many were asked for
    early: bool = False  # did validation rows decide?
    seed: int | None = None  # of the order of rows, and of dropout
    drawn: Any = None  # the state of the generator ahead of the random split
    calibration: Calibration = field(default_factory=Calibration)
    crew: Crew | None = None  # of several networks this is the first
    importances: Importances | None = None  # of the columns of a table, if they were asked for
    attempts: tuple[dict[str, Any], ...] = ()  # of a fit on a table that was looked after
    baselines: dict[str, float] = field(default_factory=dict)  # held-out losses, its own and those of simpler models

    def scores(self, X: Matrix, each: Scoring = Model.scores) -> Array:
        """The output of the network, or of several joined.   (n, features) -> (n, outputs)

        `each` makes the scores of one network: compiled code, or its formula, which can be recorded.
        """
        if self.crew is not None:
            return self.crew.scores(X, each)
        scores: Array = self.model.loss.joined(each(self.model, X))
        return scores

    def tempered(self, X: Matrix, each: Scoring = Model.scores) -> Array:
        """The same over the temperature."""
        scores = self.scores(X, each)
        tempered: Array = scores / scores.dtype.type(self.calibration.temperature)
        return tempered

    @property
    def networks(self) -> tuple[Fitted, ...]:
        """All of them, or this one."""
        return (self,) if self.crew is None else self.crew.members

    def parts(self, X: Matrix) -> list[Array]:
        """Parts of bounded size, in the network's precision; sparse ones where it takes such rows."""
        return list(input_chunks(X, self.model.dtype, sparse=self.model.net.takes_sparse))

    # layers

    @property
    def layers(self) -> list[tuple[str, str | None]]:
        """Names of the weight and the bias of each layer."""
        params = self.model.params
        weights = [name for name in params if name.endswith(".weight") and name.startswith(("hidden", "output."))]
        biases = [f"{name.removesuffix('.weight')}.bias" for name in weights]
        return [(weight, bias if bias in params else None) for weight, bias in zip(weights, biases, strict=True)]

    def outputs(self, X: Matrix, only: str = "") -> dict[str, Array]:
        """What every layer (or one of them) puts out, by name; hidden layers as they leave for the next one."""
        parts = [self._taps(part, only) for part in self.parts(X)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _taps(self, X: Array, only: str) -> dict[str, Array]:
        model, taps = self.model, dict[str, Array]()
        scores, _ = model.net.apply(model.params, X, model.state, taps=taps)
        outputs = {}
        for name, value in taps.items():
            layer, _, part = name.partition(".")
            if layer.startswith("hidden") and part in ("", "activation", "norm"):
                outputs[layer] = value
        members = model.loss.members
        if members > 1:  # their rows lie below each other
            outputs = {k: np.reshape(v, (members, len(X), v.shape[1])).mean(axis=0) for k, v in outputs.items()}
        outputs["output"] = model.loss.joined(scores)
        return {name: array for name, array in outputs.items() if only in ("", name)}

    def draws(self, X: Matrix, count: int, answer: Callable[[Array], Array], who: str) -> tuple[Array, Array]:
        """Answers and their deviation: of several networks, or of one with dropout at work.   -> (n, k), (n, k)

        The answer of several is the one without deviations; of dropout's draws it is their mean.
        """
        if self.crew is not None:
            return self.crew.spread(X, answer)
        model = self.model
        if not has_noise(model.net):
            raise ValueError(
                f"return_std draws networks by dropout, but this {who} has none: set dropout=0.1, or use an ensemble "
                "(BaggedMLPClassifier, BaggedMLPRegressor)"
            )
        check_whole(2, n_draws=count)
        means, deviations = [], []
        for number, part in enumerate(self.parts(X)):
            scores = (
                model.net.apply(model.params, part, model.state, noise=True, key=number, counter=i)[0]
                for i in range(count)
            )
            answers = np.stack([answer(np.asarray(model.loss.joined(one))) for one in scores])
            means.append(answers.mean(axis=0))
            deviations.append(answers.std(axis=0, ddof=1))
        return np.concatenate(means), np.concatenate(deviations)


@dataclass(frozen=True, eq=False)
class Crew:
    """Several networks for one target: the mean of what they predict is the answer. `shares` add up to 1."""

    members: tuple[Fitted, ...]
    shares: tuple[float, ...]

    def scores(self, X: Matrix, each: Scoring = Model.scores) -> Array:
        """Each one's over its own temperature, joined.   (n, features) -> (n, outputs)"""
        return self._pooled(self._tempered(X, each))

    def spread(self, X: Matrix, answer: Callable[[Array], Array]) -> tuple[Array, Array]:
        """The answer of all together, and the deviation of what each says, as they count.   -> (n, k), (n, k)"""
        tempered, shares = self._tempered(X, Model.scores), np.array(self.shares)
        answers = np.stack([answer(tempered[:, place]) for place in range(len(self.members))])
        mean = np.tensordot(shares, answers, axes=1)
        variance = np.tensordot(shares, (answers - mean) ** 2, axes=1) / (1 - np.sum(shares**2))
        return answer(self._pooled(tempered)), np.sqrt(variance)

    def _tempered(self, X: Matrix, each: Scoring) -> Array:
        """(n, members, outputs)"""
        return np.stack([member.tempered(X, each) for member in self.members], axis=1)

    def _pooled(self, tempered: Array) -> Array:
        pooled: Array = self.members[0].model.loss.single.link.pooled(tempered, self.shares)
        return pooled


def has_noise(net: nn.Layer) -> bool:
    """Is there dropout (or another noise) that could be left on?"""
    noisy = isinstance(net, nn.Dropout | nn.AlphaDropout | nn.GaussianNoise)
    return noisy or any(has_noise(child) for _, child in net.children)


def seed_of(rng: np.random.RandomState) -> int:
    """A seed, drawn."""
    return int(rng.randint(2**31 - 1))


def begin(recipe: Recipe, features: int, rng: np.random.RandomState) -> Fitted:
    """A network with its first weights: scikit-learn's draws in scikit-learn's order, or what initialisers say."""
    model = recipe.model()
    fitted = Fitted(model, recipe.target, recipe.metric)
    if recipe.start is None:
        model.initialize(features, seed=seed_of(rng))
        return fitted
    model.initialize(features, seed=seed_of(rng) if recipe.members > 1 else 0)
    for weight, bias in fitted.layers:
        shape = model.params[weight].shape
        bound = np.sqrt(recipe.start / sum(shape[-2:]))
        for name in (weight, bias):
            if name is not None:
                start = rng.uniform(-bound, bound, model.params[name].shape)
                model.params[name] = start.astype(model.dtype, copy=False)
    return fitted


def take_up(recipe: Recipe, before: Fitted) -> Fitted:
    """What an earlier fit left, with the parameters that have been changed since; its weights stay."""
    old, curves = before.model, copy.deepcopy(before.curves)
    if name_of(recipe.metric) != name_of(before.metric):
        curves.scores, curves.best_score = [], -np.inf  # scores of another kind
    model = replace(recipe, dtype=old.dtype).model()
    parts = ("net", "loss", "optimizer", "metrics", "settings", "asked_engine", "threads")
    if all(getattr(model, part) == getattr(old, part) for part in parts):
        model = copy.copy(old)  # the next training changes the copy
    else:
        fresh = model.net.initialize(old.features, dtype=old.dtype)
        for tree, present in zip(fresh, (old.params, old.state), strict=True):
            wanted, shapes = ({name: np.shape(array) for name, array in one.items()} for one in (tree, present))
            if wanted != shapes:
                raise ValueError(
                    f"{recipe.who}: the network was made with arrays {shapes}, the parameters now ask for {wanted}: a "
                    "warm start goes on with the same layers; set warm_start=False to begin anew"
                )
        model.params, model.state, model.features, model.history = old.params, old.state, old.features, old.history
        model.penalty = old.penalty
        if old.progress is not None and model.optimizer.init(old.params).keys() == old.progress.rule.keys():
            model.progress = old.progress
    alone = replace(before, crew=None, attempts=(), baselines={})  # what was of other networks
    return replace(alone, model=model, target=recipe.target, metric=recipe.metric, curves=curves)
