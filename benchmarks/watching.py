"""What seeing through costs: a watched training against an unwatched one, a diagnosis against the fit it looks at."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.cases import CASES, THREADS, data
from benchmarks.timing import Result

WATCHED = "with Watch(every=100)"
DIAGNOSED = "its diagnosis"


def measure_watching(quick: bool = False) -> Iterator[Result]:
    """Interleaved: the same training with and without a watch; then fits, each with its diagnosis."""
    rounds = 3 if quick else 11
    yield _watched(rounds)
    yield from _diagnosed(rounds)


def _watched(rounds: int) -> Result:
    from pellucid import Model, inspect, nn, optim

    case = CASES["mid"]
    X, y = data(case)
    epochs = -(-1000 // case.batches)  # ten looks and the last one in each round

    def seconds(watched: bool) -> float:
        net = nn.mlp(case.hidden, case.classes)
        model = Model(net, "cross_entropy", optim.Adam(case.lr), engine="native", threads=THREADS)
        callbacks = [inspect.Watch(every=100)] if watched else []
        start = time.perf_counter()
        model.fit(X, y, epochs=epochs, batch_size=case.batch, callbacks=callbacks, verbose=False)
        return time.perf_counter() - start

    times: dict[str, list[float]] = {"pellucid": [], WATCHED: []}
    seconds(False), seconds(True)  # kernels are compiled before
    for _ in range(rounds):
        times["pellucid"].append(seconds(False))
        times[WATCHED].append(seconds(True))
    return Result("watching mid", times, unit=f"{epochs * case.batches} steps")


def _diagnosed(rounds: int) -> Iterator[Result]:
    from sklearn.datasets import make_classification, make_regression

    from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier

    X, y = make_classification(20_000, 50, n_informative=20, n_classes=3, random_state=0)
    Z, t = make_regression(5_000, 20, noise=10.0, random_state=0)
    t = (t - t.mean()) / t.std()
    for name, make, rows, target in (
        ("diagnosing MLPClassifier, 20,000 x 50", MLPClassifier, X, y),
        ("diagnosing MLPRegressor, 5,000 x 20", MLPRegressor, Z, t),
        ("diagnosing TabularMLPClassifier, 5,000 x 50", TabularMLPClassifier, X[:5000], y[:5000]),
    ):
        times: dict[str, list[float]] = {"pellucid": [], DIAGNOSED: []}
        for seed in range(max(2, rounds // 3)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                estimator = make(random_state=seed).fit(rows, target)
                middle = time.perf_counter()
                estimator.diagnose()
                end = time.perf_counter()
            if seed:  # the first compiles kernels
                times["pellucid"].append(middle - start)
                times[DIAGNOSED].append(end - middle)
        yield Result(name, times, unit="fit")


def summary() -> str:
    """The ratios alone, for trying out."""
    lines = [
        f"{result.name}: {np.median([b / a for a, b in zip(*result.rounds.values(), strict=True)]):.4f}"
        for result in measure_watching(quick=True)
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(summary())
