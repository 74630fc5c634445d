"""The lectures' backward passes beside the engine's: how far apart are they, for networks of two to ten layers?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.autodiff import value_and_grad
from pellucid.inspect.derivation import step
from pellucid.lab import backward, jacobians
from pellucid.lab.backward import Backward, Layers
from pellucid.lab.costs import text_table
from pellucid.markup import Brief
from pellucid.train import Model


@dataclass(frozen=True, repr=False)
class Agreement(Brief):
    """For each depth and algorithm the largest difference to a gradient of the engine."""

    depths: tuple[int, ...]
    differences: dict[str, tuple[float, ...]]  # NaN where an algorithm is for two layers

    @property
    def largest(self) -> float:
        return max(float(np.nanmax(row)) for row in self.differences.values())

    def __str__(self) -> str:
        cells = {name: ["" if np.isnan(d) else f"{d:.1e}" for d in row] for name, row in self.differences.items()}
        return text_table(["algorithm", *map(str, self.depths)], [[name, *row] for name, row in cells.items()])


def agreement(depths: Sequence[int] = range(2, 11), rows: int = 5, penalty: float = 0.01, seed: int = 0) -> Agreement:
    """Random ReLU networks of these depths: gradients by every algorithm against those of `inspect.step`.

    >>> agreement(depths=(2, 3)).largest < 1e-12
    True
    """
    differences: dict[str, list[float]] = {}
    for depth in depths:
        for name, difference in _at(depth, rows, penalty, seed).items():
            differences.setdefault(name, []).append(difference)
    return Agreement(tuple(depths), {name: tuple(row) for name, row in differences.items()})


@dataclass(frozen=True, repr=False)
class Timed(Brief):
    """Seconds for the gradients of one batch: sample by sample, all at once, and by the engine's graph."""

    rows: int
    loop: float
    vectorised: float
    engine: float


def timed(rows: int = 500, seed: int = 0) -> Timed:
    """What the accumulation loop costs beside the vectorised form, for a network 20-50-50-3; the best of three runs."""
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(rows, 20)), rng.integers(0, 3, rows)
    model = Model(nn.mlp((50, 50), 3), "cross_entropy", dtype="float64").initialize(20, seed=seed)
    layers, Y = Layers.of(model.params), np.eye(3)[labels]
    cost = value_and_grad(lambda p: model.loss(model.net.predict(p, X), labels))

    def seconds(work: Callable[[], Any]) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    return Timed(
        rows,
        seconds(lambda: backward.accumulated(layers, X.T, Y.T)),
        seconds(lambda: backward.vectorised(layers, X.T, Y.T)),
        seconds(lambda: cost(model.params)),
    )


def _at(depth: int, rows: int, penalty: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, depth])
    X, labels = rng.normal(size=(rows, 4)), rng.integers(0, 3, rows)
    Y = np.eye(3)[labels]
    hidden = tuple(rng.integers(4, 8, depth - 1).tolist())
    classes = Model(
        nn.mlp(hidden, 3, bias=0.1), "cross_entropy", optim.SGD(0.1), dtype="float64", penalty=nn.L2(2 * penalty)
    ).initialize(4, seed=seed)  # λ ‖W‖² is L2(2 λ)
    number = Model(nn.mlp(hidden, 1, bias=0.1), "half_squared_error", optim.SGD(0.1), dtype="float64")
    number.initialize(4, seed=seed)
    layers, one_output = Layers.of(classes.params), Layers.of(number.params)
    batch = step(classes, X, labels).gradient
    sample = step(classes, X[:1], labels[:1]).gradient
    regression = step(number, X[:1], [0.5]).gradient
    x, y, two = X[0], Y[0], depth == 2
    return {
        "single sample, 6 steps": _apart(backward.single_sample(layers, x, y, penalty), sample) if two else np.nan,
        "k layers, aggregated": _apart(backward.aggregated(layers, x, y, penalty), sample),
        "Jacobians, Kronecker": _apart(jacobians.by_jacobians(layers, x, y, penalty), sample),
        "accumulation loop": _apart(backward.accumulated(layers, X.T, Y.T, penalty), batch),
        "vectorised": _apart(backward.vectorised(layers, X.T, Y.T, penalty), batch),
        "regression, 4 steps": _apart(backward.four_steps(one_output, x, 0.5), regression) if two else np.nan,
        "delta recursion": _apart(backward.delta_recursion(one_output, x, 0.5), regression),
    }


def _apart(by_hand: Backward, engine: dict[str, Any]) -> float:
    names = [name.removesuffix(".weight") for name in engine if name.endswith(".weight")]
    hand = by_hand.gradients.named(names)
    return max(float(np.max(np.abs(hand[name] - gradient))) for name, gradient in engine.items())
