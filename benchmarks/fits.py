"""A whole fit with the defaults, ours and scikit-learn's: the same class name, the same parameters, the same data."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contestants import OURS
from benchmarks.crew import Crew, race
from benchmarks.sets import SETS
from benchmarks.timing import Result

PEERS = (OURS, "scikit-learn")


def measure_fits(crew: Crew, quick: bool = False) -> Iterator[Result]:
    """Each round fits from another seed, until the fit says it is done. Kernels are compiled before, in a first fit."""
    for name, size in SETS.items():
        if not (quick and name == "synthetic"):
            rounds = 2 if quick else 5 if name == "synthetic" else 9
            yield race(crew, f"fit {name}, {size}", "fit", {"set": name}, PEERS, rounds=rounds, seeded="epochs")
