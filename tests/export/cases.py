"""Small fitted models of all kinds, each with rows to predict: some that it was trained on, and some unusual ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from pellucid import (
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    MLPClassifier,
    MLPRegressor,
    TabularMLPClassifier,
    TabularMLPRegressor,
    datasets,
)
from pellucid.estimators import NetworkSettings

Fitted = tuple[Any, Any]
"""A fitted model, and rows."""

CASES: dict[str, Callable[[], Fitted]] = {}
"""By name."""

SMALL: dict[str, Any] = {"hidden_layer_sizes": (12, 8), "max_iter": 4, "random_state": 0, "folds": 1}


def case(make: Callable[[], Fitted]) -> Callable[[], Fitted]:
    @cache
    def fitted() -> Fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few epochs on few rows
            return make()

    CASES[make.__name__] = fitted
    return fitted


def table(rows: int = 160, *, dates: bool = False) -> pd.DataFrame:
    """Numbers with holes, texts of few and of many categories, truth values, and if wanted dates."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size (m²)": rng.gamma(2.0, 50.0, rows),
            "rooms": rng.integers(1, 6, rows),
            "street": rng.choice([f"Straße {i}" for i in range(12)], rows),
            "heating": rng.choice(["gas", "oil", 'a "new" one?'], rows),
            "side": rng.choice(["left", "right"], rows),
            "sold": rng.random(rows) > 0.5,
            "default": rng.normal(size=rows),
        }
    )
    if dates:
        days = pd.to_timedelta(rng.integers(0, 900 * 24, rows), "h")
        frame["since"] = pd.Timestamp("2021-02-03") + days
    frame["sold"] = frame["sold"].astype(object)
    for name in frame.columns:
        frame.loc[rng.random(rows) < 0.1, name] = np.nan if frame[name].dtype.kind in "iuf" else None
    return frame


def strange(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with rows that fit has not seen: other categories, far numbers, nothing at all."""
    odd = frame.iloc[:3].copy()
    odd["street"], odd["side"] = "elsewhere", ["left", "", "middle"]
    odd["size (m²)"] = [1e6, -1e6, np.nan]
    empty = frame.iloc[:1].copy()
    for name in empty.columns:
        empty[name] = np.nan if frame[name].dtype.kind in "iuf" else None
    return pd.concat([frame, odd, empty.astype(frame.dtypes)], ignore_index=True)


def classes(rows: int, count: int) -> Any:
    return np.array(["no", "yes", "perhaps"])[np.random.default_rng(1).integers(0, count, rows)]


@case
def crew_of_three_classes() -> Fitted:
    """Networks that see numbers as waves, pieces and as they are, of two folds; an embedding."""
    frame = table()
    model = TabularMLPClassifier(**(SMALL | {"folds": 2}), quality="best")
    return model.fit(frame, classes(len(frame), 3)), strange(frame)


@case
def two_classes_with_dates() -> Fitted:
    frame = table(dates=True)
    return TabularMLPClassifier(**SMALL).fit(frame, classes(len(frame), 2)), frame


@case
def two_targets() -> Fitted:
    frame = table()
    y = np.column_stack([1e5 + 100 * frame["rooms"].fillna(2), np.random.default_rng(2).normal(size=len(frame))])
    return TabularMLPRegressor(**SMALL).fit(frame, y), strange(frame)


@case
def counts() -> Fitted:
    frame = table()
    y = np.random.default_rng(2).poisson(3.0, len(frame))
    return TabularMLPRegressor(**SMALL, loss="poisson", scaling="robust").fit(frame, y), frame


@case
def quantiles() -> Fitted:
    frame = table()[["size (m²)", "rooms"]]
    y = np.random.default_rng(2).normal(size=len(frame))
    return TabularMLPRegressor(**SMALL, loss="quantile", quality="fast").fit(frame, y), frame


@case
def several_labels() -> Fitted:
    frame = table()
    y = np.random.default_rng(2).integers(0, 2, (len(frame), 3))
    return TabularMLPClassifier(**SMALL, quality="fast").fit(frame, y), frame


@case
def members_in_one() -> Fitted:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = MLPClassifier((8,), max_iter=5, random_state=0, network=NetworkSettings(members=3))
    return model.fit(X, rng.integers(0, 3, 80)), X


@case
def array_with_batch_norm() -> Fitted:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    model = MLPClassifier((8, 6), norm="batch", dropout=0.2, activation="gelu", max_iter=10, random_state=0)
    return model.fit(X, X[:, 0] > 0), X


@case
def frame_of_numbers() -> Fitted:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["label", "int"])
    return MLPRegressor(hidden_layer_sizes=(8,), max_iter=10, random_state=0).fit(X, X["label"] ** 2), X


@case
def sides_without_probabilities() -> Fitted:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return MLPClassifier((6,), loss="hinge", max_iter=5, random_state=0).fit(X, X[:, 0] > 0), X


@case
def bag_of_arrays() -> Fitted:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    member = MLPClassifier((6,), max_iter=5)
    return BaggedMLPClassifier(member, 3, random_state=0).fit(X, rng.integers(0, 3, 90)), X


@case
def bag_of_tables() -> Fitted:
    frame = table()
    member = TabularMLPRegressor((6,), max_iter=2, quality="fast")
    return BaggedMLPRegressor(member, 3, random_state=0).fit(frame, frame["rooms"].fillna(0)), strange(frame)


# the tables of the package


def shipped(name: str, rows: int) -> Fitted:
    data = datasets.load(name)
    X, y = data.X.iloc[:rows], data.y.iloc[:rows]
    kind = TabularMLPClassifier if data.info.task == "classification" else TabularMLPRegressor
    return kind((16, 16), max_iter=4, folds=1, random_state=0).fit(X, y), X


@case
def penguins() -> Fitted:
    return shipped("penguins", 340)


@case
def adult() -> Fitted:
    return shipped("adult", 500)


@case
def california() -> Fitted:
    return shipped("california", 500)
