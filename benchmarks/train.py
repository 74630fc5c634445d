"""Time per training step."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import CASES
from benchmarks.contestants import OURS
from benchmarks.crew import Crew, race
from benchmarks.timing import Result

PEERS = (OURS, "PyTorch", "JAX", "scikit-learn", "limit", "products", "products, OpenBLAS")


def measure_training(crew: Crew, names: list[str], quick: bool = False) -> Iterator[Result]:
    """Whole epochs: shuffle, gather, forward, backward, update, losses collected; time over steps."""
    rounds = 3 if quick else 7
    for name in names:
        case = CASES[name]
        seconds = 0.05 if quick else 1.2 if name == "big" else 0.3  # a dozen steps at least
        yield race(
            crew, name, "train", {"case": name}, PEERS, units=case.batches, unit="step", rounds=rounds, seconds=seconds
        )
