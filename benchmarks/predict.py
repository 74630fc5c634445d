"""Time of a prediction: one row, and 10,000 rows. NumPy in, NumPy out."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contestants import OURS
from benchmarks.crew import Crew, race
from benchmarks.timing import Result

PEERS = (OURS, "scikit-learn", "PyTorch", "ONNX Runtime", "JAX")


def measure_prediction(crew: Crew, quick: bool = False) -> Iterator[Result]:
    rounds, seconds = (3, 0.02) if quick else (15, 0.1)
    for case in ("small", "mid"):
        for rows in (1, 10_000):
            name = f"predict {case}, {rows:,} row{'s' * (rows > 1)}"
            spec = {"case": case, "rows": rows}
            yield race(crew, name, "predict", spec, PEERS, rounds=rounds, seconds=seconds)
