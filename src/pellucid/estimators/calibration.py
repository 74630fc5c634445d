"""How sure a prediction is: temperature and intervals from held-out rows, deviations by dropout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pellucid import nn
from pellucid.amounts import is_whole
from pellucid.data.types import Array
from pellucid.train import Model

DRAWS = 50
"""Networks that are drawn by dropout."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """What rows that were not trained on have told: the temperature of the scores, the size of errors."""

    temperature: float = 1.0
    errors: Array | None = None  # sorted, (rows, columns)


def temperature(loss: nn.Loss, scores: Array, target: Array, weights: Array | None = None) -> float:
    """The T that makes scores / T fit the target best (Guo et al., 2017); between 1/100 and 100."""
    from scipy.optimize import minimize_scalar

    prepared = loss.prepare(target, scores.shape[1])
    scores = scores.astype(np.float64)
    w = None if weights is None else nn.sample_weights(weights, len(scores))
    plain = loss.with_(smoothing=0.0) if getattr(loss, "smoothing", 0.0) else loss

    def cost(t: float) -> float:
        return float(plain(scores * np.exp(-t), prepared, w))

    best = minimize_scalar(cost, bounds=(np.log(0.01), np.log(100.0)), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x)) if best.fun < cost(0.0) else 1.0


def radius(errors: Array, coverage: float) -> Array:
    """How far from the prediction the truth lies, with this probability: the split-conformal quantile.

    errors: sorted absolute errors of rows that were not trained on, (m, outputs)
    """
    m = len(errors)
    place = int(np.ceil(coverage * (m + 1))) - 1
    if place >= m:
        needed = int(np.ceil(coverage / (1 - coverage)))
        raise ValueError(
            f"{m} held-out rows are too few for intervals that hold with probability {coverage:g}: give {needed} or "
            "more (validation_fraction, X_val, or calibrate(X, y))"
        )
    return np.asarray(errors[place])


def has_noise(net: nn.Layer) -> bool:
    """Is there dropout (or another noise) that could be left on?"""
    layers = [net]
    while layers:
        layer = layers.pop()
        if isinstance(layer, nn.Dropout | nn.AlphaDropout | nn.GaussianNoise):
            return True
        layers += [child for _, child in layer.children]
    return False


def draws(
    model: Model, parts: list[Array], count: int, answer: Callable[[Array], Array], who: str
) -> tuple[Array, Array]:
    """Mean and deviation of answers over networks with dropout at work.   -> (n, k), (n, k)"""
    if not has_noise(model.net):
        raise ValueError(
            f"return_std draws networks by dropout, but this {who} has none: set dropout=0.1, or use an ensemble "
            "(BaggedMLPClassifier, BaggedMLPRegressor)"
        )
    if not is_whole(count, 2):
        raise ValueError(f"n_draws is a whole number from 2, got {count!r}")
    means, deviations = [], []
    for number, part in enumerate(parts):
        answers = np.stack(
            [
                answer(model.net.apply(model.params, part, model.state, noise=True, key=number, counter=i)[0])
                for i in range(count)
            ]
        )
        means.append(answers.mean(axis=0))
        deviations.append(answers.std(axis=0, ddof=1))
    return np.concatenate(means), np.concatenate(deviations)
