"""Faults of signals: no activation, saturated, dead, vanishing, exploding."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid import MLPClassifier, MLPRegressor, nn, optim
from pellucid.estimators import NetworkSettings
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import Trained, estimator


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
CASES = (*MISSING, *SATURATED, *DEAD, *VANISHING, *EXPLODING)
