"""What can be learned from these rows without any training: ridge regression on columns and on random features, and
nearest neighbours, each judged on rows that it has not seen (leave-one-out). Whatever is far behind has a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any

STRENGTHS = (1e-2, 1e-1, 1.0, 10.0, 100.0)
NEIGHBOURS = 10


@dataclass(frozen=True, eq=False)
class Reference:
    """A learner in closed form: what it says of each row without having seen that row."""

    kind: str  # "linear", "features", "neighbours"
    loo: Array  # predictions of the rows, each without itself   (n, k)
    fit: Any  # new inputs -> predictions

    def errors(self, target: Array) -> Array:
        """The squared error of each row.   (n,)"""
        return np.mean(np.square(self.loo - target), axis=1)


def best_reference(X: Array, target: Array, *, features: int = 256, seed: int = 0) -> tuple[Reference, ...]:
    """The learners, best first.   X: (n, d) finite, target: (n, k)"""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    useful = deviation > 1e-9 * np.maximum(np.abs(mean), 1e-300)

    def scale(Z: Array) -> Array:
        return np.clip((Z[:, useful] - mean[useful]) / deviation[useful], -10.0, 10.0)

    U = scale(X)
    learners = [_ridge("linear", U, target, scale)]
    if U.shape[1] and len(U) >= 8:
        learners.append(_random_features(U, target, scale, features, seed))
        learners.append(_neighbours(U, target, scale))
    return tuple(sorted(learners, key=lambda one: float(np.mean(one.errors(target)))))


def _ridge(kind: str, P: Array, target: Array, lift: Any) -> Reference:
    """Ridge regression with the strength that leave-one-out likes best, all in one decomposition."""
    n, centre, offset = len(P), P.mean(axis=0), target.mean(axis=0)
    Q = P - centre
    small = Q.T @ Q if Q.shape[1] <= n else Q @ Q.T
    values, vectors = np.linalg.eigh(small)
    values = np.maximum(values, 0.0)
    U = Q @ vectors / np.sqrt(np.maximum(values, 1e-12)) if Q.shape[1] <= n else vectors
    projected = U.T @ (target - offset)
    best: tuple[float, float, Array] | None = None
    for strength in STRENGTHS:
        shrink = values / (values + strength * n / 100.0)
        fitted = U @ (shrink[:, None] * projected)
        leverage = np.sum(np.square(U) * shrink, axis=1) + 1.0 / n
        loo = offset + target - offset - (target - offset - fitted) / np.maximum(1.0 - leverage, 1e-3)[:, None]
        error = float(np.mean(np.square(loo - target)))
        if best is None or error < best[0]:
            best = (error, strength, loo)
    assert best is not None
    _, strength, loo = best
    shrink = 1.0 / (values + strength * n / 100.0)
    if Q.shape[1] <= n:
        weights = vectors @ (shrink[:, None] * (vectors.T @ (Q.T @ (target - offset))))
    else:
        weights = Q.T @ (vectors @ (shrink[:, None] * (vectors.T @ (target - offset))))
    return Reference(kind, loo, lambda X: offset + (lift(X) - centre) @ weights)


def _random_features(U: Array, target: Array, scale: Any, count: int, seed: int) -> Reference:
    """A wide hidden layer that is never trained, and ridge regression on it (Rahimi and Recht, 2008)."""
    rng = np.random.default_rng(seed)
    d = U.shape[1]
    W = rng.normal(size=(d, count)) / np.sqrt(d) * rng.choice([0.7, 2.0], size=count)
    b = rng.uniform(-1.5, 1.5, size=count)

    def lift(V: Array) -> Array:
        return np.concatenate([V, np.maximum(V @ W + b, 0.0)], axis=1)

    return _ridge("features", lift(U), target, lambda X: lift(scale(X)))


def _neighbours(U: Array, target: Array, scale: Any) -> Reference:
    """The mean of the nearest rows."""
    k = min(NEIGHBOURS, len(U) - 1)

    def near(V: Array, skip: bool) -> Array:
        out = np.empty((len(V), target.shape[1]))
        squares = np.sum(np.square(U), axis=1)
        for first in range(0, len(V), 512):
            part = V[first : first + 512]
            distances = squares - 2.0 * (part @ U.T)
            if skip:
                distances[np.arange(len(part)), first + np.arange(len(part))] = np.inf
            chosen = np.argpartition(distances, k - 1, axis=1)[:, :k]
            out[first : first + 512] = target[chosen].mean(axis=1)
        return out

    return Reference("neighbours", near(U, True), lambda X: near(scale(X), False))
