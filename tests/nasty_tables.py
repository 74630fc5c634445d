"""Tables that make networks fail: small, made by seed, each with the trap in its one line of documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

Made = tuple[pd.DataFrame, np.ndarray]
CLASSES, NUMBERS = "classes", "numbers"


@dataclass(frozen=True, eq=False)
class NastyTable:
    """Rows of a table, divided: those to fit and those to judge by."""

    task: str
    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


@dataclass(frozen=True)
class Generator:
    """How a table is made; the first `first` rows are always among those to fit."""

    make: Callable[[np.random.Generator], Made]
    task: str
    first: int = 0

    def __call__(self, seed: int = 0, share: float = 0.3) -> NastyTable:
        """The table of a seed, with this share of its rows to judge by."""
        rng = np.random.default_rng(seed)
        X, y = self.make(rng)
        order = self.first + rng.permutation(len(y) - self.first)
        test = np.sort(order[: int(share * len(y))])
        rest = np.setdiff1d(np.arange(len(y)), test)
        X = X.reset_index(drop=True)
        return NastyTable(self.task, X.iloc[rest], y[rest], X.iloc[test], y[test])


GENERATORS: dict[str, Generator] = {}
"""All of them, by name."""


def table(task: str, first: int = 0) -> Callable[[Callable[[np.random.Generator], Made]], Any]:
    """Put a function into the collection, under its name."""

    def put(make: Callable[[np.random.Generator], Made]) -> Callable[[np.random.Generator], Made]:
        GENERATORS[make.__name__] = Generator(make, task, first)
        return make

    return put


def frame(X: np.ndarray, **more: Any) -> pd.DataFrame:
    """Columns x0, x1, ... and others by name."""
    return pd.DataFrame({f"x{i}": X[:, i] for i in range(X.shape[1])} | more)


# nearly collinear columns


@table(NUMBERS)
def gas_turbine(rng: np.random.Generator) -> Made:
    """16 measurements of a ship's gas turbine, two constant, two equal: all but curves of the speed.

    Two decays, of compressor (0.95 to 1) and turbine (0.975 to 1), move them by a percent or less: the signal is in
    differences of nearly collinear columns. After the simulated frigate of Coraddu et al., 2014.
    """
    knots = np.arange(3.0, 28.0, 3.0)
    grid = np.meshgrid(knots, np.linspace(0.95, 1.0, 16), np.linspace(0.975, 1.0, 10), indexing="ij")
    speed, compressor, turbine = (axis.ravel() for axis in grid)
    c, t, load = 1.0 - compressor, 1.0 - turbine, speed / 27.0
    levers = np.array([1.138, 2.088, 3.144, 4.161, 5.140, 6.175, 7.148, 8.206, 9.300])
    thrust = np.round(1.9 + 640 * load**2, 2)
    columns = {
        "lever": levers[np.searchsorted(knots, speed)],
        "speed": speed,
        "shaft_torque": np.round(250 + 72_000 * load**3 * (1 + 0.04 * t * load), 1),
        "turbine_rpm": np.round(1300 + 2300 * load**1.5, 1),
        "generator_rpm": np.round(6500 + 3300 * np.sqrt(load) * (1 - 0.25 * c * (1 - load) + 0.1 * t), 1),
        "starboard_torque": thrust,
        "port_torque": thrust,
        "turbine_exit_temperature": np.round(
            440 + 60 * load + 560 * load**2 * (1 + 0.5 * c + 0.9 * t * (1 - 0.4 * load) + 3 * c * c), 1
        ),
        "inlet_temperature": np.full(len(speed), 288.0),
        "compressor_temperature": np.round(540 + 240 * load * (1 + 0.55 * c - 0.12 * t * load), 1),
        "turbine_exit_pressure": np.round(1.09 + 3.4 * load**2 * (1 - 0.15 * c + 0.35 * t), 3),
        "inlet_pressure": np.full(len(speed), 0.998),
        "compressor_pressure": np.round(5.8 + 17.3 * load**1.8 * (1 - 0.3 * c * load + 0.4 * t), 3),
        "exhaust_pressure": np.round(1.02 + 0.03 * load**2 * (1 + 0.5 * t), 3),
        "injection": np.round(np.clip(92 * load**2 * (1 + 0.8 * c + 1.1 * t) - 3, 0, None), 2),
        "fuel": np.round(0.068 + 1.75 * load**3 * (1 + 0.9 * c * (1.2 - load) + 1.3 * t + 4 * c * t), 3),
    }
    return pd.DataFrame(columns), np.column_stack([compressor, turbine])


@table(CLASSES)
def small_difference(rng: np.random.Generator) -> Made:
    """The class is in the difference of two columns that agree to three digits."""
    X = rng.normal(size=(800, 4))
    difference = rng.normal(size=800)
    X[:, 1] = X[:, 0] + 1e-3 * difference
    return frame(X), (difference + 0.3 * rng.normal(size=800) > 0).astype(int)


@table(NUMBERS)
def copies(rng: np.random.Generator) -> Made:
    """Five columns, each three times, and three constants."""
    X = rng.normal(size=(500, 5))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.2 * rng.normal(size=500)
    return frame(np.column_stack([X, X, X, np.full((500, 3), 7.0)])), y


# units and ranges


@table(NUMBERS)
def tiny_ranges(rng: np.random.Generator) -> Made:
    """Columns near 1000 that vary by 1e-4, a target near 1 that varies by 1e-5."""
    X = rng.normal(size=(600, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=600)
    return frame(1000.0 + 1e-4 * X), 1.0 + 1e-5 * y


@table(NUMBERS)
def mixed_units(rng: np.random.Generator) -> Made:
    """Columns of sizes from 1e-12 to 1e12."""
    X = rng.normal(size=(600, 5))
    y = np.abs(X[:, 0]) + X[:, 4] + 0.1 * rng.normal(size=600)
    return frame(X * 10.0 ** np.array([-12, -6, 0, 6, 12])), y


@table(NUMBERS)
def six_orders(rng: np.random.Generator) -> Made:
    """A target from 1 to a million, its logarithm even."""
    X = rng.uniform(size=(700, 5))
    return frame(X), 10.0 ** (6 * X[:, 0] * (0.8 + 0.2 * X[:, 1]) + 0.05 * rng.normal(size=700))


@table(NUMBERS)
def timestamps(rng: np.random.Generator) -> Made:
    """The target is a moment, in nanoseconds since 1970: huge whole numbers that vary by a few hours."""
    X = rng.normal(size=(500, 4))
    hours = X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=500)
    return frame(X), 1_700_000_000_000_000_000 + (3.6e12 * hours).astype(np.int64)


# tails


@table(NUMBERS)
def heavy_tails(rng: np.random.Generator) -> Made:
    """Columns and noise of Student's t with 2 degrees of freedom; linear."""
    X = rng.standard_t(2, size=(800, 5))
    return frame(X), X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.3 * rng.standard_t(2, size=800)


