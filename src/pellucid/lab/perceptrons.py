"""Many perceptrons side by side, and the margin that bounds their mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pellucid.markup import Brief

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Row(Brief):
    """Perceptrons that look at the same inputs: weights (units, d), biases (units,), mistakes (epochs, units)."""

    weights: Array
    biases: Array
    mistakes: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.int64]:
        """All mistakes of each unit, which are its updates."""
        return np.asarray(np.sum(self.mistakes, axis=0), np.int64)

    def scores(self, X: Any) -> Array:
        return np.asarray(X @ self.weights.T + self.biases)


def one_against_rest(X: Array, classes: ArrayLike, epochs: int = 200) -> Row:
    """One perceptron for each class 0, 1, ...: +1 for its own, -1 for all others; each as `nn.Perceptron` learns.

    On a mistake, y (<w, x> + b) <= 0, it adds y x to w and y to b; it stops when no unit has made one for an epoch.

    >>> X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    >>> row = one_against_rest(X, [0, 1, 2])
    >>> row.scores(X).argmax(axis=1).tolist(), row.mistakes[-1].tolist()
    ([0, 1, 2], [0, 0, 0])
    """
    labels = np.asarray(classes)
    signs = np.where(labels[:, None] == np.arange(labels.max() + 1), 1.0, -1.0)
    W, b = np.zeros((signs.shape[1], X.shape[1])), np.zeros(signs.shape[1])
    mistakes: list[NDArray[np.int64]] = []
    for _ in range(epochs):
        count = np.zeros(len(b), np.int64)
        for x, y in zip(X, signs, strict=True):
            wrong = y * (W @ x + b) <= 0
            if wrong.any():
                W[wrong] += y[wrong, None] * x
                b[wrong] += y[wrong]
                count += wrong
        mistakes.append(count)
        if not count.any():
            break
    return Row(W, b, np.array(mistakes))


@dataclass(frozen=True)
class Bound:
    """What Novikoff's theorem (1962) needs: the longest input R, the widest margin γ; at most (R/γ)² mistakes."""

    radius: float
    margin: float

    @property
    def mistakes(self) -> float:
        return (self.radius / self.margin) ** 2


def novikoff(X: ArrayLike, y: ArrayLike) -> Bound:
    """R and γ of separable points, the bias reckoned as one more input of 1. y: -1 and 1.

    The shortest w with y <w, x> >= 1 for all points is found by Lawson and Hanson's least distance programming; the
    margin is 1/‖w‖.

    >>> round(novikoff([[1.0], [-1.0]], [1, -1]).mistakes, 9)
    2.0
    """
    from scipy.optimize import nnls

    inputs = np.column_stack([np.asarray(X, float), np.ones(len(np.asarray(X)))])
    sides = inputs * np.asarray(y, float)[:, None]
    target = np.append(np.zeros(sides.shape[1]), 1.0)
    columns = np.vstack([sides.T, np.ones(len(sides))])
    shares, _ = nnls(columns, target)
    rest = columns @ shares - target
    if -rest[-1] < 1e-9:
        raise ValueError("novikoff: no hyperplane separates these points, so there is no bound")
    w = rest[:-1] / -rest[-1]
    return Bound(float(np.linalg.norm(inputs, axis=1).max()), float(np.min(sides @ w) / np.linalg.norm(w)))
