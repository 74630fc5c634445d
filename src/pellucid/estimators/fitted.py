"""What a fit leaves behind: all that an estimator needs to predict, to show itself, and to go on learning."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.data.chunks import input_chunks
from pellucid.data.types import Array, Matrix, Tree
from pellucid.estimators.calibration import Calibration
from pellucid.estimators.convergence import Curves
from pellucid.estimators.recipe import Recipe, sign_of
from pellucid.estimators.target import Target
from pellucid.train import Metric, Model


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

    @property
    def sign(self) -> float:
        """-1 where a smaller score of the validation rows is better."""
        return sign_of(self.metric)

    def scores(self, X: Matrix) -> Array:
        """The network's output.   (n, features) -> (n, outputs)"""
        return np.asarray(self.model.scores(X))

    def parts(self, X: Matrix) -> list[Array]:
        """Dense parts of bounded size, in the network's precision."""
        return list(input_chunks(X, self.model.dtype))

    # layers

    @property
    def layers(self) -> list[tuple[str, str | None]]:
        """Names of the weight and the bias of each layer."""
        return layer_names(self.model.params)

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
        outputs["output"] = scores
        return {name: array for name, array in outputs.items() if only in ("", name)}

    def with_parameters(self, params: Tree, state: Tree) -> Fitted:
        """The same, with other parameters and statistics."""
        model = copy.copy(self.model)
        model.params, model.state, model.progress = params, state, None
        model.compiled = model.compiled  # sessions of its own
        return replace(self, model=model)


def layer_names(params: Tree) -> list[tuple[str, str | None]]:
    """Names of the weight and the bias of each layer, of named parameters."""
    weights = [name for name in params if name.endswith(".weight") and name.startswith(("hidden", "output."))]
    biases = [f"{name.removesuffix('.weight')}.bias" for name in weights]
    return [(weight, bias if bias in params else None) for weight, bias in zip(weights, biases, strict=True)]


def begin(recipe: Recipe, features: int, rng: np.random.RandomState) -> Fitted:
    """A network with its first weights: scikit-learn's draws in scikit-learn's order, or what initialisers say."""
    model = recipe.model()
    if recipe.start is None:
        model.initialize(features, seed=int(rng.randint(2**31 - 1)))
        return Fitted(model, recipe.target, recipe.metric)
    model.initialize(features)
    for weight, bias in layer_names(model.params):
        shape = model.params[weight].shape
        bound = np.sqrt(recipe.start / sum(shape))
        for name, size in ((weight, shape), (bias, shape[1])):
            if name is not None:
                model.params[name] = rng.uniform(-bound, bound, size).astype(model.dtype, copy=False)
    return Fitted(model, recipe.target, recipe.metric)


def take_up(recipe: Recipe, before: Fitted) -> Fitted:
    """What an earlier fit left, with the parameters that have been changed since; its weights stay."""
    old, curves = before.model, copy.deepcopy(before.curves)
    if _name(recipe.metric) != _name(before.metric):
        curves.scores, curves.best_score = [], -np.inf  # scores of another kind
    model = replace(recipe, dtype=old.dtype).model()
    parts = ("net", "loss", "optimizer", "metrics", "settings", "engine", "threads")
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
    return replace(before, model=model, target=recipe.target, metric=recipe.metric, curves=curves)


def _name(metric: Metric | None) -> str:
    return "loss" if metric is None else metric.name
