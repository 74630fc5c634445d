"""Faults inside the network: no activation, saturated, dead, vanishing, exploding, symmetric, stale, useless."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid import MLPClassifier, MLPRegressor, nn, optim
from pellucid.estimators import NetworkSettings
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import Setup, Trained, estimator

identity_classifier = MLPClassifier(
    (24,), "identity", learning_rate_init=0.02, max_iter=25, batch_size=32, random_state=0, n_iter_no_change=50
)


def classifier(activation: Any, **more: Any) -> MLPClassifier:
    """A classifier for 200 steps."""
    settings = {"hidden_layer_sizes": (24,), "max_iter": 25, "learning_rate_init": 0.02} | more
    return MLPClassifier(activation=activation, batch_size=32, random_state=0, n_iter_no_change=50, **settings)


def regressor(activation: Any, **more: Any) -> MLPRegressor:
    """A regressor for 200 steps."""
    settings = {"hidden_layer_sizes": (24,), "max_iter": 25, "learning_rate_init": 0.01} | more
    return MLPRegressor(activation=activation, batch_size=32, random_state=0, n_iter_no_change=50, **settings)


def linear_pairs(trained: Trained) -> float:
    """Places where one affine map follows another."""
    parts = [part for _, part in trained.inside.net.children]
    return float(sum(isinstance(a, nn.Dense) and isinstance(b, nn.Dense) for a, b in pairwise(parts)))


MISSING = (
    Broken(
        "circles by an identity",
        ("missing-activation",),
        "a",
        estimator(data.circles, classifier("identity")),
        estimator(data.circles, classifier("tanh")),
        predicts(0.4),
    ),
    Broken(
        "three affine maps in a row",
        ("missing-activation",),
        "b",
        replace(bases.XOR, net=nn.Sequential(nn.Dense(16), nn.Dense(16), nn.Dense(1))),
        bases.XOR,
        predicts(0.5),
    ),
    Broken(
        "a wave by three identities",
        ("missing-activation",),
        "a",
        replace(bases.SINES, hidden=(16, 16), activation="identity"),
        bases.SINES,
        predicts(0.4),
    ),
    Broken(
        "the second activation forgotten",
        ("missing-activation", "useless-layer"),  # two affine maps are one: one of them is of no use
        "b",
        replace(bases.MOONS, net=nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(16), nn.Dense(1))),
        bases.MOONS,
        Quantity("affine maps that follow another", linear_pairs, 0, 0),
        "note",
        training=False,
    ),
)
free = Quantity("share of saturated outputs", measures.saturation, 0.0, 0.5)
SATURATED = (
    Broken(
        "tanh with large weights",
        ("saturated-units",),
        "a",
        replace(bases.FRIEDMAN, activation="tanh", init=nn.normal(10.0), bias=nn.normal(10.0), output_bias=0.0),
        replace(bases.FRIEDMAN, activation="tanh"),
        free,
    ),
    Broken(
        "sigmoids with large biases",
        ("saturated-units",),
        "b",
        replace(bases.FRIEDMAN, activation="sigmoid", bias=12.0, output_bias=0.0),
        replace(bases.FRIEDMAN, activation="sigmoid"),
        free,
    ),
    Broken(
        "three layers of tanh with large weights",
        ("saturated-units",),
        "a",
        replace(bases.DIGITS, hidden=(24, 24, 24), activation="tanh", init=nn.normal(3.0), epochs=8),
        replace(bases.DIGITS, hidden=(24, 24, 24), activation="tanh", epochs=8),
        free,
    ),
    Broken(
        "logistic units with large weights, by an estimator",
        ("saturated-units",),
        "b",
        estimator(
            data.friedman,
            regressor("logistic", learning_rate_init=0.02, network=NetworkSettings(init=nn.normal(15.0), bias=0.0)),
        ),
        estimator(data.friedman, regressor("logistic", learning_rate_init=0.05)),
        free,
    ),
)
alive = Quantity("share of units that never change", measures.constant_units, 0.0, 0.25)
DEAD = (
    Broken(
        "ReLUs with a bias of -10",
        ("dead-units",),
        "a",
        replace(bases.MOONS, bias=-10.0, output_bias=0.0),
        bases.MOONS,
        alive,
    ),
    Broken(
        "a second layer with biases of -6",
        ("dead-units",),
        "b",
        replace(
            bases.PIXELS,
            net=nn.Sequential(
                nn.Dense(24), nn.ReLU(), nn.Dense(24, bias=-6.0), nn.ReLU(), nn.Dense(24), nn.ReLU(), nn.Dense(3)
            ),
            epochs=12,
        ),
        replace(bases.PIXELS, hidden=(24, 24, 24), epochs=12),
        alive,
    ),
    Broken(
        "an estimator whose biases start at -8",
        ("dead-units",),
        "a",
        estimator(data.friedman, regressor("relu", network=NetworkSettings(init="he", bias=-8.0, output_bias=0.0))),
        estimator(data.friedman, regressor("relu")),
        alive,
    ),
    Broken(
        "most of a layer dead",
        ("dead-units",),
        "b",
        replace(
            bases.CIRCLES, activation="relu", bias=nn.given(np.r_[np.full(13, -12.0), np.zeros(3)]), output_bias=0.0
        ),
        replace(bases.CIRCLES, activation="relu"),
        alive,
        training=False,
    ),
)
arrives = Quantity("gradient of the first weights over the last", measures.first_gradient, 1e-2, 1e4)
VANISHING = (
    Broken(
        "eight layers of sigmoids",
        ("vanishing-gradient",),
        "a",
        replace(bases.DEEP, hidden=(12,) * 8, activation="sigmoid", init="glorot", epochs=12),
        replace(bases.DEEP, hidden=(12,) * 8, epochs=12),
        arrives,
    ),
    Broken(
        "nine layers of tanh with small weights",
        ("vanishing-gradient",),
        "b",
        replace(bases.DEEP, hidden=(12,) * 9, init=nn.normal(0.03), epochs=8),
        replace(bases.DEEP, hidden=(12,) * 9, epochs=10),
        Quantity("size of the first scores", measures.first_scores, 1e-2, 10.0),
    ),
    Broken(
        "six layers of logistic units, by an estimator",
        ("vanishing-gradient",),
        "a",
        estimator(data.friedman, regressor("logistic", hidden_layer_sizes=(16,) * 6, max_iter=14)),
        estimator(data.friedman, regressor("tanh", hidden_layer_sizes=(16,) * 6, max_iter=14)),
        Quantity("gradient of the first weights over the last", measures.first_gradient, 1e-2, 1e4),
    ),
    Broken(
        "seven layers of sigmoids for blobs",
        ("vanishing-gradient",),
        "b",
        replace(
            bases.BLOBS, hidden=(16,) * 7, activation="sigmoid", init="lecun", rule=optim.Momentum(0.05), epochs=12
        ),
        replace(bases.BLOBS, hidden=(16,) * 7, activation="tanh", rule=optim.Momentum(0.05), epochs=12),
        arrives,
    ),
)
tame = Quantity("size of the first scores", measures.first_scores, 0.0, 10.0)
EXPLODING = (
    Broken(
        "eight layers of ReLUs with large weights",
        ("exploding-gradient",),
        "a",
        replace(bases.DEEP, hidden=(20,) * 8, activation="relu", init=nn.normal(1.0), rule=optim.SGD(0.01), epochs=10),
        replace(bases.DEEP, hidden=(20,) * 8, activation="relu", rule=optim.SGD(0.05), epochs=10),
        tame,
    ),
    Broken(
        "eight layers of leaky ReLUs with large weights",
        ("exploding-gradient",),
        "b",
        replace(
            bases.LINEAR,
            hidden=(16,) * 8,
            activation="leaky_relu",
            init=nn.normal(0.9),
            rule=optim.Adam(0.003),
            epochs=10,
        ),
        replace(bases.LINEAR, hidden=(16,) * 8, activation="leaky_relu", rule=optim.Adam(0.003), epochs=10),
        tame,
    ),
    Broken(
        "six layers by an estimator that starts at 1.5",
        ("exploding-gradient",),
        "a",
        estimator(
            data.friedman,
            regressor(
                "relu",
                hidden_layer_sizes=(16,) * 6,
                max_iter=14,
                network=NetworkSettings(init=nn.normal(1.5)),
            ),
        ),
        estimator(data.friedman, regressor("relu", hidden_layer_sizes=(16,) * 6, max_iter=14)),
        tame,
    ),
    Broken(
        "seven layers of ELUs with large weights",
        ("exploding-gradient",),
        "b",
        replace(
            bases.BLOBS, hidden=(24,) * 7, activation="elu", init=nn.normal(0.8), rule=optim.Momentum(0.01), epochs=10
        ),
        replace(bases.BLOBS, hidden=(24,) * 7, activation="elu", rule=optim.Momentum(0.01), epochs=10),
        tame,
    ),
)
differ = Quantity("share of units that differ from all others", measures.distinct_units, 0.9, 1.0)
SYMMETRIC = (
    Broken(
        "all weights zero",
        ("symmetric-units",),
        "a",
        replace(bases.MOONS, init="zeros", output_init="zeros"),
        bases.MOONS,
        differ,
    ),
    Broken(
        "all weights a tenth",
        ("symmetric-units",),
        "b",
        replace(bases.FRIEDMAN, init=0.1, output_init=0.1),
        bases.FRIEDMAN,
        differ,
    ),
    Broken(
        "an estimator whose weights are all 0.3",
        ("symmetric-units",),
        "a",
        estimator(data.circles, classifier("tanh", network=NetworkSettings(init=0.3, output_init=0.3, bias=0.0))),
        estimator(data.circles, classifier("tanh")),
        differ,
    ),
    Broken(
        "three layers of zeros",
        ("symmetric-units",),
        "b",
        replace(
            bases.BLOBS,
            hidden=(12, 12, 12),
            activation="tanh",
            init="zeros",
            output_init="zeros",
            rule=optim.Adam(0.02),
        ),
        replace(bases.BLOBS, hidden=(12, 12, 12), activation="tanh", rule=optim.Adam(0.02)),
        differ,
    ),
)


def forgotten(setup: Setup) -> Any:
    """Trained, then saved and read again by somebody who forgot the batch statistics."""

    def make() -> Trained:
        trained = setup()
        model = trained.model
        model.state = model.net.initialize(model.features, seed=0, dtype=np.float32).state
        return trained

    return make


normed = replace(
    bases.MOONS,
    rows=lambda: data.moons().with_inputs(lambda X: 2 * X + 1.0),
    norm="batch",
    epochs=12,
    rule=optim.Adam(0.02),
)
normed_linear = replace(bases.LINEAR, hidden=(12, 12), norm="batch", rule=optim.Adam(0.01), epochs=14)
normed_digits = replace(
    bases.DIGITS, rows=partial(data.shipped, "digits", scale=False), norm="batch", epochs=5, rule=optim.Adam(0.01)
)
agree = Quantity("training loss by stored over that by batch statistics", measures.mode_gap, 0.0, 1.5)
STALE = (
    Broken(
        "statistics that hardly move",
        ("stale-statistics",),
        "a",
        replace(normed, norm=nn.BatchNorm(momentum=1e-4)),
        normed,
        agree,
    ),
    Broken(
        "statistics that are late",
        ("stale-statistics",),
        "b",
        replace(normed_digits, norm=nn.BatchNorm(momentum=0.002)),
        normed_digits,
        agree,
    ),
    Broken(
        "statistics that never move",
        ("stale-statistics",),
        "a",
        replace(normed_linear, norm=nn.BatchNorm(momentum=0.0)),
        normed_linear,
        agree,
    ),
    Broken(
        "statistics that were not saved",
        ("stale-statistics",),
        "b",
        forgotten(normed),
        normed,
        agree,
    ),
)


def nothing_added(trained: Trained) -> float:
    """1 if what goes into the residual block comes out of it unchanged."""
    parts = dict(trained.inside.net.children)
    if "block" not in parts:
        return 0.0
    params = [v for k, v in trained.inside.params.items() if k.startswith("block") and k.endswith("weight")]
    return float(all(not np.any(v) for v in params))


def residual(init: Any) -> nn.Sequential:
    """A block that may begin by adding nothing."""
    block = nn.Residual(nn.Sequential(nn.Dense(16, init=init), nn.ReLU(), nn.Dense(16, init="zeros")))
    return nn.Sequential(("hidden1", nn.Dense(16)), ("act", nn.ReLU()), ("block", block), ("output", nn.Dense(1)))


def narrowest(trained: Trained) -> float:
    """Units of the narrowest hidden layer."""
    return float(min(a.shape[1] for _, a in measures.layers(trained)))


USELESS = (
    Broken(
        "a layer of one unit in the middle of digits",
        ("useless-layer", "capacity-too-small"),  # all that is known goes through one number
        "a",
        replace(bases.DIGITS, hidden=(24, 1, 24), activation="tanh", epochs=8),
        replace(bases.DIGITS, hidden=(24, 24), activation="tanh", epochs=8),
        Quantity("units of the narrowest layer", narrowest, 2, 1e9),
    ),
    Broken(
        "a layer of one unit in the middle of blobs",
        ("useless-layer", "capacity-too-small"),
        "b",
        replace(bases.BLOBS, rows=partial(data.blobs, 6, 4, 1.0), hidden=(16, 1, 16), rule=optim.Adam(0.01)),
        replace(bases.BLOBS, rows=partial(data.blobs, 6, 4, 1.0), hidden=(16, 16), rule=optim.Adam(0.01)),
        Quantity("units of the narrowest layer", narrowest, 2, 1e9),
    ),
    Broken(
        "a residual block that is all zeros",
        ("useless-layer", "symmetric-units", "dead-units"),  # it is of no use because its units are zero and alike
        "b",
        replace(bases.MOONS, net=residual("zeros")),
        replace(bases.MOONS, net=residual("he")),
        Quantity("a block that adds nothing", nothing_added, 0, 0),
        "note",
        training=False,
    ),
    Broken(
        "an affine map ahead of the first layer",
        ("useless-layer", "missing-activation"),
        "a",
        replace(bases.WINE, net=nn.Sequential(nn.Dense(13), nn.Dense(12), nn.ReLU(), nn.Dense(3))),
        bases.WINE,
        Quantity("affine maps that follow another", linear_pairs, 0, 0),
        "note",
        training=False,
    ),
)
CASES = (*MISSING, *SATURATED, *DEAD, *VANISHING, *EXPLODING, *SYMMETRIC, *STALE, *USELESS)
