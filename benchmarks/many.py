"""50 small models at once, over shared data: ours one per thread, scikit-learn through joblib, JAX by vmap."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import MANY_EPOCHS, MANY_MODELS
from benchmarks.contestants import OURS
from benchmarks.crew import Crew, race
from benchmarks.timing import Result

PEERS = (OURS, "scikit-learn", "JAX")


def measure_many(crew: Crew, quick: bool = False) -> Iterator[Result]:
    """From fresh models to trained ones; a piece of work is all of them."""
    rounds = 2 if quick else 5
    name = f"{MANY_MODELS} models, {MANY_EPOCHS} epochs each"
    yield race(crew, name, "many", {}, PEERS, unit="all models", rounds=rounds, seconds=0.05 if quick else 0.3)
