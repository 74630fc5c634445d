"""Metrics by name, as functions, or as scikit-learn's scorers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.lookup import look_up
from pellucid.nn.losses.classes import Multilabel
from pellucid.nn.losses.link import LinkKind
from pellucid.nn.losses.loss import Loss, Own
from pellucid.nn.losses.sums import Around
from pellucid.records import Kind
from pellucid.train.temperature import calibrated_log_loss


class Needs(Kind):
    """What a metric is for."""

    ANY = "any loss"
    CLASSES = "losses that tell classes apart"
    LABEL = "the same, of one class for each row"
    PROBABILITIES = "the same, with probabilities of them"
    NUMBERS = "losses that predict one number for each target"


@dataclass(frozen=True)
class Metric:
    """`function(y, prediction)`, with a name.

    Parameters
    ----------
    name : str
        in histories and results
    function : Callable[[Any, Any], float]
        of the target and a prediction; it gives a number
    of : str
        which prediction: "classes", "link" (probabilities, means), "scores", or "predict": classes where the loss
        has such, else means
    mode : str
        "max" where larger is better, "min" where smaller is
    needs : Needs
        for which losses it is; a model looks at it when it is made
    """

    name: str
    function: Callable[[Any, Any], float]
    of: str = "link"
    mode: str = "max"  # is larger better ("max") or smaller ("min")? "?" where nobody said
    needs: Needs = Needs.ANY

    def __call__(self, y: Any, scores: Any, loss: Loss, weights: Any = None) -> float:
        """The metric for a prepared target and the scores of a network.

        Parameters
        ----------
        y : array
            as the loss has prepared it
        scores : array of shape (n, outputs)
            of the network
        loss : Loss
            that the network was trained by
        weights : array of shape (n,)
            how much each row counts

        Returns
        -------
        float
            the metric
        """
        self.check(loss)
        loss, scores = loss.single, loss.joined(scores)
        means = self.of == "link" or (self.of == "predict" and not is_classifier(loss))
        prediction = scores if self.of == "scores" else loss.link(scores) if means else classes(loss, scores)
        target = y[:, 0] if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 else y
        if prediction.ndim == 2 and prediction.shape[1] == 1:
            prediction = prediction[:, 0]
        if weights is None:
            return float(self.function(target, prediction))
        names = inspect.signature(self.function).parameters
        if "sample_weight" not in names and all(p.kind is not p.VAR_KEYWORD for p in names.values()):
            raise ValueError(f"the metric {self.name} takes no sample_weight: leave the weights or the metric out")
        return float(self.function(target, prediction, sample_weight=weights))  # type: ignore[call-arg]

    def check(self, loss: Loss) -> None:
        """Raise if it does not go with what the loss predicts.

        Parameters
        ----------
        loss : Loss
            of a model
        """
        needs = Needs.CLASSES if self.of == "classes" and self.needs is Needs.ANY else self.needs
        why = _unfit(needs, loss)
        if why:
            raise ValueError(f"the metric {self.name} {why}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Metrics of the table are pickled by name."""
        if METRICS.get(self.name) is self:
            return metric, (self.name,)
        return Metric, (self.name, self.function, self.of, self.mode, self.needs)


def _unfit(needs: Needs, loss: Loss) -> str:
    """Why a metric with such needs does not go with a loss; "" where it does."""
    loss = loss.single
    around = loss.of if isinstance(loss, Around) else loss
    if needs is Needs.NUMBERS:
        if loss.link.kind is LinkKind.PROBABILITIES:
            return f"compares numbers, but {loss.name} predicts probabilities of classes: there are {_listed(False)}"
        if loss.per_output > 1:
            return f"takes one number for each target, but {loss.name} predicts {loss.per_output}: give a function"
    elif needs is not Needs.ANY and not is_classifier(loss):
        if isinstance(loss, Own):
            return f"is for classes, but {loss.name} predicts numbers: say nn.loss(f, like='cross_entropy')"
        return f"is for classes, but {loss.name} predicts numbers: for those there are {_listed(True)}"
    elif needs is Needs.LABEL and isinstance(around, Multilabel):
        return f"takes one class for each row, but {loss.name} predicts several labels: use accuracy, f1 or roc_auc"
    elif needs is Needs.PROBABILITIES and not loss.link.kind.gives_probabilities:
        return f"takes probabilities, but {loss.name} gives none: use log-losses, such as 'binary_cross_entropy'"
    return ""


def _listed(numbers: bool) -> str:
    return ", ".join(name for name, metric in METRICS.items() if (metric.needs is Needs.NUMBERS) == numbers)


def is_classifier(loss: Loss) -> bool:
    """Does the loss tell classes apart?"""
    return loss.link.kind.tells_classes


