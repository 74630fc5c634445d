"""Faults of the target and of the loss."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from pellucid import MLPRegressor, nn, optim
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


CASES = (*DOMAIN, *SCALE, *MISMATCH)
