"""Small fitted models, and looks without a training."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import pellucid as pel
from pellucid import inspect, nn, optim

EVIL = "<img src=x onerror=alert(1)> & 'co\"'"
"""A name that would do harm where it is not escaped."""


@dataclass
class Fit:
    model: Any
    X: Any
    y: Any
    watch: Any = None


def quiet(estimator, X, y):
    """Fit without a word about convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def two_moons(epochs=6, every=4):
    """A Model of two inputs and two classes, watched."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    watch = inspect.Watch(every=every)
    model = pel.Model(nn.mlp((6, 5), 1), "binary_cross_entropy", optim.Adam(0.02), metrics=["accuracy"])
    model.fit(X, y, validation=0.25, epochs=epochs, callbacks=[watch], verbose=False)
    return Fit(model, X, y, watch)


def evil_table():
    """A table of numbers and categories with evil names, and three classes of which one is evil, too."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            EVIL: rng.normal(size=180),
            "colour": rng.choice(["red", "green", EVIL], size=180),
            "holes": np.where(rng.random(180) < 0.1, np.nan, rng.normal(size=180)),
        }
    )
    y = np.where(X[EVIL] > 0.5, EVIL, np.where(X["colour"] == "red", "b", "c")).astype(object)
    return X, y


def look_of(step, units=20, layers=3, rng=None):
    """A look as a training would give it, of random numbers."""
    rng = np.random.default_rng(step) if rng is None else rng

    def some(scale=1.0, zeros=0.0):
        values = rng.normal(size=2000) * scale
        return inspect.Statistics.of(np.where(rng.random(2000) < zeros, 0.0, values))

    each = [
        inspect.LayerLook(
            f"hidden{k + 1}",
            "relu",
            units,
            z=some(),
            a=inspect.Statistics.of(np.maximum(rng.normal(size=2000), 0.0)),
            weight=some(0.1),
            unit_mean=rng.random(units),
            unit_std=rng.random(units),
            rank=units / 3,
            copies=(),
            dz=some(1e-3, 0.5),
            da=some(1e-3),
            dweight=some(1e-4),
            update=some(1e-4),
            unit_open=np.where(np.arange(units) < 2, 0.0, rng.random(units)),
            unit_slope=np.where(np.arange(units) < 2, 0.0, 1.0),
        )
        for k in range(layers)
    ]
    columns = {f"column_{name}": np.zeros(3) for name in ("mean", "std", "low", "high")}
    return inspect.Look(step, step // 10, 64, tuple(each), ("a", "b", "c"), loss=1.0, gradient_norm=0.5, **columns)
