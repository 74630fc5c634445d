"""Varied fits in one process, one after the other: its memory stays where it was when all had been seen once.

Sizes, rates, activations, losses and rules vary without end, and functions of the user's are new objects every time.
What is compiled comes from few kinds, all of which are met before memory is first looked at: machine code stays.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

import pellucid as pel
from benchmarks.memory import status
from pellucid import nn, optim
from pellucid.engine.native.runtime import cache
from soak.part import Failures, Figure, Part
from soak.samples import numbers, table

MB = 2**20
GROWTH = 50
"""How many MB there may be more at the second mark than at the first."""

MARKS = (50, 1000)
"""Numbers of fits after which memory is looked at."""

OWN = (lambda a: lambda x: np.tanh(a * x), lambda a: lambda x: x / (1.0 + np.exp(-a * x)))
"""Activations of the user's: each call makes a new function, as a notebook cell does that is run again."""
COMPILED = list(product(("relu", "gelu", *OWN), ("cross_entropy", "squared_error"), ("sgd", "adam")))
ACTIVATIONS = sorted({record.name for record in nn.ACTIVATIONS.values()} - {"straight_through_step"})
RULES = sorted(set(optim.RULES))
TARGETS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    **dict.fromkeys(("cross_entropy", "brier", "focal"), lambda rng, n: rng.integers(0, 3, n)),
    **dict.fromkeys(("hinge", "squared_hinge", "perceptron"), lambda rng, n: rng.choice([-1, 1], n)),
    "binary_cross_entropy": lambda rng, n: rng.integers(0, 2, n),
    "multilabel": lambda rng, n: rng.integers(0, 2, (n, 2)),
    "poisson": lambda rng, n: rng.integers(0, 5, n),
    "gamma": lambda rng, n: rng.gamma(2.0, size=n),
    **dict.fromkeys(
        ("squared_error", "half_squared_error", "absolute_error", "huber", "quantile"),
        lambda rng, n: rng.normal(size=n),
    ),
}
"""Targets that suit a loss.   (n,) or (n, 2)"""


def _fitted(rng: np.random.Generator, engine: str, activation: Any, loss: str, rule: str, **network: Any) -> None:
    n, features = int(rng.integers(20, 200)), int(rng.integers(1, 12))
    X, y = numbers(rng, n, features), TARGETS[loss](rng, n)
    widths = tuple(int(width) for width in rng.integers(2, 24, rng.integers(1, 3)))
    own = activation(float(rng.uniform(0.5, 2.0))) if callable(activation) else activation
    net = nn.mlp(widths, nn.loss(loss).outputs(y), activation=own, **network)
    model = pel.Model(net, loss, optim.RULES[rule](float(rng.uniform(1e-4, 1e-3))), engine=engine)
    batch = int(rng.integers(4, n))
    model.fit(X, y, epochs=2, batch_size=batch, validation=(X, y), verbose=False, on_divergence="stop")
    model.predict(X)


def compiled_model(rng: np.random.Generator, turn: int) -> None:
    """A model on the native engine; kinds follow one another, sizes are drawn."""
    _fitted(rng, "native", *COMPILED[turn % len(COMPILED)])


def any_model(rng: np.random.Generator, turn: int) -> None:
    """Any activation, loss, rule, normalisation and dropout, on the NumPy executor."""
    choices = (rng.choice(len(table)) for table in (ACTIVATIONS, TARGETS, RULES))
    activation, loss, rule = (list(t)[i] for t, i in zip((ACTIVATIONS, TARGETS, RULES), choices, strict=True))
    own = OWN[turn % len(OWN)] if rng.random() < 0.3 else activation
    norm = [None, "batch", "layer", "rms"][rng.integers(4)]
    _fitted(rng, "numpy", own, loss, rule, norm=norm, dropout=float(rng.choice([0.0, 0.3])))


def estimator(rng: np.random.Generator, turn: int) -> None:
    """One of scikit-learn's face, in turn; every other one compiled."""
    n = int(rng.integers(40, 160))
    X, labels, amounts = numbers(rng, n), rng.integers(0, 3, n), rng.normal(size=n)
    engine = ("native", "numpy")[turn % 2]
    widths, own = (int(rng.integers(2, 24)),), OWN[0](float(rng.uniform(0.5, 2.0)))
    short = {"max_iter": 2, "random_state": turn, "engine": engine}
    kinds: list[Callable[[], Any]] = [
        lambda: pel.MLPClassifier(widths, own, **short).fit(X, labels).predict_proba(X),
        lambda: pel.MLPRegressor(hidden_layer_sizes=widths, **short).fit(X, amounts).predict(X),
        lambda: pel.MLPClassifier(widths, solver="lbfgs", **short).fit(X, labels).predict(X),
        lambda: pel.TabularMLPClassifier(widths, **short).fit(table(rng, n), labels).predict_proba(table(rng, n)),
        lambda: pel.BaggedMLPRegressor(pel.MLPRegressor(hidden_layer_sizes=widths, **short), 3).fit(X, amounts),
    ]
    kinds[turn // 2 % len(kinds)]()


def compiled_function(rng: np.random.Generator, turn: int) -> None:
    """A function that was not there before, compiled and called."""
    own, X = OWN[turn % len(OWN)](float(rng.uniform(0.5, 2.0))), numbers(rng, int(rng.integers(1, 200)))
    pel.compile(lambda v: own(v).sum(), engine="native")(X)


KINDS = (compiled_model, any_model, compiled_model, estimator, compiled_function)


def fit(seed: int, case: int) -> None:
    """The fit of this number."""
    turns, place = divmod(case, len(KINDS))
    kind = KINDS[place]
    turn = turns * KINDS.count(kind) + KINDS[:place].count(kind)
    kind(np.random.default_rng([seed, case]), turn)


def run(cases: range, seed: int, advance: Callable[[], None]) -> Iterable[Figure]:
    """Fits, with the memory after 50, 1,000 and all of them."""
    failures, memory = Failures(), {}
    with cache.silent():
        for count, case in enumerate(cases, 1):
            try:
                fit(seed, case)
            except Exception as error:
                failures.add(case, f"{type(error).__name__}: {error}"[:300])
            if count in (*MARKS, len(cases)):
                gc.collect()
                memory[count] = status("VmRSS") / MB
            advance()
    yield from failures.figures("fits without an error", len(cases))
    first, *later = memory
    for mark in memory:
        yield Figure(f"memory after {mark:,} fits", f"{memory[mark]:.0f} MB")
    for mark in later:
        growth = memory[mark] - memory[first]
        limit = GROWTH if mark == later[0] else None
        wanted = "" if limit is None else f"≤ {limit} MB"
        yield Figure(f"growth from {first} to {mark:,}", f"{growth:.1f} MB", wanted, limit is None or growth <= limit)
    yield Figure("kernels compiled in this process", str(cache.compilations))


FITS = Part("fits", run, cases=2000, quick=55)
