"""The rows of the cases: made and shipped data sets, each split once, inputs standardised on the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

CLASSES, NUMBERS = "classes", "numbers"


@dataclass(frozen=True)
class Rows:
    """Training rows X, y and validation rows Xv, yv; `task` is CLASSES (labels 0 ... K-1) or NUMBERS."""

    X: Any
    y: Any
    Xv: Any
    yv: Any
    task: str

    @property
    def outputs(self) -> int:
        """Scores that a network gives: one, or K for K > 2 classes."""
        labels = len(np.unique(self.y)) if self.task == CLASSES else 1
        return labels if labels > 2 else 1

    def with_inputs(self, change: Callable[[Any], Any]) -> Rows:
        """The same rows with other inputs, training and validation alike."""
        return replace(self, X=change(self.X), Xv=change(self.Xv))

    def with_target(self, change: Callable[[Any], Any]) -> Rows:
        """The same rows with another target, training and validation alike."""
        return replace(self, y=change(self.y), yv=change(self.yv))

    def first(self, count: int) -> Rows:
        """Fewer training rows, as many validation rows."""
        return replace(self, X=self.X[:count], y=self.y[:count])


def parted(X: Any, y: Any, task: str, rows: int = 240, held: int = 300, seed: int = 0, scale: bool = True) -> Rows:
    """So many training and validation rows, drawn once; a target of numbers is standardised as the inputs are."""
    X, y = np.asarray(X, float), np.asarray(y)
    X, Xv, y, yv = train_test_split(
        X,
        y,
        train_size=rows,
        test_size=min(held, len(y) - rows),
        random_state=seed,
        stratify=y if task == CLASSES else None,
    )
    if scale:
        mean, deviation = X.mean(0), X.std(0)
        deviation[deviation == 0] = 1.0
        X, Xv = (X - mean) / deviation, (Xv - mean) / deviation
        if task == NUMBERS:
            y, yv = (y - y.mean()) / y.std(), (yv - y.mean()) / y.std()
    return Rows(X, y, Xv, yv, task)


# made


@cache
def blobs(classes: int = 3, features: int = 4, spread: float = 2.0, seed: int = 0, rows: int = 240) -> Rows:
    """Clouds, one for each class."""
    X, y = datasets.make_blobs(rows + 300, features, centers=classes, cluster_std=spread, random_state=seed)
    return parted(X, y, CLASSES, rows)


@cache
def moons(noise: float = 0.2, rows: int = 240) -> Rows:
    """Two half circles."""
    X, y = datasets.make_moons(rows + 300, noise=noise, random_state=0)
    return parted(X, y, CLASSES, rows)


@cache
def circles(rows: int = 240) -> Rows:
    """A ring around a disc."""
    X, y = datasets.make_circles(rows + 300, noise=0.1, factor=0.4, random_state=0)
    return parted(X, y, CLASSES, rows)


@cache
def spirals(turns: float = 1.0, rows: int = 300) -> Rows:
    """Two arms."""
    rng = np.random.default_rng(0)
    count = rows + 300
    y = np.arange(count) % 2
    t = np.sqrt(rng.uniform(0.05, 1.0, count))
    angle = 2 * np.pi * turns * t + np.pi * y
    X = np.stack([t * np.cos(angle), t * np.sin(angle)], 1) + 0.03 * rng.normal(size=(count, 2))
    return parted(X, y, CLASSES, rows)


@cache
def xor(rows: int = 240, extra: int = 0) -> Rows:
    """Is the product of two numbers positive? With columns of pure noise beside them."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (rows + 300, 2 + extra))
    return parted(X, (X[:, 0] * X[:, 1] > 0).astype(int), CLASSES, rows)


@cache
def four_rows() -> Rows:
    """The lectures' XOR itself: four rows, and the same to check."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([0, 1, 1, 0])
    return Rows(X, y, X, y, CLASSES)


@cache
def halves(share: float = 0.5, features: int = 5, rows: int = 240, noise: float = 1.0) -> Rows:
    """Two classes with a plane between them that overlap a little; `share` of the rows are in the second."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rows + 300, features))
    score = X @ np.linspace(1.0, 2.0, features) + noise * rng.normal(size=len(X))
    return parted(X, (score > np.quantile(score, 1 - share)).astype(int), CLASSES, rows)


