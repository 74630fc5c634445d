"""Faults of the target, of the loss and of the metric; classes that are rare; labels that are wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from pellucid import MLPClassifier, MLPRegressor, nn, optim
from pellucid.train import Metric
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.data import CLASSES, NUMBERS, Rows
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import Trained, estimator

iris = partial(data.shipped, "iris")


def trains(trained: Trained) -> float:
    """1 if the loss takes these targets."""
    return float(not trained.refused)


taken = Quantity("the loss takes the target", trains, 1, 1)


def from_one(rows: Rows) -> Rows:
    """Labels that begin with 1."""
    return rows.with_target(lambda y: y + 1)


def signs(rows: Rows) -> Rows:
    """Labels -1 and 1."""
    return rows.with_target(lambda y: 2 * y - 1)


def own_log_loss(s: Any, y: Any) -> Any:
    """A log-loss as people write it: for targets 0 and 1."""
    p = np.clip(special.expit(s), 1e-6, 1 - 1e-6)
    return -y * np.log(p) - (1 - y) * np.log(1 - p)


def unused(trained: Trained) -> float:
    """Outputs for classes that no row has."""
    return float(trained.inside.outputs - len(np.unique(trained.rows.y)))


def confident_error(trained: Trained) -> float:
    """The error of the sign of the score where labels are -1 and 1."""
    rows = trained.rows
    upper = np.asarray(trained.inside.scores(rows.Xv))[:, 0] > 0
    wrong = float(np.mean(upper != (rows.yv > 0)))
    return wrong + float(not np.all(np.isin(rows.y, (0, 1))))


sigmoid = nn.Link("sigmoid", special.expit, nn.LinkKind.PROBABILITY)
DOMAIN = (
    Broken(
        "labels 1 to 3 for three scores",
        ("target-domain",),
        "a",
        replace(bases.IRIS, rows=lambda: from_one(iris())),
        bases.IRIS,
        taken,
        "error",
    ),
    Broken(
        "labels 1 to 3 for four scores",
        ("target-domain",),
        "b",
        replace(bases.IRIS, rows=lambda: from_one(iris()), outputs=4),
        bases.IRIS,
        Quantity("scores of classes that no row has", unused, 0, 0),
        "note",
        training=False,
    ),
    Broken(
        "-1 and 1 for two scores",
        ("target-domain",),
        "a",
        replace(bases.MOONS, rows=lambda: signs(data.moons()), outputs=2),
        replace(bases.MOONS, outputs=2),
        taken,
        "error",
    ),
    Broken(
        "standardised counts for Poisson's loss",
        ("target-domain",),
        "b",
        replace(bases.COUNTS, rows=lambda: data.counts().with_target(lambda y: (y - 3.8) / 3.5)),
        bases.COUNTS,
        taken,
        "error",
    ),
    Broken(
        "per cent for a log-loss",
        ("target-domain",),
        "a",
        replace(bases.HALVES, rows=lambda: data.halves().with_target(lambda y: 100 * y)),
        bases.HALVES,
        taken,
        "error",
    ),
    Broken(
        "-1 and 1 for a log-loss of one's own",
        ("target-domain",),
        "b",
        replace(
            bases.HALVES,
            rows=lambda: replace(signs(data.halves(noise=2.0)), task=NUMBERS),
            loss=nn.Loss.from_function(own_log_loss, link=sigmoid),
            metrics=(),
        ),
        replace(
            bases.HALVES,
            rows=lambda: replace(data.halves(noise=2.0), task=NUMBERS),
            loss=nn.Loss.from_function(own_log_loss, link=sigmoid),
            metrics=(),
        ),
        Quantity("wrong signs, or targets beside 0 and 1", confident_error, 0.0, 0.4),
        training=False,
    ),
)
small_regressor = MLPRegressor(
    hidden_layer_sizes=(16,), learning_rate_init=0.01, max_iter=25, batch_size=32, random_state=0, n_iter_no_change=50
)
dollars = lambda: replace(data.houses(), y=data.houses(scale=False).y, yv=data.houses(scale=False).yv)
SCALE = (
    Broken(
        "houses in dollars",
        ("target-scale",),
        "a",
        replace(bases.HOUSES, rows=dollars),
        bases.HOUSES,
        predicts(0.6),
    ),
    Broken(
        "millions, descended",
        ("target-scale",),
        "b",
        replace(
            bases.FRIEDMAN, rows=lambda: data.friedman().with_target(lambda y: 1e6 * (y + 3)), rule=optim.SGD(0.05)
        ),
        replace(bases.FRIEDMAN, rule=optim.SGD(0.05)),
        predicts(0.5),
    ),
    Broken(
        "a target of a ten-thousandth",
        ("target-scale",),
        "a",
        replace(bases.LINEAR, rows=lambda: data.linear().with_target(lambda y: 1e-4 * y), rule=optim.Adam(0.01)),
        replace(bases.LINEAR, rule=optim.Adam(0.01)),
        predicts(0.5),
    ),
    Broken(
        "a small change of a large number",
        ("target-scale",),
        "b",
        estimator(lambda: data.friedman().with_target(lambda y: y + 5000.0), small_regressor),
        estimator(data.friedman, small_regressor),
        predicts(0.5),
    ),
)


def five_classes_as_numbers() -> Rows:
    rows = data.blobs(classes=5, features=2, spread=1.5)
    return replace(rows, task=NUMBERS)


def class_error(trained: Trained) -> float:
    """The share of validation rows whose class is not told: the nearest number, where numbers are predicted."""
    rows = trained.rows
    if rows.task == CLASSES:
        return 1 - measures.score(trained)
    model = trained.inside
    scores = np.asarray(model.scores(rows.Xv))
    told = scores.argmax(1) if scores.shape[1] > 1 else np.rint(scores[:, 0])
    return float(np.mean(told != rows.yv))


MISMATCH = (
    Broken(
        "softmax twice",
        ("loss-output-mismatch",),
        "a",
        replace(bases.BLOBS, output=nn.Softmax()),
        bases.BLOBS,
        predicts(0.3),
    ),
    Broken(
        "sigmoid twice",
        ("loss-output-mismatch",),
        "b",
        replace(bases.HALVES, output=nn.Sigmoid()),
        bases.HALVES,
        predicts(0.45),
    ),
    Broken(
        "numbers behind a ReLU",
        ("loss-output-mismatch",),
        "a",
        replace(bases.FRIEDMAN, output=nn.ReLU()),
        bases.FRIEDMAN,
        predicts(0.3),
    ),
    Broken(
        "numbers behind a sigmoid",
        ("loss-output-mismatch",),
        "b",
        replace(bases.LINEAR, output=nn.Sigmoid()),
        bases.LINEAR,
        predicts(0.3),
    ),
    Broken(
        "numbers behind tanh",
        ("loss-output-mismatch",),
        "a",
        replace(bases.SINES, rows=lambda: data.sines().with_target(lambda y: 3 * y), output=nn.Tanh()),
        replace(bases.SINES, rows=lambda: data.sines().with_target(lambda y: 3 * y)),
        predicts(0.3),
    ),
    Broken(
        "classes as numbers",
        ("loss-output-mismatch",),
        "b",
        replace(bases.BLOBS, rows=five_classes_as_numbers, rule=optim.Adam(0.01), metrics=()),
        replace(bases.BLOBS, rows=partial(data.blobs, classes=5, features=2, spread=1.5), rule=optim.Adam(0.01)),
        Quantity("share of wrong classes", class_error, 0.0, 0.25),
        "note",
        training=False,
    ),
    Broken(
        "softmax of one score",
        ("loss-output-mismatch",),
        "b",
        replace(bases.MOONS, output=nn.Softmax()),
        bases.MOONS,
        predicts(0.4),
    ),
)


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


def honest(limit: float) -> Quantity:
    """Validation rows are predicted no worse than by chance, by so much at most."""
    return predicts(limit)


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
CASES = (*DOMAIN, *SCALE, *MISMATCH, *METRIC, *IMBALANCE, *NOISE)
