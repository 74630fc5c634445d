"""What a loss is worth: that of the best constant (chance), and that of knowing the target (the floor)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.nn import LinkKind
from pellucid.nn.losses import classes, numbers
from pellucid.nn.losses.loss import Loss
from pellucid.nn.losses.sums import Around

SMALL = 1e-6


def best_constant(loss: Loss, y: Any, outputs: int) -> Any:
    """The scores that, said of every row, have the smallest mean loss.   y: as prepared -> (outputs,)"""
    inner = loss
    while isinstance(inner, Around):
        inner = inner.of
    y = np.asarray(y)
    if hasattr(loss, "deviation"):  # its scores are in other units than the target
        return _searched(loss, y, outputs, np.zeros(outputs))
    if isinstance(inner, numbers.SquaredError | numbers.HalfSquaredError):
        return y.mean(axis=0)
    if isinstance(inner, classes.OneOfMany):
        shares = y.mean(axis=0) if y.ndim == 2 else np.bincount(y, minlength=outputs)[:outputs] / len(y)
        return np.log(np.maximum(shares, SMALL))
    if isinstance(inner, classes.YesNo):
        shares = np.clip(y.mean(axis=0), SMALL, 1.0 - SMALL)
        return np.log(shares / (1.0 - shares))
    if inner.link.kind is LinkKind.POSITIVE:
        return np.log(np.maximum(y.mean(axis=0), SMALL))
    if isinstance(inner, numbers.AbsoluteError | numbers.Huber):
        return np.median(y, axis=0)
    if isinstance(inner, numbers.Quantile):
        return np.quantile(y, inner.quantiles, axis=0).T.ravel()
    if isinstance(inner, numbers.Gaussian):
        return np.column_stack([y.mean(axis=0), np.log(np.maximum(y.std(axis=0), SMALL))]).ravel()
    return _searched(loss, y, outputs, np.zeros(outputs))


def chance_losses(loss: Loss, y: Any, outputs: int) -> Any:
    """The loss of every row under the best constant.   (n,)"""
    return _losses(loss, y, np.broadcast_to(best_constant(loss, y, outputs), (len(y), outputs)))


def blind_losses(loss: Loss, y: Any, other: Any, outputs: int) -> Any:
    """The loss of other rows under the best constant of these.   (n,)"""
    return _losses(loss, other, np.broadcast_to(best_constant(loss, y, outputs), (len(other), outputs)))


def floor_losses(loss: Loss, y: Any, outputs: int) -> Any:
    """The loss of every row for somebody who knows the target: 0, but for likelihoods.   (n,)"""
    inner = loss
    while isinstance(inner, Around):
        inner = inner.of
    if inner.link.kind is LinkKind.POSITIVE:
        return _losses(loss, y, np.log(np.maximum(np.asarray(y, np.float64), SMALL)))
    if isinstance(inner, numbers.Gaussian) and inner is loss:  # who also knew the deviation would end nowhere
        scores = np.repeat(np.asarray(y, np.float64), 2, axis=1)
        scores[:, 1::2] = best_constant(loss, y, outputs)[1::2]
        return _losses(loss, y, scores)
    return np.zeros(len(y))


def _losses(loss: Loss, y: Any, scores: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(loss.per_sample(np.array(scores, np.float64), y), np.float64)


def _searched(loss: Loss, y: Any, outputs: int, start: Any) -> Any:
    """By search: for losses of which nothing is known."""
    from scipy.optimize import minimize

    part = y[:: max(len(y) // 300, 1)]

    def mean(constant: Any) -> float:
        value = float(np.mean(_losses(loss, part, np.broadcast_to(constant, (len(part), outputs)))))
        return value if np.isfinite(value) else 1e300

    candidates = [np.full(outputs, value) for value in (0.0, 1.0, -1.0)]
    if part.ndim == 2 and part.shape[1] == outputs:
        candidates.append(part.mean(axis=0))
    best = min([np.asarray(start, np.float64), *candidates], key=mean)
    return minimize(mean, best, method="Powell" if outputs == 1 else "Nelder-Mead", options={"maxiter": 60}).x
