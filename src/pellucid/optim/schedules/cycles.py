"""Schedules that are made of cosines: with and without restarts, RealMLP's two, one cycle."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pellucid.amounts import is_number
from pellucid.optim.checks import check_above, check_amounts
from pellucid.optim.schedules.schedule import Schedule, Steps, check_times


def _half_cosine(start: float, end: float, share: float) -> float:
    """From start to end along half a cosine."""
    return end + (start - end) * 0.5 * (1 + math.cos(math.pi * share))


@dataclass(frozen=True)
class Cosine(Schedule):
    """Half a cosine from `start` to `end`, and `end` from then on (Loshchilov and Hutter, 2017).

    Parameters
    ----------
    start : float
        the first number
    end : float
        the last number
    steps : int | Epochs | None
        the length of all cycles together; None is the whole run
    restarts : int
        begin it anew so many times on the way
    multiplier : float
        each cycle is so many times as long as the one before

    Examples
    --------
    >>> [round(Cosine(1.0, steps=8, restarts=1)(t), 3) for t in range(9)]
    [1.0, 0.854, 0.5, 0.146, 1.0, 0.854, 0.5, 0.146, 0.0]
    """

    start: float
    end: float = 0.0
    steps: Steps = None
    restarts: int = 0
    multiplier: float = 1.0

    def __post_init__(self) -> None:
        check_amounts(self, "start", "end", "restarts")
        check_above(self, "multiplier")
        check_times(self, "steps")

    def __call__(self, t: int) -> float:
        lengths = [self.multiplier**i for i in range(self.restarts + 1)]
        left = t * sum(lengths) / self.known("steps")  # in units of the first cycle
        for length in lengths[:-1]:
            if left < length * (1 - 1e-12):  # a restart falls on its step, rounding or not
                return _half_cosine(self.start, self.end, left / length)
            left = max(left - length, 0.0)
        return _half_cosine(self.start, self.end, min(left / lengths[-1], 1.0))


@dataclass(frozen=True)
class CosLog(Schedule):
    """start ½ (1 - cos(2π log₂(1 + (2^cycles - 1) t/steps))): cycles that double in length (RealMLP's coslog4).

    It begins and ends at 0, with zeros at (2^i - 1) / (2^cycles - 1) of the run.

    Parameters
    ----------
    start : float
        the highest number
    cycles : int
        how many
    steps : int | Epochs | None
        the length of all; None is the whole run

    Examples
    --------
    >>> [round(CosLog(1.0, steps=150)(t), 3) for t in (0, 10, 30, 70, 150)]
    [0.0, 0.0, 0.0, 0.0, 0.0]
    >>> round(CosLog(1.0, steps=1000)(688), 3)
    1.0
    """

    start: float
    cycles: int = 4
    steps: Steps = None

    def __post_init__(self) -> None:
        check_amounts(self, "start")
        check_times(self, "cycles", "steps")

    def __call__(self, t: int) -> float:
        share = min(t / self.known("steps"), 1.0)
        return self.start * (0.5 - 0.5 * math.cos(2 * math.pi * math.log2(1 + (2**self.cycles - 1) * share)))


@dataclass(frozen=True)
class FlatCos(Schedule):
    """`start` for the share `flat` of the run, then half a cosine to 0 (RealMLP, for dropout and decay).

    Parameters
    ----------
    start : float
        the first number
    flat : float
        share of the run that stays there
    steps : int | Epochs | None
        the length; None is the whole run

    Examples
    --------
    >>> [round(FlatCos(1.0, steps=100)(t), 3) for t in (0, 50, 75, 100)]
    [1.0, 1.0, 0.5, 0.0]
    """

    start: float
    flat: float = 0.5
    steps: Steps = None

    def __post_init__(self) -> None:
        check_amounts(self, "start")
        check_times(self, "steps")
        if not is_number(self.flat, 0, 1):
            raise ValueError(f"FlatCos: flat is a share in [0, 1), got {self.flat!r}")

    def __call__(self, t: int) -> float:
        share = min(t / self.known("steps"), 1.0)
        return _half_cosine(self.start, 0.0, max(share - self.flat, 0.0) / (1 - self.flat))


@dataclass(frozen=True)
class OneCycle(Schedule):
    """Up from peak / divide to `peak`, down to that over `final_divide`, along cosines (Smith and Topin, 2019).

    The numbers are PyTorch's: the peak is at step warm · steps - 1, the end at step steps - 1.

    Parameters
    ----------
    peak : float
        the highest number
    steps : int | Epochs | None
        the length; None is the whole run
    warm : float
        share of the run until the peak
    divide : float
        the first number is peak / divide
    final_divide : float
        the last number is the first one over this

    Examples
    --------
    >>> [round(OneCycle(1.0, steps=10)(t), 3) for t in (0, 2, 9)]
    [0.04, 1.0, 0.0]
    """

    peak: float
    steps: Steps = None
    warm: float = 0.3
    divide: float = 25.0
    final_divide: float = 1e4

    def __post_init__(self) -> None:
        check_amounts(self, "peak")
        check_above(self, "divide", "final_divide")
        check_times(self, "steps")
        if not is_number(self.warm, 0, 1, above=True):
            raise ValueError(f"OneCycle: warm is a share in (0, 1), got {self.warm!r}")

    def __call__(self, t: int) -> float:
        steps, low = self.known("steps"), self.peak / self.divide
        top, last = max(self.warm * steps - 1, 0.0), steps - 1
        if t < top:
            return _half_cosine(low, self.peak, t / top)
        share = min((t - top) / max(last - top, 1e-12), 1.0)
        return _half_cosine(self.peak, low / self.final_divide, share)
