"""What is measured on trained models, without any help of `inspect`: errors, and what goes on inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics

import pellucid as pel
from pellucid import nn
from tests.inspect.zoo.data import CLASSES, Rows
from tests.inspect.zoo.training import Trained


def probabilities(trained: Trained, X: Any) -> Any:
    """Probabilities of the classes.   -> (n, K)"""
    if isinstance(trained.model, pel.Model):
        return np.asarray(trained.model.loss.link.probabilities(trained.model.scores(X)))
    return trained.model.predict_proba(X)


def predictions(trained: Trained, X: Any) -> Any:
    """Numbers.   -> (n,)"""
    return np.asarray(trained.model.predict(X)).reshape(len(X), -1)[:, 0]


def risk(trained: Trained) -> float:
    """The loss of the validation rows over that of who knows the target's distribution alone: 1 is chance, 0 perfect.

    Log-loss of classes, squared error of numbers, both from predictions, so that losses can be changed. What is not
    finite, or refused to be trained, counts as infinitely bad.
    """
    rows = trained.rows
    if trained.refused:
        return float("inf")
    with np.errstate(all="ignore"):
        if rows.task == CLASSES:
            names, numbers = np.unique(rows.yv, return_inverse=True)
            if trained.inside.loss.link.kind is nn.LinkKind.SIGN:  # no probabilities: errors in their place
                return float(
                    np.mean(labels(trained, rows.Xv) != rows.yv) / (1 - np.bincount(numbers).max() / len(numbers))
                )
            p = probabilities(trained, rows.Xv)
            if p.shape[1] != len(names) or not np.isfinite(p).all():
                return float("inf")
            prior = np.bincount(numbers) / len(numbers)
            p = np.clip(p[np.arange(len(numbers)), numbers], 1e-7, 1.0)
            return float(-np.log(p).mean() / -(prior * np.log(prior)).sum())
        predicted = predictions(trained, rows.Xv)
        value = float(np.mean(np.square(predicted.astype(float) - rows.yv)) / np.var(rows.yv))
    return value if np.isfinite(value) else float("inf")


def labels(trained: Trained, X: Any) -> Any:
    """The predicted classes, as the target names them."""
    told = trained.model.predict_classes(X) if isinstance(trained.model, pel.Model) else trained.model.predict(X)
    names = np.unique(trained.rows.y)
    return names[(told > 0).astype(int)] if len(names) == 2 and told.dtype.kind in "fi" else told


def score(trained: Trained) -> float:
    """Accuracy or R² of the validation rows."""
    rows = trained.rows
    if rows.task == CLASSES:
        return float(metrics.accuracy_score(rows.yv, labels(trained, rows.Xv)))
    return float(metrics.r2_score(rows.yv, predictions(trained, rows.Xv)))


def balanced(trained: Trained) -> float:
    """The mean recall of the classes of the validation rows."""
    rows = trained.rows
    return float(metrics.balanced_accuracy_score(rows.yv, labels(trained, rows.Xv)))


def rarest_recall(trained: Trained) -> float:
    """The recall of the rarest class."""
    names, numbers = np.unique(trained.rows.yv, return_counts=True)
    rare = trained.rows.yv == names[np.argmin(numbers)]
    return float(np.mean((labels(trained, trained.rows.Xv) == trained.rows.yv)[rare]))


def training_loss(trained: Trained) -> float:
    """The mean loss of the training rows, as the model predicts."""
    return float(trained.inside.evaluate(trained.seen(trained.rows.X), trained.rows.y)["loss"])


def gap(trained: Trained) -> float:
    """The loss of the validation rows over that of the training rows, each plus a twentieth of chance's."""
    rows = trained.rows
    there = risk(trained)
    here = risk(Trained(trained.model, rows.X, rows.y, None, None, Rows(rows.X, rows.y, rows.X, rows.y, rows.task)))
    return (there + 0.05) / (here + 0.05)


# inside


def layers(trained: Trained) -> list[tuple[str, Any]]:
    """What every activation of a chain puts out on the training rows, in predict mode: (name, (n, units))."""
    model, X = trained.inside, np.asarray(trained.seen(trained.rows.X), np.float32)
    parts = list(model.net.children)
    outputs = []
    for count, (name, part) in enumerate(parts, start=1):
        if isinstance(part, nn.Activate):
            head = nn.Sequential(*parts[:count])
            with np.errstate(all="ignore"):
                outputs.append((name, np.asarray(head.predict(model.params, X, model.state))))
    return outputs


