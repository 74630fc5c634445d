"""Roles of rows: holdout, K folds, and what leaks when a scaler has seen the rows that are to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from pellucid.estimators import TablePreprocessor
from pellucid.lab.costs import text_table
from pellucid.lab.generalization import rmse
from pellucid.lab.housing import housing
from pellucid.markup import Brief


@dataclass(frozen=True)
class Roles:
    """Numbers of the rows in each role; no row has two.

    Training rows fit weights and scales; validation rows choose among models, sizes and epochs; test rows are looked
    at once, when all is chosen.
    """

    train: Any
    validation: Any
    test: Any


def holdout(n: int, validation: float = 0.2, test: float = 0.2, seed: int = 0) -> Roles:
    """Rows 0 ... n - 1, shuffled, in three roles of these shares.

    >>> roles = holdout(10)
    >>> len(roles.train), len(roles.validation), len(roles.test)
    (6, 2, 2)
    """
    if not (validation > 0 and test > 0 and validation + test < 1):
        raise ValueError(
            f"validation and test are shares of the rows that leave some to train on, got {validation} and {test}"
        )
    order = np.random.default_rng(seed).permutation(n)
    n_validation, n_test = round(n * validation), round(n * test)
    if not (n_validation and n_test and n - n_validation - n_test > 0):
        raise ValueError(f"{n} rows are too few for three roles with shares {validation} and {test}")
    return Roles(*np.split(order, [n - n_validation - n_test, n - n_test]))


@dataclass(frozen=True, repr=False)
class Selection(Brief):
    """Models compared by one holdout and by K folds, and the test of the one that the folds chose.

    `train` and `validation` are RMSE of the holdout, `folds` those of each fold, (K,); `test` is the RMSE of the chosen
    model, fitted anew to training and validation rows.
    """

    rows: dict[str, int]
    train: dict[str, float]
    validation: dict[str, float]
    folds: dict[str, Any]
    chosen_by_holdout: str
    chosen_by_folds: str
    test: float

    def table(self) -> str:
        rows = [
            [
                name,
                f"{self.train[name]:.3f}",
                f"{self.validation[name]:.3f}",
                f"{errors.mean():.3f} ± {errors.std(ddof=1) / np.sqrt(len(errors)):.3f}",
                f"{self.test:.3f}" if name == self.chosen_by_folds else "not looked at",
            ]
            for name, errors in self.folds.items()
        ]
        counts = [str(self.rows[role]) for role in ("train", "validation", "folds", "test")]
        head = ["model", "training", "validation", f"{len(next(iter(self.folds.values())))} folds", "test"]
        return text_table(head, [*rows, ["rows", *counts]])

    __str__ = table


def select(models: Mapping[str, Any], X: Any, y: Any, folds: int = 5, roles: Roles | None = None) -> Selection:
    """Compare unfitted models by RMSE, choose one, and test it once.   X: (n, features), y: (n,)

    Every fit is of a fresh copy on training rows alone: put a scaler into the model (a pipeline), so that it is
    fitted there too. A holdout is one fit for each model, K folds are K, and use every row once to validate.

    >>> from sklearn.linear_model import Ridge
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> found = select({"weak": Ridge(0.1), "strong": Ridge(1000.0)}, X, X @ [1.0, 2.0, 3.0])
    >>> found.chosen_by_holdout, found.chosen_by_folds
    ('weak', 'weak')
    """
    X, y = np.asarray(X), np.asarray(y)
    roles = holdout(len(X)) if roles is None else roles
    rest = np.concatenate([roles.train, roles.validation])

    def error(model: Any, train: Any, test: Any) -> tuple[float, float]:
        model = clone(model).fit(X[train], y[train])
        errors = [rmse(y[rows], model.predict(X[rows])) for rows in (train, test)]
        return errors[0], errors[1]

    holdout_errors = {name: error(model, roles.train, roles.validation) for name, model in models.items()}
    parts = list(KFold(folds, shuffle=True, random_state=0).split(rest))
    by_folds = {
        name: np.array([error(model, rest[train], rest[test])[1] for train, test in parts])
        for name, model in models.items()
    }
    best = min(by_folds, key=lambda name: float(by_folds[name].mean()))
    return Selection(
        {
            "train": len(roles.train),
            "validation": len(roles.validation),
            "folds": len(rest),
            "test": len(roles.test),
        },
        {name: errors[0] for name, errors in holdout_errors.items()},
        {name: errors[1] for name, errors in holdout_errors.items()},
        by_folds,
        min(holdout_errors, key=lambda name: holdout_errors[name][1]),
        best,
        error(models[best], rest, roles.test)[1],
    )


@dataclass(frozen=True, repr=False)
class Leak(Brief):
    """Cross-validated RMSE when a step saw all rows, and when it saw training rows only, over repetitions."""

    step: str
    rows: int
    leaky: Any
    honest: Any

    @property
    def flattery(self) -> tuple[float, float]:
        """By how much the error looks smaller than it is: mean over repetitions, and its standard error."""
        difference = self.honest - self.leaky
        return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))

    def table(self) -> str:
        mean, error = self.flattery
        row = [self.step, self.rows, f"{self.leaky.mean():.3f}", f"{self.honest.mean():.3f}"]
        return text_table(
            ["step", "rows", "fitted to all rows", "to training rows", "flattery"],
            [[*row, f"{mean:.3f} ± {error:.3f}"]],
        )

    __str__ = table


def scaler_leak(scaling: str = "whiten", rows: int = 20, repetitions: int = 100, folds: int = 5) -> Leak:
    """Ridge regression on few houses: the scaler fitted to all rows ahead of the folds, and inside of each fold.

    >>> leak = scaler_leak(rows=20, repetitions=5)
    >>> leak.leaky.shape
    (5,)
    """
    table = housing(validation=0).test
    pairs = []
    for i in range(repetitions):
        sample = np.random.default_rng(i).choice(len(table.y), rows, replace=False)
        X, y = table.X[sample, :8], table.y[sample]  # the numeric columns
        features = TablePreprocessor(scaling).fit(X).transform(X)
        models = ((Ridge(), features), (make_pipeline(TablePreprocessor(scaling), Ridge()), X))
        pairs.append([_cross_validated(model, inputs, y, folds, i) for model, inputs in models])
    leaky, honest = np.array(pairs).T
    return Leak(f"scaling={scaling!r}", rows, leaky, honest)


def choice_leak(columns: int = 1000, kept: int = 10, rows: int = 50, repetitions: int = 20, folds: int = 5) -> Leak:
    """Pure noise, of which the columns that correlate most with y are kept: chosen by all rows, they seem to predict.

    y has variance 1 and nothing predicts it: an error below 1 is a leak (Hastie et al., 2009, section 7.10.2).

    >>> leak = choice_leak(repetitions=3)
    >>> bool(leak.leaky.mean() < 0.9 < leak.honest.mean())
    True
    """
    pairs = []
    for i in range(repetitions):
        rng = np.random.default_rng(i)
        X, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
        leaky = _cross_validated(Ridge(), X[:, _related(X, y, kept)], y, folds, i)
        errors = []
        for train, test in KFold(folds, shuffle=True, random_state=i).split(X):
            best = _related(X[train], y[train], kept)
            model = Ridge().fit(X[train][:, best], y[train])
            errors.append(np.mean((y[test] - model.predict(X[test][:, best])) ** 2))
        pairs.append((leaky, np.sqrt(np.mean(errors))))
    leaks, honest = np.array(pairs).T
    return Leak(f"keep {kept} of {columns:,} columns of noise", rows, leaks, honest)


def _related(X: Any, y: Any, count: int) -> Any:
    """The columns with the largest correlation with y."""
    z = (X - X.mean(0)) / X.std(0)
    return np.argsort(-np.abs(z.T @ (y - y.mean())))[:count]


def _cross_validated(model: Any, X: Any, y: Any, folds: int, seed: int) -> float:
    """RMSE over all rows, each predicted by a model that was not fitted to it."""
    predictions = np.empty(len(y))
    for train, test in KFold(folds, shuffle=True, random_state=seed).split(X):
        predictions[test] = clone(model).fit(X[train], y[train]).predict(X[test])
    return rmse(y, predictions)
