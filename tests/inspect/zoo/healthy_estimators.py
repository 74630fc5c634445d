"""Healthy estimators: of arrays and frames, in pipelines, of tables with categories and missing values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor, nn, optim
from pellucid.estimators import NetworkSettings, TrainingSettings
from tests.inspect.zoo import data
from tests.inspect.zoo.broken_inputs import raw_houses
from tests.inspect.zoo.broken_signals import classifier, regressor
from tests.inspect.zoo.data import Rows
from tests.inspect.zoo.records import Healthy
from tests.inspect.zoo.training import Trained, estimator

moons, friedman, diabetes = data.moons, data.friedman, partial(data.shipped, "diabetes")
cancer, raw_cancer = partial(data.shipped, "breast_cancer"), partial(data.shipped, "breast_cancer", scale=False)
raw_wine, digits = partial(data.shipped, "wine", scale=False), partial(data.shipped, "digits")


def table_classifier(**more: Any) -> TabularMLPClassifier:
    """Of tables, for a second at most."""
    settings = {"hidden_layer_sizes": (16,), "max_iter": 12, "numbers": "plain", "batch_size": 32} | more
    return TabularMLPClassifier(folds=1, random_state=0, **settings)


def table_regressor(**more: Any) -> TabularMLPRegressor:
    """The same for numbers."""
    settings = {"hidden_layer_sizes": (16,), "max_iter": 12, "numbers": "plain", "batch_size": 32} | more
    return TabularMLPRegressor(folds=1, random_state=0, **settings)


def weather() -> Rows:
    """A table with a category of three, a boolean, dates as days, and missing values."""
    rng = np.random.default_rng(0)
    sky = rng.choice(["clear", "cloud", "rain"], 540)
    table = pd.DataFrame(
        {
            "sky": pd.Categorical(sky),
            "wind": np.where(rng.uniform(size=540) < 0.05, np.nan, rng.gamma(2.0, 3.0, 540)),
            "pressure": rng.normal(1013, 8, 540),
            "weekend": rng.uniform(size=540) < 2 / 7,
            "day": rng.integers(1, 366, 540),
        }
    )
    level = {"clear": 5.0, "cloud": 0.0, "rain": -4.0}
    y = 15 + np.array([level[s] for s in sky]) + 0.04 * table["day"] - 0.2 * table["wind"].fillna(6)
    y = (y + rng.normal(size=540)).to_numpy()
    return Rows(table.iloc[:240], y[:240], table.iloc[240:], y[240:], data.NUMBERS)


def shops() -> Rows:
    """A table of two classes with a category of twelve."""
    rng = np.random.default_rng(1)
    town = rng.integers(0, 12, 540)
    size, age = rng.normal(size=540), rng.uniform(0, 40, 540)
    y = np.where(size + 0.4 * (town - 5.5) - 0.05 * (age - 20) + 0.5 * rng.normal(size=540) > 0, "stays", "closes")
    table = pd.DataFrame({"town": pd.Categorical([f"t{t}" for t in town]), "size": 1000 + 300 * size, "age": age})
    return Rows(table.iloc[:240], y[:240], table.iloc[240:], y[240:], data.CLASSES)


def frames(rows: Callable[[], Rows]) -> Callable[[], Rows]:
    """As data frames."""
    return lambda: rows().with_inputs(lambda X: pd.DataFrame(X).add_prefix("x"))


def texts() -> Rows:
    """Labels that are words."""
    words = np.array(["no", "yes"])
    return data.halves().with_target(lambda y: words[y])


PLAIN: dict[str, Callable[[], Trained]] = {
    "relu, moons": estimator(moons, classifier("relu")),
    "tanh, circles": estimator(data.circles, classifier("tanh", learning_rate_init=0.05)),
    "logistic, halves": estimator(data.halves, classifier("logistic")),
    "identity, halves": estimator(data.halves, classifier("identity", max_iter=15)),
    "no hidden layer": estimator(data.halves, classifier("relu", hidden_layer_sizes=(), learning_rate_init=0.05)),
    "descent, blobs": estimator(data.blobs, classifier("relu", solver="sgd", learning_rate_init=0.05)),
    "adaptive descent, breast cancer": estimator(
        cancer,
        classifier(
            "relu",
            solver="sgd",
            learning_rate="adaptive",
            learning_rate_init=0.05,
            hidden_layer_sizes=(8,),
            max_iter=15,
        ),
    ),
    "L-BFGS, moons": estimator(
        moons, MLPClassifier((8,), "tanh", solver="lbfgs", alpha=1.0, max_iter=80, random_state=0)
    ),
    "L-BFGS, diabetes": estimator(
        diabetes,
        MLPRegressor(
            hidden_layer_sizes=(3,), activation="tanh", solver="lbfgs", alpha=30.0, max_iter=40, random_state=0
        ),
    ),
    "digits": estimator(digits, classifier("relu", hidden_layer_sizes=(40,), max_iter=14, learning_rate_init=0.005)),
    "digits, 0 to 16": estimator(
        partial(data.shipped, "digits", scale=False),
        classifier("relu", hidden_layer_sizes=(40,), max_iter=10, learning_rate_init=0.005),
    ),
    "early stopping, breast cancer": estimator(
        cancer,
        classifier("relu", early_stopping=True, max_iter=40, validation_fraction=0.2, monitor="loss").set_params(
            n_iter_no_change=5
        ),
    ),
    "early stopping, Friedman's function": estimator(
        friedman,
        regressor("relu", early_stopping=True, max_iter=50, learning_rate_init=0.02).set_params(n_iter_no_change=8),
    ),
    "a frame, wine in a pipeline": estimator(
        frames(raw_wine), classifier("relu", max_iter=20), steps=(StandardScaler(),)
    ),
    "breast cancer in a pipeline": estimator(
        raw_cancer, classifier("tanh", max_iter=12, learning_rate_init=0.005), steps=(StandardScaler(),)
    ),
    "between 0 and 1 in a pipeline": estimator(
        raw_cancer, classifier("relu", max_iter=25, learning_rate_init=0.01), steps=(MinMaxScaler(),)
    ),
    "words for labels": estimator(texts, classifier("relu", max_iter=15)),
    "batch norm": estimator(data.blobs, classifier("relu", norm="batch", max_iter=12, learning_rate_init=0.01)),
    "dropout": estimator(
        digits, classifier("relu", hidden_layer_sizes=(64,), dropout=0.2, max_iter=12, learning_rate_init=0.005)
    ),
    "balanced weights, 85 : 15": estimator(
        partial(data.rare, 0.15, 3.5, 300),
        classifier("relu", class_weight="balanced", max_iter=15, hidden_layer_sizes=(8,), learning_rate_init=0.01),
    ),
    "smoothed labels": estimator(data.blobs, classifier("relu", label_smoothing=0.1, max_iter=15)),
    "a cosine": estimator(moons, classifier("relu", training=TrainingSettings(schedule=optim.Cosine(0.05)))),
    "elastic net": estimator(
        cancer, classifier("relu", penalty=nn.ElasticNet(1e-3, 1e-3), max_iter=12, hidden_layer_sizes=(8,))
    ),
    "his weights": estimator(moons, classifier("relu", network=NetworkSettings(init="he", bias=0.0))),
    "validated, no history": estimator(moons, classifier("relu"), checked=False),
    "Friedman's function": estimator(friedman, regressor("relu", learning_rate_init=0.02)),
    "a plane": estimator(data.linear, regressor("relu")),
    "a wave": estimator(data.sines, regressor("tanh", learning_rate_init=0.1)),
    "houses in a pipeline": estimator(
        raw_houses,
        regressor("relu"),
        steps=(StandardScaler(),),
    ),
    "counts": estimator(data.counts, regressor("relu", loss="poisson")),
    "Huber": estimator(friedman, regressor("relu", loss="huber", learning_rate_init=0.03, max_iter=35)),
    "diabetes with a strong alpha": estimator(
        diabetes, regressor("relu", hidden_layer_sizes=(8,), alpha=10.0, max_iter=15)
    ),
    "six layers": estimator(
        data.linear, regressor("tanh", hidden_layer_sizes=(12,) * 6, max_iter=12, learning_rate_init=0.005)
    ),
}
TABLES: dict[str, Callable[[], Trained]] = {
    "penguins": estimator(partial(data.table, "penguins"), table_classifier(max_iter=24)),
    "houses": estimator(partial(data.table, "california", 300), table_regressor(max_iter=20, learning_rate_init=0.03)),
    "incomes": estimator(partial(data.table, "adult", 400), table_classifier(max_iter=8)),
    "weather": estimator(weather, table_regressor(max_iter=25, learning_rate_init=0.05)),
    "shops": estimator(shops, table_classifier(max_iter=16)),
    "waves beside numbers": estimator(partial(data.table, "penguins"), table_classifier(numbers="waves", max_iter=24)),
    "wine as a frame": estimator(frames(raw_wine), table_classifier(max_iter=40)),
    "quantiles": estimator(partial(data.table, "penguins"), table_classifier(scaling="quantile", max_iter=24)),
    "diabetes": estimator(frames(diabetes), table_regressor(max_iter=10, dropout=0.1)),
    "stopped": estimator(partial(data.table, "penguins"), table_classifier(patience=5, max_iter=25)),
}
ALL = {f"estimator: {name}": make for name, make in PLAIN.items()} | {
    f"table: {name}": make for name, make in TABLES.items()
}
CASES = tuple(Healthy(name, "ab"[i % 2], make) for i, (name, make) in enumerate(ALL.items()))
