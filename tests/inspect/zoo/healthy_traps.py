"""Healthy models in which a rule of thumb might see a fault."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from pellucid import nn, optim
from tests.inspect.zoo import bases, data
from tests.inspect.zoo.broken_inputs import with_column
from tests.inspect.zoo.data import Rows
from tests.inspect.zoo.training import Setup


def mild(X: Any) -> Any:
    """Inputs of deviation 2 to 4, with means that are not quite zero."""
    return X * np.linspace(2.0, 4.0, X.shape[1]) + np.linspace(-1.0, 2.0, X.shape[1])


def skewed() -> Rows:
    """Inputs with long tails, as incomes have them, standardised."""
    rng = np.random.default_rng(0)
    X = np.exp(0.6 * rng.normal(size=(540, 4)))
    return data.parted(X, np.log(X).sum(1) + 0.2 * rng.normal(size=540), data.NUMBERS)


def one_hot() -> Rows:
    """Numbers and a category as columns of zeros and ones, one of which is rare."""
    rng = np.random.default_rng(1)
    kind = rng.choice(5, 540, p=[0.5, 0.25, 0.15, 0.08, 0.02])
    X = np.column_stack([rng.normal(size=(540, 3)), np.eye(5)[kind]])
    y = (X[:, 0] + np.array([0.0, 1.0, -1.0, 2.0, -2.0])[kind] + 0.3 * rng.normal(size=540) > 0).astype(int)
    return data.parted(X, y, data.CLASSES, scale=False)


def correlated() -> Rows:
    """Columns that say nearly the same, as lengths in a body do: correlations about 0.95."""
    rng = np.random.default_rng(2)
    common = rng.normal(size=(540, 1))
    X = common + 0.25 * rng.normal(size=(540, 4))
    return data.parted(X, X[:, 0] + X.sum(1) / 4 + 0.3 * rng.normal(size=540), data.NUMBERS)


def strong_column() -> Rows:
    """One column tells nearly all, and honestly so."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(540, 3))
    return data.parted(X, 2 * X[:, 0] + 0.4 * X[:, 1] + 0.4 * rng.normal(size=540), data.NUMBERS)


def blobs_as_made() -> Rows:
    """Not standardised."""
    X, y = datasets.make_blobs(540, 2, centers=3, cluster_std=1.5, random_state=3)
    return data.parted(X, y, data.CLASSES, scale=False)


