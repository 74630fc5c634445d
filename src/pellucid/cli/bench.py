"""`pellucid bench`: how fast this machine trains, beside scikit-learn."""

from __future__ import annotations

import statistics
import time
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from pellucid.cli.failures import one_line_errors
from pellucid.cli.screen import Debug, Json, Quiet, Screen, grid


@dataclass(frozen=True)
class BenchCase:
    """A network and its batches."""

    name: str
    features: int
    hidden: tuple[int, ...]
    classes: int
    batch: int
    steps: int  # of one fit

    @property
    def sizes(self) -> str:
        return "-".join(map(str, (self.features, *self.hidden, self.classes)))


CASES = (
    BenchCase("tiny", 10, (32, 32), 2, 32, 600),
    BenchCase("small", 64, (100,), 10, 200, 300),
    BenchCase("mid", 100, (256, 256), 10, 256, 80),
)


@one_line_errors
def bench(
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Fits of each, in turns; the median counts.")] = 5,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure a step of training on this machine, beside scikit-learn's, in some ten seconds.

    Both train the same networks with Adam on the same rows, in turns. More peers, and other measures, are in
    `make bench` of the repository.

    Example: pellucid bench --rounds 11
    """
    screen = Screen(as_json=json, quiet=quiet)
    table = grid("case", "network", "batch", "step", "scikit-learn's", "times as fast", right=(2, 3, 4, 5))
    results: dict[str, dict[str, float]] = {}
    for case in CASES:
        ours, theirs = (statistics.median(seconds) / case.steps for seconds in _measured(case, rounds))
        results[case.name] = {"seconds": ours, "scikit_learn_seconds": theirs, "ratio": theirs / ours}
        table.add_row(
            case.name,
            case.sizes,
            str(case.batch),
            f"{1e6 * ours:,.0f} µs",
            f"{1e6 * theirs:,.0f} µs",
            f"{theirs / ours:.1f}",
        )
    screen.say(table)
    screen.result(results)


def _measured(case: BenchCase, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of fits of `steps` steps: ours, scikit-learn's. The first of each, which compiles, does not count."""
    from sklearn.neural_network import MLPClassifier as SklearnMLP

    from pellucid import MLPClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(case.batch * 10, case.features)).astype(np.float32)
    y = np.arange(len(X)) % case.classes
    settings: dict[str, Any] = {
        "hidden_layer_sizes": case.hidden,
        "batch_size": case.batch,
        "max_iter": case.steps // 10,
        "n_iter_no_change": case.steps,
        "random_state": 0,
    }
    fits = [MLPClassifier(engine="native", **settings), SklearnMLP(**settings)]
    seconds: tuple[list[float], list[float]] = ([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are not to converge
        for turn in range(rounds + 1):
            for estimator, times in zip(fits, seconds, strict=True):
                begin = time.perf_counter()
                estimator.fit(X, y)
                if turn:
                    times.append(time.perf_counter() - begin)
    return seconds
