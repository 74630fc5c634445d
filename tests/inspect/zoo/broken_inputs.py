"""Faults of the inputs: units, constant and double columns, what is missing, means far from zero, leaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from pellucid import MLPClassifier, MLPRegressor, optim
from tests.inspect.zoo import bases, data
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.data import Rows
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import estimator


def with_column(rows: Rows, column: Any, held: Any) -> Rows:
    """One more column, at the end."""
    return replace(rows, X=np.column_stack([rows.X, column]), Xv=np.column_stack([rows.Xv, held]))


def column_times(rows: Rows, column: int, factor: float) -> Rows:
    """One column in other units."""
    factors = np.ones(rows.X.shape[1])
    factors[column] = factor
    return rows.with_inputs(lambda X: X * factors)


def frame(rows: Rows, *names: str) -> Rows:
    """The inputs as a data frame."""
    return rows.with_inputs(lambda X: pd.DataFrame(X, columns=list(names)))


def filled(rows: Rows, column: int, value: float, every: int) -> Rows:
    """Every so many rows of one column hold a value that means something else."""

    def change(X: Any) -> Any:
        X = X.copy()
        X[::every, column] = value
        return X

    return rows.with_inputs(change)


def dead_sensor() -> Rows:
    """The strongest column was not recorded in the training rows."""
    rows = data.friedman()
    X = rows.X.copy()
    X[:, 3] = 0.0
    return replace(rows, X=X)


def temperatures() -> Rows:
    """A temperature in Celsius and in Fahrenheit, among other columns."""
    rows = data.linear(features=3)

    def change(X: Any) -> Any:
        celsius = X[:, 0] * 8 + 15
        columns = {
            "celsius": X[:, 0],
            "fahrenheit": ((celsius * 1.8 + 32) - 59) / 14.4,
            "wind": X[:, 1],
            "sun": X[:, 2],
        }
        return pd.DataFrame(columns)

    return rows.with_inputs(change)


def without(make: Any, *columns: str) -> Rows:
    """The same rows without some columns."""
    return make().with_inputs(lambda X: X.drop(columns=list(columns)))


raw_wine = lambda: data.shipped("wine", scale=False)
raw_cancer = lambda: data.shipped("breast_cancer", scale=False)
cancer = lambda: data.shipped("breast_cancer")
raw_houses = lambda: replace(data.houses(), X=data.houses(scale=False).X, Xv=data.houses(scale=False).Xv)
logistic = MLPClassifier(
    (12,), "logistic", solver="sgd", learning_rate_init=0.1, max_iter=20, random_state=0, batch_size=32
)
house_regressor = MLPRegressor(
    hidden_layer_sizes=(16,), learning_rate_init=0.01, max_iter=25, batch_size=32, random_state=0, n_iter_no_change=50
)
linear_regressor = MLPRegressor(
    hidden_layer_sizes=(8,), learning_rate_init=0.01, max_iter=20, batch_size=32, random_state=0, n_iter_no_change=50
)

SCALE = (
    Broken("wine, raw", ("input-scale",), "a", replace(bases.WINE, rows=raw_wine), bases.WINE, predicts(0.3)),
    Broken(
        "one column in millions",
        ("input-scale",),
        "b",
        replace(bases.FRIEDMAN, rows=lambda: column_times(data.friedman(), 0, 1e6)),
        bases.FRIEDMAN,
        predicts(0.35),
    ),
    Broken(
        "breast cancer, raw, logistic units",
        ("input-scale", "saturated-units"),  # the units saturate because of the units of measurement
        "a",
        estimator(raw_cancer, logistic),
        estimator(raw_cancer, logistic, steps=(StandardScaler(),)),
        predicts(0.3),
    ),
    Broken(
        "houses, raw",
        ("input-scale",),
        "b",
        estimator(raw_houses, house_regressor),
        estimator(raw_houses, house_regressor, steps=(StandardScaler(),)),
        predicts(0.55),
    ),
    Broken(
        "in kilometres instead of metres",
        ("input-scale",),
        "a",
        replace(bases.MOONS, rows=lambda: data.moons().with_inputs(lambda X: X * 1e-3), rule=optim.SGD(0.3)),
        replace(bases.MOONS, rule=optim.SGD(0.3)),
        predicts(0.5),
    ),
    Broken(
        "pictures in 0 to 255",
        ("input-scale",),
        "b",
        replace(bases.PIXELS, rows=lambda: data.pixels().with_inputs(lambda X: 255 * X), rule=optim.SGD(0.1)),
        replace(bases.PIXELS, rule=optim.SGD(0.1)),
        predicts(0.4),
    ),
)
CONSTANT = (
    Broken(
        "the year, 2026 in every row",
        ("input-constant", "input-scale"),  # it is constant, and it is large
        "a",
        replace(bases.MOONS, rows=lambda: with_column(data.moons(), np.full(240, 2026.0), np.full(300, 2026.0))),
        bases.MOONS,
        predicts(0.5),
        "note",
    ),
    Broken(
        "a sensor that did not record",
        ("input-constant",),
        "b",
        replace(bases.FRIEDMAN, rows=dead_sensor),
        bases.FRIEDMAN,
        Quantity("columns that never change", lambda t: float(np.sum(np.ptp(t.rows.X, axis=0) == 0)), 0, 0),
        "note",
        training=False,
    ),
    Broken(
        "a column of zeros",
        ("input-constant",),
        "a",
        replace(bases.HALVES, rows=lambda: with_column(data.halves(), np.zeros(240), np.zeros(300))),
        bases.HALVES,
        Quantity("columns that never change", lambda t: float(np.sum(np.ptp(t.rows.X, axis=0) == 0)), 0, 0),
        "note",
        training=False,
    ),
    Broken(
        "a country that is the same for all",
        ("input-constant",),
        "b",
        estimator(
            lambda: frame(with_column(data.linear(), np.ones(240), np.ones(300)), *"abcde", "country"), linear_regressor
        ),
        estimator(lambda: frame(data.linear(), *"abcde"), linear_regressor),
        Quantity("columns that never change", lambda t: float(np.sum(np.ptp(t.rows.X, axis=0) == 0)), 0, 0),
        "note",
        training=False,
    ),
)


def equal_columns(trained: Any) -> float:
    """Columns that are multiples of another one, up to a shift."""
    correlations = np.abs(np.corrcoef(np.asarray(trained.rows.X, float).T))
    return float(np.sum(np.triu(correlations > 1 - 1e-9, 1).any(0)))


double = Quantity("columns that say the same", equal_columns, 0, 0)
DUPLICATE = (
    Broken(
        "a column twice",
        ("input-duplicate",),
        "a",
        replace(
            bases.FRIEDMAN, rows=lambda: with_column(data.friedman(), data.friedman().X[:, 0], data.friedman().Xv[:, 0])
        ),
        bases.FRIEDMAN,
        double,
        "note",
        training=False,
    ),
    Broken(
        "Celsius and Fahrenheit",
        ("input-duplicate",),
        "b",
        estimator(temperatures, linear_regressor),
        estimator(lambda: without(temperatures, "fahrenheit"), linear_regressor),
        double,
        "note",
        training=False,
    ),
    Broken(
        "a column and its negative",
        ("input-duplicate",),
        "a",
        replace(bases.BLOBS, rows=lambda: with_column(data.blobs(), -data.blobs().X[:, 1], -data.blobs().Xv[:, 1])),
        bases.BLOBS,
        double,
        "note",
        training=False,
    ),
    Broken(
        "wine, joined with itself",
        ("input-duplicate",),
        "b",
        replace(bases.WINE, rows=lambda: data.shipped("wine").with_inputs(lambda X: np.hstack([X, X]))),
        bases.WINE,
        double,
        "note",
        training=False,
    ),
)


def missing(trained: Any) -> float:
    """Inputs that are no finite numbers."""
    return float(np.sum(~np.isfinite(np.asarray(trained.rows.X, float))))


all_there = Quantity("inputs that are not finite", missing, 0, 0)
with np.errstate(divide="ignore"):
    LOG_OF_NOTHING = float(np.log(0.0))
NAN = (
    Broken(
        "missing values in one column",
        ("input-nan",),
        "a",
        replace(bases.BLOBS, rows=lambda: filled(data.blobs(), 2, np.nan, 24)),
        replace(bases.BLOBS, rows=lambda: filled(data.blobs(), 2, 0.0, 24)),
        all_there,
        "error",
    ),
    Broken(
        "the logarithm of zero",
        ("input-nan",),
        "b",
        replace(bases.LINEAR, rows=lambda: filled(data.linear(), 0, LOG_OF_NOTHING, 40)),
        replace(bases.LINEAR, rows=lambda: filled(data.linear(), 0, -3.0, 40)),
        all_there,
        "error",
    ),
    Broken(
        "a frame with missing values for MLPClassifier",
        ("input-nan",),
        "a",
        estimator(lambda: frame(filled(data.halves(), 1, np.nan, 10), *"abcde"), logistic),
        estimator(lambda: frame(filled(data.halves(), 1, 0.0, 10), *"abcde"), logistic),
        all_there,
        "error",
    ),
    Broken(
        "a whole column is missing",
        ("input-nan",),
        "b",
        replace(bases.WINE, rows=lambda: filled(data.shipped("wine"), 4, np.nan, 1)),
        replace(bases.WINE, rows=lambda: filled(data.shipped("wine"), 4, 0.0, 1)),
        all_there,
        "error",
    ),
)
FAR = (
    Broken(
        "moons far from the origin",
        ("not-zero-centred", "input-scale"),  # standardising mends both
        "a",
        replace(bases.MOONS, rows=lambda: data.moons().with_inputs(lambda X: X + 25.0), rule=optim.SGD(0.05)),
        replace(bases.MOONS, rule=optim.SGD(0.2)),
        predicts(0.55),
    ),
    Broken(
        "temperatures in Kelvin",
        ("not-zero-centred", "input-scale"),
        "b",
        estimator(lambda: data.friedman().with_inputs(lambda X: X + 290.0), house_regressor),
        estimator(data.friedman, house_regressor),
        predicts(0.5),
    ),
    Broken(
        "white pictures",
        ("not-zero-centred", "input-scale"),
        "a",
        replace(bases.PIXELS, rows=lambda: data.pixels().with_inputs(lambda X: 20.0 - X), rule=optim.SGD(0.05)),
        replace(bases.PIXELS, rule=optim.SGD(0.2)),
        predicts(0.4),
    ),
    Broken(
        "years as years",
        ("not-zero-centred", "input-scale"),
        "b",
        replace(bases.XOR, rows=lambda: data.xor().with_inputs(lambda X: X * 3 + 60.0), activation="tanh"),
        replace(bases.XOR, activation="tanh"),
        predicts(0.6),
    ),
)


CASES = (*SCALE, *CONSTANT, *DUPLICATE, *NAN, *FAR)