@table(NUMBERS)
def lognormal_columns(rng: np.random.Generator) -> Made:
    """Strongly skewed columns, and a target in their logarithms."""
    Z = rng.normal(size=(600, 5))
    return frame(np.exp(2.0 * Z)), Z[:, 0] + Z[:, 1] * Z[:, 2] + 0.2 * rng.normal(size=600)


@table(CLASSES, first=1)
def huge_outlier(rng: np.random.Generator) -> Made:
    """One value of 1e9 in the column that matters most."""
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    X[0, 0] = 1e9
    return frame(X), y


@table(NUMBERS, first=1)
def target_outlier(rng: np.random.Generator) -> Made:
    """One target is a million times the rest."""
    X = rng.normal(size=(600, 5))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.1 * rng.normal(size=600)
    y[0] = 1e6
    return frame(X), y


@table(NUMBERS)
def mostly_constant_target(rng: np.random.Generator) -> Made:
    """The target is 5, but for one row in a hundred."""
    X = rng.normal(size=(800, 4))
    return frame(X), np.where(X[:, 0] > np.quantile(X[:, 0], 0.99), 5.0 + X[:, 0], 5.0)


# classes


@table(CLASSES)
def rare_class(rng: np.random.Generator) -> Made:
    """One row in a thousand is of the second class."""
    X = rng.normal(size=(4000, 4))
    return frame(X), (X[:, 0] + 0.2 * rng.normal(size=4000) > np.quantile(X[:, 0], 0.999)).astype(int)


@table(CLASSES)
def three_rows_of_a_class(rng: np.random.Generator) -> Made:
    """Three classes; the last has three rows."""
    X = rng.normal(size=(500, 5))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no").astype(object)
    y[np.argsort(X[:, 2])[-3:]] = "rare"
    return frame(X), y.astype(str)


@table(CLASSES)
def parity(rng: np.random.Generator) -> Made:
    """The parity of four of ten bits: no single column, no pair, no triple tells anything."""
    X = rng.integers(0, 2, size=(1200, 10))
    return frame(X), X[:, :4].sum(axis=1) % 2


