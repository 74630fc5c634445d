"""Faults of layers: copies of one unit, stale statistics, layers of no use."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.estimators import NetworkSettings
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.broken_signals import classifier, linear_pairs
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import Setup, Trained, estimator

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


def half_open(bias: float) -> nn.Sequential:
    """Two layers of ReLUs; with a large bias the second one is open for all rows."""
    return nn.Sequential(
        ("hidden1", nn.Dense(16)),
        ("hidden1.activation", nn.ReLU()),
        ("hidden2", nn.Dense(16, bias=bias)),
        ("hidden2.activation", nn.ReLU()),
        ("output", nn.Dense(1)),
    )


def closed(trained: Trained) -> float:
    """The share of outputs of the last hidden layer that are zero: where it bends."""
    return float(np.mean(measures.layers(trained)[-1][1] <= 0))


bends = Quantity("zeros of the last hidden layer", closed, 0.05, 1.0)
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
    Broken(
        "a layer that is open for all rows",
        ("useless-layer",),
        "a",
        replace(bases.MOONS, net=half_open(6.0)),
        replace(bases.MOONS, net=half_open(0.0)),
        bends,
        "note",
        training=False,
    ),
    Broken(
        "a layer that is open for all rows, numbers",
        ("useless-layer",),
        "b",
        replace(bases.LINEAR, net=half_open(8.0), rule=optim.Adam(0.01)),
        replace(bases.LINEAR, net=half_open(0.0), rule=optim.Adam(0.01)),
        bends,
        "note",
        training=False,
    ),
)
CASES = (*SYMMETRIC, *STALE, *USELESS)
