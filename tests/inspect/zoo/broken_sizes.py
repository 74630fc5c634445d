"""Faults of size: too small, too large, too much dropped, too much punished."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pellucid import nn, optim
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.broken_signals import classifier, regressor
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import estimator

diabetes = partial(data.shipped, "diabetes")
SMALL = (
    Broken(
        "two units for a spiral",
        ("capacity-too-small",),
        "a",
        replace(bases.SPIRALS, hidden=(2,)),
        bases.SPIRALS,
        predicts(0.5),
    ),
    Broken(
        "one unit for Friedman's function",
        ("capacity-too-small",),
        "b",
        replace(bases.FRIEDMAN, hidden=(1,), activation="tanh"),
        replace(bases.FRIEDMAN, activation="tanh"),
        predicts(0.25),
    ),
    Broken(
        "no hidden layer for circles",
        ("capacity-too-small", "missing-activation"),  # either name says that a plane cannot do it
        "a",
        replace(bases.CIRCLES, hidden=()),
        bases.CIRCLES,
        predicts(0.4),
    ),
    Broken(
        "two units for ten digits, by an estimator",
        ("capacity-too-small",),
        "b",
        estimator(
            partial(data.shipped, "digits"),
            classifier("tanh", hidden_layer_sizes=(2,), max_iter=16, learning_rate_init=0.01),
        ),
        estimator(
            partial(data.shipped, "digits"),
            classifier("tanh", hidden_layer_sizes=(40,), max_iter=16, learning_rate_init=0.01),
        ),
        predicts(0.3),
    ),
    Broken(
        "one unit for a wave",
        ("capacity-too-small",),
        "a",
        replace(bases.SINES, rows=partial(data.sines, waves=1.5), hidden=(1,)),
        replace(bases.SINES, rows=partial(data.sines, waves=1.5), rule=optim.Adam(0.05)),
        predicts(0.5),
    ),
)
near = Quantity("validation loss over training loss", measures.gap, 0.0, 3.0)
many = {"rule": optim.Adam(0.005), "epochs": 120, "batch": 16}
OVERFITTING = (
    Broken(
        "five hundred units for fifty rows",
        ("overfitting",),
        "a",
        replace(bases.HALVES, rows=partial(data.halves, rows=50, noise=3.0, features=10), hidden=(300,), **many),
        replace(
            bases.HALVES,
            rows=partial(data.halves, rows=50, noise=3.0, features=10),
            hidden=(),
            epochs=10,
            rule=optim.SGD(0.05),
            penalty=nn.L2(0.1),
        ),
        near,
    ),
    Broken(
        "a hundred units for diabetes",
        ("overfitting",),
        "b",
        replace(
            bases.DIABETES,
            rows=partial(data.shipped, "diabetes", 60),
            hidden=(100,),
            penalty=None,
            epochs=50,
            batch=20,
        ),
        replace(bases.DIABETES, rows=partial(data.shipped, "diabetes", 60), penalty=nn.L2(0.1), epochs=40),
        near,
    ),
    Broken(
        "an estimator that learns noise by heart",
        ("overfitting",),
        "a",
        estimator(
            partial(data.friedman, 60, noise=5.0),
            regressor("relu", hidden_layer_sizes=(200,), max_iter=150, learning_rate_init=0.01),
        ),
        estimator(
            partial(data.friedman, 60, noise=5.0),
            regressor("relu", hidden_layer_sizes=(8,), max_iter=15, learning_rate_init=0.01, alpha=10.0),
        ),
        near,
    ),
    Broken(
        "xor with twenty columns of noise",
        ("overfitting",),
        "b",
        replace(bases.XOR, rows=partial(data.xor, 80, 20), hidden=(200,), rule=optim.Adam(0.01), epochs=60, batch=20),
        replace(bases.XOR, rows=partial(data.xor, 800, 0), epochs=12),
        near,
    ),
)
DROPOUT = (
    Broken(
        "nine units in ten dropped",
        ("dropout-too-high",),
        "a",
        replace(bases.MOONS, dropout=0.9),
        replace(bases.MOONS, dropout=0.1),
        predicts(0.4),
    ),
    Broken(
        "nine in ten dropped in three layers",
        ("dropout-too-high",),
        "b",
        replace(bases.DIGITS, hidden=(32, 32, 32), dropout=0.85, epochs=8),
        replace(bases.DIGITS, hidden=(32, 32, 32), dropout=0.05, epochs=8),
        predicts(0.4),
    ),
    Broken(
        "four inputs in five dropped",
        ("dropout-too-high",),
        "b",
        replace(bases.FRIEDMAN, input_dropout=0.8),
        bases.FRIEDMAN,
        predicts(0.35),
    ),
    Broken(
        "an estimator with a dropout of 0.9",
        ("dropout-too-high",),
        "a",
        estimator(data.friedman, regressor("relu", dropout=0.9, learning_rate_init=0.02)),
        estimator(data.friedman, regressor("relu", learning_rate_init=0.02)),
        predicts(0.35),
    ),
)
PENALTY = (
    Broken(
        "a penalty of 1",
        ("penalty-too-strong",),
        "a",
        replace(bases.BLOBS, penalty=nn.L2(1.0)),
        replace(bases.BLOBS, penalty=nn.L2(1e-3)),
        predicts(0.3),
    ),
    Broken(
        "an L1 penalty of 0.2",
        ("penalty-too-strong",),
        "b",
        replace(bases.FRIEDMAN, penalty=nn.L1(0.2)),
        replace(bases.FRIEDMAN, penalty=nn.L1(1e-4)),
        predicts(0.35),
    ),
    Broken(
        "alpha=1000",
        ("penalty-too-strong",),
        "a",
        estimator(data.moons, classifier("relu", alpha=1000.0)),
        estimator(data.moons, classifier("relu")),
        predicts(0.4),
    ),
    Broken(
        "weights that decay by a tenth a step",
        ("penalty-too-strong",),
        "b",
        replace(bases.DIGITS, rule=optim.AdamW(0.01, decay=10.0), epochs=8),
        replace(bases.DIGITS, rule=optim.AdamW(0.01, decay=0.01), epochs=8),
        predicts(0.3),
    ),
)
CASES = (*SMALL, *OVERFITTING, *DROPOUT, *PENALTY)
