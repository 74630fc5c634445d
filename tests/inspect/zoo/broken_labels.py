"""Faults of the metric; classes that are rare; labels that are wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pellucid import MLPClassifier, nn, optim
from pellucid.train import Metric
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.data import CLASSES, Rows
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import Trained, estimator


def equal(y: Any, p: Any) -> float:
    """An accuracy, as people write it."""
    return float(np.mean(y == p))


def mape(y: Any, p: Any) -> float:
    """The mean error in per cent."""
    return float(np.mean(np.abs(y - p) / np.maximum(np.abs(y), 1e-9)) * 100)


def judged_by(*names: str) -> Quantity:
    """No metric of these stands alone."""
    alone = lambda t: float({m.name for m in t.inside.metrics} <= set(names) and bool(t.inside.metrics))
    return Quantity(f"judged by {' or '.join(names)} alone", alone, 0, 0)


def hidden_rarity(trained: Trained) -> float:
    """1 if accuracy alone judges, and the rarest class is hardly found."""
    return judged_by("accuracy").measure(trained) * float(measures.rarest_recall(trained) < 0.5)


seen = Quantity("a rare class that is neither found nor asked for", hidden_rarity, 0, 0)
rare = partial(data.rare, 0.02, 2.5)
METRIC = (
    Broken(
        "accuracy with one in a hundred",
        ("wrong-metric", "class-imbalance"),  # the metric hides the imbalance
        "a",
        replace(bases.HALVES, rows=partial(data.rare, 0.01, 3.0)),
        replace(bases.HALVES, rows=partial(data.rare, 0.01, 3.0), metrics=("balanced_accuracy", "roc_auc")),
        seen,
        training=False,
    ),
    Broken(
        "stopped by accuracy with three in a hundred",
        ("wrong-metric", "class-imbalance"),
        "b",
        replace(bases.MOONS, rows=partial(data.rare, 0.03, 2.0), patience=3, monitor="val_accuracy"),
        replace(
            bases.MOONS, rows=partial(data.rare, 0.03, 2.0), patience=3, metrics=("roc_auc",), monitor="val_roc_auc"
        ),
        seen,
        training=False,
    ),
    Broken(
        "accuracy of numbers",
        ("wrong-metric",),
        "a",
        replace(bases.FRIEDMAN, metrics=(Metric("accuracy", equal),)),
        bases.FRIEDMAN,
        judged_by("accuracy"),
        training=False,
    ),
    Broken(
        "per cent of nothing",
        ("wrong-metric",),
        "b",
        replace(bases.COUNTS, metrics=(Metric("mape", mape, mode="min"),)),
        replace(bases.COUNTS, metrics=("mae",)),
        judged_by("mape"),
        training=False,
    ),
)


def uneven() -> Rows:
    """Three classes, 90 : 7 : 3."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [900, 70, 30])
    centres = np.array([[0.0, 0.0, 0.0], [1.6, 0.0, 0.8], [0.0, 1.8, -0.8]])
    return data.parted(centres[y] + rng.normal(size=(1000, 3)), y, CLASSES, 500, 500)


def uneven_classifier(**more: Any) -> MLPClassifier:
    return MLPClassifier(
        (12,), learning_rate_init=0.01, max_iter=20, batch_size=32, random_state=0, n_iter_no_change=50, **more
    )


def recall(low: float) -> Quantity:
    """So many rows of the rarest class are found."""
    return Quantity("recall of the rarest class", measures.rarest_recall, low, 1.0)


IMBALANCE = (
    Broken(
        "two in a hundred",
        ("class-imbalance",),
        "a",
        replace(bases.HALVES, rows=rare, metrics=("balanced_accuracy",)),
        replace(bases.HALVES, rows=rare, metrics=("balanced_accuracy",), class_weight="balanced"),
        recall(0.5),
        training=False,
    ),
    Broken(
        "three classes, 90 : 7 : 3",
        ("class-imbalance", "wrong-metric"),
        "b",
        estimator(uneven, uneven_classifier()),
        estimator(uneven, uneven_classifier(class_weight="balanced")),
        recall(0.5),
        training=False,
    ),
    Broken(
        "four in a hundred, by an estimator",
        ("class-imbalance", "wrong-metric"),
        "a",
        estimator(partial(data.rare, 0.04, 1.8), uneven_classifier()),
        estimator(partial(data.rare, 0.04, 1.8), uneven_classifier(class_weight="balanced")),
        recall(0.5),
        training=False,
    ),
    Broken(
        "four in a hundred, two layers",
        ("class-imbalance",),
        "b",
        replace(
            bases.MOONS,
            rows=partial(data.rare, 0.04, 2.0),
            hidden=(8, 8),
            metrics=("roc_auc",),
            epochs=12,
            penalty=nn.L2(0.01),
        ),
        replace(
            bases.MOONS,
            rows=partial(data.rare, 0.04, 2.0),
            hidden=(8, 8),
            metrics=("roc_auc",),
            epochs=12,
            penalty=nn.L2(0.01),
            class_weight="balanced",
        ),
        recall(0.5),
        training=False,
    ),
)


def flipped(rows: Rows, share: float, seed: int = 0) -> Rows:
    """A share of the labels is another one, in the training and the validation rows."""
    rng, classes = np.random.default_rng(seed), len(np.unique(rows.y))
    other = lambda y: np.where(rng.uniform(size=len(y)) < share, (y + rng.integers(1, classes, len(y))) % classes, y)
    return rows.with_target(other)


def mistyped(rows: Rows) -> Rows:
    """One target in twenty has the point in the wrong place."""
    rng = np.random.default_rng(0)
    return rows.with_target(lambda y: np.where(rng.uniform(size=len(y)) < 0.05, 20 * (y + 1), y))


NOISE = (
    Broken(
        "moons, three labels in ten wrong",
        ("label-noise",),
        "a",
        replace(bases.MOONS, rows=lambda: flipped(data.moons(0.1), 0.3)),
        replace(bases.MOONS, rows=partial(data.moons, 0.1)),
        predicts(0.7),
    ),
    Broken(
        "digits, three labels in ten wrong",
        ("label-noise",),
        "b",
        replace(bases.DIGITS, rows=lambda: flipped(data.shipped("digits"), 0.3), epochs=8),
        bases.DIGITS,
        predicts(0.4),
    ),
    Broken(
        "the point in the wrong place",
        ("label-noise",),
        "a",
        replace(bases.LINEAR, rows=lambda: mistyped(data.linear()), rule=optim.SGD(0.005)),
        bases.LINEAR,
        predicts(0.7),
    ),
    Broken(
        "blobs, four labels in ten wrong",
        ("label-noise",),
        "b",
        estimator(lambda: flipped(data.blobs(spread=1.0), 0.4), uneven_classifier()),
        estimator(partial(data.blobs, spread=1.0), uneven_classifier()),
        predicts(0.5),
    ),
)
CASES = (*METRIC, *IMBALANCE, *NOISE)
