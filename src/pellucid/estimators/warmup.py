"""Kernels ahead of time: those of the usual fits, or those that the predictions of one model need."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from pellucid import estimators
from pellucid.data.types import Array, ArrayLike
from pellucid.engine.native.runtime import cache
from pellucid.estimators.column_list import columns_of, example_arrays, rows_of
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tables.trials import PILOTS
from pellucid.processors import default_threads
from pellucid.train import Callback, Model, Run
from pellucid.train.callbacks.callback import CallbackError

ROWS = 120
QUICK: dict[str, Any] = {"max_iter": 1, "engine": "native", "random_state": 0}
MARK = "warm-{}.txt"


@dataclass(frozen=True)
class Warmup:
    """What a warm-up did.

    Parameters
    ----------
    compiled : int
        kernels that were not there yet
    kernels : int
        that are there now for what was asked
    seconds : float
        that it took
    folder : Path | None
        where they are kept; None where they live in this process alone
    """

    compiled: int
    kernels: int
    seconds: float
    folder: Path | None

    def __str__(self) -> str:
        place = f"kept in {self.folder}" if self.folder else "for this process alone: there is no folder to keep them"
        did = f"compiled {self.compiled} kernels" if self.compiled else f"all {self.kernels} kernels were there"
        return f"{did} ({self.seconds:.1f} s; {place})"


def warmup(model: BaseEstimator | Model | None = None, *, tell: Callable[[str], None] | None = None) -> Warmup:
    """Compile kernels now, so that a first fit, or a first prediction, does not wait for them.

    Without a model these are the kernels of `MLPClassifier`, `MLPRegressor`, `TabularMLPClassifier` and
    `TabularMLPRegressor` with their usual parameters, some seconds of work on a machine that has none. Other
    activations, losses or rules compile what they need besides when they are first used. A second call finds all of
    them on disk, and returns at once.

    Parameters
    ----------
    model : estimator | Model | None
        compile what predictions of this one need, and nothing else
    tell : Callable[[str], None] | None
        is called with the name of each part before it begins

    Returns
    -------
    Warmup
        how many kernels, how long, and where they are

    Examples
    --------
    >>> import pellucid, numpy as np
    >>> regressor = pellucid.MLPRegressor(hidden_layer_sizes=(2,), tol=1.0, n_iter_no_change=1)
    >>> regressor = regressor.fit(np.eye(2), [0.0, 1.0])
    >>> bool(pellucid.warmup(regressor).seconds < 60)
    True
    """
    start, before = time.perf_counter(), cache.compilations
    folder = cache.kernel_shelf()
    path = None if folder is None else folder.path
    if model is not None:
        columns = columns_of(model)
        for rows in (1, 1000):
            predict(model, rows_of(model, columns, example_arrays(columns, rows)))
        return Warmup(cache.compilations - before, len(cache.in_use()), time.perf_counter() - start, path)
    mark = MARK.format(_package())
    stored = None if folder is None else folder.read(mark)
    names = [] if stored is None else stored.decode().split()
    if not names or not all(map(cache.stored, names)):
        with warnings.catch_warnings(), cache.silent():
            warnings.simplefilter("ignore")  # of few epochs, few rows
            for name, work in parts().items():
                if tell is not None:
                    tell(name)
                work()
        names = cache.in_use()
        if folder is not None:
            names = [name for name in names if cache.stored(name)]  # others lie in folders of earlier settings
            with suppress(OSError):
                folder.write(mark, "\n".join(names).encode())
    return Warmup(cache.compilations - before, len(names), time.perf_counter() - start, path)


class _FirstStep(Callback):
    """Ends a training when its first step is made."""

    side_by_side = True

    def on_batch_end(self, run: Run) -> None:
        raise StopIteration


def warmup_fit(estimator: BaseTabularMLP, X: ArrayLike, y: ArrayLike, rows: int) -> None:
    """Record and compile the steps of a fit on a table, of which some rows are here; the estimator stays as it is.

    They are kept in this process, and a fit that computes the same takes them up: whatever its rows, if it has these
    columns, categories and classes, and about so many `rows`.
    """
    recipe = estimator.get_recipe(rows)
    if recipe["folds"] >= (recipe["threads"] or default_threads()):  # then few of them have a thread each, as all do
        recipe["numbers"] = recipe["numbers"][:PILOTS]
    alike = type(estimator)(**recipe).set_params(callbacks=[_FirstStep()], checkpoint=None, verbose=False)
    with warnings.catch_warnings(), cache.silent(), suppress(CallbackError):
        warnings.simplefilter("ignore")  # of few rows
        alike.fit(X, y)


def predict(model: BaseEstimator | Model, rows: Any) -> Array:
    """What a service asks of a model: probabilities where it has them."""
    ask = getattr(model, "predict_proba", model.predict)
    return np.asarray(ask(rows))


def parts() -> dict[str, Callable[[], None]]:
    """The usual fits, small, by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4))
    two, three = X[:, 0] > 0, np.digitize(X[:, 0], [-0.5, 0.5])
    numbers = pd.DataFrame(X, columns=list("abcd"))
    mixed = numbers.assign(
        b=np.where(X[:, 1] > 1, np.nan, X[:, 1]),
        few=np.array(list("xyz"))[three],
        many=[f"k{row % 12}" for row in range(ROWS)],
    )
    targets: dict[str, Array] = {"two classes": two, "three classes": three}
    works: dict[str, Callable[[], None]] = {}

    def add(name: str, estimator: BaseEstimator, rows: Any, y: Array) -> None:
        works[name] = lambda: _fit_and_predict(estimator, rows, y)

    for dtype in ("float64", "float32"):
        plain = QUICK | {"dtype": dtype}
        for name, y in targets.items():
            add(f"MLPClassifier, {name}, {dtype}", estimators.MLPClassifier(**plain), X, y)
        add(
            f"MLPClassifier, two layers, {dtype}",
            estimators.MLPClassifier(hidden_layer_sizes=(8, 8), **plain),
            X,
            three,
        )
        add(f"MLPRegressor, {dtype}", estimators.MLPRegressor(**plain), X, X[:, 0])
        add(
            f"MLPRegressor, two layers, {dtype}",
            estimators.MLPRegressor(hidden_layer_sizes=(8, 8), **plain),
            X,
            X[:, :2],
        )
    for kind, table in {"numbers": numbers, "numbers and categories": mixed}.items():
        for name, y in targets.items():
            add(f"TabularMLPClassifier, {kind}, {name}", estimators.TabularMLPClassifier(**QUICK), table, y)
        add(f"TabularMLPRegressor, {kind}", estimators.TabularMLPRegressor(**QUICK), table, X[:, 0])
    add("TabularMLPRegressor, two targets", estimators.TabularMLPRegressor(**QUICK), numbers, X[:, :2])
    return works


def _fit_and_predict(estimator: BaseEstimator, rows: Any, y: Array) -> None:
    estimator.fit(rows, y)
    predict(estimator, rows)
    predict(estimator, rows[:1])


@once
def _package() -> str:
    """What decides which kernels the usual fits need: this package, as it is, and its settings."""
    digest = hashlib.sha256(os.environ.get("PELLUCID_THREADS", "").encode())
    for path in sorted(Path(estimators.__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
