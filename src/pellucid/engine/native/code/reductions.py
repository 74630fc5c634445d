"""Sums and the like over many numbers: where they begin, how two become one, and how a vector of them is added up."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import Array, Code, Lanes

REDUCTIONS = {"sum": 0, "prod": 1, "max": -math.inf, "min": math.inf, "any": False, "all": True}
"""The reductions, and where each begins."""


def start(kind: str, dtype: np.dtype[Any]) -> Any:
    """The reduction of nothing."""
    begin = REDUCTIONS[kind]
    if dtype.kind in "iu" and isinstance(begin, float):
        info = np.iinfo(dtype)
        return info.min if begin < 0 else info.max
    return begin


def combined(kind: str, so_far: Lanes, new: Lanes) -> Lanes:
    """Two parts in one. Of NaN and anything else the larger, and the smaller, is NaN."""
    if kind == "sum":
        return so_far + new
    if kind == "prod":
        return so_far * new
    if kind in ("any", "all"):
        return so_far | new if kind == "any" else so_far & new
    better = new > so_far if kind == "max" else new < so_far
    return (better | (new != new) if new.dtype.kind == "f" else better).select(new, so_far)


class Accumulator:
    """A reduction in the making: a part for each lane, and one for what comes number by number."""

    def __init__(self, code: Code, kind: str, dtype: np.dtype[Any], lanes: int) -> None:
        self.code, self.kind, self.start = code, kind, start(kind, dtype)
        self.single = code.variable(dtype, self.start)
        self.wide = code.variable(dtype, self.start, lanes) if lanes > 1 else None

    def add(self, value: Lanes, lanes: int = 1, mask: Lanes | None = None) -> None:
        if lanes == 1 or self.wide is None:
            self.single.set(combined(self.kind, self.single.get(), value))
            return
        value = value.spread(lanes)
        value = value if mask is None else mask.select(value, self.start)
        self.wide.set(combined(self.kind, self.wide.get(), value))

    def parts(self) -> Lanes:
        """What each lane has by itself."""
        return self.single.get() if self.wide is None else self.wide.get()

    def put_aside(self, place: Array) -> None:
        """All parts in memory."""
        place.store(0, self.single.get())
        if self.wide is not None:
            place.store(1, self.wide.get())

    def go_on(self, place: Array) -> None:
        """With parts that were put aside."""
        self.single.set(place.load(0))
        if self.wide is not None:
            self.wide.set(place.load(1, self.wide.lanes))

    def total(self) -> Lanes:
        if self.wide is None:
            return self.single.get()
        lanes = self.code.folded(self.wide.get(), functools.partial(combined, self.kind))
        return combined(self.kind, lanes, self.single.get())
