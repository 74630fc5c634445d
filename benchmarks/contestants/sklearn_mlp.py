"""scikit-learn's MLPClassifier; many models by joblib."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier, MLPRegressor

from benchmarks import sets
from benchmarks.cases import MANY, MANY_EPOCHS, MANY_MODELS, TrainCase, data
from benchmarks.contestants import Work


def classifier(case: TrainCase, epochs: int, seed: int = 0) -> MLPClassifier:
    if not case.plain:
        raise NotImplementedError("scikit-learn has no batch norm, dropout or gelu")
    rule = (
        {"solver": "adam"} if case.rule == "adam" else {"solver": "sgd", "momentum": 0.9, "nesterovs_momentum": False}
    )
    return MLPClassifier(
        case.hidden,
        **rule,
        learning_rate_init=case.lr,
        batch_size=case.batch,
        alpha=0.0,
        max_iter=epochs,
        tol=0.0,
        n_iter_no_change=10**9,
        random_state=seed,
    )


def fitted(case: TrainCase, X: Any, y: Any, epochs: int, seed: int = 0) -> MLPClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return classifier(case, epochs, seed).fit(X, y)


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Work:
    classifier(case, 1)
    return lambda n: fitted(case, X, y, n)


def predict(case: TrainCase, rows: int, threads: int) -> Work:
    model, Z = fitted(case, *data(case), epochs=1), data(case, rows)[0]

    def work(n: int) -> None:
        for _ in range(n):
            model.predict_proba(Z)

    return work


def fit(name: str, threads: int) -> Work:
    X, y, classes = sets.load(name)
    kind = MLPClassifier if classes else MLPRegressor

    def work(seed: int) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return int(kind(random_state=seed).fit(X, y).n_iter_)

    return work


def many(threads: int) -> Work:
    X, y = data(MANY)

    def work(n: int) -> None:
        for _ in range(n):
            jobs = (delayed(fitted)(MANY, X, y, MANY_EPOCHS, seed) for seed in range(MANY_MODELS))
            Parallel(n_jobs=threads)(jobs)

    return work


def target(case: TrainCase, train: Any, valid: Any, loss: float, epochs: int, threads: int) -> Work:
    (X, y), (Xv, yv), labels = train, valid, np.arange(case.classes)

    def work(seed: int) -> int:
        model = classifier(case, 1, seed)
        for done in range(1, epochs + 1):
            model.partial_fit(X, y, classes=labels)
            if log_loss(yv, model.predict_proba(Xv), labels=labels) <= loss:
                return done
        return epochs

    return work
