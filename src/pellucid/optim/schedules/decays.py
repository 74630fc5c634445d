"""Schedules that fall (or stay): the lectures' three, steps, exponentials, powers, pieces; and warm-up ahead of any."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pellucid.amounts import is_count, is_number
from pellucid.optim.checks import check_above, check_amounts, check_choice
from pellucid.optim.schedules.schedule import Epochs, Number, Schedule, Steps, check_times


@dataclass(frozen=True)
class Constant(Schedule):
    """The same number at every step.

    Parameters
    ----------
    value : float
        the number
    """

    value: float

    def __post_init__(self) -> None:
        check_amounts(self, "value")

    def __call__(self, t: int) -> float:
        return self.value


@dataclass(frozen=True)
class ExpSteps(Schedule):
    """start exp(-c ⌈t/k⌉), the lectures' "decrease every few epochs".

    With the ceiling it falls right after the first step (t = 1); the customary floor keeps `start` for k steps.

    Parameters
    ----------
    start : float
        the first number
    c : float
        how fast it falls
    k : int | Epochs
        steps between two falls
    rounding : str
        "ceil" or "floor"

    Examples
    --------
    >>> [round(ExpSteps(1.0, c=0.5, k=2)(t), 3) for t in range(4)]
    [1.0, 0.607, 0.607, 0.368]
    >>> [round(ExpSteps(1.0, c=0.5, k=2, rounding="floor")(t), 3) for t in range(4)]
    [1.0, 1.0, 0.607, 0.607]
    """

    start: float
    c: float
    k: int | Epochs
    rounding: str = "ceil"

    def __post_init__(self) -> None:
        check_amounts(self, "start", "c")
        check_times(self, "k")
        check_choice(self, "rounding", "ceil", "floor")

    def __call__(self, t: int) -> float:
        k = self.known("k")
        return self.start * math.exp(-self.c * (-(-t // k) if self.rounding == "ceil" else t // k))


@dataclass(frozen=True)
class InverseTime(Schedule):
    """start / (1 + c t): sublinear decay.

    Parameters
    ----------
    start : float
        the first number
    c : float
        how fast it falls

    Examples
    --------
    >>> InverseTime(1.0, c=0.5)(2)
    0.5
    """

    start: float
    c: float

    def __post_init__(self) -> None:
        check_amounts(self, "start", "c")

    def __call__(self, t: int) -> float:
        return self.start / (1 + self.c * t)


@dataclass(frozen=True)
class InverseSqrt(Schedule):
    """start / √(1 + c t): sublinear decay, slower.

    Parameters
    ----------
    start : float
        the first number
    c : float
        how fast it falls

    Examples
    --------
    >>> InverseSqrt(1.0, c=1.5)(2)
    0.5
    """

    start: float
    c: float

    def __post_init__(self) -> None:
        check_amounts(self, "start", "c")

    def __call__(self, t: int) -> float:
        return self.start / math.sqrt(1 + self.c * t)


@dataclass(frozen=True)
class InverseScaling(Schedule):
    """start / (n + 1)^power with n = per ⌊t / every⌋: as scikit-learn's "invscaling".

    n counts steps by default. Scikit-learn counts rows seen, and looks once in an epoch: `every=Epochs(1)`, `per=` the
    number of training rows.

    Parameters
    ----------
    start : float
        the first number
    power : float
        how fast it falls
    every : int | Epochs
        steps between two falls
    per : int
        counts of one such time

    Examples
    --------
    >>> InverseScaling(1.0)(3)
    0.5
    """

    start: float
    power: float = 0.5
    every: int | Epochs = 1
    per: int = 1

    def __post_init__(self) -> None:
        check_amounts(self, "start", "power")
        check_times(self, "every", "per")

    def __call__(self, t: int) -> float:
        return float(self.start / (t // self.known("every") * self.per + 1) ** self.power)


@dataclass(frozen=True)
class Step(Schedule):
    """start factor^⌊t / every⌋

    Parameters
    ----------
    start : float
        the first number
    every : int | Epochs
        steps between two falls
    factor : float
        of each fall

    Examples
    --------
    >>> [round(Step(1.0, factor=0.1, every=2)(t), 3) for t in range(5)]
    [1.0, 1.0, 0.1, 0.1, 0.01]
    """

    start: float
    every: int | Epochs
    factor: float = 0.1

    def __post_init__(self) -> None:
        check_amounts(self, "start", "factor")
        check_times(self, "every")

    def __call__(self, t: int) -> float:
        return float(self.start * self.factor ** (t // self.known("every")))


@dataclass(frozen=True)
class Exponential(Schedule):
    """start factor^(t / every), smoothly. A factor above 1 lets it grow, as a range test for the rate wants it.

    Parameters
    ----------
    start : float
        the first number
    factor : float
        over `every` steps
    every : int | Epochs
        steps of one factor

    Examples
    --------
    >>> Exponential(1.0, factor=0.25, every=4)(2)
    0.5
    """

    start: float
    factor: float
    every: int | Epochs = 1

    def __post_init__(self) -> None:
        check_amounts(self, "start")
        check_above(self, "factor")
        check_times(self, "every")

    def __call__(self, t: int) -> float:
        return float(self.start * self.factor ** (t / self.known("every")))


@dataclass(frozen=True)
class Polynomial(Schedule):
    """end + (start - end) (1 - t/steps)^power, and `end` from then on. Power 1 is a straight line.

    Parameters
    ----------
    start : float
        the first number
    end : float
        the last number
    power : float
        1 is a straight line
    steps : int | Epochs | None
        the length; None is the whole run

    Examples
    --------
    >>> [Polynomial(1.0, power=2.0, steps=4)(t) for t in (0, 2, 4, 9)]
    [1.0, 0.25, 0.0, 0.0]
    """

    start: float
    end: float = 0.0
    power: float = 1.0
    steps: Steps = None

    def __post_init__(self) -> None:
        check_amounts(self, "start", "end", "power")
        check_times(self, "steps")

    def __call__(self, t: int) -> float:
        share = min(t / self.known("steps"), 1.0)
        return float(self.end + (self.start - self.end) * (1 - share) ** self.power)


@dataclass(frozen=True)
class Piecewise(Schedule):
    """values[i] between the times at[i - 1] and at[i].

    Parameters
    ----------
    values : tuple[float, ...]
        one more than there are times
    at : tuple[int | Epochs, ...]
        the times, in steps or `Epochs(...)`

    Examples
    --------
    >>> [Piecewise((0.1, 0.01), at=(3,))(t) for t in (0, 2, 3, 9)]
    [0.1, 0.1, 0.01, 0.01]
    """

    values: tuple[float, ...]
    at: tuple[int | Epochs, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "at", tuple(self.at))
        if len(self.values) != len(self.at) + 1:
            raise ValueError(
                f"Piecewise: one value more than times between them, got {len(self.values)} and {len(self.at)}"
            )
        if not all(map(is_number, self.values)):
            raise ValueError(f"Piecewise: values are numbers from 0, got {self.values}")
        steps = [time for time in self.at if not isinstance(time, Epochs)]
        if not all(is_count(time, 0) for time in steps):
            raise ValueError(f"Piecewise: at has numbers of steps from 0 or Epochs, got {self.at}")
        if steps != sorted(steps):
            raise ValueError(f"Piecewise: times go up, got {self.at}")

    def __call__(self, t: int) -> float:
        return self.values[sum(t >= time for time in self.known_times("at"))]


@dataclass(frozen=True)
class Warmup(Schedule):
    """A straight line up to the first value of `then` over so many steps, and `then` from there on, from its beginning.

    The line is then(0) (t + 1) / (steps + 1): the first update counts, and there is no jump where the two meet.

    Parameters
    ----------
    steps : int | Epochs
        of the line
    then : float | Schedule
        what follows

    Examples
    --------
    >>> [Warmup(3, then=0.1)(t) for t in range(5)]
    [0.025, 0.05, 0.07500000000000001, 0.1, 0.1]
    """

    steps: int | Epochs
    then: Number

    def __post_init__(self) -> None:
        if self.steps is None:
            raise ValueError("Warmup: steps is a number of steps from 1 or Epochs, got None")
        check_times(self, "steps")
        if not isinstance(self.then, Schedule):
            object.__setattr__(self, "then", Constant(self.then))

    def __call__(self, t: int) -> float:
        steps, then = self.known("steps"), self.then
        assert isinstance(then, Schedule)
        return then(t - steps) if t >= steps else then(0) * (t + 1) / (steps + 1)

    def fit(self, total_steps: int, steps_per_epoch: float) -> Schedule:
        """What comes after the warm-up has the rest of the run.

        Parameters
        ----------
        total_steps : int
            of the run
        steps_per_epoch : float
            of the run

        Returns
        -------
        Schedule
            a new one
        """
        steps = self.steps.fit(total_steps, steps_per_epoch) if isinstance(self.steps, Epochs) else self.steps
        assert isinstance(self.then, Schedule)
        return Warmup(steps, self.then.fit(max(total_steps - steps, 1), steps_per_epoch))