@table(CLASSES)
def binary_columns(rng: np.random.Generator) -> Made:
    """Forty truth values, and a vote of ten of them."""
    X = rng.random((600, 40)) < 0.3
    return frame(X), (X[:, :10].sum(axis=1) + 0.5 * rng.normal(size=600) > 3).astype(int)


@table(CLASSES)
def repeated_rows(rng: np.random.Generator) -> Made:
    """Every row five times, with labels of which a tenth are wrong."""
    X = np.repeat(rng.normal(size=(160, 5)), 5, axis=0)
    return frame(X), ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(800) < 0.1)).astype(int)


# shapes


@table(CLASSES)
def wide(rng: np.random.Generator) -> Made:
    """750 columns for 250 rows."""
    X = rng.normal(size=(250, 750))
    return frame(X), (X[:, :10].sum(axis=1) + rng.normal(size=250) > 0).astype(int)


@table(NUMBERS)
def few_rows(rng: np.random.Generator) -> Made:
    """Forty rows."""
    X = rng.normal(size=(40, 3))
    return frame(X), X @ [2.0, -1.0, 0.0] + 0.3 * rng.normal(size=40)


@table(CLASSES)
def few_rows_of_classes(rng: np.random.Generator) -> Made:
    """Thirty rows, three classes."""
    X = rng.normal(size=(30, 4))
    return frame(X), np.digitize(X[:, 0] + 0.2 * rng.normal(size=30), [-0.5, 0.5])


@table(NUMBERS)
def one_column(rng: np.random.Generator) -> Made:
    """A wave over a single column."""
    x = rng.uniform(-3, 3, size=(400, 1))
    return frame(x), np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=400)


# categories, dates, missing values


@table(NUMBERS)
def integer_codes(rng: np.random.Generator) -> Made:
    """Whole numbers that are codes of 700 things; each thing has its own mean."""
    code = rng.integers(0, 700, size=2000)
    x = rng.normal(size=2000)
    return frame(x[:, None], code=code), rng.normal(size=700)[code] + x + 0.3 * rng.normal(size=2000)


@table(NUMBERS)
def text_codes(rng: np.random.Generator) -> Made:
    """The same as texts."""
    code = rng.integers(0, 700, size=2000)
    x = rng.normal(size=2000)
    y = rng.normal(size=700)[code] + x + 0.3 * rng.normal(size=2000)
    return frame(x[:, None], code=np.array([f"part {i}" for i in code], object)), y


@table(CLASSES)
def huge_codes(rng: np.random.Generator) -> Made:
    """Unsorted identifiers of twelve digits beside two useful columns."""
    X = rng.normal(size=(600, 2))
    codes = rng.integers(10**11, 10**12, size=(600, 2))
    return frame(X, a=codes[:, 0], b=codes[:, 1]), (X[:, 0] > X[:, 1] ** 2 - 0.5).astype(int)


@table(CLASSES)
def names(rng: np.random.Generator) -> Made:
    """A column of names of which each is there once."""
    X = rng.normal(size=(500, 3))
    people = np.array([f"person {i}" for i in rng.permutation(500)], object)
    return frame(X, person=people), (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=500) > 0).astype(int)


@table(NUMBERS)
def dates(rng: np.random.Generator) -> Made:
    """A trend and a weekly wave over dates."""
    day = rng.integers(0, 1000, size=700)
    when = np.datetime64("2020-01-01") + day.astype("timedelta64[D]")
    y = 0.01 * day + np.sin(2 * np.pi * day / 7) + 0.2 * rng.normal(size=700)
    return frame(rng.normal(size=(700, 1)), when=when.astype("datetime64[ns]")), y


@table(NUMBERS)
def empty_columns(rng: np.random.Generator) -> Made:
    """Two columns without any value, of numbers and of texts."""
    X = rng.normal(size=(500, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=500)
    return frame(X, nothing=np.full(500, np.nan), none=np.full(500, None, object)), y


@table(CLASSES)
def mostly_missing(rng: np.random.Generator) -> Made:
    """Six columns of ten have a value in one row of a hundred."""
    X = rng.normal(size=(700, 10))
    y = (X[:, 0] + np.abs(X[:, 1]) > 0.8).astype(int)
    X[:, 4:][rng.random((700, 6)) < 0.99] = np.nan
    return frame(X), y


# nothing to learn


@table(CLASSES)
def noise_classes(rng: np.random.Generator) -> Made:
    """Labels that have nothing to do with the columns."""
    return frame(rng.normal(size=(600, 6))), rng.integers(0, 3, size=600)


@table(NUMBERS)
def noise_numbers(rng: np.random.Generator) -> Made:
    """Numbers that have nothing to do with the columns."""
    return frame(rng.normal(size=(600, 6))), rng.normal(size=600)