@cache
def rare(share: float = 0.03, gap: float = 2.0, rows: int = 400, features: int = 4) -> Rows:
    """A rare class beside a frequent one: two clouds that overlap, with another variance each."""
    rng = np.random.default_rng(3)
    count = rows + 600
    y = (np.arange(count) < share * count).astype(int)
    X = rng.normal(size=(count, features)) + gap / np.sqrt(features) * y[:, None]
    return parted(X, y, CLASSES, rows, held=600)


@cache
def friedman(rows: int = 240, noise: float = 0.5, features: int = 5) -> Rows:
    """Friedman's first function of five columns."""
    X, y = datasets.make_friedman1(rows + 300, max(features, 5), noise=noise, random_state=0)
    return parted(X, y, NUMBERS, rows)


@cache
def linear(rows: int = 240, features: int = 5, noise: float = 0.3, seed: int = 0) -> Rows:
    """A plane and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 300, features))
    return parted(X, X @ rng.uniform(0.5, 1.5, features) + noise * rng.normal(size=len(X)), NUMBERS, rows)


@cache
def sines(rows: int = 240, waves: float = 0.75, noise: float = 0.1) -> Rows:
    """A wave over one column."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (rows + 300, 1))
    return parted(X, np.sin(2 * np.pi * waves * X[:, 0]) + noise * rng.normal(size=len(X)), NUMBERS, rows)


@cache
def counts(rows: int = 300) -> Rows:
    """Numbers of events, whose logarithm is a function of three columns."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows + 300, 3))
    y = rng.poisson(np.exp(1.0 + 0.6 * X[:, 0] - 0.5 * X[:, 1] + 0.4 * X[:, 2] * (X[:, 0] > 0)))
    return parted(X, y, NUMBERS, rows, scale=False)


@cache
def pixels(side: int = 10, rows: int = 240) -> Rows:
    """Pictures of three kinds (a bar across, a bar down, a spot), whose border is always black; values 0 ... 1."""
    rng = np.random.default_rng(6)
    count = rows + 300
    pictures, y = np.zeros((count, side, side)), rng.integers(0, 3, count)
    for picture, kind in zip(pictures, y, strict=True):
        row, column = rng.integers(3, side - 3, 2)
        if kind == 0:
            picture[row, 2:-2] = 1.0
        elif kind == 1:
            picture[2:-2, column] = 1.0
        else:
            picture[row - 1 : row + 2, column - 1 : column + 2] = 1.0
        picture[2:-2, 2:-2] += 0.2 * rng.uniform(size=(side - 4, side - 4))
    return parted(np.clip(pictures.reshape(count, -1), 0, 1), y, CLASSES, rows, scale=False)


# shipped with scikit-learn and with Pellucid


@cache
def shipped(name: str, rows: int = 0, scale: bool = True) -> Rows:
    """ "iris", "wine", "breast_cancer", "digits" or "diabetes"."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    usual = {"iris": 90, "wine": 110, "breast_cancer": 280, "digits": 500, "diabetes": 280}
    return parted(X, y, NUMBERS if name == "diabetes" else CLASSES, rows or usual[name], scale=scale)


@cache
def table(name: str, rows: int = 200, held: int = 300) -> Rows:
    """A table of Pellucid as it is, a data frame: "penguins", "california" or "adult"."""
    from pellucid.datasets import load

    X, y = load(name)
    task = NUMBERS if name == "california" else CLASSES
    y = y if task == NUMBERS else y.astype(str)
    X, Xv, y, yv = train_test_split(
        X,
        y,
        train_size=rows,
        test_size=min(held, len(y) - rows),
        random_state=0,
        stratify=y if task == CLASSES else None,
    )
    return Rows(X, y.to_numpy(), Xv, yv.to_numpy(), task)


@cache
def houses(rows: int = 280, scale: bool = True) -> Rows:
    """The numbers of the table "california", without rows that lack one; the target in 100,000 dollars if scaled."""
    from pellucid.datasets import load

    X, y = load("california")
    X = X.select_dtypes("number").dropna()
    return parted(X.to_numpy(), y.loc[X.index].to_numpy(), NUMBERS, rows, scale=scale)
