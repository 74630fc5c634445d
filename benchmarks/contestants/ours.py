"""Pellucid on its native engine."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import pellucid as pel
from benchmarks import sets
from benchmarks.cases import MANY, MANY_EPOCHS, MANY_MODELS, TrainCase, data
from benchmarks.contestants import Work
from pellucid import nn, optim


def model(case: TrainCase, threads: int, precision: str = "full") -> Any:
    """The one place that says how our engine is asked for."""
    norm = "batch" if case.batch_norm else None
    net = nn.mlp(case.hidden, case.classes, activation=case.activation, norm=norm, dropout=case.dropout)
    rule = optim.Adam(case.lr) if case.rule == "adam" else optim.Momentum(case.lr)
    return pel.Model(
        net,
        loss="cross_entropy",
        optimizer=rule,
        dtype=np.dtype(case.dtype),
        engine="native",
        threads=threads,
        precision=precision,
    )


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Work:
    trained = model(case, threads)
    return lambda n: trained.fit(X, y, epochs=n, batch_size=case.batch, seed=0, verbose=False)


def predict(case: TrainCase, rows: int, threads: int) -> Work:
    fitted = model(case, threads)
    fitted.fit(*data(case), epochs=1, batch_size=case.batch, seed=0, verbose=False)
    Z = data(case, rows)[0]

    def work(n: int) -> None:
        for _ in range(n):
            fitted.predict(Z)

    return work


def fit(name: str, threads: int) -> Work:
    X, y, classes = sets.load(name)
    kind = pel.MLPClassifier if classes else pel.MLPRegressor

    def work(seed: int) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return int(kind(random_state=seed, threads=threads).fit(X, y).n_iter_)

    return work


def many(threads: int) -> Work:
    X, y = data(MANY)

    def work(n: int) -> None:
        for _ in range(n):
            models = [model(MANY, 1) for _ in range(MANY_MODELS)]
            seeds = list(range(MANY_MODELS))
            pel.fit_many(
                models, X, y, epochs=MANY_EPOCHS, batch_size=MANY.batch, seeds=seeds, threads=threads, verbose=False
            )

    return work


def target(case: TrainCase, train: Any, valid: Any, loss: float, epochs: int, threads: int) -> Work:
    def work(seed: int) -> int:
        def reached(run: Any) -> None:
            if run.history["val_loss"][-1] <= loss:
                run.stop("target reached")

        history = model(case, threads).fit(
            *train,
            epochs=epochs,
            batch_size=case.batch,
            validation=valid,
            seed=seed,
            callbacks=[reached],
            verbose=False,
        )
        return len(history["val_loss"])

    return work
