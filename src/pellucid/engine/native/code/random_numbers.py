"""Random numbers by position (SplitMix64), as in graph/primitives/random.py: the same bits on every executor."""

from __future__ import annotations

from pellucid.engine.native.code.llvm.lanes import Lanes

GAMMA = 0x9E3779B97F4A7C15


def _mixed(z: Lanes) -> Lanes:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


def random_start(key: Lanes, counter: Lanes, stream: int) -> Lanes:
    """Where the numbers of a draw begin."""
    start = _mixed(key.astype("uint64") + GAMMA)
    return _mixed(start ^ (counter.astype("uint64") * GAMMA + stream))


def uniform(start: Lanes, position: Lanes, itemsize: int) -> Lanes:
    """In [0, 1), of so many bytes."""
    drawn = _mixed(start + (position.astype("uint64") + 1) * GAMMA)
    if itemsize == 8:
        return (drawn >> 11).astype("int64").astype("float64") * 2.0**-53
    return (drawn >> 40).astype("int32").astype("float32") * 2.0**-24
