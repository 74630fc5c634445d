"""One fit and its test."""

from __future__ import annotations

import os
import time
import warnings
from functools import cache

import numpy as np
import pandas as pd

from benchmarks.tables.contestants import CONTESTANTS, QUALITIES
from benchmarks.tables.records import Record
from benchmarks.tables.sets import Task

BINS = 15


def measure(task: Task, seed: int, contestant: str) -> Record:
    (X, y), (X_test, truth) = task.train, task.test
    warm_up(task, contestant)
    model = CONTESTANTS[contestant](task.classes is not None, seed)
    load, work, begin = os.getloadavg()[0], sum(os.times()[:4]), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds, work = time.perf_counter() - begin, sum(os.times()[:4]) - work
    loss = calibration = expected = None
    if task.classes is None:
        error = float(np.sqrt(np.mean((np.ravel(model.predict(X_test)) - truth) ** 2)) / np.std(truth))
    else:
        places = np.searchsorted(np.asarray(task.classes), truth)
        shares = np.zeros((len(truth), len(task.classes)))
        shares[:, np.searchsorted(np.asarray(task.classes), model.classes_)] = model.predict_proba(X_test)
        error = float(np.mean(np.argmax(shares, axis=1) != places))
        loss = log_loss(shares, places)
        calibration, expected = calibration_errors(shares, places, seed)
    return Record(
        table=task.name,
        seed=seed,
        contestant=contestant,
        rows=len(X),
        columns=X.shape[1],
        tests=len(X_test),
        classes=0 if task.classes is None else len(task.classes),
        error=error,
        log_loss=loss,
        calibration=calibration,
        expected=expected,
        seconds=round(seconds, 3),
        work=round(work, 3),
        load=round(load, 2),
    )


def warm_up(task: Task, contestant: str) -> None:
    """What only a first fit needs: kernels of ours for this table, which are kept on disk; modules of the others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if contestant in QUALITIES:
            model = CONTESTANTS[contestant](task.classes is not None, 0)
            few = {"folds": 2} if contestant == "best" else {}  # all networks of a kind share their kernels
            model.set_params(max_iter=1, engine="native", **few)  # one epoch alone would not be worth compiling
            model.fit(*task.train)
            (model.predict if task.classes is None else model.predict_proba)(task.test[0])
        else:
            _first_fit(contestant, task.classes is not None)


@cache
def _first_fit(contestant: str, classes: bool) -> None:
    """Once in a process, on a hundred made-up rows."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "yes", "no") if classes else X["a"].to_numpy()
    CONTESTANTS[contestant](classes, 0).fit(X, y)


def log_loss(shares: np.ndarray, places: np.ndarray) -> float:
    """As scikit-learn's: no probability counts as less than the smallest step of float32."""
    sure = np.clip(shares[np.arange(len(places)), places], np.finfo(np.float32).eps, 1.0)
    return float(-np.mean(np.log(sure)))


def calibration_errors(shares: np.ndarray, places: np.ndarray, seed: int, draws: int = 200) -> tuple[float, float]:
    """Of the most likely class: expected calibration error, and its 95 % quantile where the predictions are true."""
    sure, first = shares.max(axis=1), shares.argmax(axis=1)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)

    def distance(right: np.ndarray) -> float:
        return float(np.abs(np.bincount(bins, right - sure, BINS)).sum() / len(sure))

    rng = np.random.default_rng(seed)
    drawn = [distance(rng.random(len(sure)) < sure) for _ in range(draws)]
    return distance(first == places), float(np.quantile(drawn, 0.95))
