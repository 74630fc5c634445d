"""Healthy models: many data sets, activations, depths, rules, losses, norms, penalties; and what looks like a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pellucid import nn, optim
from tests.inspect.zoo import bases, data
from tests.inspect.zoo.broken_inputs import with_column
from tests.inspect.zoo.data import Rows
from tests.inspect.zoo.records import Healthy
from tests.inspect.zoo.training import Setup, Trained

Make = Callable[[], Trained]


def named(prefix: str, setups: dict[str, Setup]) -> dict[str, tuple[Setup, str]]:
    """Cases of one kind, without a trap."""
    return {f"{prefix}: {name}": (setup, "") for name, setup in setups.items()}


BASES = {
    "moons": bases.MOONS,
    "circles": bases.CIRCLES,
    "spirals": bases.SPIRALS,
    "xor": bases.XOR,
    "blobs": bases.BLOBS,
    "halves": bases.HALVES,
    "iris": bases.IRIS,
    "wine": bases.WINE,
    "breast cancer": bases.CANCER,
    "digits": bases.DIGITS,
    "Friedman's function": bases.FRIEDMAN,
    "a plane": bases.LINEAR,
    "a wave": bases.SINES,
    "counts": bases.COUNTS,
    "houses": bases.HOUSES,
    "diabetes": bases.DIABETES,
    "deep": bases.DEEP,
}
ACTIVATIONS = {
    name: replace(bases.MOONS, activation=name) for name in ("gelu", "silu", "leaky_relu", "mish", "softsign", "tanh")
} | {
    "elu": replace(bases.MOONS, activation="elu", rule=optim.Adam(0.1)),
    "selu": replace(bases.MOONS, activation="selu", rule=optim.Adam(0.1)),
    "softplus": replace(bases.LINEAR, activation="softplus", rule=optim.Adam(0.02)),
    "sigmoid": replace(bases.MOONS, activation="sigmoid", rule=optim.Adam(0.1)),
    "maxout": replace(bases.CIRCLES, activation="maxout"),
    "swiglu": replace(bases.MOONS, activation="swiglu"),
    "mixed": replace(bases.MOONS, hidden=(12, 12), activation=["relu", "tanh"], epochs=18),
    "hard_tanh": replace(bases.SINES, activation="hard_tanh"),
    "prelu": replace(bases.MOONS, activation=nn.PReLU()),
}
DEPTHS = {
    "two layers of tanh": replace(bases.MOONS, hidden=(16, 16), activation="tanh", rule=optim.Adam(0.02), epochs=18),
    "three layers of ReLUs": replace(bases.BLOBS, hidden=(16, 16, 16), rule=optim.SGD(0.05)),
    "four layers of ELUs": replace(bases.LINEAR, hidden=(12,) * 4, activation="elu", rule=optim.Adam(0.005), epochs=14),
    "six layers of ReLUs": replace(bases.BLOBS, hidden=(16,) * 6, rule=optim.Adam(0.005), epochs=6),
    "eight layers of tanh": replace(bases.DEEP, hidden=(12,) * 8, epochs=12),
    "ten layers of SELUs": replace(
        bases.BLOBS, hidden=(12,) * 10, activation="selu", init="lecun", rule=optim.Adam(0.003), epochs=6
    ),
    "ten layers of tanh": replace(bases.BLOBS, hidden=(12,) * 10, activation="tanh", rule=optim.Adam(0.006), epochs=8),
    "five layers with batch norm": replace(
        bases.BLOBS, hidden=(12,) * 5, norm="batch", rule=optim.Adam(0.01), epochs=6
    ),
    "residual blocks": replace(
        bases.FRIEDMAN,
        net=nn.Sequential(
            nn.Dense(16),
            nn.ReLU(),
            nn.Residual(nn.Sequential(nn.Dense(16), "relu", nn.Dense(16, init="zeros"))),
            nn.Dense(1),
        ),
        rule=optim.Adam(0.01),
        epochs=25,
    ),
    "two paths side by side": replace(
        bases.FRIEDMAN, net=nn.Sequential(nn.Concat(nn.Dense(16), nn.Dense(4)), nn.Tanh(), nn.Dense(1)), epochs=25
    ),
}
WIDTHS = {
    "four units for moons": replace(bases.MOONS, hidden=(6,), activation="tanh", rule=optim.Adam(0.05)),
    "two units for a plane": replace(bases.HALVES, hidden=(2,), activation="tanh", rule=optim.Adam(0.03)),
    "three units for iris": replace(bases.IRIS, hidden=(4,)),
    "two hundred units for digits": replace(bases.DIGITS, hidden=(150,), epochs=7),
    "a hundred units for blobs": replace(bases.BLOBS, hidden=(100,), rule=optim.SGD(0.05), epochs=10),
    "narrowing": replace(bases.WINE, hidden=(24, 12, 6), rule=optim.Adam(0.01), epochs=8),
    "a funnel of two": replace(bases.HALVES, hidden=(16, 2), activation="tanh", rule=optim.Adam(0.02), epochs=16),
}
RULES = {
    type(rule).__name__: replace(bases.BLOBS, rule=rule)
    for rule in (
        optim.Momentum(0.02),
        optim.Nesterov(0.02),
        optim.Adagrad(0.1),
        optim.RMSprop(0.01),
        optim.Adam(0.01),
        optim.AdamW(0.01),
        optim.NAdam(0.01),
        optim.RAdam(0.02),
        optim.Lion(0.003),
        optim.Adadelta(1.0),
    )
} | {
    "a cosine": replace(bases.FRIEDMAN, rule=optim.Adam(optim.Cosine(0.03))),
    "one cycle": replace(bases.MOONS, rule=optim.Adam(optim.OneCycle(0.05))),
    "warm-up": replace(bases.WINE, rule=optim.Momentum(optim.Warmup(20, optim.Cosine(0.05)))),
    "steps down": replace(bases.BLOBS, rule=optim.SGD(optim.Step(0.2, 60, 0.3))),
    "clipped": replace(bases.FRIEDMAN, rule=optim.chain(optim.ClipNorm(1.0), optim.Adam(0.02))),
    "averaged": replace(bases.LINEAR, rule=optim.chain(optim.SGD(0.03), optim.EMA(0.9))),
    "L-BFGS": replace(
        bases.HALVES,
        rows=partial(data.halves, noise=1.0),
        hidden=(3,),
        lbfgs=True,
        epochs=60,
        dtype=np.float64,
        penalty=nn.L2(0.01),
    ),
    "L-BFGS, numbers": replace(
        bases.LINEAR, hidden=(4,), activation="tanh", lbfgs=True, epochs=60, dtype=np.float64, penalty=nn.L2(0.01)
    ),
}
LOSSES = {
    "absolute error": replace(bases.LINEAR, loss="absolute_error", rule=optim.Adam(0.01)),
    "Huber": replace(bases.FRIEDMAN, loss="huber"),
    "half squared error": replace(bases.LINEAR, loss="half_squared_error", rule=optim.SGD(0.05)),
    "median": replace(bases.LINEAR, loss="quantile", rule=optim.Adam(0.01)),
    "smoothed labels": replace(bases.BLOBS, loss=nn.loss("cross_entropy", smoothing=0.05)),
    "focal": replace(bases.HALVES, loss="focal", rule=optim.Adam(0.01)),
    "two scores for two classes": replace(bases.MOONS, outputs=2),
    "hinge": replace(bases.HALVES, loss="hinge", rule=optim.Adam(0.01)),
    "squared hinge": replace(bases.HALVES, loss="squared_hinge", rule=optim.Adam(0.01)),
    "gamma": replace(bases.COUNTS, rows=lambda: data.counts().with_target(lambda y: y + 1.0), loss="gamma"),
    "counts by squares": replace(bases.COUNTS, loss="squared_error", rule=optim.Adam(0.02)),
}
BATCHES = {
    "eight rows": replace(bases.BLOBS, batch=8, rule=optim.SGD(0.03), epochs=8),
    "one row at a low rate": replace(
        bases.LINEAR, rows=partial(data.linear, 120), batch=1, rule=optim.SGD(0.01), epochs=5
    ),
    "sixty-four rows": replace(bases.MOONS, batch=64, rule=optim.Adam(0.03), epochs=50),
    "all rows, many steps": replace(bases.BLOBS, batch=240, rule=optim.Adam(0.03), epochs=60),
    "all rows, descended long enough": replace(bases.LINEAR, batch=240, rule=optim.SGD(0.1), epochs=200),
    "no validation rows": replace(bases.BLOBS, checked=False),
    "no validation rows, numbers": replace(bases.FRIEDMAN, checked=False, rule=optim.Adam(0.01)),
    "another seed": replace(bases.MOONS, seed=7),
    "another seed, numbers": replace(bases.LINEAR, seed=3),
    "double precision": replace(bases.WINE, dtype=np.float64),
}
REGULAR = {
    "batch norm": replace(bases.MOONS, norm="batch", epochs=16),
    "batch norm, digits": replace(bases.DIGITS, norm="batch", epochs=6, rule=optim.Adam(0.01)),
    "layer norm": replace(bases.MOONS, norm="layer", hidden=(24,), epochs=16),
    "root-mean-square norm": replace(bases.FRIEDMAN, norm="rms", epochs=25),
    "cumulative batch norm": replace(bases.BLOBS, norm=nn.BatchNorm(average="cumulative"), epochs=14),
    "dropout of a fifth": replace(bases.MOONS, hidden=(40,), dropout=0.2),
    "dropout of a half in a wide layer": replace(bases.DIGITS, hidden=(120,), dropout=0.5, epochs=10),
    "dropout of inputs": replace(bases.DIGITS, input_dropout=0.1, epochs=10),
    "noise": replace(bases.BLOBS, net=nn.Sequential(nn.GaussianNoise(0.2), nn.Dense(16), nn.ReLU(), nn.Dense(3))),
    "L2": replace(bases.FRIEDMAN, penalty=nn.L2(1e-3)),
    "L1": replace(bases.WINE, penalty=nn.L1(1e-3)),
    "elastic net": replace(bases.CANCER, penalty=nn.ElasticNet(1e-3, 1e-3)),
    "decay": replace(bases.DIGITS, rule=optim.AdamW(0.005, decay=0.1), epochs=12),
    "norms of columns limited": replace(
        bases.MOONS, rule=optim.chain(optim.Adam(0.03), optim.Constraint(nn.MaxNorm(3.0)))
    ),
}
STOPPED = {
    "moons": replace(bases.MOONS, patience=8, epochs=60),
    "diabetes": replace(bases.DIABETES, hidden=(32,), rule=optim.Adam(0.01), patience=6, epochs=60),
    "Friedman's function": replace(bases.FRIEDMAN, patience=6, epochs=50),
    "few rows, many units": replace(
        bases.WINE, rows=partial(data.shipped, "wine", 60), hidden=(60,), patience=5, epochs=50
    ),
    "by R²": replace(bases.HOUSES, patience=6, monitor="val_r2", epochs=45),
    "breast cancer": replace(bases.CANCER, hidden=(30,), rule=optim.Adam(0.005), patience=4, epochs=40),
}
kelvin = partial(data.parted, scale=False)


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
            rows=lambda: data.parted(
                *data.datasets.make_blobs(540, 2, centers=3, cluster_std=1.5, random_state=3), data.CLASSES, scale=False
            ),
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
KINDS: dict[str, dict[str, Setup]] = {
    "data": BASES,
    "activation": ACTIVATIONS,
    "depth": DEPTHS,
    "width": WIDTHS,
    "rule": RULES,
    "loss": LOSSES,
    "batch": BATCHES,
    "regular": REGULAR,
    "stopped": STOPPED,
}
ALL: dict[str, tuple[Setup, str]] = TRAPS | {
    name: case for kind, setups in KINDS.items() for name, case in named(kind, setups).items()
}
CASES = tuple(Healthy(name, "ab"[i % 2], setup, trap) for i, (name, (setup, trap)) in enumerate(ALL.items()))
