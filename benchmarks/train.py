"""Time per training step."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import CASES
from benchmarks.contestants import OURS
from benchmarks.crew import Crew, race
from benchmarks.timing import Result

PEERS = (OURS, "PyTorch", "JAX", "scikit-learn", "products", "products, batch split")


def measure_training(crew: Crew, names: list[str], quick: bool = False) -> Iterator[Result]:
    """Whole epochs: shuffle, gather, forward, backward, update, losses collected; time over steps."""
    rounds, seconds = (3, 0.05) if quick else (7, 0.3)
    for name in names:
        case = CASES[name]
        yield race(
            crew, name, "train", {"case": name}, PEERS, units=case.batches, unit="step", rounds=rounds, seconds=seconds
        )
