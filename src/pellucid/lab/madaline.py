"""A Madaline of the old kind: units that answer -1 or +1, taught by trial and not by gradients."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.markup import Brief

Array = NDArray[np.float64]


def sign(s: Any) -> Any:
    """-1 or +1; +1 at 0."""
    return np.where(np.asarray(s) >= 0, 1.0, -1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Madaline(Brief):
    """Weights of each layer, (units, inputs + 1): the last column is the bias. Errors after each epoch."""

    layers: tuple[Array, ...]
    errors: tuple[int, ...]

    def predict(self, X: Any) -> Any:
        """The answer of the last layer's one unit, -1 or +1.   (n, d) -> (n,)"""
        return answers(self.layers, X)[-1][:, 0]


def answers(layers: tuple[Array, ...], X: Any) -> list[Any]:
    """Inputs and the answers of every layer, rows are samples."""
    values = [np.atleast_2d(np.asarray(X, float))]
    for W in layers:
        values.append(sign(values[-1] @ W[:, :-1].T + W[:, -1]))
    return values


def teach(X: Any, y: Any, hidden: tuple[int, ...], *, epochs: int = 200, rate: float = 1.0, seed: int = 0) -> Madaline:
    """Madaline Rule II (Winter and Widrow, 1988), the principle of least disturbance. y: -1 and +1.

    For each sample that is answered wrongly, from the first layer to the last: units whose sum s is nearest to 0 are
    turned around for trial, one after the other. Where the output is right then, the turn is made good: the unit's
    weights move by rate (target - s) x / ‖x‖², Widrow and Hoff's rule. No derivative is taken: a sign has none.

    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> teach(X, [-1, 1, 1, -1], (3,)).predict(X).tolist()  # XOR
    [-1.0, 1.0, 1.0, -1.0]
    """
    rng = np.random.default_rng(seed)
    inputs, signs = np.asarray(X, float), np.asarray(y, float)
    sizes = (inputs.shape[1], *hidden, 1)
    layers = [rng.normal(size=(m, n + 1)) for n, m in pairwise(sizes)]
    errors: list[int] = []
    best, fewest = tuple(W.copy() for W in layers), len(signs) + 1
    for _ in range(epochs):
        for i in rng.permutation(len(signs)):
            _correct(layers, inputs[i], float(signs[i]), rate)
        wrong = int(np.sum(answers(tuple(layers), inputs)[-1][:, 0] != signs))
        errors.append(wrong)
        if wrong < fewest:
            best, fewest = tuple(W.copy() for W in layers), wrong
        if wrong == 0:
            break
    return Madaline(best, tuple(errors))


def _correct(layers: list[Array], x: Array, wanted: float, rate: float) -> None:
    """Turn the one unit around that takes the least change and mends the answer."""
    values = [v[0] for v in answers(tuple(layers), x)]
    if values[-1][0] == wanted:
        return
    for k, W in enumerate(layers):
        before = np.append(values[k], 1.0)
        sums = W @ before
        for unit in np.argsort(np.abs(sums)):
            turned = values[k + 1].copy()
            turned[unit] = -turned[unit]
            if answers(tuple(layers[k + 1 :]), turned)[-1][0, 0] == wanted:
                W[unit] += rate * (turned[unit] - sums[unit]) * before / (before @ before)
                return