def classes(loss: Loss, scores: Any) -> Any:
    """The predicted class of each row: the largest score; for one score its sign, in the coding of the target.

    (n, k) -> (n,), or (n, k) zeros and ones for several labels
    """
    scores = loss.joined(scores)
    kind = loss.link.kind.for_scores(scores.shape[1])
    if kind is LinkKind.PROBABILITIES:
        return np.argmax(scores, axis=1)
    labels = np.where(scores > 0, 1, -1 if kind is LinkKind.SIGN else 0)
    return labels[:, 0] if labels.shape[1] == 1 else labels


@dataclass(frozen=True)
class SklearnMetric:
    """A function of sklearn.metrics, imported when it is first called."""

    name: str

    def __call__(self, y: Any, p: Any, **options: Any) -> float:
        import sklearn.metrics

        return float(getattr(sklearn.metrics, self.name)(y, p, **options))


def _rmse(y: Any, p: Any, sample_weight: Any = None) -> float:
    errors = (y - p).reshape(len(y), -1)
    exponent = np.frexp(np.max(np.abs(errors)))[1]  # squares neither overflow nor vanish; a power of two keeps all bits
    mean = np.average(np.square(np.ldexp(errors, -exponent)).mean(1), weights=sample_weight)
    return float(np.ldexp(np.sqrt(mean), exponent))


def _accuracy(y: Any, p: Any, sample_weight: Any = None) -> float:
    return float(np.average(np.all((y == p).reshape(len(y), -1), axis=1), weights=sample_weight))


def _f1(y: Any, p: Any, **options: Any) -> float:
    binary = np.ndim(p) == 1 and set(np.unique(np.concatenate([y, p])).tolist()) <= {0, 1, -1}
    return SklearnMetric("f1_score")(y, p, average="binary" if binary else "macro", zero_division=0, **options)


def _positive(y: Any, p: Any) -> Any:
    """Two columns of probabilities for two classes: that of the second."""
    return p[:, 1] if np.ndim(y) == 1 and np.ndim(p) == 2 and p.shape[1] == 2 else p


def _auc(y: Any, p: Any, **options: Any) -> float:
    p = _positive(y, p)
    more = {"multi_class": "ovr", "labels": np.arange(p.shape[1])} if np.ndim(p) == 2 and np.ndim(y) == 1 else {}
    return SklearnMetric("roc_auc_score")(y, p, **more, **options)


def _precision(y: Any, p: Any, **options: Any) -> float:
    return SklearnMetric("average_precision_score")(y, _positive(y, p), **options)


ROOMS = {
    "_regression": Needs.NUMBERS,
    "_classification": Needs.CLASSES,
    "_ranking": Needs.CLASSES,
    "_scorer": Needs.CLASSES,  # likelihood ratios
}
"""The files of scikit-learn's metrics."""

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", _accuracy, "classes", needs=Needs.CLASSES),
        Metric("balanced_accuracy", SklearnMetric("balanced_accuracy_score"), "classes", needs=Needs.LABEL),
        Metric("f1", _f1, "classes", needs=Needs.CLASSES),
        Metric("roc_auc", _auc, needs=Needs.CLASSES),
        Metric("average_precision", _precision, needs=Needs.CLASSES),
        Metric("calibrated_log_loss", calibrated_log_loss, "scores", "min", Needs.PROBABILITIES),
        Metric("mse", SklearnMetric("mean_squared_error"), mode="min", needs=Needs.NUMBERS),
        Metric("rmse", _rmse, mode="min", needs=Needs.NUMBERS),
        Metric("mae", SklearnMetric("mean_absolute_error"), mode="min", needs=Needs.NUMBERS),
        Metric("r2", SklearnMetric("r2_score"), needs=Needs.NUMBERS),
    )
}


@dataclass(frozen=True)
class Scored:
    """A scorer of scikit-learn as a function of predictions: larger is better."""

    scorer: Any

    @property
    def function(self) -> Any:
        """The function of (y, prediction) that it calls; scorers have no public name for it, nor for the rest."""
        return vars(self.scorer)["_score_func"]

    def __call__(self, y: Any, p: Any, **more: Any) -> float:
        parts, function = vars(self.scorer), self.function
        options, p = dict(parts["_kwargs"]), _positive(y, p)
        if np.ndim(y) == 1 and np.ndim(p) == 2 and "labels" in inspect.signature(function).parameters:
            options.setdefault("labels", np.arange(p.shape[1]))  # a class may be absent from these rows
        return float(parts["_sign"] * function(y, p, **options, **more))


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
        scored = Scored(which)
        room = getattr(scored.function, "__module__", "").rpartition(".")[2]  # where scikit-learn keeps it
        needs = Needs.PROBABILITIES if wants == "predict_proba" else ROOMS.get(room, Needs.ANY)
        of = "link" if needs is Needs.NUMBERS else of
        return Metric(scored.function.__name__, scored, of, needs=needs)
    if callable(which):
        return Metric(getattr(which, "__name__", "metric").strip("<>"), which, mode="?")
    raise TypeError(f"a metric is a name, a function (y, prediction) -> number, or a scorer, got {which!r}")