def constant_units(trained: Trained) -> float:
    """The largest share, over the hidden layers, of units that give the same for every row."""
    return max(float(np.mean(np.ptp(a, axis=0) <= 1e-7 * (1 + np.abs(a).max(0)))) for _, a in layers(trained))


def saturation(trained: Trained) -> float:
    """The largest share, over the hidden layers, of outputs at an end of tanh or sigmoid (slope below 0.01)."""
    shares = []
    for (_, part), (_, a) in zip(activations(trained), layers(trained), strict=True):
        slope = a * (1 - a) if part.activation.name == "sigmoid" else 1 - np.square(a)
        shares.append(float(np.mean(np.abs(slope) < 0.01)))
    return max(shares)


def activations(trained: Trained) -> list[tuple[str, Any]]:
    """The layers that are activations."""
    return [(name, part) for name, part in trained.inside.net.children if isinstance(part, nn.Activate)]


def distinct_units(trained: Trained) -> float:
    """The smallest share, over the hidden layers, of units that differ from all others."""
    shares = []
    for _, a in layers(trained):
        shares.append(len(np.unique(np.round(a.T, 6), axis=0)) / a.shape[1])
    return min(shares)


def first_gradient(trained: Trained) -> float:
    """The size of the first weights' gradient over that of the last ones', before training (root mean squares)."""
    model = trained.inside
    X, y = np.asarray(trained.seen(trained.rows.X), np.float32), trained.rows.y
    fresh = model.net.initialize(X.shape[1], seed=1, dtype=np.float32)
    target = model.loss.prepare(y, model.outputs)

    def cost(params: Any) -> Any:
        scores, _ = model.net.apply(params, X, fresh.state, training=True, key=1)
        return model.loss(scores, target)

    with np.errstate(all="ignore"):
        gradient = pel.grad(cost)(fresh.params)
    sizes = [np.sqrt(np.mean(np.square(g))) for name, g in gradient.items() if name.endswith("weight")]
    return float(sizes[0] / max(sizes[-1], 1e-30))


def first_scores(trained: Trained) -> float:
    """The root mean square of the scores before training."""
    model = trained.inside
    X = np.asarray(trained.seen(trained.rows.X), np.float32)
    fresh = model.net.initialize(X.shape[1], seed=1, dtype=np.float32)
    with np.errstate(all="ignore"):
        scores, _ = model.net.apply(fresh.params, X, fresh.state, training=True, key=1)
    return float(np.sqrt(np.mean(np.square(scores))))


def mode_gap(trained: Trained) -> float:
    """How far predictions by stored statistics are from those by the batch's: risk over risk."""
    model, rows = trained.inside, trained.rows
    stored = float(model.evaluate(rows.X, rows.y)["loss"])
    scores, _ = model.net.apply(model.params, np.asarray(rows.X, np.float32), model.state, training=True, key=1)
    return stored / float(model.loss(scores, model.loss.prepare(rows.y, model.outputs)))


def reliance(column: int) -> Callable[[Trained], float]:
    """How much worse the validation rows are predicted once one column is shuffled: difference of risks."""

    def measure(trained: Trained) -> float:
        rows = trained.rows
        order = np.random.default_rng(0).permutation(len(rows.yv))
        Xv = rows.Xv.copy()
        if hasattr(Xv, "iloc"):
            Xv.iloc[:, column] = Xv.iloc[order, column].to_numpy()
        else:
            Xv[:, column] = Xv[order, column]
        shuffled = Trained(trained.model, rows.X, rows.y, None, None, Rows(rows.X, rows.y, Xv, rows.yv, rows.task))
        return risk(shuffled) - risk(trained)

    return measure


def loss_fall(trained: Trained) -> float:
    """By which share the training loss of an epoch fell from the first tenth of the run to its end."""
    curve = trained.history["loss"]
    return float(1 - np.mean(curve[-3:]) / curve[0])


def still_falling(trained: Trained) -> float:
    """By which share the training loss fell over the last quarter of the epochs."""
    curve = np.asarray(trained.history["loss"], float)
    quarter = max(len(curve) // 4, 1)
    return float(1 - curve[-1] / curve[-1 - quarter]) if len(curve) > quarter else 1.0


def restless(trained: Trained) -> float:
    """How much the validation loss moves from epoch to epoch in the second half, as a share of its mean."""
    curve = np.asarray(trained.history["val_loss"], float)
    late = curve[len(curve) // 2 :]
    return float(np.mean(np.abs(np.diff(late))) / np.mean(late)) if len(late) > 1 else float("inf")


def steps(trained: Trained) -> float:
    """Updates made."""
    return float(trained.history.epochs[-1]["step"]) if len(trained.history) else 0.0