TRAPS: dict[str, tuple[Setup, str]] = {
    "the four rows of XOR": (
        Setup(data.four_rows, (8,), activation="tanh", rule=optim.Adam(0.05), epochs=150, batch=4),
        "four rows, one batch, validation rows are the training rows",
    ),
    "the four rows of XOR, unchecked": (
        Setup(
            data.four_rows, (12,), activation="relu", rule=optim.Adam(0.05), epochs=100, batch=4, checked=False, seed=1
        ),
        "four rows",
    ),
    "a constant border": (bases.PIXELS, "most pixels never change"),
    "a constant border, deeper": (replace(bases.PIXELS, hidden=(24, 12), epochs=14), "most pixels never change"),
    "digits in grey values 0 to 1": (
        replace(bases.DIGITS, rows=lambda: data.shipped("digits", scale=False).with_inputs(lambda X: X / 16)),
        "inputs are not centred, some never change",
    ),
    "mild units, classes": (
        replace(bases.BLOBS, rows=lambda: data.blobs().with_inputs(mild), rule=optim.Adam(0.01)),
        "inputs of deviation 2 to 4",
    ),
    "mild units, numbers": (
        replace(bases.LINEAR, rows=lambda: data.linear().with_inputs(mild), rule=optim.Adam(0.02), epochs=40),
        "inputs of deviation 2 to 4",
    ),
    "iris as measured": (
        replace(bases.IRIS, rows=partial(data.shipped, "iris", scale=False), activation="relu", epochs=60),
        "centimetres, means of 1 to 6",
    ),
    "blobs as made": (
        replace(
            bases.BLOBS,
            rows=blobs_as_made,
            rule=optim.Adam(0.02),
            epochs=30,
        ),
        "deviations of 4 to 6",
    ),
    "0 and 1 as inputs": (replace(bases.BLOBS, rows=one_hot, rule=optim.Adam(0.02)), "columns that are mostly 0"),
    "a linear classifier": (replace(bases.HALVES, hidden=()), "no hidden layer, no activation"),
    "a linear classifier of wine": (replace(bases.WINE, hidden=()), "no hidden layer"),
    "a linear regression": (replace(bases.LINEAR, hidden=()), "no hidden layer"),
    "a linear regression of diabetes": (
        replace(bases.DIABETES, hidden=(), penalty=None, rule=optim.SGD(0.01)),
        "no hidden layer, much noise",
    ),
    "Poisson's regression": (replace(bases.COUNTS, hidden=(), rule=optim.Adam(0.03)), "no hidden layer, skewed target"),
    "strong but right: noise": (
        replace(
            bases.HALVES,
            rows=partial(data.halves, rows=80, features=10, noise=3.0),
            hidden=(),
            penalty=nn.L2(0.05),
            rule=optim.SGD(0.1),
        ),
        "a strong penalty, high loss",
    ),
    "strong but right: diabetes": (
        replace(
            bases.DIABETES,
            rows=partial(data.shipped, "diabetes", 120),
            hidden=(16,),
            penalty=nn.L2(0.1),
            epochs=40,
            batch=16,
        ),
        "a strong penalty",
    ),
    "strong but right: dropout on few rows": (
        replace(
            bases.CANCER,
            rows=partial(data.shipped, "breast_cancer", 100),
            hidden=(64,),
            dropout=0.5,
            rule=optim.Adam(0.003),
            epochs=20,
        ),
        "much dropout",
    ),
    "70 : 30": (replace(bases.HALVES, rows=partial(data.halves, 0.3)), "uneven classes"),
    "80 : 20": (
        replace(bases.MOONS, rows=partial(data.halves, 0.2), rule=optim.Adam(0.01), epochs=16),
        "uneven classes",
    ),
    "90 : 10, easy": (
        replace(bases.HALVES, rows=partial(data.rare, 0.1, 5.0, 300), metrics=("roc_auc", "accuracy")),
        "uneven classes that are told apart",
    ),
    "97 : 3, weighted and judged well": (
        replace(
            bases.HALVES,
            rows=partial(data.rare, 0.03, 4.0, 300),
            rule=optim.Adam(0.03),
            penalty=nn.L2(0.003),
            metrics=("balanced_accuracy", "roc_auc"),
            class_weight="balanced",
        ),
        "a rare class, taken care of",
    ),
    "-1 and 1": (
        replace(bases.HALVES, rows=lambda: data.halves().with_target(lambda y: 2 * y - 1), loss="binary_cross_entropy"),
        "labels -1 and 1, which the loss takes",
    ),
    "noise that cannot be learned away": (
        replace(bases.LINEAR, rows=partial(data.linear, noise=2.0), hidden=(4,), rule=optim.SGD(0.03), epochs=25),
        "a high loss that is noise",
    ),
    "overlapping classes": (
        replace(bases.HALVES, rows=partial(data.halves, noise=2.5), hidden=(4,), rule=optim.SGD(0.1)),
        "a high loss that is overlap",
    ),
    "overlapping blobs": (replace(bases.BLOBS, rows=partial(data.blobs, 3, 4, 5.0), rule=optim.SGD(0.03)), "overlap"),
    "a zero output layer": (replace(bases.MOONS, output_init="zeros"), "weights that start at zero, rightly"),
    "zero weights without hidden layers": (
        replace(bases.HALVES, hidden=(), output_init="zeros"),
        "weights that start at zero, rightly",
    ),
    "biases of 0.01": (replace(bases.BLOBS, bias=0.01), ""),
    "orthogonal": (replace(bases.MOONS, init="orthogonal"), ""),
    "glorot": (replace(bases.MOONS, init="glorot"), ""),
    "columns that say nearly the same": (replace(bases.LINEAR, rows=correlated), "correlations of 0.95"),
    "one strong column": (replace(bases.LINEAR, rows=strong_column), "one column correlates by 0.95 with the target"),
    "long tails": (
        replace(bases.LINEAR, rows=skewed, rule=optim.Adam(0.02)),
        "inputs up to 8 deviations from their mean",
    ),
    "a column of noise": (
        replace(
            bases.LINEAR,
            rows=lambda: with_column(data.linear(), *np.split(np.random.default_rng(0).normal(size=540), [240])),
        ),
        "a column of no use",
    ),
    "a positive target behind softplus": (
        replace(
            bases.COUNTS,
            rows=lambda: data.counts().with_target(lambda y: y / 4.0),
            loss="squared_error",
            output=nn.Softplus(),
            rule=optim.Adam(0.02),
        ),
        "an activation on the output that fits the target",
    ),
    "a share behind a sigmoid": (
        replace(
            bases.LINEAR,
            rows=lambda: data.linear().with_target(lambda y: 1 / (1 + np.exp(-y))),
            output=nn.Sigmoid(),
            rule=optim.Adam(0.03),
        ),
        "an activation on the output that fits the target",
    ),
    "a target with a mean of 3": (
        replace(
            bases.LINEAR, rows=lambda: data.linear().with_target(lambda y: 2 * y + 3), rule=optim.Adam(0.02), epochs=30
        ),
        "a target that is not standardised, but near",
    ),
    "a frame of columns": (
        replace(bases.WINE, rows=lambda: data.shipped("wine").with_inputs(lambda X: pd.DataFrame(X).add_prefix("c"))),
        "names of columns",
    ),
    "a rate that ends at zero": (
        replace(bases.BLOBS, rule=optim.SGD(optim.Cosine(0.2)), epochs=30),
        "nothing moves at the end",
    ),
    "learned in a few epochs": (
        replace(bases.BLOBS, rows=partial(data.blobs, 3, 4, 1.0), rule=optim.Adam(0.03), epochs=5),
        "few epochs, which are enough",
    ),
    "went on long after it had learned": (
        replace(bases.BLOBS, rows=partial(data.blobs, 3, 4, 2.0), penalty=nn.L2(1e-3), epochs=60),
        "a flat curve, at the bottom",
    ),
    "small batches with batch norm": (
        replace(bases.BLOBS, norm="batch", batch=12, rule=optim.Adam(0.01), epochs=7),
        "statistics of few rows",
    ),
    "sigmoids, two layers": (
        replace(bases.MOONS, hidden=(12, 12), activation="sigmoid", rule=optim.Adam(0.1), epochs=30),
        "sigmoids in hidden layers",
    ),
    "an ample network that generalises": (
        replace(
            bases.BLOBS,
            rows=partial(data.blobs, 3, 4, 1.5, rows=60),
            hidden=(200,),
            rule=optim.SGD(0.02),
            epochs=20,
            batch=16,
        ),
        "more parameters than rows",
    ),
}
