"""How sure a prediction is: Monte-Carlo dropout, temperature, intervals from held-out errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.amounts import is_whole

DRAWS = 50
"""Networks that are drawn by dropout."""


def has_noise(net: nn.Layer) -> bool:
    """Is there dropout (or another noise) that could be left on?"""
    parts = [net]
    while parts:
        layer = parts.pop()
        if isinstance(layer, nn.Dropout | nn.AlphaDropout | nn.GaussianNoise):
            return True
        parts += [child for _, child in layer.children]
    return False


def draws(estimator: Any, X: Any, count: int, link: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Mean and deviation of predictions over networks with dropout at work.   -> (n, k), (n, k)"""
    X = estimator._inputs(X)
    model = estimator.model_
    if not has_noise(model.net):
        raise ValueError(
            f"return_std draws networks by dropout, but this {type(estimator).__name__} has none: set dropout=0.1, or "
            "use an ensemble (BaggedMLPClassifier, BaggedMLPRegressor)"
        )
    if not is_whole(count, 2):
        raise ValueError(f"n_draws is a whole number from 2, got {count!r}")
    means, deviations = [], []
    for number, part in enumerate(estimator._chunks(X)):
        found = np.stack(
            [
                link(model.net.apply(model.params, part, model.state, noise=True, key=number, counter=i)[0])
                for i in range(count)
            ]
        )
        means.append(found.mean(axis=0))
        deviations.append(found.std(axis=0, ddof=1))
    return np.concatenate(means), np.concatenate(deviations)


def temperature(loss: nn.Loss, scores: Any, target: Any, weights: Any = None) -> float:
    """The T that makes scores / T fit the target best (Guo et al., 2017); between 1/100 and 100."""
    from scipy.optimize import minimize_scalar

    prepared = loss.prepare(target, scores.shape[1])
    scores = scores.astype(np.float64)
    w = None if weights is None else nn.sample_weights(weights, len(scores))
    plain = loss.with_(smoothing=0.0) if getattr(loss, "smoothing", 0.0) else loss

    def cost(t: float) -> float:
        return float(plain(scores * np.exp(-t), prepared, w))

    found = minimize_scalar(cost, bounds=(np.log(0.01), np.log(100.0)), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x)) if found.fun < cost(0.0) else 1.0


def radius(residuals: Any, coverage: float) -> Any:
    """How far from the prediction the truth lies, with this probability: the split-conformal quantile.

    residuals: sorted absolute errors of rows that were not trained on, (m, outputs)
    """
    m = len(residuals)
    place = int(np.ceil(coverage * (m + 1))) - 1
    if place >= m:
        needed = int(np.ceil(coverage / (1 - coverage)))
        raise ValueError(
            f"{m} held-out rows are too few for intervals that hold with probability {coverage:g}: give {needed} or "
            "more (validation_fraction, X_val, or calibrate(X, y))"
        )
    return residuals[place]
