"""Metrics by name, as functions, or as scikit-learn's scorers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.lookup import look_up
from pellucid.nn.losses import Loss


@dataclass(frozen=True)
class Metric:
    """`function(y, prediction)`; `of` says which prediction.

    "classes", "link" (probabilities, means), "scores", or "predict": classes where the loss has such, else means.
    """

    name: str
    function: Callable[[Any, Any], float]
    of: str = "link"
    mode: str = "max"  # is larger better ("max") or smaller ("min")? "?" where nobody said

    def __call__(self, y: Any, scores: Any, loss: Loss, weights: Any = None) -> float:
        """The metric for a prepared target and the scores of a network."""
        if self.of == "classes" and not is_classifier(loss):
            raise ValueError(f"the metric {self.name} is for classes, but {loss.name} predicts numbers")
        means = self.of == "link" or (self.of == "predict" and not is_classifier(loss))
        prediction = scores if self.of == "scores" else loss.link(scores) if means else classes(loss, scores)
        target = y[:, 0] if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 else y
        if prediction.ndim == 2 and prediction.shape[1] == 1:
            prediction = prediction[:, 0]
        if weights is None:
            return float(self.function(target, prediction))
        if not _takes_weights(self.function):
            raise ValueError(f"the metric {self.name} takes no sample_weight: leave the weights or the metric out")
        return float(self.function(target, prediction, sample_weight=weights))  # type: ignore[call-arg]

    def __reduce__(self) -> tuple[Any, ...]:
        """Metrics of the table are pickled by name."""
        if METRICS.get(self.name) is self:
            return metric, (self.name,)
        return Metric, (self.name, self.function, self.of, self.mode)


def _takes_weights(function: Callable[..., Any]) -> bool:
    names = inspect.signature(function).parameters
    return "sample_weight" in names or any(p.kind is p.VAR_KEYWORD for p in names.values())


def is_classifier(loss: Loss) -> bool:
    """Does the loss tell classes apart?"""
    return any(kind in loss.link_name for kind in ("softmax", "sigmoid", "sign"))


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

    def call(y: Any, p: Any, **options: Any) -> float:
        import sklearn.metrics

        return float(getattr(sklearn.metrics, name)(y, p, **options))

    return call


def _rmse(y: Any, p: Any, sample_weight: Any = None) -> float:
    errors = (y - p).reshape(len(y), -1)
    exponent = np.frexp(np.max(np.abs(errors)))[1]  # squares neither overflow nor vanish; a power of two keeps all bits
    mean = np.average(np.square(np.ldexp(errors, -exponent)).mean(1), weights=sample_weight)
    return float(np.ldexp(np.sqrt(mean), exponent))


def _accuracy(y: Any, p: Any, sample_weight: Any = None) -> float:
    return float(np.average(np.all((y == p).reshape(len(y), -1), axis=1), weights=sample_weight))


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", _accuracy, "classes"),
        Metric("balanced_accuracy", _sk("balanced_accuracy_score"), "classes"),
        Metric("f1", lambda y, p, **options: _f1(y, p, **options), "classes"),
        Metric("roc_auc", lambda y, p, **options: _auc(y, p, **options), "link"),
        Metric("average_precision", lambda y, p, **options: _precision(y, p, **options), "link"),
        Metric("mse", _sk("mean_squared_error"), mode="min"),
        Metric("rmse", _rmse, mode="min"),
        Metric("mae", _sk("mean_absolute_error"), mode="min"),
        Metric("r2", _sk("r2_score")),
    )
}


def _f1(y: Any, p: Any, **options: Any) -> float:
    from sklearn.metrics import f1_score

    binary = np.ndim(p) == 1 and set(np.unique(np.concatenate([y, p])).tolist()) <= {0, 1, -1}
    return float(f1_score(y, p, average="binary" if binary else "macro", zero_division=0, **options))


def _positive(y: Any, p: Any) -> Any:
    """Two columns of probabilities for two classes: that of the second."""
    return p[:, 1] if np.ndim(y) == 1 and np.ndim(p) == 2 and p.shape[1] == 2 else p


def _auc(y: Any, p: Any, **options: Any) -> float:
    from sklearn.metrics import roc_auc_score

    p = _positive(y, p)
    more = {"multi_class": "ovr", "labels": np.arange(p.shape[1])} if np.ndim(p) == 2 and np.ndim(y) == 1 else {}
    return float(roc_auc_score(y, p, **more, **options))


def _precision(y: Any, p: Any, **options: Any) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(y, _positive(y, p), **options))


@dataclass(frozen=True)
class Scored:
    """A scorer of scikit-learn as a function of predictions: larger is better."""

    scorer: Any

    def __call__(self, y: Any, p: Any, **more: Any) -> float:
        function, options = self.scorer._score_func, dict(self.scorer._kwargs)
        p = _positive(y, p)
        if np.ndim(y) == 1 and np.ndim(p) == 2 and "labels" in inspect.signature(function).parameters:
            options.setdefault("labels", np.arange(p.shape[1]))  # a class may be absent from these rows
        return float(self.scorer._sign * function(y, p, **options, **more))


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
        of = {"predict_proba": "link", "decision_function": "scores"}.get(wants, "predict")
        name = which._score_func.__name__
        regression = name.startswith(("mean_", "r2", "median_", "explained_", "max_error", "root_"))
        return Metric(name, Scored(which), "link" if regression else of)
    if callable(which):
        return Metric(getattr(which, "__name__", "metric").strip("<>"), which, mode="?")
    raise TypeError(f"a metric is a name, a function (y, prediction) -> number, or a scorer, got {which!r}")
