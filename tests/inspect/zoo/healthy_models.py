"""Healthy models: many data sets, activations, depths, rules, losses, batches, norms, penalties."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from pellucid import nn, optim
from tests.inspect.zoo import bases, data
from tests.inspect.zoo.healthy_traps import TRAPS
from tests.inspect.zoo.records import Healthy
from tests.inspect.zoo.training import Setup


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
    "batch norm": replace(bases.MOONS, norm="batch", rule=optim.Adam(0.06), epochs=18),
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
