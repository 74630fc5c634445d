"""Metrics by name, as functions, or as scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.lookup import look_up
from pellucid.nn.losses import Loss


@dataclass(frozen=True)
class Metric:
    """`function(y, prediction)`; `of` says which prediction: "classes", "link" (probabilities, means) or "scores"."""

    name: str
    function: Callable[[Any, Any], float]
    of: str = "link"
    mode: str = "max"  # is larger better ("max") or smaller ("min")?

    def __call__(self, y: Any, scores: Any, loss: Loss) -> float:
        """The metric for a prepared target and the scores of a network."""
        prediction = (
            scores if self.of == "scores" else loss.link(scores) if self.of == "link" else classes(loss, scores)
        )
        target = y[:, 0] if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 else y
        if prediction.ndim == 2 and prediction.shape[1] == 1:
            prediction = prediction[:, 0]
        return float(self.function(target, prediction))


def classes(loss: Loss, scores: Any) -> Any:
    """The predicted class of each row: the largest score; for one score its sign, in the coding of the target.

    (n, k) -> (n,), or (n, k) zeros and ones for several labels
    """
    if loss.link_name == "softmax" or (loss.name == "focal" and scores.shape[1] > 1):
        return np.argmax(scores, axis=1)
    positive = scores > 0
    out = np.where(positive, 1, -1 if "sign" in loss.link_name else 0)
    return out[:, 0] if out.shape[1] == 1 else out


def _sk(name: str) -> Callable[[Any, Any], float]:
    """A function of sklearn.metrics, imported when it is first called."""

    def call(y: Any, p: Any) -> float:
        import sklearn.metrics

        return float(getattr(sklearn.metrics, name)(y, p))

    return call


def _rmse(y: Any, p: Any) -> float:
    return float(np.sqrt(np.mean(np.square(y - p))))


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", lambda y, p: float(np.mean(np.all(np.atleast_2d((y == p).T), axis=0))), "classes"),
        Metric("balanced_accuracy", _sk("balanced_accuracy_score"), "classes"),
        Metric("f1", lambda y, p: _f1(y, p), "classes"),
        Metric("roc_auc", lambda y, p: _auc(y, p), "link"),
        Metric("average_precision", _sk("average_precision_score"), "link"),
        Metric("mse", _sk("mean_squared_error"), mode="min"),
        Metric("rmse", _rmse, mode="min"),
        Metric("mae", _sk("mean_absolute_error"), mode="min"),
        Metric("r2", _sk("r2_score")),
    )
}


def _f1(y: Any, p: Any) -> float:
    from sklearn.metrics import f1_score

    binary = np.ndim(y) == 1 and len(np.unique(y)) <= 2
    return float(f1_score(y, p, average="binary" if binary else "macro", pos_label=1 if binary else None))


def _auc(y: Any, p: Any) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, p, multi_class="ovr") if np.ndim(p) == 2 and np.ndim(y) == 1 else roc_auc_score(y, p))


def metric(which: Any) -> Metric:
    """A metric by name, as a function of (y, prediction), as a scorer of scikit-learn, or itself.

    >>> metric("accuracy").of
    'classes'
    """
    if isinstance(which, Metric):
        return which
    if isinstance(which, str):
        return look_up("metric", which, METRICS)
    if hasattr(which, "_score_func"):  # a scorer: its function, the prediction it wants, and its sign
        response = getattr(which, "_response_method", "predict")
        wants = response if isinstance(response, str) else response[0]
        of = {"predict_proba": "link", "decision_function": "scores"}.get(wants, "classes")
        sign, options = which._sign, dict(which._kwargs)
        name = which._score_func.__name__
        regression = name.startswith(("mean_", "r2", "median_", "explained_", "max_error", "root_"))
        return Metric(name, lambda y, p: sign * which._score_func(y, p, **options), "link" if regression else of)
    if callable(which):
        return Metric(getattr(which, "__name__", "metric").strip("<>"), which)
    raise TypeError(f"a metric is a name, a function (y, prediction) -> number, or a scorer, got {which!r}")
