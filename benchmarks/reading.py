"""Reading is not the bottleneck: a CSV of a million rows to the first training step, beside `pandas.read_csv` alone.

Each in a process of its own, in turns. What is imported is imported before: it is reading that is measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.crew import ROOT, environment
from benchmarks.timing import Result

ROWS, QUICK_ROWS = 1_000_000, 20_000
NUMBERS, COUNTS = 24, 3
ROUNDS = 5
OURS, PANDAS = "pellucid", "pandas.read_csv"


def write_table(path: Path, rows: int) -> None:
    """30 columns: numbers, counts, two of categories, and a target that follows from them."""
    import polars as pl

    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(NUMBERS, rows)).round(6)
    counts = rng.poisson(20, size=(COUNTS, rows))
    town = rng.choice(["Bern", "Basel", "Geneva", "Zurich"], rows)
    colour = rng.choice(["red", "green", "blue"], rows)
    target = numbers[0] * numbers[1] + counts[0] / 20 + (town == "Bern") + 0.1 * rng.normal(size=rows)
    columns = {f"x{place}": column for place, column in enumerate(numbers)}
    columns |= {f"n{place}": column for place, column in enumerate(counts)}
    pl.DataFrame(columns | {"town": town, "colour": colour, "y": target.round(6)}).write_csv(path)


def measure_reading(quick: bool = False) -> Result:
    """Seconds of both, in turns."""
    times: dict[str, list[float]] = {OURS: [], PANDAS: []}
    notes: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, QUICK_ROWS if quick else ROWS)
        for _ in range(2 if quick else ROUNDS):
            for name, seconds in times.items():
                found = _child(name, path)
                seconds.append(found["seconds"])
                notes[name] = f"{found['processor']:.1f} s of processors"
    return Result("a CSV to the first training step", times, unit="table", notes=notes)


def _child(name: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.reading", name, str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(2), cwd=ROOT).stdout
    found: dict[str, float] = json.loads(printed.splitlines()[-1])
    return found


def _by_pandas(path: str) -> float:
    import pandas as pd

    pd.read_csv(path)
    return time.perf_counter()


def _to_the_first_step(path: str) -> float:
    """What `pellucid train` does of the file, until a batch has been trained on; and when that was."""
    from pellucid.cli.early_kernels import kernels_meanwhile
    from pellucid.cli.prepared_table import prepared_table
    from pellucid.cli.run_folder import fingerprint_of
    from pellucid.cli.settings import TrainSettings
    from pellucid.cli.unfitted_estimator import unfitted
    from pellucid.train import Callback
    from pellucid.train.callbacks.callback import CallbackError

    steps: list[float] = []

    class FirstStep(Callback):
        side_by_side = True

        def on_batch_end(self, run: object) -> None:
            steps.append(time.perf_counter())
            raise EOFError

    settings = TrainSettings([path], ["y"])
    with kernels_meanwhile(settings):
        table = prepared_table(settings)
        fingerprint_of(table.files)
    estimator = unfitted(settings, table.target).set_params(callbacks=[FirstStep()])
    X, y = table.part(table.training)
    try:
        estimator.fit(X, y)
    except CallbackError:
        return min(steps)
    raise RuntimeError("no step was made")


def _main(name: str, path: str) -> None:
    import pandas
    import polars
    import sklearn.tree

    import pellucid.cli.training
    import pellucid.estimators
    from pellucid.train.loop import native_steps

    modules = (pandas, polars, sklearn.tree, pellucid.cli.training, pellucid.estimators, native_steps)
    assert all(module.__name__ for module in modules)
    begin, spent = time.perf_counter(), time.process_time()
    end = (_by_pandas if name == PANDAS else _to_the_first_step)(path)
    print(json.dumps({"seconds": end - begin, "processor": time.process_time() - spent}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
