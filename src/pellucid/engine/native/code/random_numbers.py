"""Random numbers by position (SplitMix64), as in graph/primitives/random.py: the same bits on every executor."""

from __future__ import annotations

from pellucid.engine.native.code.llvm.lanes import Lanes
from pellucid.graph.primitives.random import GAMMA, mix


def random_start(key: Lanes, counter: Lanes, stream: int) -> Lanes:
    """Where the numbers of a draw begin."""
    first: Lanes = mix(key.astype("uint64") + GAMMA)
    start: Lanes = mix(first ^ (counter.astype("uint64") * GAMMA + stream))
    return start


def uniform(start: Lanes, position: Lanes, itemsize: int) -> Lanes:
    """In [0, 1), of so many bytes."""
    drawn: Lanes = mix(start + (position.astype("uint64") + 1) * GAMMA)
    if itemsize == 8:
        return (drawn >> 11).astype("int64").astype("float64") * 2.0**-53
    return (drawn >> 40).astype("int32").astype("float32") * 2.0**-24
